"""Sums over training sets, kept in groups: any function of the sums has a jackknife error.

What a part of the risk needs of the M training sets is additive: sums of predictions and of their
squares, or counts of votes, at each point. A group of training sets is one item of work, so the
groups, and with them all bits, do not depend on the number of workers; and no array of all sets by
all points is ever held.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from empirisk.risk.foreign import share_out, under_deadline
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole

GROUPS = 25
LEAST_SETS = 4


@dataclass(frozen=True, eq=False)
class GroupSums:
    """The sums of each group of training sets, along the first axis."""

    sums: Array

    @property
    def total(self) -> Array:
        return self.sums.sum(axis=0)

    def without_each(self) -> Iterator[Array]:
        """The sums over all training sets but those of one group, for each group in turn."""
        total = self.total
        for group in self.sums:
            yield total - group

    def with_error(self, statistics: Callable[[Array], Floats]) -> tuple[Floats, Floats]:
        """A function of the sums, and its jackknife error."""
        without = np.stack([statistics(some) for some in self.without_each()])
        return statistics(self.total), jackknife_error(without)


def jackknife_error(without: Floats) -> Floats:
    """The standard error of a statistic t from its values t_g without one of G groups each:

    s^2 = (G - 1)/G sum_g (t_g - mean of all t_g)^2.
    """
    G = len(without)
    deviation = without - without[0]  # so that equal ones are exactly 0
    deviation = deviation - deviation.mean(axis=0)
    return np.sqrt((G - 1) / G * np.square(deviation).sum(axis=0))


def sum_in_groups(
    summarise: Callable[[int], Array],
    seeds: Sequence[int],
    *,
    what: str,
    foreign: bool,
    n_jobs: int | None,
) -> GroupSums:
    """Add up what each seed gives, in groups that are shared out among workers."""
    groups = track([seeds[g::GROUPS] for g in range(min(GROUPS, len(seeds)))], what)
    work = partial(_sum, summarise)
    return GroupSums(np.stack((share_out if foreign else parallel)(work, groups, n_jobs=n_jobs)))


def in_time(work: Callable[[Any], Any], foreign: bool) -> Callable[[Any], Any]:
    """Foreign work runs in a process that can be ended when the time allowed is used up."""
    return under_deadline(work) if foreign else work


def times_square(values: Floats, unit: float) -> Floats:
    """Values times the square of a unit, which itself might overflow."""
    with np.errstate(over="ignore"):
        return values * unit * unit


def check_number_of_sets(n: int, name: str) -> None:
    """A variance takes two training sets, its error by leaving out a group some more."""
    if not is_whole(n, LEAST_SETS):
        raise ParameterError(
            f"{name} is {n!r}; a variance with its error takes {LEAST_SETS} or more"
        )


def _sum(summarise: Callable[[int], Array], seeds: Sequence[int]) -> Array:
    total = summarise(seeds[0])
    for seed in seeds[1:]:
        check_deadline()
        total = total + summarise(seed)
    return total
