"""How often each member of a bagged ensemble drew each unit: a row, or a group of rows.

Where whole groups were drawn, a unit counts as often as it was drawn; where rows were drawn one by
one, a group counts as often as all of its rows together.
"""

from typing import Any

import numpy as np

from empirisk.risk.bagging.members import BaggedMembers
from empirisk.risk.plans.groups import group_codes
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**22  # in memory together as floats


class DrawnUnits:
    """The counts of an ensemble's members: a byte for each member and unit, where that will do.

    Attributes
    ----------
    n : int
        Units: groups, or rows.
    spread, squared_spread : float
        Sums over the units of the variance of their counts over members, and of its square.
    with_replacement : bool
    drawn : float
        The share of the units, or of their rows, that a member draws, on average.
    """

    def __init__(self, members: BaggedMembers, groups: Any, replace: bool | None) -> None:
        self.counts, whole = _counts_of_units(members, groups)
        self.n = self.counts.shape[1]
        self.of = self.n if whole else members.n
        self.drawn, self.spread, self.squared_spread = 0.0, 0.0, 0.0
        for block in self._blocks(1):
            counts = self.counts[:, block].astype(float)
            variance = counts.var(axis=0)
            self.drawn += float(counts.sum()) / len(counts) / self.of
            self.spread += float(variance.sum())
            self.squared_spread += float(variance @ variance)
        self.with_replacement = bool(self.counts.max() > 1) if replace is None else replace
        self._gram: Floats | None = None
        self._refuse_no_draws()

    def prepare(self, columns: int) -> None:
        """For the covariances with so many columns of predictions, by the shorter way.

        With centred counts N and predictions t of B members, the sum over n units of squared
        covariances is |N't|^2 / B^2, or t'(NN')t / B^2 where B (n + columns) < n columns.
        """
        B = len(self.counts)
        if self._gram is None and B * (self.n + columns) < self.n * columns:
            self._gram = np.zeros((B, B))
            for block in self._blocks(1):
                centred = self._centred(block)
                self._gram += centred @ centred.T

    def squares(self, centred: Floats) -> Floats:
        """The sum over units of squared covariances with each column of (members, columns)."""
        if self._gram is not None:
            return (centred * (self._gram @ centred)).sum(axis=0) / len(centred) ** 2
        total = np.zeros(centred.shape[1])
        for block in self._blocks(centred.shape[1]):
            total += np.square(self._centred(block).T @ centred / len(centred)).sum(axis=0)
        return total

    def _centred(self, block: slice) -> Floats:
        counts = self.counts[:, block].astype(float)
        return counts - counts.mean(axis=0)

    def _blocks(self, columns: int) -> list[slice]:
        """Of units, such that neither counts nor covariances are too many at once."""
        return slices(self.n, max(NUMBERS_AT_ONCE // max(len(self.counts), columns), 1))

    @property
    def mean_spread(self) -> float:
        """The variance of the counts of a unit; where units are not drawn alike, their mean."""
        return self.spread / self.n

    @property
    def factor(self) -> float:
        """1 with replacement; else what s of n without it make too small (Wager & Athey 2018):

        (n - 1)/n (n/(n - s))^2, with s units drawn of n; s/n is a share of rows where these are
        drawn one by one, and the units are groups of them.
        """
        if self.with_replacement:
            return 1.0
        return (self.n - 1) / self.n / (1 - self.drawn) ** 2

    def _refuse_no_draws(self) -> None:
        if self.spread == 0:
            raise ParameterError(
                "every member drew the same rows, so they do not show what other rows would have "
                "changed: fit the ensemble with bootstrap=True, or to smaller samples (max_samples)"
            )


def _counts_of_units(members: BaggedMembers, groups: Any) -> tuple[Array, bool]:
    """(members, units), in the smallest type that holds them, and whether units are drawn whole."""
    if groups is None:
        return np.stack([_small(members.counts(b)) for b in range(len(members))]), True
    order, starts = _sorted_groups(groups, members.n)
    least, total, whole = [], [], True
    for b in range(len(members)):
        counts = members.counts(b)[order]
        least.append(_small(np.minimum.reduceat(counts, starts)))
        total.append(_small(np.add.reduceat(counts, starts)))
        whole = whole and bool((least[-1] == np.maximum.reduceat(counts, starts)).all())
    return np.stack(least if whole else total), whole


def _small(counts: Ints) -> Array:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def _sorted_groups(groups: Any, n: int) -> tuple[Ints, Ints]:
    """Rows sorted by group, and where each group begins."""
    code = group_codes(groups, n)
    assert code is not None
    order = np.argsort(code, kind="stable")
    return order, np.flatnonzero(np.diff(code[order], prepend=-1))
