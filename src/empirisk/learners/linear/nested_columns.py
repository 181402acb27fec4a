"""Least squares on the first m columns of a design, for many m, from one orthogonal factorisation.

With weights W, Z = sqrt(W) [1, B] = Q R and c = Q' sqrt(W) y, the coefficients for the first m
columns are R_m^-1 c_m, where R_m is the leading block of R and c_m the beginning of c: what holds
for many columns holds for their beginnings.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dtrcon

from empirisk.data.blocks import Rows
from empirisk.data.scaling import power_of_two
from empirisk.runtime.arrays import Floats, Ints

SQUARED_LIMIT = 1e-5
"""Least reciprocal condition number at which Z'Z is factorised; twice, so that Q is orthogonal."""
DEPENDENT = 1e-8
"""Reciprocal condition number below which each m is better solved by itself, with refinement."""


class Factors(NamedTuple):
    """Q (rows, q), R (q, q) and c (q, outputs) of the scaled columns, and what scales them."""

    Q: Floats
    R: Floats
    along: Floats
    scale: Floats
    weight: float
    intercept: bool

    def coefficients(self, ends: Ints) -> tuple[Floats, Floats]:
        """Coefficients (ends, outputs, columns), zero from each end on, and intercepts."""
        coef = beginnings(self.R, self.along, ends + self.intercept)
        level = coef[:, :, 0] if self.intercept else np.zeros(coef.shape[:2])
        return coef[:, :, self.intercept :] / self.scale, level


def factorise(rows: Rows, intercept: bool) -> Factors | None:
    """None where columns depend on others, or almost."""
    n, q = rows.X.shape
    if n < q + intercept:
        return None
    scale = power_of_two(np.maximum(rows.X.max(axis=0), -rows.X.min(axis=0)))
    weight = float(power_of_two(rows.weight.max()))
    root = np.sqrt(rows.weight / weight)
    Z = np.empty((n, q + intercept), order="F")
    Z[:, :intercept] = root[:, np.newaxis]
    np.divide(rows.X, scale, out=Z[:, intercept:])
    Z[:, intercept:] *= root[:, np.newaxis]
    found = orthogonal(Z)
    if found is None:
        return None
    Q, R = found
    with np.errstate(over="ignore"):
        along = Q.T @ (rows.y * root[:, np.newaxis])
    return Factors(Q, R, along, scale, weight, intercept)


def orthogonal(Z: Floats) -> tuple[Floats, Floats] | None:
    """Q, in the place of Z, and R: a first R, from Z'Z if that is exact enough, and a correction.

    Of Z R^-1 each row is exact, be its weight large or small (Yamamoto et al. 2015, "CholeskyQR2").
    """
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    if not (length > 0).all():
        return None
    R = _squared_factor(Z, length)
    if R is None:
        R = qr(Z, mode="r", check_finite=False)[0][: Z.shape[1]]
        if not dtrcon(R / length)[0] > DEPENDENT:
            return None
    Q = _divided(Z, R)
    again = cholesky(Q.T @ Q, check_finite=False)
    return _divided(Q, again), again @ R


def _squared_factor(Z: Floats, length: Floats) -> Floats | None:
    try:
        R = cholesky(Z.T @ Z, check_finite=False)
    except LinAlgError:
        return None
    return R if dtrcon(R / length)[0] > SQUARED_LIMIT else None


def _divided(Z: Floats, R: Floats) -> Floats:
    """Z R^-1, for a Z in Fortran order, which is overwritten."""
    return dtrsm(1.0, R, Z, side=1, overwrite_b=1)


def beginnings(R: Floats, along: Floats, ends: Ints) -> Floats:
    """Coefficients (ends, outputs, columns): the first m are R_m^-1 c_m, the others zero."""
    coef = np.zeros((len(ends), along.shape[1], len(R)))
    for j, m in enumerate(ends):
        if m:
            solved = solve_triangular(R[:m, :m], along[:m], check_finite=False)
            coef[j, :, :m] = solved.T
    return coef
