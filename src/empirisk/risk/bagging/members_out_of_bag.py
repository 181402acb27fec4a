"""Sums over out-of-bag rows, for each member and over all, kept in groups of rows.

A row i has B_i members that did not draw it. Their mean of something has, squared, the expectation
of the square of the mean of all members plus w_i/B_i, w_i the variance between members: that is
taken off where all members are meant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.data.scaling import power_of_two
from empirisk.risk.bagging.members import BaggedMembers
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import stream
from empirisk.runtime.progress import track

GROUPS = 25


@dataclass(frozen=True, eq=False)
class OutOfBagSums:
    """Sums in G groups of rows: over rows (G, sums), and for each member (G, sums, members).

    `means` is the mean over the members of each row that some member lacks; `unit` is what squares
    of numbers are measured in the square of.
    """

    of_rows: Floats
    of_members: Floats
    means: Floats
    unit: float


@dataclass(frozen=True, eq=False)
class MembersOutOfBag:
    """The members, and the rows of a problem that each of them lacks."""

    members: BaggedMembers
    problem: Problem
    bag: OutOfBag

    @classmethod
    def of(cls, ensemble: Any, problem: Problem, n: int) -> "MembersOutOfBag":
        bag = OutOfBag(problem.n, problem.group)
        return cls(BaggedMembers.of(ensemble, problem, n), problem, bag)

    def lacking(self, b: int) -> Ints:
        """The rows that member b did not draw, nor any of their group."""
        return self.bag.left_out(self.members.counts(b))

    def said(self, b: int) -> tuple[Ints, Array]:
        """These rows, and what the member predicts for them."""
        rows = self.lacking(b)
        return rows, self.members.scores(b, rows)

    def sums(self, values: list[Array], rows: Ints) -> Floats:
        """Weighted sums of values of rows, by group of rows: (G, values)."""
        weight, part = self.problem.weight[rows], self.problem.unit[rows] % GROUPS
        return np.stack([np.bincount(part, weight * each, GROUPS) for each in values], axis=1)

    def judged(self, number: Array) -> Ints:
        """The rows that some member lacks, from how many do."""
        if not number.any():
            self.bag.refuse_none()
        return np.flatnonzero(number)


def classes_out_of_bag(ensemble: Any, problem: Problem, n: int, n_jobs: int | None) -> OutOfBagSums:
    """Votes for the true class and for its strongest rival."""
    bagged, truth = MembersOutOfBag.of(ensemble, problem, n), problem.target
    assert truth is not None
    small: Any = np.int8 if problem.n_classes < 128 else np.int32

    def vote(b: int) -> tuple[Ints, Array]:
        rows, scores = bagged.said(b)
        return rows, scores.argmax(axis=1).astype(small) if len(rows) else np.zeros(0, small)

    votes = np.zeros((problem.n, problem.n_classes), dtype=np.int64)
    each = []
    for rows, codes in stream(vote, track(range(len(bagged.members)), "members"), n_jobs=n_jobs):
        votes[rows, codes] += 1
        each.append(codes)
    number = votes.sum(axis=1)
    judged = bagged.judged(number)
    own = np.take_along_axis(votes, truth[:, None], axis=1)[:, 0]
    others = votes.copy()
    others[np.arange(problem.n), truth] = -1
    rival = others.argmax(axis=1)
    of_rival = others[np.arange(problem.n), rival]
    rival[of_rival < 0] = -1  # one class has none
    p, q = (np.maximum(share, 0)[judged] / number[judged] for share in (own, of_rival))
    wrong = votes.argmax(axis=1)[judged] != truth[judged]
    square = (p - q) ** 2 - _of_choice(p + q - (p - q) ** 2, number[judged])
    of_members = np.zeros((GROUPS, 3, len(each)))
    for b, codes in enumerate(each):
        rows = bagged.lacking(b)
        hits, rivals = codes == truth[rows], codes == rival[rows]
        of_members[:, :, b] = bagged.sums([np.ones(len(rows)), hits, rivals], rows)
    of_rows = bagged.sums([np.ones(len(p)), p - q, square, wrong], judged)
    return _present(of_rows, of_members, p - q, 1.0)


def numbers_out_of_bag(ensemble: Any, problem: Problem, n: int, n_jobs: int | None) -> OutOfBagSums:
    """Squares of errors of the members and of their mean."""
    bagged, target = MembersOutOfBag.of(ensemble, problem, n), problem.target
    assert target is not None
    if target.ndim > 1:
        raise DataError("y has several columns; take one at a time")
    unit = float(power_of_two(float(np.abs(target).max())))
    number, total, squares = np.zeros((3, problem.n))
    of_members = np.zeros((GROUPS, 2, len(bagged.members)))
    said = stream(bagged.said, track(range(len(bagged.members)), "members"), n_jobs=n_jobs)
    for b, (rows, scores) in enumerate(said):
        error = (target[rows] - scores) / unit
        number[rows] += 1
        total[rows] += error
        squares[rows] += error**2
        of_members[:, :, b] = bagged.sums([np.ones(len(rows)), error**2], rows)
    judged = bagged.judged(number)
    number = number[judged]
    mean = total[judged] / number
    spread = np.maximum(squares[judged] / number - mean**2, 0.0)
    corrected = mean**2 - _of_choice(spread, number)
    of_rows = bagged.sums([np.ones(len(mean)), mean**2, corrected], judged)
    return _present(of_rows, of_members, mean * unit, unit)


def _of_choice(spread: Floats, number: Array) -> Floats:
    """What the choice of so few members adds to the square of their mean: spread / (number - 1).

    Of a row with one member nothing is known of it, and nothing is taken off.
    """
    return np.where(number > 1, spread / np.maximum(number - 1, 1), 0.0)


def _present(of_rows: Floats, of_members: Floats, means: Floats, unit: float) -> OutOfBagSums:
    """Without the groups that have no rows, of which there may be some where rows are few."""
    present = of_rows[:, 0] > 0
    return OutOfBagSums(of_rows[present], of_members[present], means, unit)
