"""exp(x), many at a time: without a branch or a call, so that loops over it are vectorised."""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from empirisk.compiled.decorator import compiled
from empirisk.compiled.double_double import fused_multiply_add

LARGEST = 700.0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # high: 32 bits
TO_WHOLE = 1.5 * 2.0**52  # added to a number, it leaves a whole number in the lowest bits
MANTISSA = np.int64(52)


def from_bits(pattern):
    """The float64 that has these 64 bits."""
    return float(np.int64(pattern).view(np.float64))


def to_bits(number):
    """The 64 bits of a float64."""
    return int(np.float64(number).view(np.int64))


@overload(from_bits)
def _compiled_from_bits(pattern):
    return lambda pattern: _number(pattern)


@overload(to_bits)
def _compiled_to_bits(number):
    return lambda number: _pattern(number)


@intrinsic
def _number(typing_context, pattern):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@intrinsic
def _pattern(typing_context, number):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@compiled(inner=True)
def exponential(x):
    """exp(x), to three units in the last place; x is brought within -700..700 before."""
    x = LARGEST if x > LARGEST else x  # in this order NaN stays NaN
    x = -LARGEST if x < -LARGEST else x
    shifted = fused_multiply_add(x, LOG2_E, TO_WHOLE)
    k = shifted - TO_WHOLE
    r = fused_multiply_add(k, -LN2_LOW, fused_multiply_add(k, -LN2_HIGH, x))
    # Taylor's series: |r| < 0.347, and the next term is below 2e-16 of the sum.
    s = 1.0 / 479001600.0
    s = fused_multiply_add(s, r, 1.0 / 39916800.0)
    s = fused_multiply_add(s, r, 1.0 / 3628800.0)
    s = fused_multiply_add(s, r, 1.0 / 362880.0)
    s = fused_multiply_add(s, r, 1.0 / 40320.0)
    s = fused_multiply_add(s, r, 1.0 / 5040.0)
    s = fused_multiply_add(s, r, 1.0 / 720.0)
    s = fused_multiply_add(s, r, 1.0 / 120.0)
    s = fused_multiply_add(s, r, 1.0 / 24.0)
    s = fused_multiply_add(s, r, 1.0 / 6.0)
    s = fused_multiply_add(s, r, 0.5)
    s = fused_multiply_add(s, r, 1.0)
    s = fused_multiply_add(s, r, 1.0)
    return from_bits(to_bits(s) + (to_bits(shifted) << MANTISSA))
