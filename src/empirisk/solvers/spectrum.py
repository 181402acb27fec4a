"""Ridge regression for all penalties at once, from one spectral decomposition.

With Z = sqrt(W)(X - centre) = U diag(s) V' and v = sqrt(W)(y - level),

    coef(penalty) = V diag(s / (s^2 + penalty)) U'v

for every penalty. The decomposition comes from the scatter matrix where that is well conditioned,
from the triangular factor of Z where it is not, and from the rows where there are fewer of them
than columns. Columns of very different scales cost no digits: their triangular factor goes through
one-sided Jacobi rotations, which find small singular values as exactly as large ones (Demmel &
Veselic 1992).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dgejsv

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.moments import total_moments
from empirisk.runtime.arrays import Floats
from empirisk.solvers.dual import row_spectrum
from empirisk.solvers.normal_equations import NormalEquations, cholesky_triangle
from empirisk.solvers.orthogonal import triangular_factor
from empirisk.solvers.refinement import ROUNDING

GRAM_LIMIT = 3e2
"""Condition number of the design up to which its scatter matrix gives some 11 correct digits."""

NEGLIGIBLE = 1e-14


@dataclass(frozen=True, eq=False)
class Spectrum:
    """What the solution for any penalty is made of.

    coef(penalty) = vectors (projection / (square + penalty)), where `square` are the squared
    singular values of the centred design, largest first.
    """

    vectors: Floats  # (p, r)
    square: Floats  # (r,)
    projection: Floats  # (r, outputs)
    centre: Floats  # (p,)
    level: Floats  # (outputs,)

    def coefficients(self, penalties: Floats) -> tuple[Floats, Floats]:
        """Coefficients (penalties, outputs, p) and intercepts (penalties, outputs)."""
        shrunk = self.projection[:, np.newaxis, :] / self._denominator(penalties)[:, :, np.newaxis]
        r, n_penalties, outputs = shrunk.shape
        flat = self.vectors @ shrunk.reshape(r, n_penalties * outputs)
        coef = flat.T.reshape(n_penalties, outputs, len(self.centre))
        return coef, self.level - coef @ self.centre

    def degrees_of_freedom(self, penalties: Floats) -> Floats:
        """Trace of the hat matrix for each penalty, without the intercept."""
        return (self.square[:, np.newaxis] / self._denominator(penalties)).sum(axis=0)

    def rise(self, penalties: Floats) -> Floats:
        """The derivatives of the residual sum of squares by the logarithm of each penalty,
        2 penalty^2 sum_k projection_k^2 / (square_k + penalty)^3: (penalties, outputs)."""
        total = self._denominator(penalties)[:, :, np.newaxis]
        part = penalties[:, np.newaxis] / total * (self.projection[:, np.newaxis, :] / total)
        return 2 * (np.square(part) * total).sum(axis=0)

    def condition(self, penalty: float) -> float:
        """Condition number of the design with the penalty as further rows."""
        if len(self.square) == 0:
            return 1.0
        smallest = float(self.square[-1]) + penalty
        return float(np.sqrt((self.square[0] + penalty) / smallest)) if smallest > 0 else np.inf

    def left(self, Z: Floats, penalty: float) -> tuple["Spectrum", Floats]:
        """The left vectors U of Z, and the spectrum without what the penalty all but removes.

        What is removed had no reliable direction: it may be rounding error.
        """
        kept = self.square > NEGLIGIBLE * (self.square + penalty)
        square, vectors = self.square[kept], self.vectors[:, kept]
        spectrum = replace(self, vectors=vectors, square=square, projection=self.projection[kept])
        return spectrum, Z @ (vectors / np.sqrt(square))

    def _denominator(self, penalties: Floats) -> Floats:
        total = self.square[:, np.newaxis] + penalties
        return np.where(total > 0, total, np.inf)


def spectrum_of_rows(rows: Rows, intercept: bool, penalty: float) -> Spectrum:
    """The spectrum of rows in ordinary range; `penalty` is the least one of interest."""
    n, p = rows.X.shape
    if n < p + intercept:
        return row_side(rows, intercept)[0]
    blocks = Blocks.of_arrays(*rows)
    equations = NormalEquations.of(total_moments(blocks), p, intercept)
    spectrum = gram_spectrum(equations, penalty, GRAM_LIMIT)
    return orthogonal_spectrum(blocks, equations) if isinstance(spectrum, float) else spectrum


def gram_spectrum(equations: NormalEquations, penalty: float, limit: float) -> Spectrum | float:
    """From the normal equations, or their condition number if that is above the limit.

    It is that of the design with its columns scaled to one length, or as they are with the
    penalty as further rows, whichever is less.
    """
    level = equations.level / equations.weight * equations.intercept
    if not equations.varying().any():  # what seems to be there is rounding error
        p, nothing = len(equations.gram), np.zeros_like(equations.right)
        return Spectrum(np.eye(p), np.zeros(p), nothing, equations.centre, level)
    square, vectors = eigh(equations.gram, check_finite=False)
    spectrum = Spectrum(
        vectors[:, ::-1],
        np.maximum(square[::-1], 0.0),
        vectors[:, ::-1].T @ equations.right,
        equations.centre,
        level,
    )
    condition = spectrum.condition(penalty)
    if condition <= limit:
        return spectrum
    triangle = cholesky_triangle(equations, np.zeros(len(square)))
    if triangle is None:
        return condition
    scaled_condition = float(np.sqrt(triangle.rate / (10 * ROUNDING)))
    if scaled_condition > limit:
        return min(condition, scaled_condition)
    R = triangle.R[equations.intercept :, equations.intercept :]
    along = solve_triangular(R, equations.right / triangle.scale[:, np.newaxis], trans=1)
    return _triangle_spectrum(R * triangle.scale, along, equations.centre, level)


def orthogonal_spectrum(blocks: Blocks, equations: NormalEquations) -> Spectrum:
    """From the triangular factor of the centred design."""
    p, first = len(equations.centre), int(equations.intercept)
    R = triangular_factor(
        blocks, equations.centre, np.ones(p), intercept=equations.intercept, with_y=True
    )
    inner = slice(first, first + p)
    level = equations.level / equations.weight * equations.intercept
    return _triangle_spectrum(R[inner, inner], R[inner, first + p :], equations.centre, level)


def _triangle_spectrum(R: Floats, along: Floats, centre: Floats, level: Floats) -> Spectrum:
    """From Z = QR and along = Q'v."""
    singular, left, right, work, _, _ = dgejsv(R, joba=0, jobu=0, jobv=0, jobr=0, jobt=0, jobp=0)
    singular = singular * (work[0] / work[1])
    return Spectrum(right, singular**2, singular[:, np.newaxis] * (left.T @ along), centre, level)


def row_side(rows: Rows, intercept: bool) -> tuple[Spectrum, Floats]:
    """From the rows, where there are fewer of them than coefficients; with the left vectors U."""
    total = rows.weight.sum()
    centre = rows.weight @ rows.X / total * intercept
    level = rows.weight @ rows.y / total * intercept
    root = np.sqrt(rows.weight)[:, np.newaxis]
    Z = (rows.X - centre) * root
    left, square = row_spectrum(Z, intercept)
    projection = left.T @ ((rows.y - level) * root)
    return Spectrum(Z.T @ left, square, projection, centre, level), left


def square_range(rows: Rows, intercept: bool) -> tuple[float, float]:
    """Of the squared singular values of the design, the sum and a lower bound of the least.

    Constant columns do not count. The bound is 1 / trace of the inverse of the gram matrix, within
    a factor p of the truth; where that does not exist or has no correct digit, a millionth of the
    least square of a column.
    """
    rows = without_constants(rows, intercept)
    n, p = rows.X.shape
    triangle = None
    if n < p + intercept:
        centre = rows.weight @ rows.X / rows.weight.sum() * intercept
        square = rows.weight @ (rows.X - centre) ** 2
    else:
        equations = NormalEquations.of(total_moments(Blocks.of_arrays(*rows)), p, intercept)
        square = np.diagonal(equations.gram)
        triangle = cholesky_triangle(equations, np.zeros(p))
    square = square[square > 0]
    if len(square) == 0:
        return 1.0, 1.0
    if triangle is None:
        return float(square.sum()), float(square.min()) * 1e-6
    return float(square.sum()), 1 / float(triangle.inverse_diagonal().sum())


def without_constants(rows: Rows, intercept: bool) -> Rows:
    """Without the columns that make no difference: constant, or without an intercept zero.

    If all are such, zeros stand for them: some column there must be.
    """
    low, high = rows.X.min(axis=0), rows.X.max(axis=0)
    matter = low < high if intercept else (low != 0) | (high != 0)
    if matter.all():
        return rows
    if not matter.any():
        return rows._replace(X=np.zeros_like(rows.X))
    return rows._replace(X=np.ascontiguousarray(rows.X[:, matter]))
