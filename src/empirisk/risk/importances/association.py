"""How closely two columns of a mixed table go together, from 0 to 1, and which columns do.

numbers      the absolute rank correlation of Spearman (1904); dates and truth values are numbers
categories   Cramer's V, its bias taken away (Bergsma 2013)
one of each  the correlation ratio of the ranks, its bias taken away (Kelley 1935): 1 where the
             category tells the rank, 0 where the mean rank is the same in all of its levels

Rows where either is missing are left out of a pair. Text goes with nothing.
"""

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from empirisk.data.column import Column
from empirisk.data.table import Table
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.streams import generator

MOST_ROWS = 20_000  # more show nothing new: the error of a rank correlation is then below 0.01
STRONG = 0.7  # its square is one half: either tells about half of what the other does


def correlated_features(X: Any, threshold: float = STRONG) -> dict[str, list[str]]:
    """Columns that go together, by name: of each group every two are associated that closely.

    Clusters are joined as long as the least association between their columns is at least the
    threshold (complete linkage). A column that goes with no other is a group of its own.

    Parameters
    ----------
    X : table, frame or array
    threshold : float, from 0 to 1
        The least association of two columns of a group: the absolute rank correlation of numbers,
        Cramer's V of categories, the correlation ratio of ranks between one and the other. Tables
        of more than 20,000 rows are judged by so many, drawn at random.

    Returns
    -------
    dict
        Of each group, the names of its columns; the form that `importance(features=...)` takes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=200)
    >>> weight = height - 100 + rng.normal(0, 5, size=200)
    >>> table = {"height": height, "weight": weight, "age": rng.uniform(18, 80, size=200)}
    >>> correlated_features(table)
    {'height + weight': ['height', 'weight'], 'age': ['age']}
    """
    if not (is_number(threshold) and 0 <= threshold <= 1):
        raise ParameterError(f"threshold is {threshold!r}; give an association from 0 to 1")
    table = Table.of(X)
    groups: dict[int, list[str]] = {}
    for name, cluster in zip(table.names, _clusters(associations(table), threshold), strict=True):
        groups.setdefault(int(cluster), []).append(name)
    return {" + ".join(names): names for names in groups.values()}


def associations(table: Table) -> Floats:
    """The association of every two columns."""
    columns = [_numbered(column) for column in _some_rows(table).columns]
    found = np.eye(len(columns))
    for j, one in enumerate(columns):
        for k in range(j):
            found[j, k] = found[k, j] = _associated(one, columns[k])
    return found


def associations_with(table: Table, j: int) -> Floats:
    """The association of every column with the j-th."""
    table = _some_rows(table)
    one = _numbered(table.columns[j])
    return np.array([_associated(one, _numbered(column)) for column in table.columns])


def _some_rows(table: Table) -> Table:
    if len(table) <= MOST_ROWS:
        return table
    return table.take(np.sort(generator(0).permutation(len(table))[:MOST_ROWS]))


def _numbered(column: Column) -> tuple[str, Floats]:
    """Numbers, or the codes of levels, NaN where missing."""
    if column.kind == "text":
        return "text", np.full(len(column), np.nan)
    if column.kind != "category":
        return "number", column.numbers()
    codes = column.codes().astype(float)
    return "category", np.where(codes < 0, np.nan, codes)


def _associated(one: tuple[str, Floats], two: tuple[str, Floats]) -> float:
    there = ~(np.isnan(one[1]) | np.isnan(two[1]))
    if there.sum() < 2:
        return 0.0
    (kind, a), (other, b) = sorted([(one[0], one[1][there]), (two[0], two[1][there])], key=_kind)
    if kind == "number":
        return rank_correlation(a, b)
    codes = np.unique(a, return_inverse=True)[1]
    if other == "number":
        return rank_ratio(codes, b)
    return cramers_v(codes, np.unique(b, return_inverse=True)[1])


def _kind(column: tuple[str, Floats]) -> str:
    return column[0]


def rank_correlation(a: Floats, b: Floats) -> float:
    """Spearman's, without its sign; 0 for a constant.

    Examples
    --------
    >>> rank_correlation(np.array([1.0, 2.0, 9.0]), np.array([3.0, 2.0, -5.0]))
    1.0
    """
    a, b = rankdata(a) - (len(a) + 1) / 2, rankdata(b) - (len(b) + 1) / 2
    size = float(np.sqrt((a @ a) * (b @ b)))
    return min(abs(float(a @ b)) / size, 1.0) if size > 0 else 0.0


def rank_ratio(codes: Ints, numbers: Floats) -> float:
    """The root of the share of the variance of the ranks that is between the levels of a category,

        1 - (1 - between / total) (n - 1) / (n - levels),    at least 0.

    Examples
    --------
    >>> rank_ratio(np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 5.0, 5.0]))
    1.0
    """
    n, levels = len(codes), int(codes.max()) + 1
    ranks = rankdata(numbers) - (n + 1) / 2
    total = float(ranks @ ranks)
    if total == 0 or levels < 2 or levels == n:
        return 0.0
    between = float((np.bincount(codes, ranks) ** 2 / np.bincount(codes)).sum())
    return float(np.sqrt(max(0.0, 1 - (1 - between / total) * (n - 1) / (n - levels))))


def cramers_v(a: Ints, b: Ints) -> float:
    """The root of phi^2 / min(r, c), with chi^2 / n, r - 1 and c - 1 less than is due to chance.

    Examples
    --------
    >>> round(cramers_v(np.array([0, 0, 1, 1] * 9), np.array([1, 1, 0, 0] * 9)), 12)
    1.0
    """
    n, levels = len(a), (int(a.max()) + 1, int(b.max()) + 1)
    counts = np.bincount(a * levels[1] + b, minlength=levels[0] * levels[1]).reshape(levels)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    rows, columns = counts.shape
    if rows < 2 or columns < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    phi = float(((counts - expected) ** 2 / expected).sum()) / n
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    most = min(k - (k - 1) ** 2 / (n - 1) for k in (rows, columns)) - 1
    return min(float(np.sqrt(phi / most)), 1.0) if most > 0 else 0.0


def _clusters(association: Floats, threshold: float) -> Ints:
    if len(association) < 2:
        return np.zeros(len(association), dtype=np.int64)
    distance = squareform(1 - association, checks=False)
    return fcluster(linkage(distance, "complete"), 1 - threshold + 1e-12, "distance")
