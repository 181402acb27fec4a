"""The inverse of a Hessian, where it has one, and else of the part of it that can be inverted."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from empirisk.runtime.arrays import Floats

SINGULAR = 1e-13
"""Eigenvalues of the Hessian with unit diagonal that count as zero, relative to the largest."""


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
        factor, _ = cho_factor(scaled, lower=True, check_finite=False)
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
