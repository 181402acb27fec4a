"""How often each member of a bagged ensemble drew each unit: a row, or a group of rows.

Where whole groups were drawn, a unit counts as often as it was drawn; where rows were drawn one by
one, a group counts as often as all of its rows together.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from empirisk.risk.bagged_members import BaggedMembers
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import slices

MEMBERS_AT_ONCE = 64


class DrawnUnits:
    """The counts of an ensemble's members, a block of members at a time.

    Attributes
    ----------
    n : int
        Units: groups, or rows.
    spread, squared_spread : float
        Sums over the units of the variance of their counts over members, and of its square.
    with_replacement : bool
    drawn : float
        Units that a member draws, on average.
    """

    def __init__(self, members: BaggedMembers, groups: Any, replace: bool | None) -> None:
        self.members = members
        self._order, self._starts = _sorted_groups(groups, members.n)
        self.n = members.n if self._starts is None else len(self._starts)
        self._whole = self._starts is not None and self._drawn_whole(self._starts)
        mean, square, most = np.zeros(self.n), np.zeros(self.n), 0.0
        for block in slices(len(members), MEMBERS_AT_ONCE):
            counts = self.block(block)
            mean += counts.sum(axis=0)
            square += np.square(counts).sum(axis=0)
            most = max(most, float(counts.max()))
        mean, square = mean / len(members), square / len(members)
        variance = np.maximum(square - mean**2, 0.0)
        self.spread, self.squared_spread = float(variance.sum()), float(variance @ variance)
        self.drawn = float(mean.sum())
        self.with_replacement = most > 1 if replace is None else replace
        self._refuse_no_draws()

    def block(self, block: slice) -> Floats:
        """The counts of a block of members: (members, units)."""
        rows = np.stack([self.members.counts(b) for b in range(len(self.members))[block]])
        if self._starts is None:
            return rows.astype(float)
        rows = rows[:, self._order]
        if self._whole:
            return rows[:, self._starts].astype(float)
        return np.add.reduceat(rows, self._starts, axis=1).astype(float)

    @property
    def factor(self) -> float:
        """1 with replacement; else what s of n without it make too small (Wager & Athey 2018):

        (n - 1)/n (n/(n - s))^2, with s units drawn of n.
        """
        if self.with_replacement:
            return 1.0
        return (self.n - 1) / self.n * (self.n / (self.n - self.drawn)) ** 2

    def _drawn_whole(self, starts: Ints) -> bool:
        """Whether each member drew all rows of a group equally often."""
        for b in range(len(self.members)):
            counts = self.members.counts(b)[self._order]
            least = np.minimum.reduceat(counts, starts)
            if (least != np.maximum.reduceat(counts, starts)).any():
                return False
        return True

    def _refuse_no_draws(self) -> None:
        if self.spread == 0:
            raise ParameterError(
                "every member drew the same rows, so they do not show what other rows would have "
                "changed: fit the ensemble with bootstrap=True, or to smaller samples (max_samples)"
            )


def _sorted_groups(groups: Any, n: int) -> tuple[Ints, Ints | None]:
    """Rows sorted by group, and where each group begins."""
    if groups is None:
        return np.arange(n), None
    labels = np.asarray(column_or_1d(groups))
    if len(labels) != n:
        raise DataError(
            f"groups has {len(labels)} labels, and the ensemble was fitted on {n} rows: give the "
            "group of each of those"
        )
    code = np.unique(labels, return_inverse=True)[1].reshape(-1)
    order = np.argsort(code, kind="stable")
    return order, np.flatnonzero(np.diff(code[order], prepend=-1))
