"""How rows move the risk of a linear classifier through its coefficients.

See `risk/intervals/influence.py`. The direction v = (H + P'')^-1 g is found by conjugate gradients,
among the coefficients that are not zero; a row with the derivatives r_i of its training loss by its
scores then has t_i = mean_j r_j'v(x_j) - r_i'v(x_i).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from empirisk.losses import Loss, ZeroOne
from empirisk.losses.classification import ProbabilityLoss
from empirisk.risk.intervals.influence import Influence
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline

STEPS = 100
ACCURATE = 1e-3
"""Of conjugate gradients: an interval need not be more exact."""
STEP = 1e-5
"""Of central differences, in units of scores."""


def score_slopes(
    loss: Loss, y: Ints, scores: Floats, basis: Floats, predict: Callable[[Floats], Floats]
) -> Floats | None:
    """The derivatives of the losses by the scores (rows, scores); None where they have none.

    `predict` gives probabilities; class scores, the largest of which decides, are scores @ basis'.
    """
    if isinstance(loss, ZeroOne):
        return _crossing_slopes(y, scores @ basis.T) @ basis
    if not isinstance(loss, ProbabilityLoss):
        return None
    steps = STEP * np.eye(scores.shape[1])
    slopes = [
        (loss(y, predict(scores + step)) - loss(y, predict(scores - step))) / (2 * STEP)
        for step in steps
    ]
    return np.stack(slopes, axis=1)


def _crossing_slopes(y: Ints, scores: Floats) -> Floats:
    """Of the 0-1 loss, smoothed: minus the density of margins at 0, by which rows cross.

    A Gaussian kernel, its bandwidth by the spread of margins within classes (Silverman 1986).
    """
    rows = np.arange(len(y))
    others = scores.copy()
    others[rows, y] = -np.inf
    rival = others.argmax(axis=1)
    margin = scores[rows, y] - scores[rows, rival]
    size = np.bincount(y)
    centred = margin - (np.bincount(y, margin) / np.maximum(size, 1))[y]
    bandwidth = 1.06 * len(y) ** -0.2 * float(np.sqrt(np.mean(centred**2)))
    slopes = np.zeros_like(scores)
    if bandwidth > 0:
        density = np.exp(-((margin / bandwidth) ** 2) / 2) / (np.sqrt(2 * np.pi) * bandwidth)
        slopes[rows, y], slopes[rows, rival] = -density, density
    return slopes


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores (rows, scores) of coordinates, a flat matrix (scores, columns + 1) or, without an
    intercept, (scores, columns)."""

    X: Floats
    centre: Floats
    n_scores: int
    fit_intercept: bool

    def of(self, theta: Floats) -> Floats:
        matrix = theta.reshape(self.n_scores, -1)
        coef = np.ascontiguousarray(matrix[:, : self.X.shape[1]])
        constant = matrix[:, -1] if self.fit_intercept else 0.0
        return self.X @ coef.T + (constant - coef @ self.centre)

    def back(self, per_row: Floats) -> Floats:
        """The adjoint of `of`."""
        total = per_row.sum(axis=0)
        coef = per_row.T @ self.X - np.outer(total, self.centre)
        matrix = np.column_stack([coef, total]) if self.fit_intercept else coef
        return np.ascontiguousarray(matrix).reshape(-1)


def row_influence(
    scores: Scores,
    slopes: Floats,
    share: Floats,
    residual: Floats,
    bend: Callable[[Floats], Floats],
    l2: Floats,
    free: Array,
) -> Influence:
    """Of a risk with these `slopes` by the scores, a mean with weights `share`.

    The rule minimises a sum of losses, of which `residual` are the first derivatives and `bend`
    multiplies by the second ones, and l2 b^2 / 2 for each coordinate; those move that are `free`.
    """
    where = np.flatnonzero(free)
    along = np.zeros(len(free))

    def product(direction: Floats) -> Floats:
        check_deadline()
        along[where] = direction
        return (scores.back(bend(scores.of(along))) + l2 * along)[where]

    gradient = scores.back(share[:, np.newaxis] * slopes)[where]
    operator = LinearOperator((len(where), len(where)), matvec=product, dtype=float)
    with np.errstate(all="ignore"):  # without curvature there is no step
        solution = cg(operator, gradient, rtol=ACCURATE, maxiter=STEPS)[0] if len(where) else 0.0
    along[where] = np.nan_to_num(solution, posinf=0.0, neginf=0.0)
    pull = np.einsum("ij,ij->i", residual, scores.of(along))
    rise = float(pull.sum())
    return Influence(rise - pull / share, rise)
