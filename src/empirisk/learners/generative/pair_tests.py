"""Tests of whether two columns are independent, on the rows in which both are there.

    numbers, numbers   the correlation r of their ranks;     1 - r^2 ~ Beta((n - 2) / 2, 1 / 2)
    numbers, levels    the part of the variance of the ranks between levels (one-way analysis of
                       variance), R^2:        1 - R^2 ~ Beta((n - g) / 2, (g - 1) / 2), g levels
    levels, levels     Pearson's chi-squared with (r - 1)(c - 1) degrees of freedom

Ranks (equal numbers have their mean rank) have no long tails, and two rows that both happen to be
far out prove nothing. All three are approximations, close unless something is rare. Levels that are
rare are taken together, by their margins alone, which say nothing of dependence: those with fewer
than 5 rows in the second test; in the third so that no cell of the table is expected to have fewer
than 5. Numbers of which nearly all are equal, as counts that are nearly all 0, are like a rare
level. A pair of them is tested only if both are expected to differ from their commonest values in
at least 10 rows; one and levels, if it differs from it in at least 10 times as many rows as there
are levels.
"""

from collections.abc import Iterator
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betainc, chdtrc

from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.deadlines import check_deadline

FEWEST = 5  # rows that a level, or a cell of a table, is expected to have
FEWEST_AWAY = 10  # rows in which numbers are expected not to be the commonest

Test = tuple[int, int, float, float, float]
"""Two columns, rows, strength, p-value."""


def pair_tests(X: Floats, weight: Floats, numbers: list[int], levels: list[int]) -> Iterator[Test]:
    """Of the rows of one class."""
    if not len(X):
        return
    ranks, there = _ranks(X[:, numbers], weight)
    for a, b, test in _correlations(ranks, there, weight):
        yield _ordered(numbers[a], numbers[b], *test)
    for place, i in enumerate(levels):
        check_deadline()
        if numbers:
            for a, test in _between_levels(X[:, i], ranks, there, weight):
                yield _ordered(i, numbers[a], *test)
        for j in levels[place + 1 :]:
            found = _chi_squared(X[:, i], X[:, j], weight)
            if found is not None:
                yield _ordered(i, j, *found)


def _ordered(i: int, j: int, rows: float, strength: float, p: float) -> Test:
    return min(i, j), max(i, j), rows, strength, p


class Ranks(NamedTuple):
    """Ranks of columns, about their means and in standard deviations."""

    Z: Floats  # 0 where a column is missing or constant
    away: Bools  # where it is there, and not its commonest value


def _ranks(X: Floats, weight: Floats) -> tuple[Ranks, Floats]:
    """The ranks of columns, and 1 where they are there and vary."""
    ranks = Ranks(np.zeros(X.shape), np.zeros(X.shape, bool))
    there = np.zeros(X.shape)
    for j, column in enumerate(X.T):
        rows = np.flatnonzero(~np.isnan(column))
        values, place = np.unique(column[rows], return_inverse=True)
        if len(values) < 2:
            continue
        w = weight[rows]
        tied: Any = np.bincount(place, w / w.sum())
        rank = np.cumsum(tied) - tied / 2 - 0.5  # the mean rank is in the middle
        ranks.Z[rows, j] = (rank / np.sqrt(tied @ np.square(rank)))[place]
        ranks.away[rows, j] = place != tied.argmax()
        there[rows, j] = 1.0
    return ranks, there


def _correlations(
    ranks: Ranks, there: Floats, weight: Floats
) -> Iterator[tuple[int, int, tuple[float, float, float]]]:
    """Of every pair of numbers, on the rows where both are there."""
    Z = ranks.Z
    weighted, mask = Z * weight[:, None], there * weight[:, None]
    n, away = mask.T @ there, (ranks.away * weight[:, None]).T @ there
    first, square, product = weighted.T @ there, (weighted * Z).T @ there, weighted.T @ Z
    with np.errstate(divide="ignore", invalid="ignore"):
        both_away = away * away.T / n
        variance = square - first**2 / n
        r2 = (product - first * first.T / n) ** 2 / (variance * variance.T)
    for a, b in zip(*np.triu_indices(len(n), 1), strict=True):
        # Of columns in standard deviations less than 1e-10 is rounding.
        varies = min(variance[a, b], variance[b, a]) > 1e-10 * n[a, b]
        if both_away[a, b] >= FEWEST_AWAY and varies:
            found = float(min(r2[a, b], 1.0))
            p = float(betainc((n[a, b] - 2) / 2, 0.5, 1 - found))
            yield int(a), int(b), (float(n[a, b]), sqrt(found), p)


def _between_levels(
    codes: Floats, ranks: Ranks, there: Floats, weight: Floats
) -> Iterator[tuple[int, tuple[float, float, float]]]:
    """Of one column of levels and every column of numbers."""
    rows = np.flatnonzero(~np.isnan(codes))
    if not len(rows):
        return
    Z = ranks.Z[rows]
    group = codes[rows].astype(np.int64)
    count = np.bincount(group, weight[rows])
    rare = count < FEWEST
    group = np.where(rare, len(count), np.arange(len(count)))[group]
    group = np.unique(group, return_inverse=True)[1]
    member = csr_array((weight[rows], (group, np.arange(len(rows)))))  # nearly all are 0
    n, sums = member @ there[rows], member @ Z
    squares, away = weight[rows] @ np.square(Z), weight[rows] @ ranks.away[rows]
    total, some = n.sum(axis=0), (n > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = sums.sum(axis=0) ** 2 / total
        between = np.where(n > 0, sums**2 / n, 0.0).sum(axis=0) - middle
        whole = squares - middle
        part = np.clip(between / whole, 0.0, 1.0)
    for a in range(Z.shape[1]):
        enough = away[a] >= FEWEST_AWAY * some[a]
        if some[a] > 1 and enough and whole[a] > 1e-10 * total[a]:
            p = betainc((total[a] - some[a]) / 2, (some[a] - 1) / 2, 1 - part[a])
            yield a, (float(total[a]), sqrt(part[a]), float(p))


def _chi_squared(one: Floats, other: Floats, weight: Floats) -> tuple[float, float, float] | None:
    """Of two columns of levels."""
    rows = np.flatnonzero(~(np.isnan(one) | np.isnan(other)))
    if not len(rows):
        return None
    w = weight[rows]
    n = float(w.sum())
    # Pooled before they are crossed: of two columns of many words nearly all cells are empty.
    a, b = (_pooled(column[rows].astype(np.int64), w, n) for column in (one, other))
    shape = int(a.max()) + 1, int(b.max()) + 1
    if min(shape) < 2:
        return None
    cells: Any = np.bincount(a * shape[1] + b, w, shape[0] * shape[1])
    table = cells.reshape(shape)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float((np.square(table - expected) / expected).sum())
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    strength = sqrt(min(statistic / n / (min(table.shape) - 1), 1.0))
    return float(n), strength, float(chdtrc(freedom, statistic))


def _pooled(codes: Ints, weight: Floats, n: float) -> Ints:
    """Levels of which each has at least sqrt(5 n), or a single one: the rare ones are one level, or
    belong to the rarest of the others where they are too few.

    Where both margins are so large, no cell is expected to have fewer than 5.
    """
    margin: Any = np.bincount(codes, weight)
    least = sqrt(FEWEST * n)
    common = np.flatnonzero(margin >= least)
    place = np.full(len(margin), len(common))
    place[common] = np.arange(len(common))
    if len(common) and n - margin[common].sum() < least:
        place[place == len(common)] = margin[common].argmin()
    return place[codes]
