"""The mean prediction of each row by the members of a bagged ensemble that did not draw it."""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from empirisk.compiled.out_of_bag import add_scores, largest, mean_scores
from empirisk.risk.axis import Output
from empirisk.risk.bagging.members import BaggedMembers
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.degrees_of_freedom import smoother_freedom
from empirisk.risk.intervals.interval import interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.intervals.other_loss import has_sides, with_other_loss
from empirisk.risk.intervals.rare_losses import with_doubts
from empirisk.risk.judges import Judges
from empirisk.risk.plans.fingerprints import digest
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import stream
from empirisk.runtime.progress import track


class OutOfBag:
    """The mean prediction of each row by the members of an ensemble that did not draw it.

    Members come one by one, in order. With a problem the risk of the aggregate of those that have
    come so far is kept, too: with each only the losses of the rows that it lacks change, about a
    third of them.

    Parameters
    ----------
    n : int
        Rows that the members drew from.
    groups : int array, optional
        The group of each row, 0..G-1: a row is out of bag if none of its group was drawn.
    problem : Problem, optional
        The rows with their target, weight and loss; `curve_risk` is then kept.

    Attributes
    ----------
    members : int array
        How many members judge each row.
    n_members : int
    curve_risk : list of float
        After each member, the risk of the aggregate of all so far; NaN while no row is judged.
    curve_rows : list of int
        After each member, how many rows are judged.

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

    def __init__(self, n: int, groups: Ints | None = None, problem: Problem | None = None) -> None:
        self.groups = groups
        self.problem = problem
        self.members = np.zeros(n, dtype=np.int64)
        self.n_members = 0
        self.curve_risk: list[float] = []
        self.curve_rows: list[int] = []
        self._losses = np.zeros(0 if problem is None else n)
        self._total: Floats | None = None
        self._shape: tuple[int, ...] = ()

    def left_out(self, counts: Array) -> Ints:
        """The rows that a member lacks, from how often it drew each row."""
        if self.groups is None:
            return np.flatnonzero(counts == 0)
        return np.flatnonzero(np.bincount(self.groups, counts)[self.groups] == 0)

    def add(self, rows: Ints, scores: Array) -> None:
        """One member's predictions of the rows it lacks: numbers, or a column for each class."""
        self.n_members += 1
        if len(rows):
            if self._total is None:
                self._shape = scores.shape[1:]
                self._total = np.zeros((len(self.members), int(np.prod(self._shape))))
            columns = scores.reshape(len(rows), -1)
            add_scores(
                self._total, self.members, np.ascontiguousarray(rows, dtype=np.int64),
                np.ascontiguousarray(columns, dtype=np.float64),
            )  # fmt: skip
        if self.problem is not None:
            self._follow(self.problem, rows)

    def _follow(self, problem: Problem, changed: Ints) -> None:
        """The next point of the curve: these rows have a member more."""
        if len(changed):
            self._losses[changed] = self._losses_of(changed, problem)
        judged = self.judged
        # no inner products: threads of BLAS would wait for the processors that members are using
        weight = float((problem.weight * judged).sum())
        total = float((problem.weight * self._losses).sum())
        self.curve_rows.append(int(np.count_nonzero(judged)))
        self.curve_risk.append(total / weight if weight > 0 else np.nan)

    def _losses_of(self, rows: Ints, problem: Problem) -> Floats:
        prediction = self.predictions(rows, problem.loss.output, problem.n_classes)
        return problem.row_losses(prediction, rows)

    @property
    def judged(self) -> Bools:
        """The rows that some member lacks."""
        return self.members > 0

    @property
    def judges(self) -> Judges:
        """How many members judge each row, and of how many."""
        return Judges(self.members, self.n_members, self.groups is not None)

    @property
    def scores(self) -> Floats:
        """The mean over the members of each row; 0 for a row that every member drew."""
        total = self._sums
        mean = total / np.maximum(self.members, 1)[:, None]
        return mean.reshape(len(total), *self._shape)

    def predictions(self, rows: Ints, output: Output, n_classes: int) -> Array:
        """What the members say together of rows that are judged: the class of most votes, or the
        means of numbers (`n_classes` is 0) and probabilities."""
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        if n_classes and output == "value":
            return largest(self._sums, rows)
        return mean_scores(self._sums, self.members, rows).reshape(len(rows), *self._shape)

    @property
    def _sums(self) -> Floats:
        if self._total is None:
            self.refuse_none()
        assert self._total is not None
        return self._total

    def refuse_none(self) -> NoReturn:
        """No row is out of bag: say what to do."""
        if self.groups is None:
            raise DataError(
                "every member of the ensemble drew every row, and none is out of bag: fit it with "
                "bootstrap=True, to more than one row, or use risk.cross_validate"
            )
        size = len(self.groups) / (int(self.groups.max()) + 1)
        raise DataError(
            "every member of the ensemble drew a row of every group, and none is out of bag: a "
            f"member that draws its rows one by one hardly misses a group of {size:.3g}; use "
            "risk.cross_validate with these groups, or fit it to smaller samples (max_samples)"
        )

    def estimate(
        self, problem: Problem, *, level: float = 0.95, method: str = "auto"
    ) -> RiskEstimate:
        """The risk of the aggregate, from the losses of the rows that some member lacks."""
        rows = np.flatnonzero(self.judged)
        losses = self._losses_of(rows, problem)
        unit = rows if self.groups is None else self.groups[rows]
        table = LossTable(
            losses=losses,
            weight=problem.weight[rows],
            unit=np.unique(unit, return_inverse=True)[1].reshape(-1),
            split=np.zeros(len(rows), dtype=np.int64),
            n_train=problem.n,
            kind="out_of_bag",
            bounds=problem.loss.bounds,
            degrees_of_freedom=smoother_freedom(problem.n),
            how=self.judges.how,
            doubts=self.judges.doubts(problem),
        )
        if has_sides(problem.loss, problem.target):
            assert problem.target is not None
            y, f = problem.target[rows], self.predictions(rows, problem.loss.output, 0)
            table = with_other_loss(table, problem.loss, y, y > f)
        table = with_doubts(table, problem.loss)
        return RiskEstimate.of(
            table,
            loss=str(problem.loss),
            estimates="the procedure at this n",
            fingerprint=self.fingerprint(problem),
            level=level,
            found=interval(table, level, method),
        )

    def fingerprint(self, problem: Problem) -> str:
        """Of the rows judged and their data: estimates with the same one can be subtracted."""
        rows = np.flatnonzero(self.judged)
        return digest("out_of_bag", problem.target, problem.weight, self.groups, rows)


def judged_by_members(ensemble: Any, problem: Problem, n: int, *, n_jobs: int | None) -> OutOfBag:
    """What the members of a fitted ensemble say together of the rows that they lack."""
    bag = OutOfBag(problem.n, problem.group)
    for rows, scores in left_out_scores(ensemble, problem, bag, n, n_jobs=n_jobs):
        bag.add(rows, scores)
    return bag


def left_out_scores(
    ensemble: Any, problem: Problem, bag: OutOfBag, n: int, *, n_jobs: int | None
) -> Iterator[tuple[Ints, Array]]:
    """Of each member in order, the rows that it lacks and its predictions of them.

    `n` is the number of rows of the fit, of which the problem may lack those of weight zero.
    """
    members = BaggedMembers.of(ensemble, problem, n)

    def judge(b: int) -> tuple[Ints, Array]:
        rows = bag.left_out(members.counts(b))
        return rows, members.scores(b, rows)

    return stream(judge, track(range(len(members)), "members"), n_jobs=n_jobs)
