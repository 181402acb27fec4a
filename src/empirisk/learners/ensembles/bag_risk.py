"""Out-of-bag rows of a bag: each row judged by the members that did not draw it."""

import warnings
from typing import Any

import numpy as np

from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.ensembles.members import AnyMembers
from empirisk.risk.out_of_bag import MEMBERS_AT_ONCE, OutOfBag
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.parallel import parallel, slices


def judged(members: AnyMembers, draws: Draws, seeds: list[int], n_jobs: int | None) -> OutOfBag:
    """The mean prediction of each row by the members whose draw has nothing of its unit."""
    bag = OutOfBag(draws.n, draws.units)

    def judge(b: int) -> tuple[Ints, Array]:
        rows = draws.left_out(draws.counts(seeds[b]))
        return rows, members.scores(b, rows)

    for block in slices(len(seeds), MEMBERS_AT_ONCE):
        for rows, scores in parallel(judge, range(len(seeds))[block], n_jobs=n_jobs):
            bag.add(rows, scores)
    return bag


def out_of_bag_scores(bag: OutOfBag, rows: Ints | None, n: int, name: str) -> Any:
    """The out-of-bag predictions of n rows, of which the bag had `rows` (None for all).

    A row without a prediction, since every member drew it or its weight is 0, is masked, and then
    the array is a masked one, NaN beneath the mask.
    """
    scores = np.full((n, *bag.scores.shape[1:]), np.nan)
    there = np.flatnonzero(bag.judged) if rows is None else rows[bag.judged]
    scores[there] = bag.scores[bag.judged]
    never = int((~bag.judged).sum())
    if never:
        warnings.warn(
            f"{never} of {len(bag.judged)} rows are out of bag for no member of this {name}, and "
            "have no out-of-bag prediction (they are masked): fit more members (n_estimators)",
            UserWarning,
            stacklevel=4,
        )
    if len(there) == n:
        return scores
    mask = np.ones(scores.shape, dtype=bool)
    mask[there] = False
    return np.ma.MaskedArray(scores, mask)
