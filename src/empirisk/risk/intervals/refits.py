"""Intervals that fit the learner many more times, on other plans of the same rows.

They are called by name: `cross_validate(..., method="nested")` or `method="conservative_z"`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from scipy import stats

from empirisk.risk.intervals.cautions import cautions
from empirisk.risk.intervals.interval import Interval, none
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.plans.plan import DEFAULT_FOLDS, Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import PlanError
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn

REPETITIONS = 50
HALVINGS = 10
INFINITE = "some losses are not finite"


@dataclass(frozen=True, eq=False)
class Refits:
    """A learner that can be judged on any partition: `losses` are (repeats, rows)."""

    table: LossTable
    plan: Plan
    problem: Problem
    losses: Callable[[Problem, Plan], Floats]
    random_state: Any

    @property
    def folds(self) -> int:
        """As many as the plan has; ten where it is no plan of a few folds."""
        few = self.plan.repeats == 1 and self.plan.n_splits <= 2 * DEFAULT_FOLDS
        return self.plan.n_splits if few else min(DEFAULT_FOLDS, self.table.units)

    def plans(self, n: int) -> list[Plan]:
        """n times the same number of folds, dealt anew."""
        seeds = spawn(0 if self.random_state is None else self.random_state, n)
        return [self.problem.plan(self.folds, random_state=seed) for seed in seeds]


def nested(refits: Refits, level: float) -> Interval:
    """Nested cross-validation (Bates, Hastie and Tibshirani 2024), its K folds dealt 50 times.

    For each fold k, `inside` is the mean loss by cross-validation of the other folds alone, and
    `outside` the mean loss on fold k of the model that those folds give. The mean squared error of
    cross-validation with n (K-1)/K rows is

        mean of (inside - outside)^2  -  mean of the squared standard error of `outside`,

    and with n rows (K-1)/K times that; its root is kept between the per-row standard error and
    sqrt(K) times it. `inside` is learned from n (K-2)/K rows, ordinary cross-validation from
    n (K-1)/K: if the risk falls as 1/n to its limit, with n rows it is

        inside - (1 + (K-2)/K) (inside - cross-validated).
    """
    table, K = refits.table, refits.folds
    per_row = table.standard_error()
    if K < 3 or table.are_equal or not per_row:
        return none(table, table.mean(), "nested cross-validation needs 3 folds and some spread")
    squares, inside, outside = [], [], []
    for plan in track(refits.plans(REPETITIONS), "nested cross-validation"):
        found = _one_nesting(refits, plan, per_row)
        squares.append(found.square)
        inside.append(found.inside)
        outside.append(found.outside)
    if not np.isfinite([*squares, *inside]).all():
        return none(table, table.mean(), INFINITE)
    square = (K - 1) / K * float(np.mean(squares))
    factor = min(max(sqrt(max(square, 0.0)), 1.0), sqrt(K))
    gap = float(np.mean(inside)) - float(np.mean(outside))
    centre = per_row * (float(np.mean(inside)) - (1 + (K - 2) / K) * gap)
    reason = f"{factor:.2f} times the per-row error, as inner and outer folds differ"
    return _normal(table, centre, factor * per_row, level, "nested cross-validation", reason)


@dataclass(frozen=True)
class Nesting:
    """Of one dealing of folds: the mean squared error, and the means inside and outside.

    All in units of the per-row standard error, so that no square overflows.
    """

    square: float
    inside: float
    outside: float


def _one_nesting(refits: Refits, plan: Plan, unit: float) -> Nesting:
    pairs, partner = paired(plan)
    losses = refits.losses(refits.problem, pairs) / unit
    fold, rows, K = plan.fold[0], np.arange(plan.n), plan.n_splits
    weight = refits.problem.weight / refits.problem.weight.sum()
    of_fold = np.zeros((plan.n, K))
    of_fold[rows, fold] = weight
    alone = partner == np.arange(K)
    with np.errstate(invalid="ignore"):  # infinite losses end as NaN
        share, total = of_fold.sum(axis=0), losses @ of_fold
        others = np.bincount(partner[~alone], np.tile(share, (K, 1))[~alone])
        inside = np.bincount(partner[~alone], total[~alone])
        outside = np.bincount(partner[alone], total[alone])
        gaps = inside / others - outside / share
        rest = losses[alone.argmax(axis=0)[fold], rows] - (outside / share)[fold]
        errors = _squared_errors(weight / share[fold] * rest, plan)
    square = float(np.mean(np.square(gaps) - errors))
    return Nesting(square, float(inside.sum() / (K - 1)), float(outside.sum()))


def _squared_errors(deviation: Floats, plan: Plan) -> Floats:
    """Of the mean of each fold, from the weighted deviations of its rows; 0 for a single unit."""
    unit = np.arange(plan.n) if plan.groups is None else plan.groups
    fold = np.zeros(int(unit.max()) + 1, dtype=np.int64)
    fold[unit] = plan.fold[0]
    units = np.bincount(fold)
    squares = np.bincount(fold, np.bincount(unit, deviation) ** 2)
    return np.where(units > 1, squares * units / np.maximum(units - 1, 1), 0.0)


def paired(plan: Plan) -> tuple[Plan, Ints]:
    """Each fold once alone and once with every other fold, and the partners (repeats, folds).

    In repeat t the fold i meets (t - i) mod K, which is itself once: a repeat holds out every row
    once, and the folds are parts that no split divides.
    """
    fold, own = plan.fold[0], np.arange(plan.n_splits)
    partner = (own[:, np.newaxis] - own) % len(own)
    number = np.cumsum(own <= partner, axis=1) - 1
    match = np.take_along_axis(number, np.minimum(own, partner), axis=1).astype(np.int32)
    pairs = replace(plan, kind="repeated", repeats=len(own), fold=match[:, fold])
    return pairs, partner


def conservative_z(refits: Refits, level: float) -> Interval:
    """Twice half the rows (Nadeau and Bengio 2003): the variance is never too small on average.

    The rows are cut in halves ten times, and each half is cross-validated with test parts of the
    same size. The halves share nothing, so that half the mean squared difference of their risks is
    the variance of a risk from half the rows: more than that of one from all rows.
    """
    table, K = refits.table, max(refits.folds // 2, 2)
    if table.units < 4 * K:
        return none(table, table.mean(), f"{table.units} rows are too few to be cut in halves")
    seeds = spawn(0 if refits.random_state is None else refits.random_state, 2 * HALVINGS)
    gaps = []
    for m in track(range(HALVINGS), "halves"):
        halves = refits.problem.plan(2, random_state=seeds[2 * m])
        risks = []
        for h in range(2):
            part = refits.problem.rows(halves.test(h))
            plan = part.plan(K, random_state=seeds[2 * m + 1])
            risks.append(np.average(refits.losses(part, plan)[0], weights=part.weight))
        if not np.isfinite(risks).all():
            return none(table, table.mean(), INFINITE)
        gaps.append(risks[0] - risks[1])
    size = float(np.abs(gaps).max())
    if not size > 0:
        return none(table, table.mean(), "the halves have equal risks, so their spread is unknown")
    error = size * float(np.sqrt(np.mean(np.square(np.divide(gaps, size))) / 2))
    reason = "from halves of the rows, which share nothing: it is too wide rather than too short"
    return _normal(table, table.mean(), error, level, "conservative Z", reason)


REFITTING: dict[str, Callable[[Refits, float], Interval]] = {
    "nested": nested,
    "conservative_z": conservative_z,
}


def refitted(refits: Refits, method: str, level: float) -> Interval:
    """The interval by a method that fits again; not for plans that say more than how many folds."""
    if refits.plan.kind not in ("kfold", "grouped", "leave_one_out", "repeated"):
        raise PlanError(
            f"method {method!r} deals the rows to folds anew, which a plan of kind "
            f"{refits.plan.kind!r} does not allow: give cv as a number of folds"
        )
    if not np.isfinite(refits.table.losses).all():
        return none(refits.table, refits.table.mean(), INFINITE)
    return REFITTING[method](refits, level)


def _normal(
    table: LossTable, centre: float, error: float, level: float, method: str, reason: str
) -> Interval:
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    low, high = table.bounds
    centre = min(max(centre, low), high)
    ends = (max(centre - half, low), min(centre + half, high))
    return Interval(centre, ends, error, method, reason, cautions(table))
