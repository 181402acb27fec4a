"""Many small systems of equations with positive definite matrices."""

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

from empirisk.runtime.arrays import Floats

HARMLESS = 1e3
"""A condition number that need not be known better than that it is not above this."""


def solve_each(matrices: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The solutions (m, p, k) of m systems, by Cholesky, and the condition numbers.

    `matrices`, of shape (m, p, p), are overwritten; `right` is (m, p, k). Rows and columns are
    scaled to a diagonal of ones first, and the condition numbers are those of the scaled matrices
    in the 1-norm, as LAPACK estimates them: infinite where a matrix is not positive definite, and
    has no solution here. Where a bound shows them harmless, the bound is given, which costs less.

    Examples
    --------
    >>> solve_each(np.array([[[4.0, 0.0], [0.0, 1e6]]]), np.array([[[2.0], [1e6]]]))[0]
    array([[[0.5],
            [1. ]]])
    """
    diagonal = np.einsum("ijj->ij", matrices)
    positive = (diagonal > 0).all(axis=1)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrices *= scale[:, :, np.newaxis]
    matrices *= scale[:, np.newaxis, :]
    norm = np.abs(matrices).sum(axis=1).max(axis=1, initial=0.0)
    solution = right * scale[:, :, np.newaxis]
    for i in np.flatnonzero(positive):
        scaled = matrices[i].T  # symmetric, and in the order of LAPACK: the factor takes its place
        failed = dpotrf(scaled, lower=0, clean=0, overwrite_a=1)[1]
        positive[i] = not failed
        if not failed:
            solution[i] = dpotrs(scaled, solution[i])[0]
    solution *= scale[:, :, np.newaxis]
    condition = np.where(positive, _bound(diagonal), np.inf)
    for i in np.flatnonzero(positive & (condition > HARMLESS)):
        reciprocal = dpocon(matrices[i].T, norm[i])[0]
        condition[i] = 1 / reciprocal if reciprocal > 0 else np.inf
    return solution, condition


def _bound(diagonal: Floats) -> Floats:
    """Of the condition numbers in the 2-norm, from the diagonals (m, p) of Cholesky factors.

    A matrix with a diagonal of ones has the trace p, so that no eigenvalue is above p, and by the
    means of the others, det <= least ((p - least) / (p - 1))^(p - 1) < least e.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return np.e * diagonal.shape[1] / np.square(diagonal).prod(axis=1)
