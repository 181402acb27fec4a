"""The lasso and the elastic net for a design of many columns: the Gram matrix grows as needed.

Of all columns only those are let in that the strong rule (Tibshirani et al. 2012) does not exclude.
The rule may err, so all columns are looked at after the fits, several at a time because reading
them all is what costs; those that violate the optimality conditions come in.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from empirisk.compiled.lasso import duality_gap
from empirisk.compiled.lasso_rows import sweep_rows
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.solvers.lasso import (
    ENORMOUS,
    GramProblem,
    Penalty,
    Solutions,
    Stopping,
    downwards,
    largest_alpha,
)

NEAR = 0.75
"""Columns whose correlation with the residual is below this part of alpha wait until asked for."""
FINE = 0.85  # ratio of the penalties on the way to the first one that is wanted
SLACK = 1e-13  # rounding error of a correlation
MOST_COLUMNS = 4096  # of a Gram matrix that grows
MOST_NUMBERS = 2**27  # of a Gram matrix that all columns without a threshold enter at once: 1 GB
AT_ONCE = 8  # penalties solved between two looks at all columns
FEW_COLUMNS = 64  # let in together at any time


class Solved(NamedTuple):
    """Coefficients at one penalty, iterations, duality gap, and whether it was reached."""

    coef: Floats
    sweeps: int
    gap: float
    reached: bool


def columns_path(
    columns: Floats, y: Floats, alphas: Floats, penalty: Penalty, stopping: Stopping
) -> Solutions:
    """Solutions at all alphas; the design is given as the rows of `columns` (p, n)."""
    growing = GrowingProblem(columns, y, penalty, stopping)
    found = Solutions.none_yet(len(alphas), len(columns))
    steps = list(downwards(alphas, growing.last, FINE))
    done, at_once = 0, 1
    while done < len(steps):
        before = len(growing.working)
        several = steps[done : done + at_once]
        accepted = growing.advance([alpha for _, alpha in several])
        for (at, _), solved in zip(several, accepted, strict=False):
            if at >= 0:
                found.enter(at, solved.coef, solved.gap, solved.sweeps, solved.reached)
        done += len(accepted)
        quiet = len(growing.working) - before <= len(accepted)
        at_once = AT_ONCE if quiet else 1
    return found


class GrowingProblem:
    """The problem for the columns that have been needed so far: `working` are their indices.

    `correlation` is that of all columns with the residual at the penalty `last`.
    """

    def __init__(self, columns: Floats, y: Floats, penalty: Penalty, stopping: Stopping) -> None:
        self.columns, self.y, self.square = columns, y, float(y @ y)
        self.penalty, self.stopping = penalty, stopping
        self.length = np.sqrt(np.einsum("ji,ji->j", columns, columns))
        self.right = self.correlation = columns @ y
        self.outside = self.length > 0
        self.working, self.rows = np.empty(0, dtype=np.int64), np.empty((0, len(y)))
        self.problem = GramProblem(np.empty((0, 0)), np.empty(0), self.square)
        self.whole: Floats | None = None
        self.last = ENORMOUS
        free = np.flatnonzero((penalty.l1 == 0) & self.outside)
        if len(free):
            _refuse_too_many(len(free))
            self.let_in(free)
            self.problem.solve(np.zeros(len(free)), np.zeros(len(free)), penalty.positive, stopping)
            self.correlation = self._correlations(self.problem.coef[np.newaxis])[0]
        self.last = largest_alpha(self.correlation, penalty)

    def let_in(self, new: Ints) -> None:
        """Enlarge the Gram matrix by columns."""
        m, d = len(self.working), len(new)
        if m + d > len(self.rows):
            self.rows = np.concatenate([self.rows[:m], np.empty((m + 2 * d, len(self.y)))])
        self.rows[m : m + d] = self.columns[new]
        self.working = np.append(self.working, new)
        self.outside[new] = False
        products = self.rows[m : m + d] @ self.rows[: m + d].T
        start = self.penalty.thresholds(self.last)[self.working]
        self.problem.extend(products, self.right[new], start)

    def advance(self, alphas: Sequence[float]) -> list[Solved]:
        """Solve at the next alphas, or at fewer of them if columns were missing."""
        alphas, new = self._affordable(alphas)
        if len(self.working) + len(new) > MOST_COLUMNS:
            return [self._by_rows(alphas[0])]
        if len(new):
            self.let_in(new)
        solved = []
        for alpha in alphas:
            check_deadline()
            threshold = self.penalty.thresholds(alpha)[self.working]
            ridge = self.penalty.ridge(alpha)[self.working]
            result = self.problem.solve(threshold, ridge, self.penalty.positive, self.stopping)
            solved.append(Solved(self.problem.coef.copy(), *result))
        correlations = self._correlations(np.stack([one.coef for one in solved]))
        for at, alpha in enumerate(alphas):
            self.last, self.correlation = alpha, correlations[at]
            if self._violated():
                self.problem.coef[:] = solved[at].coef
                self.problem.start = self.penalty.thresholds(alpha)[self.working]
                del solved[at:]
                break
        return [one._replace(coef=self._spread(one.coef)) for one in solved]

    def _affordable(self, alphas: Sequence[float]) -> tuple[Sequence[float], Ints]:
        """The alphas, or only the first if they ask for many columns, and these columns."""
        with np.errstate(over="ignore"):
            strong = self.penalty.thresholds(2 * alphas[-1] - self.last)
            near = NEAR * self.penalty.thresholds(alphas[-1])
        new = np.flatnonzero(self.outside & (self._slope() >= np.maximum(strong, near)))
        few = FEW_COLUMNS + len(self.working) // 2
        if len(new) > few and len(alphas) > 1:
            return self._affordable(alphas[:1])
        if len(new) > few:  # if it was not enough, the others will ask for it
            new = np.sort(new[np.argsort(-self._slope()[new], kind="stable")[:few]])
        return alphas, new

    def _correlations(self, coef: Floats) -> Floats:
        """Of all columns with the residuals of some coefficients (fits, working columns)."""
        return (self.y - coef @ self.rows[: coef.shape[1]]) @ self.columns.T

    def _slope(self) -> Floats:
        return self.correlation if self.penalty.positive else np.abs(self.correlation)

    def _violated(self) -> bool:
        """Whether a column that was left out should not have been."""
        allowed = self.penalty.thresholds(self.last) + SLACK * self.length * np.sqrt(self.square)
        return bool((self.outside & (self._slope() > allowed)).any())

    def _spread(self, working: Floats) -> Floats:
        coef = np.zeros(len(self.columns))
        coef[self.working] = working
        return coef

    def _by_rows(self, alpha: float) -> Solved:
        """Without a Gram matrix: so many columns are needed that it would not fit."""
        threshold, ridge = self.penalty.thresholds(alpha), self.penalty.ridge(alpha)
        coef = self._spread(self.problem.coef) if self.whole is None else self.whole
        self.last, self.whole, positive = alpha, coef, self.penalty.positive
        residual = self.y - coef @ self.columns
        square, sweeps, goal = self.length**2, 0, self.stopping.tol * self.square
        args = self.columns, square, ridge, threshold, positive
        while True:
            check_deadline()
            first = sweep_rows(*args, False, coef, residual)
            sweeps += 1
            while sweeps < self.stopping.max_iter:
                sweeps += 1
                if sweep_rows(*args, True, coef, residual) <= 0.1 * first:
                    break
            self.correlation = self.columns @ residual - ridge * coef
            gap = duality_gap(
                square, self.right, threshold, positive, self.square, coef, self.correlation
            )
            if gap <= goal or sweeps >= self.stopping.max_iter:
                return Solved(coef.copy(), sweeps, gap, gap <= goal)


def _refuse_too_many(free: int) -> None:
    if free**2 > MOST_NUMBERS:
        raise ParameterError(
            f"{free:,} columns have no penalty on |b_j|, and a matrix of all their pairs takes "
            f"{8e-9 * free**2:.2g} GB: use Ridge, or set l1_ratio or their penalty_factor above 0"
        )
