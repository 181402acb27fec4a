"""Training sets of growing size, each inside the next: what a learning curve is drawn from."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import generator, spawn

STEPS = 8
LEAST = 10
RANGE = 32


def default_sizes(largest: int, least: int = LEAST) -> Ints:
    """Eight sizes in equal ratios up to the largest, from a 32nd of it, or the least if larger.

    Examples
    --------
    >>> default_sizes(640)
    array([ 20,  33,  54,  88, 145, 238, 390, 640])
    """
    least = max(largest // RANGE, least)
    if least >= largest:
        least = max(largest // 4, 1)
    return np.unique(np.round(np.geomspace(least, largest, STEPS)).astype(np.int64))


def checked_sizes(sizes: Sequence[Any] | None, largest: int, problem: Problem) -> Ints:
    """Numbers of rows, increasing; shares between 0 and 1 are of the largest."""
    if sizes is None:
        return default_sizes(largest, max(LEAST, rows_for_two_classes(problem)))
    try:
        given = np.asarray(sizes)
    except ValueError:  # lists of unequal length
        given = np.empty(0)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iuf":
        raise ParameterError(f"sizes is {sizes!r:.60}; give numbers of rows, or shares such as 0.5")
    if given.dtype.kind == "f":
        if not ((given > 0) & (given <= 1)).all():
            raise ParameterError("sizes holds shares that are not in (0, 1]: give whole numbers")
        given = np.maximum(np.round(given * largest), 1)
    found = np.unique(given.astype(np.int64))
    if found[0] < 1 or found[-1] > largest:
        raise ParameterError(
            f"sizes reach from {found[0]} to {found[-1]} rows; the training parts of this plan "
            f"allow 1 to {largest}"
        )
    return found


def rows_for_two_classes(problem: Problem) -> int:
    """So many that about two rows of the second class are among them."""
    if problem.classes is None or problem.target is None:
        return 1
    second = int(np.sort(np.bincount(problem.target, minlength=2))[-2])
    return 2 * problem.n // max(second, 1)


class Split(NamedTuple):
    """Test rows, and training sets of growing size that predict them."""

    test: Ints
    trains: list[Ints]
    seed: int | None


def plans_of(
    problem: Problem, cv: Any, test_size: float | None, repeats: int, seed: int
) -> list[Plan]:
    """One plan for each repeat: others where folds are drawn, else the same one again."""
    seeds = spawn(seed, repeats)
    if test_size is not None:
        return [problem.holdout(test_size, random_state=seeds[0])] * repeats
    drawn = cv is None or isinstance(cv, int | np.integer)
    first = problem.plan(cv, random_state=seeds[0] if drawn else None)
    others = (problem.plan(cv, random_state=seed) for seed in seeds[1:])
    return [first, *(others if drawn else [first] * (repeats - 1))]


def splits_of(
    problem: Problem, plans: list[Plan], sizes: Ints, seed: int, *, seeded: bool
) -> list[Split]:
    """The splits of all plans, each with its training sets of these sizes."""
    seeds = iter(spawn(seed, sum(plan.n_splits for plan in plans)))
    found = []
    for plan in plans:
        for s in range(plan.n_splits):
            order_seed = next(seeds)
            trains = nested_subsets(
                plan.train(s),
                sizes,
                strata=None if problem.classes is None else problem.target,
                groups=problem.groups,
                in_order=plan.kind == "time",
                rng=generator(order_seed),
            )
            found.append(Split(plan.test(s), trains, order_seed if seeded else None))
    return found


def nested_subsets(
    train: Ints,
    sizes: Ints,
    *,
    strata: Array | None,
    groups: Array | None,
    in_order: bool,
    rng: np.random.Generator,
) -> list[Ints]:
    """The first rows of a random order of the training rows, as many as each size says.

    Classes keep their shares at every size; a group comes as a whole, so that the last one that
    does not fit stays out; rows in time order are the latest ones.
    """
    if in_order:
        return [train[len(train) - m :] for m in sizes]
    if groups is not None:
        return _whole_groups(train, sizes, groups[train], rng)
    order = train[rng.permutation(len(train))]
    if strata is not None:
        order = order[_evenly_mixed(strata[order], rng)]
    return [np.sort(order[:m]) for m in sizes]


def _evenly_mixed(strata: Array, rng: np.random.Generator) -> Ints:
    """An order in which every stretch from the start has about the shares of all."""
    place = np.empty(len(strata))
    for stratum in np.unique(strata):
        mine = np.flatnonzero(strata == stratum)
        place[mine] = (np.arange(len(mine)) + rng.random()) / len(mine)
    return np.argsort(place, kind="stable")


def _whole_groups(train: Ints, sizes: Ints, groups: Array, rng: np.random.Generator) -> list[Ints]:
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    rank = rng.permutation(codes.max() + 1)[codes]
    filled = np.cumsum(np.bincount(rank))
    found = []
    for m in sizes:
        whole = max(int(np.searchsorted(filled, m, side="right")), 1)
        found.append(train[rank < whole])
    return found
