"""exp, the logistic function and tanh of many numbers at once, in single and double precision.

They have neither branches nor calls, so that loops over them are vectorised: C's functions take
ten times as long. Polynomials and ranges are those of Cephes (Moshier 1989).
"""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from empirisk.compiled.boosting.exponential import exponential
from empirisk.compiled.decorator import compiled

ONE, TWO, HALF = np.float32(1.0), np.float32(2.0), np.float32(0.5)
LARGEST = np.float32(87.0)
LOG2_E = np.float32(1.4426950408889634)
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
TO_WHOLE = np.float32(1.5 * 2.0**23)  # added to a number, it leaves a whole number in its low bits
MANTISSA = np.int32(23)
E5, E4, E3 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
E2, E1, E0 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)

SMALL = 0.625  # below it tanh is a polynomial: 1 - 2 / (exp(2 x) + 1) would lose digits
SINGLE_SMALL = np.float32(SMALL)
T4, T3 = np.float32(-5.70498872745e-3), np.float32(2.06390887954e-2)
T2, T1, T0 = (
    np.float32(-5.37397155531e-2),
    np.float32(1.33314422036e-1),
    np.float32(-0.333332819422),
)


def single_from_bits(pattern):
    """The float32 that has these 32 bits."""
    return np.int32(pattern).view(np.float32)


def single_to_bits(number):
    """The 32 bits of a float32."""
    return np.float32(number).view(np.int32)


@overload(single_from_bits)
def _compiled_from_bits(pattern):
    return lambda pattern: _number(pattern)


@overload(single_to_bits)
def _compiled_to_bits(number):
    return lambda number: _pattern(number)


@intrinsic
def _number(typing_context, pattern):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


@intrinsic
def _pattern(typing_context, number):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int32))

    return types.int32(types.float32), generate


@compiled(inner=True)
def single_exponential(x):
    """exp(x) of a float32, to two units in the last place; x is brought within -87..87 before."""
    x = LARGEST if x > LARGEST else x  # in this order NaN stays NaN
    x = -LARGEST if x < -LARGEST else x
    shifted = x * LOG2_E + TO_WHOLE
    k = shifted - TO_WHOLE
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    s = E5
    s = s * r + E4
    s = s * r + E3
    s = s * r + E2
    s = s * r + E1
    s = s * r + E0
    s = s * r * r + r + ONE
    return single_from_bits(np.int32(single_to_bits(s) + (single_to_bits(shifted) << MANTISSA)))


@compiled(inner=True)
def single_tanh(x):
    """tanh(x) of a float32."""
    size = abs(x)
    far = ONE - TWO / (single_exponential(size + size) + ONE)
    far = far if x > np.float32(0.0) else -far
    z = x * x
    near = ((((T4 * z + T3) * z + T2) * z + T1) * z + T0) * z * x + x
    return far if size >= SINGLE_SMALL else near


@compiled(inner=True)
def double_tanh(x):
    """tanh(x) of a float64."""
    size = abs(x)
    far = 1.0 - 2.0 / (exponential(size + size) + 1.0)
    far = far if x > 0.0 else -far
    z = x * x
    over = (
        -9.64399179425052238628e-1 * z - 9.92877231001918586564e1
    ) * z - 1.61468768441708447952e3
    under = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z
    near = x + x * z * over / (under + 4.84406305325125486048e3)
    return far if size >= SMALL else near


@compiled(leaf=True, signatures=2)
def exponentials(values):
    """exp(x) of each number, in place."""
    if values.itemsize == 4:
        for i in range(values.size):
            values[i] = single_exponential(np.float32(values[i]))
    else:
        for i in range(values.size):
            values[i] = exponential(np.float64(values[i]))


@compiled(leaf=True, signatures=2)
def sigmoids(values):
    """1 / (1 + exp(-x)) of each number, in place."""
    if values.itemsize == 4:
        for i in range(values.size):
            values[i] = ONE / (ONE + single_exponential(-np.float32(values[i])))
    else:
        for i in range(values.size):
            values[i] = 1.0 / (1.0 + exponential(-np.float64(values[i])))


@compiled(leaf=True, signatures=2)
def tanhs(values):
    """tanh(x) of each number, in place."""
    if values.itemsize == 4:
        for i in range(values.size):
            values[i] = single_tanh(np.float32(values[i]))
    else:
        for i in range(values.size):
            values[i] = double_tanh(np.float64(values[i]))
