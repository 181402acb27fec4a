"""Is a classifier order-correct: does it predict the best class more often than any other?

Over training sets a learner predicts class j at x with probability Q(j|x). It is order-correct at x
if argmax_j Q(j|x) = argmax_j P(j|x). There the vote of many such classifiers is the Bayes rule,
however often a single one is wrong (Breiman 1996).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.losses.probabilities import checked_probabilities
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import share_out
from empirisk.risk.intervals.interval import Interval, interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.measures.measure import Measure
from empirisk.risk.plans.fingerprints import data_key, digest
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.leave_one_out_bootstrap import predict_left_out
from empirisk.risk.resampling.row_counts import row_counts
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import spawn

FITS_AT_ONCE = 16  # their votes are in memory together
NAME = "share of order-correct inputs"
BOUND = (
    "where the vote is not the best class it is wrong at least half of the time, so this is at "
    "least 1 - 2 times the risk of the vote"
)
CAVEAT = "resamples of the one training set stand in for new ones"


@dataclass(frozen=True, eq=False)
class OrderCorrectness:
    """How often a learner, fitted again and again, predicts which class of each row.

    Attributes
    ----------
    share : Measure
        The share of inputs at which the learner is order-correct. Where the class probabilities
        are not known a lower bound, 1 - 2 times the risk of the vote.
    order_correct : bool array or None
        For each row, False where no model voted; None where the class probabilities are not known.
    votes : array of shape (rows, classes)
        Q(j|x): how often each class was predicted by models that did not see the row.
    counts : int array
        How many models these were; rows with none are left out of everything else.
    single, aggregate : RiskEstimate
        The 0-1 risk of one such model, and of the vote of all.
    gain : RiskEstimate
        The first minus the second, row by row: what the vote brings.
    classes : array of labels

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import DecisionTreeClassifier, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 2))
    >>> y = rng.random(100) < np.where(X[:, 0] > 0.5, 0.9, 0.1)
    >>> found = risk.order_correctness(DecisionTreeClassifier(), X, y, random_state=0)
    >>> found.votes.shape, bool(found.aggregate.value < found.single.value)
    ((100, 2), True)
    """

    share: Measure
    order_correct: Bools | None
    votes: Floats
    counts: Ints
    single: RiskEstimate
    aggregate: RiskEstimate
    gain: RiskEstimate
    classes: Array

    @property
    def sentence(self) -> str:
        """The findings in words that can be read out."""
        or_more = " or more" if self.order_correct is None else ""
        return (
            f"The learner is order-correct at {100 * self.share.value:.3g} % of the inputs"
            f"{or_more}; one model has the 0-1 risk {self.single.value:.4g}, the vote of many "
            f"{self.aggregate.value:.4g}; {CAVEAT}."
        )

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The risk of one model above that of the vote."""
        both = self.single, self.aggregate
        return draw_intervals(
            ["one model", "vote of many"],
            [risk.value for risk in both],
            [risk.interval for risk in both],
            label="0-1 risk",
            ax=ax,
        )


def order_correctness(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    probability: Any = None,
    n_resamples: int = 100,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> OrderCorrectness:
    """Fit a classifier to bootstrap resamples, and look what it predicts for the rows left out.

    The rows of a resample reach the learner as weights, or repeated where it takes none. That
    resamples of one training set stand in for new training sets makes the models too much alike,
    and each sees about 63 % of the rows.

    Parameters
    ----------
    estimator : classifier or Pipeline
        Ours or any with scikit-learn's interface.
    X, y, sample_weight, groups
        With groups, groups are drawn, and left out, as a whole.
    probability : array of shape (rows, classes) or callable, optional
        The true P(j|x) of the rows, or what gives it for X: of a known population. Without it the
        best class is unknown, and a lower bound of the share is given.
    n_resamples : int
    level : float
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2))
    >>> y = rng.random(300) < np.where(X[:, 0] > 0.5, 0.9, 0.1)
    >>> found = order_correctness(DecisionTreeClassifier(), X, y, random_state=0)
    >>> print(found)
    The learner is order-correct at 84 % of the inputs or more; one model has the 0-1 risk 0.12...,
    the vote of many 0.08; resamples of the one training set stand in for new ones.
    """
    problem = Problem.of(
        estimator, X, y, loss="zero_one", sample_weight=sample_weight, groups=groups
    )
    assert problem.classes is not None  # since the loss is for classes
    if not is_whole(n_resamples, 1):
        raise ParameterError(f"n_resamples is {n_resamples!r}; give 1 or more, such as 100")
    counts = _votes(estimator, problem.typed(estimator), spawn(random_state, n_resamples), n_jobs)
    voted = counts.sum(axis=1) > 0
    if not voted.any():
        raise DataError("every row was in every resample: give more n_resamples")
    key = digest("resamples", data_key(y, sample_weight, groups), voted)
    judge = Judge(problem, counts, voted, level, key)
    aggregate, single = judge.vote(), judge.one_model()
    correct = None
    if probability is not None:
        correct = voted & _is_best(counts, _probabilities(probability, problem))
    return OrderCorrectness(
        share=judge.bound(aggregate) if correct is None else judge.share(correct),
        order_correct=correct,
        votes=counts / np.maximum(counts.sum(axis=1, keepdims=True), 1),
        counts=counts.sum(axis=1),
        single=single,
        aggregate=aggregate,
        gain=single - aggregate,
        classes=problem.classes,
    )


@dataclass(frozen=True, eq=False)
class Judge:
    """The rows that got votes, and what they say."""

    problem: Problem
    counts: Ints
    voted: Bools
    level: float
    fingerprint: str

    def one_model(self) -> RiskEstimate:
        own = np.take_along_axis(self.counts, self._truth[:, None], axis=1)[:, 0]
        return self._estimate(1 - own[self.voted] / self.counts.sum(axis=1)[self.voted])

    def vote(self) -> RiskEstimate:
        wrong = self.counts.argmax(axis=1) != self._truth
        return self._estimate(wrong[self.voted].astype(float))

    def share(self, correct: Bools) -> Measure:
        table = self._table(correct[self.voted].astype(float))
        return self._measure(table, interval(table, self.level))

    def bound(self, aggregate: RiskEstimate) -> Measure:
        value = max(0.0, 1 - 2 * aggregate.value)
        ends = None
        if aggregate.interval is not None:
            ends = max(0.0, 1 - 2 * aggregate.interval[1]), 1.0
        table = replace(self._table(1 - 2 * aggregate.losses), bounds=(-1.0, 1.0))
        return self._measure(table, Interval(value, ends, None, aggregate.method, BOUND))

    @property
    def _truth(self) -> Ints:
        assert self.problem.target is not None
        return self.problem.target

    def _table(self, losses: Floats) -> LossTable:
        return LossTable(
            losses=losses,
            weight=self.problem.weight[self.voted],
            unit=self.problem.unit[self.voted],
            split=np.zeros(len(losses), dtype=np.int64),
            n_train=(1 - np.exp(-1)) * self.problem.n,
            kind="out_of_bag",
            how="each row is judged by models that did not see it",
            bounds=(0.0, 1.0),
        )

    def _estimate(self, losses: Floats) -> RiskEstimate:
        return RiskEstimate.of(
            self._table(losses),
            loss="zero_one",
            estimates="the procedure at this n",
            fingerprint=self.fingerprint,
            level=self.level,
        )

    def _measure(self, table: LossTable, found: Interval) -> Measure:
        return Measure.of(
            table,
            loss=NAME,
            estimates="the procedure at this n",
            fingerprint=self.fingerprint,
            level=self.level,
            found=replace(found, cautions=(*found.cautions, CAVEAT)),
        )


def _votes(estimator: Any, problem: Problem, seeds: Sequence[int], n_jobs: int | None) -> Ints:
    """How many models, of those that did not see the row, predict each class."""
    votes = np.zeros((problem.n, problem.n_classes), dtype=np.int64)
    work = partial(_one_vote, estimator, problem)
    for batch in track(slices(len(seeds), FITS_AT_ONCE), "resamples"):
        for rows, codes in share_out(work, seeds[batch], n_jobs=n_jobs):
            votes[rows, codes] += 1
    return votes


def _one_vote(estimator: Any, problem: Problem, seed: int) -> tuple[Ints, Ints]:
    """The rows left out of a resample, and their predicted classes."""
    check_deadline()
    copies = row_counts(problem, seed)
    out = np.flatnonzero(copies == 0)
    if len(out) == 0:
        return out, out
    return out, predict_left_out(estimator, problem, copies, out, seed)


def _probabilities(probability: Any, problem: Problem) -> Floats:
    """The known class probabilities of the rows that are left."""
    if callable(probability):
        given = checked_probabilities(probability(problem.X), problem.n_classes)
    else:
        given = checked_probabilities(probability, problem.n_classes)
        given = given if problem.kept is None else given[problem.kept]
    if given.shape != (problem.n, problem.n_classes):
        raise DataError(
            f"probabilities of shape {given.shape} came for {problem.n} rows and "
            f"{problem.n_classes} classes"
        )
    return given


def _is_best(votes: Ints, probability: Floats) -> Bools:
    """Whether the class with most votes is one of the most probable; of equal votes the first."""
    of_vote = np.take_along_axis(probability, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
    return of_vote >= probability.max(axis=1)
