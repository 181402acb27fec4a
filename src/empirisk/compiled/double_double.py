"""Residuals and gradients of least squares in double-double arithmetic.

A number is held as an unevaluated sum of two floats, hi + lo, about 32 decimal digits. Sums and
products are made exact by the error-free transformations of Knuth and Dekker, and dot products
are accumulated as in Ogita, Rump & Oishi (2005): as good as computed in twice the precision.
"""

from fractions import Fraction
from math import isfinite

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from empirisk.compiled.decorator import compiled

TILE = 32  # rows that are worked on side by side, so that the processor's vector units are used


def fused_multiply_add(a, b, c):
    """a * b + c with one rounding. Compiled code uses the processor's instruction."""
    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        return a * b + c
    return float(Fraction(a) * Fraction(b) + Fraction(c))


@overload(fused_multiply_add)
def _compiled_fused_multiply_add(a, b, c):
    return lambda a, b, c: _instruction(a, b, c)


@intrinsic
def _instruction(typing_context, a, b, c):
    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)  # a call of the C library where there is no instruction

    return types.float64(types.float64, types.float64, types.float64), generate


@compiled
def two_sum(a, b):
    """a + b as rounded sum and exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def two_product(a, b):
    """a * b as rounded product and exact error (barring underflow)."""
    product = a * b
    return product, fused_multiply_add(a, b, -product)


@compiled
def add_pairs(hi, lo, more_hi, more_lo):
    """(hi, lo) += (more_hi, more_lo), element by element, in place."""
    for j in range(len(hi)):
        total, error = two_sum(hi[j], more_hi[j])
        hi[j], lo[j] = two_sum(total, error + (lo[j] + more_lo[j]))


@compiled
def add_products(hi, lo, factor, pair_hi, pair_lo):
    """(hi, lo) += factor * (pair_hi, pair_lo), element by element, in place."""
    for j in range(len(hi)):
        product, error = two_product(factor[j], pair_hi[j])
        total, lost = two_sum(hi[j], product)
        hi[j], lo[j] = two_sum(total, lost + (lo[j] + (error + factor[j] * pair_lo[j])))


@compiled
def residuals(X, y, coef_hi, coef_lo, hi, lo):
    """y - intercept - X coef for every output; the intercept is the last coefficient.

    X is (n, p), y and the result (hi, lo) are (outputs, n), the coefficients (outputs, p + 1).
    """
    n, p = X.shape
    columns = np.empty((p, TILE))
    for start in range(0, n, TILE):
        rows = min(TILE, n - start)
        for i in range(rows):
            for j in range(p):
                columns[j, i] = X[start + i, j]
        for k in range(y.shape[0]):
            total, low = hi[k, start : start + rows], lo[k, start : start + rows]
            for i in range(rows):
                total[i], low[i] = two_sum(y[k, start + i], -coef_hi[k, p])
                low[i] -= coef_lo[k, p]
            for j in range(p):
                b, b_low = -coef_hi[k, j], -coef_lo[k, j]
                for i in range(rows):
                    x = columns[j, i]
                    product, error = two_product(x, b)
                    total[i], lost = two_sum(total[i], product)
                    low[i] += fused_multiply_add(x, b_low, lost + error)
            for i in range(rows):
                total[i], low[i] = two_sum(total[i], low[i])


@compiled
def transposed_product(X, v_hi, v_lo, hi, lo):
    """[X, 1]' v for every output: v is (outputs, n), the result (hi, lo) is (outputs, p + 1)."""
    n, p = X.shape
    for k in range(v_hi.shape[0]):
        total, low = hi[k], lo[k]
        total[:] = 0.0
        low[:] = 0.0
        for i in range(n):
            v, v_low = v_hi[k, i], v_lo[k, i]
            for j in range(p):
                product, error = two_product(X[i, j], v)
                total[j], lost = two_sum(total[j], product)
                low[j] += fused_multiply_add(X[i, j], v_low, lost + error)
            total[p], lost = two_sum(total[p], v)
            low[p] += lost + v_low
        for j in range(p + 1):
            total[j], low[j] = two_sum(total[j], low[j])


@compiled
def scale_pairs(hi, lo, weight):
    """(hi, lo)[k, i] *= weight[i] in place."""
    for k in range(hi.shape[0]):
        for i in range(hi.shape[1]):
            product, error = two_product(weight[i], hi[k, i])
            hi[k, i], lo[k, i] = two_sum(product, error + weight[i] * lo[k, i])
