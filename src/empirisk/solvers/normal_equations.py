"""The normal equations of least squares, from moments, and their Cholesky factor."""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf

from empirisk.data.moments import Moments
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.solvers.refinement import ROUNDING, Pairs, Solver, Triangle

DATA_NOISE = 4 * ROUNDING
"""What rounding of the data leaves of a column that is constant, or depends on others, relative to
its parts."""
WELL_CONDITIONED = 1e8
"""Condition number of the scaled gram matrix (the square of the design's) up to which its Cholesky
factor will do: each pass of refinement then gains eight digits."""


class NormalEquations(NamedTuple):
    """gram = X'WX and right = X'Wy about the centre: the mean, or 0 without an intercept."""

    gram: Floats
    right: Floats
    centre: Floats
    level: Floats  # sum of w y, for each output
    weight: float
    length_of_y: Floats
    intercept: bool

    @classmethod
    def of(cls, moments: Moments, p: int, intercept: bool) -> "NormalEquations":
        """From the moments of p columns X and further columns y."""
        square = moments.scatter + moments.weight * np.multiply.outer(moments.mean, moments.mean)
        about = moments.scatter if intercept else square
        return cls(
            gram=about[:p, :p],
            right=about[:p, p:],
            centre=moments.mean[:p] * intercept,
            level=moments.weight * moments.mean[p:],
            weight=moments.weight,
            length_of_y=np.sqrt(np.diagonal(square)[p:]),
            intercept=intercept,
        )

    def lengths(self) -> Floats:
        """Lengths of the columns of X before centring."""
        return np.sqrt(np.diagonal(self.gram) + self.weight * self.centre**2)

    def varying(self) -> Bools:
        """Which columns are not constant (without an intercept: not zero), but for rounding."""
        return np.diagonal(self.gram) > (DATA_NOISE * self.lengths()) ** 2

    def among(self, kept: Ints, dependent: Ints) -> "NormalEquations":
        """Of the kept columns; the dependent ones become further outputs, after y."""
        return NormalEquations(
            gram=self.gram[np.ix_(kept, kept)],
            right=np.hstack([self.right[kept], self.gram[np.ix_(kept, dependent)]]),
            centre=self.centre[kept],
            level=np.append(self.level, self.weight * self.centre[dependent]),
            weight=self.weight,
            length_of_y=np.append(self.length_of_y, self.lengths()[dependent]),
            intercept=self.intercept,
        )

    def of_outputs(self, own: Ints) -> "NormalEquations":
        """Of some of the outputs."""
        return self._replace(
            right=self.right[:, own], level=self.level[own], length_of_y=self.length_of_y[own]
        )

    def solve(self, solver: Solver) -> Pairs:
        """Coefficients (outputs, p + 1), to be refined."""
        right = self.right / solver.scale[:, np.newaxis]
        if self.intercept:
            right = np.vstack([self.level, right])
        return Pairs.of(solver.solve_scaled(right)[0])


def cholesky_triangle(equations: NormalEquations, penalty: Floats) -> Triangle | None:
    """The Cholesky factor of the scaled gram matrix + diag(penalty), if well conditioned."""
    square = np.diagonal(equations.gram) + penalty
    offset = equations.weight * equations.centre**2
    if not (offset / WELL_CONDITIONED**2 < square).all():
        return None
    scale = np.sqrt(square)
    scaled = equations.gram / np.multiply.outer(scale, scale)
    np.fill_diagonal(scaled, 1.0)
    factor, failed = dpotrf(scaled, lower=0, clean=1)
    if failed:
        return None
    reciprocal = dpocon(factor, np.abs(scaled).sum(axis=0).max())[0]
    if reciprocal * WELL_CONDITIONED < 1:
        return None
    if equations.intercept:
        factor = np.pad(factor, ((1, 0), (1, 0)))
        factor[0, 0] = np.sqrt(equations.weight)
    rate = 10 * ROUNDING / reciprocal
    return Triangle(factor, equations.centre, scale, equations.intercept, rate)
