"""One training set: the true risk of what is learned from it, and the intervals it gives.

Three ways to come to an interval: cross-validation of a learner, a locked test set, and the choice
of the best of many by cross-validation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import LeaveOneOut

from benchmarks.coverage.sources import Exact, Sample
from empirisk.risk.cross_validation import evaluate
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import at_value, fit_foreign
from empirisk.risk.learner import declared_axis
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.streams import generator, spawn
from empirisk.selection.after_selection import BunchedLosses, after_choice
from empirisk.selection.tuned import Tuned, values_of

LEVEL = 0.9
AUTO, ALONE, PER_ROW = "auto", "auto, leave-one-out", "per_row_normal"
NESTED, NAIVE = "nested selection", "naive minimum"


class Found(NamedTuple):
    """What a method gave for one training set; the ends are NaN where it gave no interval.

    `seconds` are those of the CPU, fits included.
    """

    value: float
    low: float
    high: float
    flagged: bool
    seconds: float


class Judged(NamedTuple):
    """The true risk of the model of one training set, and the intervals of all methods."""

    risk: float
    found: dict[str, Found]


@dataclass(frozen=True, eq=False)
class Setting(ABC):
    """A population, a learner and a number of rows; `sets` training sets are drawn.

    Five times as many where the answer is close, if that is bearable.
    """

    name: str
    words: str
    source: Exact
    learner: Any
    n: int
    loss: str
    sets: int = field(default=2000, kw_only=True)

    @property
    def most_sets(self) -> int:
        return 5 * self.sets if self.sets >= 2000 else self.sets

    @property
    @abstractmethod
    def methods(self) -> Sequence[str]:
        """Names, in the order of the tables."""

    @abstractmethod
    def judge(self, seed: int) -> Judged:
        """All intervals of one training set; the same seed gives the same numbers."""

    def problem(self, sample: Sample) -> Problem:
        return Problem.of(
            self.learner,
            sample.X,
            sample.y,
            loss=self.loss,
            sample_weight=sample.weight,
            groups=sample.groups,
        )


@dataclass(frozen=True, eq=False)
class CrossValidated(Setting):
    """Ten folds, stratified for classes, and leave-one-out where asked for.

    `refits` are methods that fit again: "nested" and "conservative_z".
    """

    leave_one_out: bool = field(default=False, kw_only=True)
    refits: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def methods(self) -> Sequence[str]:
        alone = (ALONE,) if self.leave_one_out else ()
        return (AUTO, *alone, PER_ROW, "corrected_t", *self.refits)

    def judge(self, seed: int) -> Judged:
        draw_seed, seed = spawn(seed, 2)
        problem = self.problem(self.source.draw(self.n, generator(draw_seed)))
        risk = self.source.risk(fit_foreign(self.learner, problem, seed))
        start = process_time()
        losses = self.held_out(problem, None, seed)
        taken = process_time() - start
        found = {
            method: timed(partial(losses.estimate, 0, method, level=LEVEL), taken)
            for method in self.methods
            if method != ALONE
        }
        if self.leave_one_out:
            found[ALONE] = timed(partial(self.alone, problem, seed))
        return Judged(risk, found)

    def held_out(self, problem: Problem, cv: Any, seed: int) -> OutOfFold:
        plan = problem.plan(cv, random_state=seed)
        return out_of_fold(self.learner, problem, plan, random_state=seed)

    def alone(self, problem: Problem, seed: int) -> RiskEstimate:
        return self.held_out(problem, LeaveOneOut(), seed).estimate(0, level=LEVEL)


@dataclass(frozen=True, eq=False)
class Locked(Setting):
    """A model from `n_train` rows is judged on n others."""

    n_train: int = field(default=100, kw_only=True)

    @property
    def methods(self) -> Sequence[str]:
        return (AUTO, PER_ROW, *(("wilson",) if self.loss == "zero_one" else ("per_row_t",)))

    def judge(self, seed: int) -> Judged:
        draw_seed, seed = spawn(seed, 2)
        rng = generator(draw_seed)
        model = fit_foreign(self.learner, self.problem(self.source.draw(self.n_train, rng)), seed)
        test = self.source.draw(self.n, rng)
        judge = partial(
            evaluate,
            model,
            test.X,
            test.y,
            loss=self.loss,
            sample_weight=test.weight,
            groups=test.groups,
            level=LEVEL,
        )
        found = {method: timed(partial(judge, method=method)) for method in self.methods}
        return Judged(self.source.risk(model), found)


@dataclass(frozen=True, eq=False)
class BestOf(Setting):
    """The best value of the learner's axis by ten folds, as `Tuned` chooses it.

    Without `values` it is chosen along the learner's own grid, which depends on the rows. With
    `nested` the choice is also made anew in every training part.
    """

    values: tuple[float, ...] = field(default=(), kw_only=True)
    nested: bool = field(default=False, kw_only=True)

    @property
    def methods(self) -> Sequence[str]:
        return (AUTO, *((NESTED,) if self.nested else ()), NAIVE)

    def judge(self, seed: int) -> Judged:
        draw_seed, seed = spawn(seed, 2)
        problem = self.problem(self.source.draw(self.n, generator(draw_seed)))
        axis = declared_axis(self.learner)
        start = process_time()
        plan = problem.plan(None, random_state=seed)
        values = self.values or self.own_grid(problem, plan.n_train)
        losses = out_of_fold(self.learner, problem, plan, values=values, random_state=seed)
        j = losses.choose("best")
        taken = process_time() - start
        found = {
            AUTO: timed(partial(corrected, losses, j, seed), taken),
            NAIVE: timed(partial(losses.estimate, j, PER_ROW, level=LEVEL), taken),
        }
        if self.nested:
            found[NESTED] = timed(partial(self.chosen_anew, problem, losses.plan, seed), taken)
        learner = at_value(self.learner, axis, values[j])
        return Judged(self.source.risk(fit_foreign(learner, problem, seed)), found)

    def own_grid(self, problem: Problem, n_train: int) -> Sequence[Any]:
        designed = problem.designed(self.learner)
        return values_of(self.learner, declared_axis(self.learner), None, designed, n_train)

    def chosen_anew(self, problem: Problem, plan: Plan, seed: int) -> RiskEstimate:
        """Of the procedure that chooses."""
        procedure = Tuned(self.learner, values=self.values, loss=self.loss)
        return out_of_fold(procedure, problem, plan, random_state=seed).estimate(0, level=LEVEL)


def corrected(losses: OutOfFold, j: int, seed: int) -> RiskEstimate:
    """Of the j-th value, which was chosen among all, as `select` and `Tuned` have it."""
    looked = losses.estimate(j, level=LEVEL)
    rival = BunchedLosses.of(losses, seed)
    return after_choice(looked, [rival], (0, j), "best", random_state=seed)


def timed(estimate: Callable[[], RiskEstimate], taken: float = 0.0) -> Found:
    """The estimate and its seconds, with those taken before."""
    start = process_time()
    found = estimate()
    seconds = process_time() - start + taken
    low, high = (np.nan, np.nan) if found.interval is None else found.interval
    return Found(found.value, low, high, bool(found.cautions), seconds)
