"""Permute and retrain: the models of a plan, fitted to training rows that swap their values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from empirisk.risk.foreign import fit_foreign, foreign_prediction, share_out
from empirisk.risk.importances.asked import Asked, Permutations
from empirisk.risk.importances.error import Rise, of_refitted_models
from empirisk.risk.importances.features import Features
from empirisk.risk.importances.judging import Judge
from empirisk.risk.importances.permuting import draw_donors, take_from
from empirisk.risk.importances.result import Importance
from empirisk.risk.importances.swapping import JudgedModels, by_swapping
from empirisk.risk.learner import declared_axis
from empirisk.risk.out_of_fold import OutOfFold, current_value
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import refuse_part_of_one_class
from empirisk.risk.work import Work
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.progress import track
from empirisk.runtime.streams import generator, spawn


@dataclass(frozen=True, eq=False)
class Refits:
    """An estimator that is fitted to the training rows of each split, with the seed of the split.

    That seed does not depend on what is permuted, so that models differ by it alone.
    """

    estimator: Any
    problem: Problem
    plan: Plan
    seeds: Sequence[int] | None
    n_jobs: int | None

    @classmethod
    def of(
        cls, estimator: Any, problem: Problem, plan: Plan, random_state: Any, n_jobs: int | None
    ) -> "Refits":
        seeds = None if random_state is None else spawn(random_state, plan.n_splits)
        return cls(estimator, problem, plan, seeds, n_jobs)

    def models(self) -> list[Any]:
        """The model of each split."""
        return share_out(self.model, track(range(self.plan.n_splits), "folds"), n_jobs=self.n_jobs)

    def model(self, s: int, columns: Ints | None = None, seed: int = 0) -> Any:
        """The model of split s; with columns, these permuted in its training rows."""
        check_deadline()
        train = self.problem.rows(self.plan.train(s))
        if train.target is not None and train.classes is not None:
            refuse_part_of_one_class(np.unique(train.target), self.problem)
        if columns is not None:
            unit = train.unit
            if (unit == unit[0]).all():
                raise DataError("a training part is one row or group: there is none to take from")
            donors = draw_donors(train.weight, unit, generator(seed))
            train = replace(train, X=take_from(train.X, columns, donors))
        return fit_foreign(self.estimator, train, None if self.seeds is None else self.seeds[s])

    def rises(
        self, judge: Judge, baseline: Array, columns: Sequence[Ints], seeds: Sequence[int]
    ) -> list[Rise]:
        """The importance of each group of columns."""
        work = partial(self._rise, judge, judge.losses(baseline), seeds)
        return share_out(work, track(columns, "features"), n_jobs=self.n_jobs)

    def _rise(self, judge: Judge, before: Floats, seeds: Sequence[int], columns: Ints) -> Rise:
        rises = np.empty((len(seeds), len(before)))
        for r, seed in enumerate(seeds):
            of_split = spawn(seed, self.plan.n_splits)
            found = [self._held_out(judge, s, columns, own) for s, own in enumerate(of_split)]
            rises[r] = judge.losses(np.concatenate(found)) - before
        return of_refitted_models(rises, judge.table, judge.bounds, judge.level)

    def _held_out(self, judge: Judge, s: int, columns: Ints, seed: int) -> Array:
        """Predictions of the held-out rows of split s, as they are."""
        X = self.problem.rows(self.plan.test(s)).X
        return foreign_prediction(self.model(s, columns, seed), X, self.problem, judge.asks)

    def held_out(self, random_state: Any) -> OutOfFold:
        """The entries of the plan as the engine has them, with losses of 0."""
        row, split = self.plan.entries
        axis = declared_axis(self.estimator)
        work = Work(self.estimator, axis, self.problem, None, random_state, self.n_jobs)
        return OutOfFold(
            values=current_value(self.estimator, axis),
            complexity=np.zeros(1),
            plan=self.plan,
            row=row,
            split=split,
            losses=np.zeros((len(row), 1)),
            weight=self.problem.weight[row],
            rung="generic",
            why="the models are fitted again to permuted columns",
            work=work.designed(),
        )


def on_plan(
    estimator: Any, asked: Asked, by: Permutations, cv: Any, random_state: int | None
) -> Importance:
    """The importance by held-out rows of a plan: for its models, or for models fitted again."""
    problem = asked.problem(estimator).typed(estimator)
    plan = problem.plan(cv, random_state=random_state)
    refits = Refits.of(estimator, problem, plan, random_state, by.n_jobs)
    held_out = refits.held_out(random_state)
    once = plan.judges_one_model
    judge = Judge(
        problem=problem,
        row=held_out.row,
        table=held_out.table(0),
        estimates="this model" if once else "the procedure at this n",
        fingerprint=plan.fingerprint,
        level=asked.level,
        measure=asked.kind(estimator),
        options=asked.options,
    )
    ends = np.cumsum(np.bincount(held_out.split)).tolist()
    parts = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    judged = JudgedModels(refits.models(), parts, judge)
    if by.how == "out_of_fold":
        return by_swapping(judged, by)
    found = Features.of(by.features, problem.X)
    before = judged.predict()
    rises = refits.rises(judge, before, found.columns, by.seeds)
    return by.result(found, rises, judge, judge.baseline(before))
