"""Least squares with L1 and L2 penalties, for many penalties at once.

Minimise for each alpha

    |y - Xb|^2 / 2 + alpha sum_j (l1_j |b_j| + l2_j b_j^2 / 2)

from large to small alpha, each starting where the last one ended. Either the whole Gram matrix X'X
is at hand (`gram_path`), or it grows with the columns that may be needed (`columns_path`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from empirisk.compiled.lasso import duality_gap, lasso_on_gram
from empirisk.compiled.lasso_rows import sweep_rows
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.deadlines import check_deadline

ENORMOUS = 1e300  # stands for infinity, but times 0 it is 0
COARSE = 0.5  # ratio of the penalties on the way to the first one that is wanted
NEAR = 0.75
"""Columns whose correlation with the residual is below this part of alpha wait until asked for."""
SLACK = 1e-13  # rounding error of a correlation
MOST_COLUMNS = 4096  # of a Gram matrix that grows


class Penalty(NamedTuple):
    """How much each column counts in both penalties, and whether coefficients must be >= 0."""

    l1: Floats
    l2: Floats
    positive: bool

    def thresholds(self, alpha: float) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(alpha * self.l1, ENORMOUS)

    def ridge(self, alpha: float) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(alpha * self.l2, ENORMOUS)


class Stopping(NamedTuple):
    """At which duality gap, relative to |y|^2, or after how many sweeps."""

    tol: float
    max_iter: int


class Solutions(NamedTuple):
    """Coefficients (alphas, p); for each alpha duality gap, sweeps, and whether it was solved."""

    coef: Floats
    gap: Floats
    sweeps: Ints
    reached: Bools


class GramProblem:
    """The problem for a Gram matrix, and what is kept from one penalty to the next."""

    def __init__(self, gram: Floats, right: Floats, square: float) -> None:
        m = len(right)
        self.gram, self.right, self.square = gram, right, square
        self.coef, self.gradient = np.zeros(m), right.copy()
        self._room()

    def _room(self) -> None:
        m = len(self.gram)
        self.factor, self.part = np.empty((m, m)), np.empty((m, m))
        self.order, self.size = np.empty(m, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.place, self.compact = np.empty((2, m), dtype=np.int64), np.empty((5, m))

    def solve(
        self, threshold: Floats, ridge: Floats, positive: bool, stopping: Stopping
    ) -> tuple[int, float, bool]:
        """Move `coef` to the minimiser; sweeps, duality gap and whether it was reached."""
        if ridge.any():  # the matrix itself is another one
            self.size[0] = 0
        return lasso_on_gram(
            self.gram,
            self.right,
            ridge,
            threshold,
            positive,
            self.square,
            stopping.tol,
            stopping.max_iter,
            self.coef,
            self.gradient,
            self.factor,
            self.order,
            self.size,
            self.part,
            self.place,
            self.compact,
        )


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
    found = _empty(len(alphas), len(right))
    if start is None:
        first = largest_alpha(without_penalised(gram, right, square, penalty), penalty)
    else:
        first = 0.0
        problem.coef[:] = start
    for at, alpha in _downwards(alphas, first):
        check_deadline()
        args = penalty.thresholds(alpha), penalty.ridge(alpha), penalty.positive, stopping
        sweeps, gap, reached = problem.solve(*args)
        if at is not None:
            _enter(found, at, problem.coef, gap, sweeps, reached)
    return found


def columns_path(
    columns: Floats, y: Floats, alphas: Floats, penalty: Penalty, stopping: Stopping
) -> Solutions:
    """The same for a design with many columns, given as the rows of `columns` (p, n).

    The Gram matrix grows by the columns that the strong rule (Tibshirani et al. 2012) lets
    through: |x_j'r| >= (2 alpha - last alpha) l1_j. The rule may err, so all columns are looked at
    after each fit, and those that violate the optimality conditions come in.
    """
    growing = GrowingProblem(columns, y, np.flatnonzero(penalty.l1 == 0))
    found = _empty(len(alphas), len(columns))
    if len(growing.working):
        everything = np.full(len(columns), ENORMOUS), np.zeros(len(columns))
        growing.solve(np.where(penalty.l1 > 0, *everything), everything[1], penalty, stopping)
    last = largest_alpha(growing.correlation, penalty)
    for at, alpha in _downwards(alphas, last):
        check_deadline()
        sweeps, gap, reached = growing.advance(alpha, last, penalty, stopping)
        last = alpha
        if at is not None:
            _enter(found, at, growing.coef(), gap, sweeps, reached)
    return found


class GrowingProblem:
    """The problem for the columns that have been needed so far: `working` are their indices."""

    def __init__(self, columns: Floats, y: Floats, working: Ints) -> None:
        self.columns, self.y, self.square = columns, y, float(y @ y)
        self.length = np.sqrt(np.einsum("ji,ji->j", columns, columns))
        self.correlation = columns @ y
        self.right = self.correlation.copy()
        self.outside = np.ones(len(columns), dtype=bool)
        self.working = np.empty(0, dtype=np.int64)
        self.rows = np.empty((0, len(y)))
        self.problem = GramProblem(np.empty((0, 0)), np.empty(0), self.square)
        self.whole: Floats | None = None
        self.grow(working)

    def coef(self) -> Floats:
        if self.whole is not None:
            return self.whole
        coef = np.zeros(len(self.columns))
        coef[self.working] = self.problem.coef
        return coef

    def grow(self, new: Ints) -> None:
        """Let columns in."""
        if len(new) == 0:
            return
        m, d, old = len(self.working), len(new), self.problem
        rows = self.columns[new]
        gram = np.empty((m + d, m + d))
        gram[:m, :m] = old.gram
        gram[m:, m:] = rows @ rows.T
        gram[m:, :m] = rows @ self.rows.T
        gram[:m, m:] = gram[m:, :m].T
        self.working = np.append(self.working, new)
        self.outside[new] = False
        self.rows = np.concatenate([self.rows, rows])
        self.problem = GramProblem(gram, self.right[self.working], self.square)
        self.problem.coef[:m] = old.coef
        self.problem.factor[:m, :m] = old.factor
        self.problem.order[:m], self.problem.size[0] = old.order, old.size[0]

    def advance(
        self, alpha: float, last: float, penalty: Penalty, stopping: Stopping
    ) -> tuple[int, float, bool]:
        """Solve at the next alpha."""
        threshold, ridge = penalty.thresholds(alpha), penalty.ridge(alpha)
        with np.errstate(over="ignore"):
            let_in = np.maximum(penalty.thresholds(2 * alpha - last), NEAR * threshold)
        strong = self.outside & (self._slope(penalty) >= let_in) & (self.length > 0)
        self.grow(np.flatnonzero(strong))
        return self.solve(threshold, ridge, penalty, stopping)

    def solve(
        self, threshold: Floats, ridge: Floats, penalty: Penalty, stopping: Stopping
    ) -> tuple[int, float, bool]:
        total = 0
        allowed = threshold + SLACK * self.length * np.sqrt(self.square)
        while len(self.working) <= MOST_COLUMNS:
            own = self.working
            sweeps, gap, reached = self.problem.solve(
                threshold[own], ridge[own], penalty.positive, stopping
            )
            total += sweeps
            used = np.flatnonzero(self.problem.coef)
            residual = self.y - self.problem.coef[used] @ self.rows[used]
            self.correlation = self.columns @ residual
            wrong = np.flatnonzero(self.outside & (self._slope(penalty) > allowed))
            if len(wrong) == 0:
                return total, gap, reached
            self.grow(wrong)
        return self._by_rows(threshold, ridge, penalty, stopping)

    def _slope(self, penalty: Penalty) -> Floats:
        return self.correlation if penalty.positive else np.abs(self.correlation)

    def _by_rows(
        self, threshold: Floats, ridge: Floats, penalty: Penalty, stopping: Stopping
    ) -> tuple[int, float, bool]:
        """Without a Gram matrix: so many columns are needed that it would not fit."""
        coef = self.coef()
        self.whole = coef
        residual = self.y - coef @ self.columns
        square, gap = self.length**2, np.inf
        args = self.columns, square, ridge, threshold, penalty.positive
        sweeps = 0
        while True:
            check_deadline()
            first = sweep_rows(*args, False, coef, residual)
            sweeps += 1
            while sweeps < stopping.max_iter:
                sweeps += 1
                if sweep_rows(*args, True, coef, residual) <= 0.1 * first:
                    break
            self.correlation = self.columns @ residual - ridge * coef
            gap = duality_gap(
                square,
                self.right,
                threshold,
                penalty.positive,
                self.square,
                coef,
                self.correlation,
            )
            if gap <= stopping.tol * self.square or sweeps >= stopping.max_iter:
                return sweeps, gap, gap <= stopping.tol * self.square


def _empty(n_alphas: int, p: int) -> Solutions:
    return Solutions(
        np.zeros((n_alphas, p)),
        np.zeros(n_alphas),
        np.zeros(n_alphas, dtype=np.int64),
        np.zeros(n_alphas, dtype=bool),
    )


def _enter(found: Solutions, at: int, coef: Floats, gap: float, sweeps: int, reached: bool) -> None:
    found.coef[at], found.gap[at], found.sweeps[at], found.reached[at] = coef, gap, sweeps, reached


def _downwards(alphas: Floats, first: float) -> Iterator[tuple[int | None, float]]:
    """The alphas from large to small with their places; before the first, steps to come there."""
    order = np.argsort(-alphas, kind="stable")
    step, least = first * COARSE, max(float(alphas.max(initial=0.0)), first * 1e-6)
    while step > least:
        yield None, step
        step *= COARSE
    for at in order:
        yield int(at), float(alphas[at])
