"""Many small systems of equations with positive definite matrices."""

import numpy as np
from scipy.linalg.lapack import dlange, dpocon, dpotrf, dpotrs

from empirisk.runtime.arrays import Floats


def solve_each(matrices: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The solutions (m, p, k) of m systems, by Cholesky, and the condition numbers.

    `matrices`, of shape (m, p, p), are overwritten; `right` is (m, p, k). Rows and columns are
    scaled to a diagonal of ones first, and the condition numbers are those of the scaled matrices
    in the 1-norm, as LAPACK estimates them: infinite where a matrix is not positive definite, and
    has no solution here.

    Examples
    --------
    >>> solve_each(np.array([[[4.0, 0.0], [0.0, 1e6]]]), np.array([[[2.0], [1e6]]]))
    (array([[[0.5],
            [1. ]]]), array([1.]))
    """
    diagonal = np.einsum("ijj->ij", matrices)
    positive = (diagonal > 0).all(axis=1)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrices *= scale[:, :, np.newaxis]
    matrices *= scale[:, np.newaxis, :]
    solution = right * scale[:, :, np.newaxis]
    condition = np.full(len(matrices), np.inf)
    for i in np.flatnonzero(positive):
        scaled = matrices[i].T  # symmetric, and in the order of LAPACK
        norm = dlange("1", scaled)
        factor, failed = dpotrf(scaled, lower=0, clean=0, overwrite_a=1)
        if not failed:
            reciprocal = dpocon(factor, norm)[0]
            condition[i] = 1 / reciprocal if reciprocal > 0 else np.inf
            solution[i] = dpotrs(factor, solution[i])[0]
    solution *= scale[:, :, np.newaxis]
    return solution, condition
