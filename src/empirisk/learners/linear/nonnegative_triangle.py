"""Which coefficients are zero, of columns that all but depend on one another.

Sums of products of the columns have the square of their condition number and above a limit do not
tell; the triangular factor R of the rows has it once. Minimise over b >= 0

    |right - R b|^2 + sum_j ridge_j b_j^2

by the active sets of Lawson & Hanson (1974, Solving Least Squares Problems), which SciPy has.
"""

import numpy as np
from scipy.optimize import nnls

from empirisk.data.blocks import Blocks
from empirisk.learners.linear.lasso_problem import Sums
from empirisk.runtime.arrays import Floats
from empirisk.solvers.many_systems import solve_each
from empirisk.solvers.orthogonal import triangular_factor

MOST_SQUARED = 1e8
"""The condition number of the sums up to which they tell signs to eight digits."""
MOST_COLUMNS = 1000
"""The columns are taken in one by one; of more than these it would last minutes."""
ROUNDS = 30  # times as many steps as there are columns


class Triangle:
    """The factor of [X, y] about their means, in the units of the sums; made when asked for."""

    def __init__(self, blocks: Blocks, sums: Sums, weight: float, intercept: bool) -> None:
        self.blocks, self.sums, self.weight, self.intercept = blocks, sums, weight, intercept
        self.factor: Floats | None = None

    def minimum(self, unit: Floats, output: int, size: float, ridge: Floats) -> Floats | None:
        """The minimiser where columns and y are divided by `unit` and `size`; None if not found."""
        p = len(unit)
        if p > MOST_COLUMNS:
            return None
        if self.factor is None:
            self.factor = self._made(p)
        R = self.factor[:, :p] / unit
        R[:, np.diagonal(self.sums.gram) == 0] = 0.0  # a constant column
        A = np.vstack([R, np.diag(np.sqrt(ridge))])
        b = np.append(self.factor[:, p + output] / size, np.zeros(p))
        try:
            return nnls(A, b, maxiter=ROUNDS * p)[0]
        except RuntimeError:  # rounding errors lead in circles
            return None

    def _made(self, p: int) -> Floats:
        centre = self.sums.centre if self.intercept else np.zeros(p)
        whole = triangular_factor(
            self.blocks, centre, np.ones(p), intercept=self.intercept, with_y=True
        )
        return whole[self.intercept :, self.intercept :] / np.sqrt(self.weight)


def sums_tell(gram: Floats, ridge: Floats) -> bool:
    """Whether sums of products, with the ridge, have a condition number that leaves digits."""
    varying = np.flatnonzero(np.diagonal(gram) > 0)
    if not len(varying):  # only constant columns: all coefficients are zero
        return True
    matrix = gram[np.ix_(varying, varying)] + np.diag(ridge[varying])
    condition = solve_each(matrix[np.newaxis], np.ones((1, len(varying), 1)))[1]
    return bool(condition[0] <= MOST_SQUARED)
