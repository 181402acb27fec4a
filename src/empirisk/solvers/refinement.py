"""Iterative refinement of least squares with residuals and gradients in double-double arithmetic.

The coefficients b (with the intercept as the last of them) minimise

    sum_i w_i (y_i - x_i'b)^2 + sum_j penalty_j b_j^2

exactly where the gradient X'W(y - Xb) - penalty * b vanishes. Given any triangular R with R'R close
to X'WX + diag(penalty), the iteration

    b  <-  b + (R'R)^-1 (X'W(y - Xb) - penalty * b)

shrinks the error, measured by the change it makes in the predictions, by a factor of about
condition number * 1e-16 each time, if only the gradient is exact enough (Björck 1987, "corrected
seminormal equations"). So here it is computed with twice the usual digits, from the data as they
came, and the coefficients are carried with twice the usual digits too.
"""

from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from empirisk.compiled.double_double import (
    add_pairs,
    add_products,
    residuals,
    scale_pairs,
    transposed_product,
)
from empirisk.data.blocks import Blocks, Rows
from empirisk.runtime.arrays import Floats

MOST_PASSES = 50
SETTLED = 1e-12
ROUNDING = 2.0**-53
TINY = np.finfo(float).tiny


class Pairs(NamedTuple):
    """Numbers with twice the usual digits, hi + lo: two contiguous arrays, changed in place."""

    hi: Floats
    lo: Floats

    @classmethod
    def of(cls, numbers: Floats) -> "Pairs":
        return cls(np.array(numbers, dtype=float, order="C"), np.zeros(numbers.shape))

    def add(self, other: "Pairs") -> None:
        add_pairs(*map(np.ravel, (*self, *other)))

    def add_products(self, factor: Floats, other: "Pairs") -> None:
        """Add factor * other, element by element."""
        others = (np.broadcast_to(part, self.hi.shape).flatten() for part in (factor, *other))
        add_products(self.hi.ravel(), self.lo.ravel(), *others)


class Triangle(NamedTuple):
    """R such that R'R is close to Z'WZ for the columns Z = [1, (X - centre) / scale].

    Without an intercept the column of ones is not there and the centre is 0. `rate` is about what
    one step of refinement leaves of the error.
    """

    R: Floats
    centre: Floats
    scale: Floats
    intercept: bool
    rate: float

    @property
    def natural(self) -> Floats:
        """Sizes of coefficients, the intercept last, that make a difference of about 1."""
        return np.append(1.0 / self.scale, 1.0 / self.R[0, 0])

    def solve(self, gradient: Pairs) -> tuple[Floats, Floats]:
        """The step in the coefficients (outputs, p + 1), and its length in the predictions."""
        return self.solve_scaled(right_side(gradient, self.centre, self.scale, self.intercept))

    def solve_scaled(self, right: Floats) -> tuple[Floats, Floats]:
        """The same from the right-hand side Z'Wy of the normal equations."""
        half = solve_triangular(self.R, right, trans=1, check_finite=False)
        step = solve_triangular(self.R, half, check_finite=False)
        coef = step[self.intercept :].T / self.scale
        level = np.zeros((len(coef), 1))
        if self.intercept:
            level = step[:1].T - coef @ self.centre[:, np.newaxis]
        return np.hstack([coef, level]), np.linalg.norm(half, axis=0)

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse that R stands for, for the columns of X as they are."""
        inverse = dtrtri(self.R)[0][self.intercept :, self.intercept :]
        return ((inverse / self.scale[:, np.newaxis]) ** 2).sum(axis=1)


class Solver(Protocol):
    """What solves the normal equations: a `Triangle`, or a spectrum."""

    @property
    def rate(self) -> Any:
        """About what one step of refinement leaves of the error, of all outputs or of each."""

    @property
    def scale(self) -> Floats: ...

    @property
    def natural(self) -> Floats: ...

    def solve(self, gradient: Pairs) -> tuple[Floats, Floats]: ...

    def solve_scaled(self, right: Floats) -> tuple[Floats, Floats]: ...


def right_side(gradient: Pairs, centre: Floats, scale: Floats, intercept: bool) -> Floats:
    """Z'Wr (1 + p, outputs) from [X, 1]'Wr, for Z = [1, (X - centre) / scale]."""
    slope = Pairs(gradient.hi[:, :-1].copy(), gradient.lo[:, :-1].copy())
    level = Pairs(gradient.hi[:, -1:], gradient.lo[:, -1:])
    if not intercept:
        return (slope.hi / scale).T
    slope.add_products(-centre, level)
    return np.vstack([level.hi.T, (slope.hi / scale).T])


def refine(
    blocks: Blocks,
    coef: Pairs,
    solver: Solver,
    penalty: Floats,
    length_of_y: Floats,
    *,
    n_jobs: int | None = None,
) -> bool:
    """Improve the coefficients (outputs, p + 1) in place; False if they do not settle.

    The penalty is that of each column (p,), or of each output and column (outputs, p).
    Each pass over the data gives one step. The passes end when the next step could not change
    the rounded coefficients, or when the steps stop shrinking. A coefficient of 0 need not have
    correct digits: it may be off by a rounding error of the rounding error of a natural one.
    """
    floor = ROUNDING * np.multiply.outer(length_of_y, solver.natural)
    last = np.full(len(coef.hi), np.inf)
    rate = np.full(len(coef.hi), solver.rate)
    for _ in range(MOST_PASSES):
        slope = gradient(blocks, coef, penalty, n_jobs=n_jobs)
        step, length = solver.solve(slope)
        shrinking = length < last / 2
        if not shrinking.any():
            break
        coef.add(Pairs.of(np.where(shrinking[:, np.newaxis], step, 0.0)))
        rate[shrinking] = np.maximum(rate, length / np.maximum(last, TINY))[shrinking]
        last = np.where(shrinking, length, last)
        ahead = np.abs(step) * rate[:, np.newaxis]
        if (ahead <= ROUNDING / 16 * np.maximum(np.abs(coef.hi), floor)).all():
            return True
    return bool((last <= SETTLED * length_of_y).all())


def gradient(blocks: Blocks, coef: Pairs, penalty: Floats, *, n_jobs: int | None = None) -> Pairs:
    """[X, 1]'W(y - [X, 1]b) - penalty * b for every output: (outputs, p + 1)."""
    total = Pairs.of(np.zeros(coef.hi.shape))
    for part in blocks.each(partial(_block_gradient, coef), n_jobs=n_jobs):
        total.add(part)
    if penalty.any():
        pull = np.zeros(coef.hi.shape)
        pull[:, :-1] = -penalty
        total.add_products(pull, coef)
    return total


def _block_gradient(coef: Pairs, rows: Rows) -> Pairs:
    y = np.ascontiguousarray(rows.y.T)
    remainder = Pairs(np.empty(y.shape), np.empty(y.shape))
    residuals(rows.X, y, *coef, *remainder)
    scale_pairs(*remainder, rows.weight)
    result = Pairs(np.empty(coef.hi.shape), np.empty(coef.hi.shape))
    transposed_product(rows.X, *remainder, *result)
    return result
