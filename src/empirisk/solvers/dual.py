"""Least squares with fewer rows than coefficients, through the rows.

With Z = sqrt(W)(X - mean) and v = sqrt(W)(y - mean) the coefficients are b = Z'a, where

    (ZZ' + penalty I) a = v

So an n x n problem is solved, and b lies in the span of the rows: without a penalty it is, of all
minimisers, that of least norm (with n independent rows: the interpolation of least norm). The
residuals, and Z'a itself, are computed with twice the usual digits.

The condition number of ZZ' is the square of that of Z. From about 1e8 of Z on, a has no correct
digit and Z'a is far from the minimum. There b comes from the singular vectors of Z themselves.
"""

import numpy as np
from scipy.linalg import svd

from empirisk.compiled.double_double import residuals, scale_pairs, transposed_product
from empirisk.data.blocks import Rows
from empirisk.data.scaling import ordinary_rows, scaled_penalty
from empirisk.runtime.arrays import Bools, Floats
from empirisk.solvers.orthogonal import upper
from empirisk.solvers.refinement import ROUNDING, SETTLED, Pairs

MOST_STEPS = 20


def dual_least_squares(
    rows: Rows, penalty: float | Floats, fit_intercept: bool
) -> tuple[Floats, Floats, int, float, Floats]:
    """Coefficients (outputs, p), intercepts, rank, degrees of freedom (mean over outputs) and
    the singular values of Z. The penalty is one number, or one for each output.
    """
    rows, scales = ordinary_rows(rows)
    p = rows.X.shape[1]
    centre = rows.weight @ rows.X / rows.weight.sum() * fit_intercept
    Z = (rows.X - centre) * np.sqrt(rows.weight)[:, np.newaxis]
    left, square = row_spectrum(Z, fit_intercept)
    penalties = np.reshape(scaled_penalty(penalty, scales.X[0], scales.weight), (-1, 1))
    coef, settled = _refined(rows, centre, fit_intercept, left, square, penalties)
    if not settled.all():
        direct = _direct(rows, Z, centre, fit_intercept, len(square), penalties)
        coef = np.where(settled[:, np.newaxis], coef, direct)
    freedom = float((square / (square + penalties)).sum(axis=1).mean()) + fit_intercept
    singular = np.zeros(len(rows.X))
    singular[: len(square)] = np.sqrt(square) * scales.X[0] * np.sqrt(scales.weight)
    return *scales.raw(coef[:, :p], coef[:, p]), len(square), freedom, singular


def row_spectrum(Z: Floats, centred: bool) -> tuple[Floats, Floats]:
    """Left singular vectors and squared singular values of a wide Z, those of rounding left out."""
    n = len(Z)
    R = upper(Z.T.copy(order="F"))
    left, singular, _ = svd(R.T, check_finite=False)
    rank = int((singular > 4 * n * ROUNDING * singular[0]).sum()) if singular[0] > 0 else 0
    rank = min(rank, n - centred)  # the rows of a centred Z add up to 0
    return left[:, :rank], singular[:rank] ** 2


def _refined(
    rows: Rows, centre: Floats, intercept: bool, left: Floats, square: Floats, penalties: Floats
) -> tuple[Floats, Bools]:
    """Coefficients (outputs, p + 1), the intercept last, and of which outputs they have settled;
    penalties (outputs, 1) or (1, 1).
    """
    root, total = np.sqrt(rows.weight), rows.weight.sum()
    y = np.ascontiguousarray(rows.y.T)
    dual = Pairs.of(np.zeros(y.shape))
    coef = Pairs.of(np.zeros((len(y), len(centre) + 1)))
    first = last = np.full(len(y), np.inf)
    for t in range(MOST_STEPS):
        remainder = Pairs(np.empty(y.shape), np.empty(y.shape))
        residuals(rows.X, y, *coef, *remainder)
        if intercept:
            level = remainder.hi @ rows.weight / total
            coef.add(Pairs.of(np.hstack([np.zeros((len(y), len(centre))), level[:, np.newaxis]])))
            remainder.add(Pairs.of(np.repeat(-level[:, np.newaxis], y.shape[1], axis=1)))
        gap = remainder.hi * root - penalties * dual.hi
        along = gap @ left
        length = np.linalg.norm(along, axis=1)
        first = length if t == 0 else first
        shrinking = length < last / 2
        if not shrinking.any():
            break
        step = (along / (square + penalties)) @ left.T
        dual.add(Pairs.of(np.where(shrinking[:, np.newaxis], step, 0.0)))
        last = np.where(shrinking, length, last)
        _primal(rows.X, root, centre, dual, coef)
    rounding = ROUNDING * np.linalg.norm(y * root, axis=1)
    return coef.hi, last <= np.maximum(SETTLED * first, rounding)


def _direct(
    rows: Rows, Z: Floats, centre: Floats, intercept: bool, rank: int, penalties: Floats
) -> Floats:
    """The same coefficients with the singular vectors of Z on both sides."""
    left, singular, right = svd(Z, full_matrices=False, check_finite=False)
    left, singular, right = left[:, :rank], singular[:rank], right[:rank]
    mean = rows.weight @ rows.y / rows.weight.sum() * intercept
    v = (rows.y - mean) * np.sqrt(rows.weight)[:, np.newaxis]
    b = (v.T @ left * (singular / (singular**2 + penalties))) @ right
    return np.column_stack([b, mean - b @ centre])


def _primal(X: Floats, root: Floats, centre: Floats, dual: Pairs, coef: Pairs) -> None:
    """b = Z'a, written into all but the last of the coefficients."""
    weighted = Pairs(dual.hi.copy(), dual.lo.copy())
    scale_pairs(*weighted, root)
    product = Pairs(np.empty(coef.hi.shape), np.empty(coef.hi.shape))
    transposed_product(X, *weighted, *product)
    level = Pairs(product.hi[:, -1:], product.lo[:, -1:])
    slope = Pairs(product.hi[:, :-1].copy(), product.lo[:, :-1].copy())
    slope.add_products(-centre, level)
    coef.hi[:, :-1], coef.lo[:, :-1] = slope
