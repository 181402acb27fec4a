"""Least squares with L1 and L2 penalties, for many penalties at once.

Minimise for each alpha

    |y - Xb|^2 / 2 + alpha sum_j (l1_j |b_j| + l2_j b_j^2 / 2)

from large to small alpha, each starting where the last one ended, from the Gram matrix X'X. Where
there are too many columns for it, see `lasso_columns`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from empirisk.compiled.lasso import lasso_path_on_gram
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import slices

ENORMOUS = 1e300  # stands for infinity, but times 0 it is 0
NUMBERS_AT_ONCE = 2**22  # of Gram matrices that are gone through between two looks at the clock
COARSE = 0.5  # ratio of the penalties on the way to the first one that is wanted


class Penalty(NamedTuple):
    """How much each column counts in both penalties, and whether coefficients must be >= 0."""

    l1: Floats
    l2: Floats
    positive: bool

    def thresholds(self, alpha: float | Floats) -> Floats:
        """Of each column; of several alphas in a column, (alphas, p)."""
        return _at_most_enormous(alpha, self.l1)

    def ridge(self, alpha: float | Floats) -> Floats:
        """The same for the squares."""
        return _at_most_enormous(alpha, self.l2)


def _at_most_enormous(alpha: float | Floats, factor: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(alpha * factor, ENORMOUS)


class Stopping(NamedTuple):
    """At which duality gap, relative to |y|^2, or after how many iterations."""

    tol: float
    max_iter: int


class Solutions(NamedTuple):
    """Coefficients (alphas, p); for each alpha duality gap, iterations, whether it was solved."""

    coef: Floats
    gap: Floats
    sweeps: Ints
    reached: Bools

    @classmethod
    def none_yet(cls, n_alphas: int, p: int) -> "Solutions":
        return cls(
            np.zeros((n_alphas, p)),
            np.zeros(n_alphas),
            np.zeros(n_alphas, dtype=np.int64),
            np.zeros(n_alphas, dtype=bool),
        )

    def enter(self, at: int, coef: Floats, gap: float, sweeps: int, reached: bool) -> None:
        self.coef[at], self.gap[at], self.sweeps[at], self.reached[at] = coef, gap, sweeps, reached


class GramProblem:
    """The problem for a Gram matrix, and what is kept from one penalty to the next.

    There may be room for more columns than there are: only gram[:m, :m] counts.
    """

    def __init__(self, gram: Floats, right: Floats, square: float) -> None:
        self.gram, self.right, self.square = gram, right, square
        self.coef, self.gradient = np.zeros(len(right)), right.copy()
        self.start: Floats | None = None
        self.ridge = np.zeros(len(right))
        self.factor = np.empty_like(gram)
        self.order, self.size = np.empty(len(gram), dtype=np.int64), np.zeros(1, dtype=np.int64)

    def solve(
        self, threshold: Floats, ridge: Floats, positive: bool, stopping: Stopping
    ) -> tuple[int, float, bool]:
        """Move `coef` to the minimiser; iterations, duality gap and whether it was reached."""
        found = self.solve_all(threshold[np.newaxis], ridge[np.newaxis], positive, stopping)
        return int(found.sweeps[0]), float(found.gap[0]), bool(found.reached[0])

    def solve_all(
        self, thresholds: Floats, ridges: Floats, positive: bool, stopping: Stopping
    ) -> Solutions:
        """Move `coef` to the minimiser at one penalty after the other, a row of both for each."""
        if not np.array_equal(ridges[0, : len(self.ridge)], self.ridge):
            self.size[0] = 0  # the factor is that of another matrix
        found = Solutions.none_yet(*thresholds.shape)
        lasso_path_on_gram(
            self.gram,
            self.right,
            ridges,
            thresholds[0] if self.start is None else self.start,
            thresholds,
            positive,
            self.square,
            stopping.tol,
            stopping.max_iter,
            self.coef,
            self.gradient,
            self.factor,
            self.order,
            self.size,
            *found,
        )
        self.ridge, self.start = ridges[-1], thresholds[-1]
        return found

    def extend(self, products: Floats, right: Floats, start: Floats) -> None:
        """Let columns in: their products with all columns, themselves last."""
        m, d = len(self.right), len(right)
        if m + d > len(self.gram):
            self._make_room(2 * (m + d))
        self.gram[m : m + d, : m + d] = products
        self.gram[:m, m : m + d] = products[:, :m].T
        self.right = np.append(self.right, right)
        self.coef = np.append(self.coef, np.zeros(d))
        self.gradient = np.empty(m + d)
        self.start = start

    def _make_room(self, capacity: int) -> None:
        m = len(self.gram)
        for name in ("gram", "factor"):
            larger = np.empty((capacity, capacity))
            larger[:m, :m] = getattr(self, name)
            setattr(self, name, larger)
        self.order = np.append(self.order, np.empty(capacity - m, dtype=np.int64))


def largest_alpha(right: Floats, penalty: Penalty) -> float:
    """The least alpha at which every coefficient is zero, given X'y; 0 if none ever is not."""
    slope = np.maximum(right, 0.0) if penalty.positive else np.abs(right)
    wanted = (penalty.l1 > 0) & (slope > 0)
    with np.errstate(over="ignore"):
        return float((slope[wanted] / penalty.l1[wanted]).max(initial=0.0))


def without_penalised(gram: Floats, right: Floats, square: float, penalty: Penalty) -> Floats:
    """X'r for the residuals r of the fit on the columns that are free of penalty."""
    if (penalty.l1 > 0).all():
        return right
    problem = GramProblem(gram, right, square)
    threshold = np.where(penalty.l1 > 0, ENORMOUS, 0.0)
    problem.solve(threshold, np.zeros(len(right)), penalty.positive, Stopping(1e-12, 1000))
    return problem.gradient


def gram_path(
    gram: Floats,
    right: Floats,
    square: float,
    alphas: Floats,
    penalty: Penalty,
    stopping: Stopping,
    start: Floats | None = None,
) -> Solutions:
    """Solutions at all alphas, in the order given; gram = X'X, right = X'y, square = y'y.

    Examples
    --------
    >>> both = Penalty(np.ones(2), np.zeros(2), False)
    >>> alphas, stopping = np.array([3.0, 1.0]), Stopping(1e-8, 100)
    >>> gram_path(np.eye(2), np.array([2.0, -4.0]), 20.0, alphas, both, stopping).coef
    array([[ 0., -1.],
           [ 1., -3.]])
    """
    problem = GramProblem(gram, right, square)
    found = Solutions.none_yet(len(alphas), len(right))
    if start is None:
        first = largest_alpha(without_penalised(gram, right, square, penalty), penalty)
    else:
        first = 0.0
        problem.coef[:] = start
    steps = list(downwards(alphas, first, COARSE))
    for some in slices(len(steps), max(1, NUMBERS_AT_ONCE // max(len(right), 1) ** 2)):
        check_deadline()
        places, penalties = (np.array(part) for part in zip(*steps[some], strict=True))
        thresholds, ridges = (
            penalty.thresholds(penalties[:, None]),
            penalty.ridge(penalties[:, None]),
        )
        solved = problem.solve_all(thresholds, ridges, penalty.positive, stopping)
        for whole, part in zip(found, solved, strict=True):
            whole[places[places >= 0]] = part[places >= 0]
    return found


def downwards(alphas: Floats, first: float, ratio: float) -> Iterator[tuple[int, float]]:
    """The alphas from large to small with their places; before them, steps to come there (-1)."""
    order = np.argsort(-alphas, kind="stable")
    step, least = first * ratio, max(float(alphas.max(initial=0.0)), first * 1e-6)
    while step > least:
        yield -1, step
        step *= ratio
    for at in order:
        yield int(at), float(alphas[at])
