"""Dealing rows to folds: shuffled, stratified or in time order, groups and copies kept together."""

from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components

from empirisk.data.column import Column
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Bools, Floats, Int32s, Ints
from empirisk.runtime.errors import PlanError


def deal(
    n: int,
    n_folds: int,
    *,
    strata: Array | None = None,
    units: Ints | None = None,
    rng: np.random.Generator | None = None,
) -> Int32s:
    """The fold of each row.

    Every stratum is spread over the folds as evenly as whole units allow, then the folds are made
    equal in size. Larger units are dealt first; `rng` shuffles units of one size.
    """
    units = np.arange(n) if units is None else units
    size = np.bincount(units)
    stratum = _stratum_of_units(strata, units, len(size))
    count = np.zeros((stratum.max() + 1, n_folds), dtype=np.int64)
    order = np.arange(len(size)) if rng is None else rng.permutation(len(size))
    order = order[np.argsort(-size[order], kind="stable")]
    fold_of_unit = np.empty(len(size), dtype=np.int32)
    for u in order[size[order] > 1]:
        k = np.lexsort((count.sum(axis=0), count[stratum[u]]))[0]
        fold_of_unit[u] = k
        count[stratum[u], k] += size[u]
    singles = order[size[order] == 1]
    for h in np.unique(stratum[singles]):
        mine = singles[stratum[singles] == h]
        share = _level(count[h], count.sum(axis=0), len(mine))
        fold_of_unit[mine] = np.repeat(np.arange(n_folds), share)
        count[h] += share
    return fold_of_unit[units]


def hold_out(
    n: int,
    share: float,
    *,
    strata: Array | None = None,
    units: Ints | None = None,
    rng: np.random.Generator,
) -> Bools:
    """Which rows are held out: about the share of each stratum, in whole units.

    Units come in a random order whatever their size, so that rows of large units are held out as
    often as others.
    """
    units = np.arange(n) if units is None else units
    size = np.bincount(units)
    stratum = _stratum_of_units(strata, units, len(size))
    rows = np.bincount(stratum, weights=size).astype(float)
    quota = _apportion(share * rows, round(min(max(share * n, 1), n - 1)))
    order = rng.permutation(len(size))
    held = np.zeros(len(size), dtype=bool)
    for h, wanted in enumerate(quota):
        mine = order[stratum[order] == h]
        held[_first_units(mine, size[mine], int(wanted))] = True
    if held.all() or not held.any():  # two large units: one to either side
        held[order[-1]] ^= True
    return held[units]


def _first_units(units: Ints, size: Ints, wanted: int) -> Ints:
    """Of units in this order those that together have as many rows as wanted, or nearly.

    One that would go beyond by more than half of it is left out.
    """
    single = size == 1
    before = np.cumsum(single) - single  # units of one row, all of which are taken until it is full
    held, taken = np.zeros(len(units), dtype=bool), 0
    for i in np.flatnonzero(~single):
        held[i] = before[i] + taken + size[i] / 2 <= wanted
        taken += int(size[i]) * int(held[i])
    held[np.flatnonzero(single)[: max(wanted - taken, 0)]] = True
    return units[held]


def latest(n: int, share: float, *, units: Ints | None = None) -> Bools:
    """Which rows are held out in time order: the last, about the share, cut between units."""
    cut = n - round(min(max(share * n, 1), n - 1))
    if units is not None:
        first = np.unique(units, return_index=True)[1]
        last = n - 1 - np.unique(units[::-1], return_index=True)[1]
        opened, closed = (np.bincount(edge + 1, minlength=n + 1) for edge in (first, last))
        clean = np.flatnonzero(np.cumsum(opened - closed)[1:n] == 0) + 1
        if not len(clean):
            raise PlanError(
                "every cut in time has rows of one group before and after it: leave groups out, if "
                "a group may be on both sides, or hold out whole groups without time order"
            )
        cut = int(clean[np.argmin(np.abs(clean - cut))])
    return np.arange(n) >= cut


def units_of(X: Any, groups: Ints | None, keep_copies_together: bool) -> Ints | None:
    """The units that stay in one fold: groups, copies, or both joined."""
    if not keep_copies_together:
        return groups
    copies = copies_of_rows(X)
    return copies if groups is None else join_units(groups, copies)


def copies_of_rows(X: Any) -> Ints:
    """A code for each row, the same for rows that are equal in every column.

    Rows are compared by a 64-bit hash: that two different rows among a million share one has a
    probability below 1e-7, and would only keep them in one fold.
    """
    row_hash = _hash_of_entries(X) if issparse(X) else _hash_of_columns(X)
    return np.unique(row_hash, return_inverse=True)[1].reshape(-1)


def join_units(a: Ints, b: Ints) -> Ints:
    """The finest units such that rows sharing a code of `a` or of `b` share a unit."""
    size = int(a.max()) + 1 + int(b.max()) + 1
    links = coo_array((np.ones(len(a)), (a, b + int(a.max()) + 1)), shape=(size, size))
    return connected_components(links, directed=False)[1][a].astype(np.int64)


def _stratum_of_units(strata: Array | None, units: Ints, n_units: int) -> Ints:
    """The commonest stratum among the rows of each unit."""
    if strata is None:
        return np.zeros(n_units, dtype=np.int64)
    codes = np.unique(strata, return_inverse=True)[1].reshape(-1)
    if n_units == len(units):
        result = np.empty(n_units, dtype=np.int64)
        result[units] = codes
        return result
    table = coo_array((np.ones(len(units)), (units, codes))).tocsr()
    return np.asarray(table.argmax(axis=1)).reshape(-1).astype(np.int64)


def _apportion(wanted: Floats, total: int) -> Ints:
    """Whole numbers next to the wanted ones that add up to the total (largest remainders)."""
    quota = np.floor(wanted).astype(np.int64)
    rest = np.argsort(quota - wanted, kind="stable")
    quota[rest[: max(total - int(quota.sum()), 0)]] += 1
    return quota


def _level(count: Ints, total: Ints, m: int) -> Ints:
    """How many of m equal items each fold gets, so that counts, then totals, come out level."""
    order = np.lexsort((total, count))
    sorted_count = count[order]
    filled = np.cumsum(sorted_count)
    width = np.arange(1, len(count) + 1)
    # The largest number of lowest folds that m items can raise to one common level.
    reach = np.flatnonzero(sorted_count * width - filled <= m)[-1] + 1
    level = (filled[reach - 1] + m) // reach
    share = np.maximum(level - sorted_count[:reach], 0)
    extra = m - share.sum()
    by_total = np.argsort(total[order[:reach]] + share, kind="stable")
    share[by_total[:extra]] += 1
    result = np.zeros(len(count), dtype=np.int64)
    result[order[:reach]] = share
    return result


def _hash_of_columns(X: Any) -> Any:
    row_hash = np.uint64(0)
    for column in _columns(X):
        row_hash = _mix(row_hash + _mix(_bits(column)))
    return row_hash


def _hash_of_entries(X: Any) -> Any:
    """Of a sparse matrix: the sum, modulo 2^64, over the entries of each row that are not 0."""
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    each = _mix(_bits(X.data) + _mix(X.indices.astype(np.uint64)))
    up_to = np.append(np.uint64(0), np.cumsum(each))
    return up_to[X.indptr[1:]] - up_to[X.indptr[:-1]]


def _columns(X: Any) -> list[Any]:
    if isinstance(X, Table | pa.Table):
        return [_entries(column) for column in Table.of(X).columns]
    if hasattr(X, "columns") and hasattr(X, "shape"):
        take = X.iloc if hasattr(X, "iloc") else X  # by place: names may stand twice
        return [np.asarray(take[:, j]) for j in range(X.shape[1])]
    X = np.asarray(X)
    return list(X.reshape(len(X), -1).T)


def _entries(column: Column) -> Array:
    """The entries of a column; words that repeat are ranked once each, not in every row."""
    if column.kind != "category" or column.levels.dtype != object:
        return np.asarray(column.values())
    words = np.append(column.levels.astype(str), "None")  # the last is for missing, -1
    present, place = np.unique(column.codes(), return_inverse=True)
    return np.unique(words[present], return_inverse=True)[1][place.reshape(-1)]


def _bits(column: Array) -> Any:
    """64 bits for each entry, the same for equal entries; missing equals missing."""
    if column.dtype.kind in "biuM":
        return column.astype(np.int64).view(np.uint64)
    if column.dtype.kind == "f":
        column = np.where(np.isnan(column), np.nan, column.astype(float) + 0.0)  # -0.0 is 0.0
        return column.view(np.uint64)
    words = np.array([str(entry) for entry in column]) if column.dtype == object else column
    return np.unique(words.astype(str), return_inverse=True)[1].reshape(-1).astype(np.uint64)


def _mix(h: Any) -> Any:
    """The finaliser of splitmix64: spreads each bit over all 64."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
