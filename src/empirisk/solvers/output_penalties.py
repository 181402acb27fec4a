"""Ridge regression with a penalty for each output, all from one spectral decomposition.

With X'WX = V diag(s) V' about the centre, the coefficients of an output with penalty a solve

    V diag(s + a) V' b = X'Wy

and are refined as those from a triangle are (see `refinement`). The trace of the hat matrix is
sum_j s_j / (s_j + a).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from empirisk.data.blocks import Blocks
from empirisk.runtime.arrays import Floats
from empirisk.solvers.normal_equations import WELL_CONDITIONED, NormalEquations
from empirisk.solvers.refinement import ROUNDING, Pairs, refine, right_side


class PenalisedSpectrum(NamedTuple):
    """V, and s + a for each output (p, outputs); it takes the place of a `Triangle`."""

    vectors: Floats
    total: Floats
    equations: NormalEquations
    rate: Floats

    @property
    def scale(self) -> Floats:
        """The columns are as they came."""
        return np.ones(len(self.vectors))

    @property
    def natural(self) -> Floats:
        """Sizes of coefficients, the intercept last, that make a difference of about 1."""
        square = np.append(np.diagonal(self.equations.gram), self.equations.weight)
        return 1.0 / np.sqrt(square)

    def solve(self, gradient: Pairs) -> tuple[Floats, Floats]:
        """The step in the coefficients (outputs, p + 1), and its length in the predictions."""
        centre, intercept = self.equations.centre, self.equations.intercept
        return self.solve_scaled(right_side(gradient, centre, self.scale, intercept))

    def solve_scaled(self, right: Floats) -> tuple[Floats, Floats]:
        """The same from the right-hand side Z'Wy of the normal equations."""
        equations = self.equations
        along = self.vectors.T @ right[equations.intercept :]
        coef = (self.vectors @ (along / self.total)).T
        square = (along**2 / self.total).sum(axis=0)
        level = np.zeros((len(coef), 1))
        if equations.intercept:
            square += right[0] ** 2 / equations.weight
            level = right[:1].T / equations.weight - coef @ equations.centre[:, np.newaxis]
        return np.hstack([coef, level]), np.sqrt(square)


def solve_penalties(
    blocks: Blocks, equations: NormalEquations, penalties: Floats, *, n_jobs: int | None = None
) -> tuple[Floats, float] | None:
    """Coefficients (outputs, p + 1), the intercept last, and the mean of the traces.

    None where the equations are not well conditioned at the least penalty.
    """
    if not equations.varying().all():
        return None
    square, vectors = eigh(equations.gram, check_finite=False)
    square = np.maximum(square, 0.0)
    total = square[:, np.newaxis] + penalties
    condition = total[-1] / np.maximum(total[0], np.finfo(float).tiny)
    offset = equations.weight * equations.centre**2
    off_centre = (offset >= WELL_CONDITIONED**2 * total[0].min()).any()
    if off_centre or not (condition <= WELL_CONDITIONED).all():
        return None
    spectrum = PenalisedSpectrum(vectors, total, equations, 10 * ROUNDING * condition)
    coef = equations.solve(spectrum)
    each = np.repeat(penalties[:, np.newaxis], len(square), axis=1)
    settled = refine(blocks, coef, spectrum, each, equations.length_of_y, n_jobs=n_jobs)
    trace = (square[:, np.newaxis] / total).sum(axis=0)
    return (coef.hi, float(trace.mean())) if settled else None
