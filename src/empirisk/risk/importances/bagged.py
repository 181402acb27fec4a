"""Permute only, out of bag: members of a bagged ensemble on rows that they did not draw.

Two answers come from the same predictions. Of the *aggregate*: what the members that lack a row say
of it together, before and after. Of the *members*: the mean over them of the rise of their own risk
(Breiman 2001), as random forests have reported it. They differ: an aggregate errs less than its
members, and leans on a feature as a whole. All members of an aggregate see a row with the same
values of its donor, for a mean over members that see different ones would hide half of the rise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.risk.bagging.members import BaggedMembers
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.importances.asked import Asked, Permutations
from empirisk.risk.importances.error import Rise, of_swapped_rows
from empirisk.risk.importances.features import Features
from empirisk.risk.importances.judging import Judge, refuse_infinite
from empirisk.risk.importances.permuting import draw_donors, take_from
from empirisk.risk.importances.result import Importance
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.streams import generator


@dataclass(frozen=True, eq=False)
class Bag:
    """A fitted ensemble on the rows it was fitted on, and which of these each member lacks."""

    ensemble: Any
    problem: Problem
    members: BaggedMembers
    lacking: list[Ints]

    @classmethod
    def of(cls, ensemble: Any, problem: Problem, n: int) -> "Bag":
        """`n` rows came, of which the problem has those with a weight."""
        members = BaggedMembers.of(ensemble, problem, n)
        bag = OutOfBag(problem.n, problem.group)
        lacking = [bag.left_out(members.counts(b)) for b in range(len(members))]
        return cls(ensemble, problem, members, lacking)

    def aggregate(self, X: Any) -> OutOfBag:
        """The members' mean predictions of the rows of X."""
        members = self.members.on(self.ensemble, X)
        bag = OutOfBag(self.problem.n, self.problem.group)
        for b, rows in enumerate(self.lacking):
            check_deadline()
            bag.add(rows, members.scores(b, rows))
        return bag

    def mean_losses(self, X: Any, rows: Ints) -> Floats:
        """The mean loss of each of these rows over the members that lack it."""
        members = self.members.on(self.ensemble, X)
        total, count = np.zeros(self.problem.n), np.zeros(self.problem.n)
        for b, own in enumerate(self.lacking):
            check_deadline()
            if len(own):
                prediction = predicted(members.scores(b, own), self.problem)
                total[own] += self.problem.row_losses(prediction, own)
                count[own] += 1
        losses = total[rows] / count[rows]
        refuse_infinite(losses, rows, self.problem)
        return losses


def predicted(scores: Array, problem: Problem, output: str | None = None) -> Array:
    """Scores as they are or, where a class is asked for, that of the largest."""
    asked = problem.loss.output if output is None else output
    return np.argmax(scores, axis=1) if problem.classes is not None and asked == "value" else scores


def rises_out_of_bag(
    bag: Bag, judge: Judge, columns: Sequence[Ints], seeds: Sequence[int], *,
    of_members: bool, n_jobs: int | None,
) -> list[Rise]:  # fmt: skip
    """The importance of each group of columns; the permutations are the same for all of them."""
    table = judge.table
    donors = np.array([draw_donors(table.weight, table.unit, generator(seed)) for seed in seeds])
    losses = partial(_losses, bag, judge, of_members)
    work = partial(_rise, losses, judge, donors, losses(bag.problem.X))
    return parallel(work, track(columns, "features"), n_jobs=n_jobs)


def _losses(bag: Bag, judge: Judge, of_members: bool, X: Any) -> Floats:
    if of_members:
        return bag.mean_losses(X, judge.row)
    return judge.losses(predicted(bag.aggregate(X).scores[judge.row], bag.problem, judge.asks))


def _rise(losses: Any, judge: Judge, donors: Ints, before: Floats, columns: Ints) -> Rise:
    rises, source = np.empty(donors.shape), np.arange(judge.problem.n)
    for r, own in enumerate(donors):
        source[judge.row] = judge.row[own]
        rises[r] = losses(take_from(judge.problem.X, columns, source)) - before
    return of_swapped_rows(rises, donors, judge.table, judge.bounds, judge.level)


def out_of_bag(ensemble: Any, asked: Asked, by: Permutations) -> Importance:
    """The importance for a fitted bagged ensemble, on the rows that it was fitted on."""
    check_is_fitted(ensemble)
    of_members = by.how == "members"
    if of_members and asked.measure:
        raise ParameterError(
            f"the measure {asked.measure!r} of single members says little of the ensemble: take "
            "how='out_of_bag'"
        )
    classes = ensemble.classes_ if is_classifier(ensemble) else None
    problem = asked.problem(ensemble, classes=classes)
    bag = Bag.of(ensemble, problem, _num_samples(asked.y))
    aggregate = bag.aggregate(problem.X)
    estimate = aggregate.estimate(problem, level=asked.level)
    assert estimate.table is not None
    table = estimate.table
    if of_members:
        estimate = _of_single_members(estimate, bag, np.flatnonzero(aggregate.judged))
    judge = Judge(
        problem=problem,
        row=np.flatnonzero(aggregate.judged),
        table=table,
        estimates=estimate.estimates,
        fingerprint=estimate.fingerprint,
        level=asked.level,
        measure=asked.kind(ensemble),
        options=asked.options,
    )
    found = Features.of(by.features, problem.X)
    rises = rises_out_of_bag(
        bag, judge, found.columns, by.seeds, of_members=of_members, n_jobs=by.n_jobs
    )
    if judge.measure is not None:
        scores = predicted(aggregate.scores[judge.row], problem, judge.asks)
        estimate = judge.baseline(scores)
    return by.result(found, rises, judge, estimate)


def _of_single_members(aggregate: RiskEstimate, bag: Bag, rows: Ints) -> RiskEstimate:
    """The mean risk of the members, on the rows of the risk of their aggregate."""
    assert aggregate.table is not None
    found = RiskEstimate.of(
        replace(aggregate.table, losses=bag.mean_losses(bag.problem.X, rows)),
        loss=aggregate.loss,
        estimates=aggregate.estimates,
        fingerprint=aggregate.fingerprint,
        level=aggregate.level,
    )
    reason = f"{aggregate.reason}; the mean of single members, not the risk of their aggregate"
    return replace(found, reason=reason)
