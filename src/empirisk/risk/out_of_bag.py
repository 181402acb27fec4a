"""The out-of-bag risk of a bagged ensemble: each row judged by the members that did not draw it.

A learner that bags hands to an `OutOfBag`, member by member, the counts of its resample and its
predictions of the rows that it lacks; the rest follows. `out_of_bag` does that for an ensemble that
was fitted elsewhere.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.losses import Loss
from empirisk.risk.bagged_members import BaggedMembers
from empirisk.risk.degrees_of_freedom import smoother_freedom
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.fingerprints import digest
from empirisk.risk.intervals import Interval, interval, widening
from empirisk.risk.loss_table import LossTable
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.progress import track

MEMBERS_AT_ONCE = 16  # whose predictions are in memory together
FEW_MEMBERS = 25


class OutOfBag:
    """The mean prediction of each row by the members of an ensemble that did not draw it.

    Parameters
    ----------
    n : int
        Rows that the members drew from.
    groups : int array, optional
        The group of each row, 0..G-1: a row is out of bag if none of its group was drawn.

    Attributes
    ----------
    members : int array
        How many members judge each row.
    n_members : int

    Examples
    --------
    >>> import numpy as np
    >>> bag = OutOfBag(3)
    >>> for counts, prediction in [([2, 1, 0], 5.0), ([0, 1, 2], 7.0), ([1, 2, 0], 9.0)]:
    ...     rows = bag.left_out(np.array(counts))
    ...     bag.add(rows, np.full(len(rows), prediction))
    >>> bag.members
    array([1, 0, 2])
    >>> bag.scores[bag.judged]
    array([7., 7.])
    """

    def __init__(self, n: int, groups: Ints | None = None) -> None:
        self.groups = groups
        self.members = np.zeros(n, dtype=np.int64)
        self.n_members = 0
        self._total: Floats | None = None

    def left_out(self, counts: Array) -> Ints:
        """The rows that a member lacks, from how often it drew each row."""
        if self.groups is None:
            return np.flatnonzero(counts == 0)
        return np.flatnonzero(np.bincount(self.groups, counts)[self.groups] == 0)

    def add(self, rows: Ints, scores: Array) -> None:
        """One member's predictions of the rows it lacks: numbers, or a column for each class."""
        self.n_members += 1
        if not len(rows):
            return
        if self._total is None:
            self._total = np.zeros((len(self.members), *scores.shape[1:]))
        self._total[rows] += scores
        self.members[rows] += 1

    @property
    def judged(self) -> Bools:
        """The rows that some member lacks."""
        return self.members > 0

    @property
    def scores(self) -> Floats:
        """The mean over the members of each row; 0 for a row that every member drew."""
        if self._total is None:
            raise DataError(self._none_out_of_bag())
        members = np.maximum(self.members, 1)
        return self._total / members.reshape(-1, *[1] * (self._total.ndim - 1))

    def _none_out_of_bag(self) -> str:
        if self.groups is None:
            return (
                "every member of the ensemble drew every row, and none is out of bag: fit it with "
                "bootstrap=True, or use risk.cross_validate"
            )
        size = len(self.groups) / (int(self.groups.max()) + 1)
        return (
            "every member of the ensemble drew a row of every group, and none is out of bag: a "
            f"member that draws its rows one by one hardly misses a group of {size:.3g}; use "
            "risk.cross_validate with these groups, or fit it to smaller samples (max_samples)"
        )

    def estimate(
        self, problem: Problem, *, level: float = 0.95, method: str = "auto"
    ) -> RiskEstimate:
        """The risk of the aggregate, from the losses of the rows that some member lacks."""
        rows = np.flatnonzero(self.judged)
        prediction = self.scores[rows]
        if problem.classes is not None and problem.loss.output == "value":
            prediction = np.argmax(prediction, axis=1)
        unit = np.arange(problem.n) if self.groups is None else self.groups
        table = LossTable(
            losses=problem.losses(rows, prediction[:, None])[:, 0],
            weight=problem.weight[rows],
            unit=np.unique(unit[rows], return_inverse=True)[1].reshape(-1),
            split=np.zeros(len(rows), dtype=np.int64),
            n_train=problem.n,
            kind="out_of_bag",
            bounds=problem.loss.bounds,
            degrees_of_freedom=smoother_freedom(problem.n),
        )
        return RiskEstimate.of(
            table,
            loss=str(problem.loss),
            estimates="the procedure at this n",
            fingerprint=digest("out_of_bag", problem.target, problem.weight, self.groups, rows),
            level=level,
            found=self._explained(interval(table, level, method), table),
        )

    def _explained(self, found: Interval, table: LossTable) -> Interval:
        members = float(self.members[self.judged].mean())
        how = (
            f"each row by the members that did not draw it, {members:.3g} of {self.n_members} on "
            "average"
        )
        never = int((~self.judged).sum())
        if never:
            what = "all drew" if self.groups is None else "are in groups of which all drew"
            how += f", without {never} row{'s' * (never != 1)} that {what}"
        if found.ends is None:
            return replace(found, reason=f"{found.reason}; {how}")
        doubts = found.cautions
        if members < FEW_MEMBERS:
            doubts += ("so few members do worse than the whole ensemble",)
        lam = widening(table)
        reason = f"{how}; {lam:.2f} times the error of independent rows"
        return replace(found, reason=reason, cautions=doubts)


def out_of_bag(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    n_jobs: int | None = None,
) -> RiskEstimate:
    """The risk of a fitted bagged ensemble, without further fits.

    Each row is judged by the mean of the members that did not draw it, of their class probabilities
    or, where they have none, of their votes. That is the aggregate at this n with about 37 % of
    the members; a row that every member drew has no prediction and is left out.

    Parameters
    ----------
    ensemble : fitted estimator
        Ours or scikit-learn's: bagging, or a random forest.
    X, y
        The rows it was fitted on, in the same order.
    loss : Loss or str, optional
        "squared" for a regressor and "zero_one" for a classifier unless given.
    sample_weight : array, optional
    groups : array, optional
        Rows that belong together: a row is then judged by the members that drew none of its group.
    level, method
        As in `evaluate`.
    n_jobs : int, optional

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    >>> print(out_of_bag(forest, X, y))
    The zero_one risk of the procedure at this n is 0.05333, 95 % interval ... to ... (...: each row
    by the members that did not draw it, 73... of 200 on average; ...).
    """
    check_is_fitted(ensemble)
    classes = ensemble.classes_ if is_classifier(ensemble) else None
    problem = Problem.of(
        ensemble, X, y, loss=loss, sample_weight=sample_weight, groups=groups, classes=classes
    )
    members = BaggedMembers.of(ensemble, problem, _num_samples(y))
    unit = None
    if problem.groups is not None:
        unit = np.unique(problem.groups, return_inverse=True)[1].reshape(-1)
    bag = OutOfBag(problem.n, unit)

    def judge(b: int) -> tuple[Ints, Array]:
        rows = bag.left_out(members.counts(b))
        return rows, members.scores(b, rows)

    for block in track(slices(len(members), MEMBERS_AT_ONCE), "members"):
        for rows, scores in parallel(judge, range(len(members))[block], n_jobs=n_jobs):
            bag.add(rows, scores)
    return bag.estimate(problem, level=level, method=method)
