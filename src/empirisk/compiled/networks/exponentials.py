"""exp, the logistic function and tanh of many numbers at once, in single and double precision.

They have neither branches nor calls, so that loops over them are vectorised: C's functions take
ten times as long. The polynomials of tanh are those of Cephes (Moshier 1989).
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.exponential import exponential, single_exponential

ONE, TWO = np.float32(1.0), np.float32(2.0)
SMALL = 0.625  # below it tanh is a polynomial: 1 - 2 / (exp(2 x) + 1) would lose digits
SINGLE_SMALL = np.float32(SMALL)
T4, T3 = np.float32(-5.70498872745e-3), np.float32(2.06390887954e-2)
T2, T1, T0 = (
    np.float32(-5.37397155531e-2),
    np.float32(1.33314422036e-1),
    np.float32(-0.333332819422),
)


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
