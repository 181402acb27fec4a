"""exp(x), many at a time: without a branch or a call, so that loops over it are vectorised.

x = k ln 2 + r with a whole number k; exp(r) is a polynomial, and k is added to the exponent of its
bits. The one of float32 is that of Cephes (Moshier 1989).
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.double_double import fused_multiply_add
from empirisk.compiled.float_bits import from_bits, to_bits

LARGEST = 700.0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # high: 32 bits
TO_WHOLE = 1.5 * 2.0**52  # added to a number, it leaves a whole number in the lowest bits
MANTISSA = np.int64(52)

SINGLE_ONE, SINGLE_LARGEST = np.float32(1.0), np.float32(87.0)
SINGLE_LOG2_E = np.float32(LOG2_E)
SINGLE_LN2_HIGH, SINGLE_LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
SINGLE_TO_WHOLE = np.float32(1.5 * 2.0**23)
SINGLE_MANTISSA = np.int32(23)
E5, E4, E3 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
E2, E1, E0 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)


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


@compiled(inner=True)
def single_exponential(x):
    """exp(x) of a float32, to two units in the last place; x is brought within -87..87 before."""
    x = SINGLE_LARGEST if x > SINGLE_LARGEST else x  # in this order NaN stays NaN
    x = -SINGLE_LARGEST if x < -SINGLE_LARGEST else x
    shifted = x * SINGLE_LOG2_E + SINGLE_TO_WHOLE
    k = shifted - SINGLE_TO_WHOLE
    r = (x - k * SINGLE_LN2_HIGH) - k * SINGLE_LN2_LOW
    s = E5
    s = s * r + E4
    s = s * r + E3
    s = s * r + E2
    s = s * r + E1
    s = s * r + E0
    s = s * r * r + r + SINGLE_ONE
    return from_bits(np.int32(to_bits(s) + (to_bits(shifted) << SINGLE_MANTISSA)))
