"""The inverse of a Hessian, where it has one, and else of the part of it that can be inverted."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline

SINGULAR = 1e-13
"""Eigenvalues of the Hessian with unit diagonal that count as zero, relative to the largest."""
AT_ONCE = 1000
"""Columns of a Cholesky factor between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class InverseHessian:
    """H^-1 as a factor of the Hessian with unit diagonal, D H D.

    Where that is singular to rounding, its pseudo-inverse: `null` has the directions without
    curvature, columns in the coordinates of H.
    """

    unit: Floats
    factor: Floats | None
    vectors: Floats | None
    values: Floats | None
    null: Floats

    def solve(self, gradient: Floats) -> Floats:
        """H^-1 g, of a vector or of columns."""
        unit = self.unit.reshape(-1, *[1] * (gradient.ndim - 1))
        scaled = unit * gradient
        if self.factor is not None:
            return unit * cho_solve((self.factor, True), scaled, check_finite=False)
        assert self.vectors is not None
        assert self.values is not None
        values = self.values.reshape(-1, *[1] * (gradient.ndim - 1))
        return unit * (self.vectors @ ((self.vectors.T @ scaled) / values))


def inverse_hessian(hessian: Floats) -> InverseHessian:
    """Factorise.

    Examples
    --------
    >>> inverse_hessian(np.diag([4.0, 2.0])).solve(np.ones(2))
    array([0.25, 0.5 ])
    >>> inverse_hessian(np.ones((2, 2))).null.round(3)
    array([[-0.707],
           [ 0.707]])
    """
    diagonal = np.diagonal(hessian)
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = hessian * unit
    scaled *= unit[:, np.newaxis]
    none = np.zeros((len(unit), 0))
    try:
        factor = cholesky_factor(scaled)
        if np.diagonal(factor).min() ** 2 > 10 * len(unit) * SINGULAR:
            return InverseHessian(unit, factor, None, None, none)
    except np.linalg.LinAlgError:
        pass
    values, vectors = eigh(scaled, check_finite=False)
    kept = values > SINGULAR * len(unit) * max(values[-1], 0.0)
    null = unit[:, np.newaxis] * vectors[:, ~kept]
    if null.shape[1]:
        null = np.linalg.qr(null)[0]
    return InverseHessian(unit, None, vectors[:, kept], values[kept], null)


def cholesky_factor(A: Floats) -> Floats:
    """L with A = L L', a strip of columns at a time; what is above its diagonal means nothing.

    Raises `LinAlgError` where A is not positive definite.

    Examples
    --------
    >>> np.tril(cholesky_factor(np.array([[4.0, 2.0], [2.0, 5.0]])))
    array([[2., 0.],
           [1., 2.]])
    """
    n = len(A)
    if n <= AT_ONCE:
        return cho_factor(A, lower=True, check_finite=False)[0]
    L = np.zeros((n, n), order="F")  # as LAPACK wants it
    for start in range(0, n, AT_ONCE):
        check_deadline()
        stop = min(start + AT_ONCE, n)
        strip = A[start:, start:stop] - L[start:, :start] @ L[start:stop, :start].T
        square = cho_factor(strip[: stop - start], lower=True, check_finite=False)[0]
        L[start:stop, start:stop] = square
        below = strip[stop - start :].T
        L[stop:, start:stop] = solve_triangular(square, below, lower=True, check_finite=False).T
    return L
