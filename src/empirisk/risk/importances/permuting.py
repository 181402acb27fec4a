"""Columns that lose what they know of the other columns: each row takes the values of another row.

Which row that is, its donor, is drawn so that no row keeps its own value, nor takes one of its own
group: the rows stand in a random order on a circle, and each takes from the one so many places on.
So the mean over many draws is that over all pairs of rows that are independent of each other, and
not, as with permutations that leave some rows in their place, (n - 1)/n times it.
"""

from typing import Any

import numpy as np
from scipy.sparse import hstack

from empirisk.data.column import Column
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, DataTypeError


def draw_donors(weight: Floats, unit: Ints, rng: np.random.Generator) -> Ints:
    """The row from which each row takes its values, none of them of its own unit.

    A unit is a row, or a group of rows. With equal weights the donors are a permutation; otherwise
    a row is a donor about as often as its weight says, as if it stood there so many times. Where
    one unit has more than half of the weight, it cannot but take from itself.

    Parameters
    ----------
    weight : array, all positive
    unit : int array
        The independent observation that each row belongs to.
    rng : numpy.random.Generator

    Examples
    --------
    >>> draw_donors(np.ones(4), np.arange(4), np.random.default_rng(0))
    array([1, 3, 0, 2])
    >>> draw_donors(np.ones(4), np.array([0, 0, 1, 1]), np.random.default_rng(0))
    array([2, 3, 0, 1])
    """
    codes = np.unique(unit, return_inverse=True)[1].reshape(-1)
    order = _random_order(codes, rng)
    if (weight == weight[0]).all():
        largest = int(np.bincount(codes).max())
        return _moved(order, _drawn_shift(largest, len(order), rng))
    end = np.cumsum(weight[order])
    place = end - weight[order] * rng.random(len(order))
    largest_weight = float(np.bincount(codes, weight).max())
    low, high = sorted((largest_weight, float(end[-1]) - largest_weight))
    target = (place + rng.uniform(low, high)) % end[-1]
    donors = np.empty(len(order), dtype=np.int64)
    donors[order] = order[np.minimum(np.searchsorted(end, target, side="right"), len(end) - 1)]
    return donors


def _random_order(codes: Ints, rng: np.random.Generator) -> Ints:
    """Units one after another in random order, the rows of each in random order."""
    shuffled = rng.permutation(len(codes))
    if codes.max() == len(codes) - 1:
        return shuffled
    rank = rng.permutation(int(codes.max()) + 1)
    return shuffled[np.argsort(rank[codes[shuffled]], kind="stable")]


def _drawn_shift(largest: int, n: int, rng: np.random.Generator) -> int:
    """So many places that no row of a unit reaches another of it."""
    low, high = sorted((largest, n - largest))
    return int(rng.integers(low, high + 1))


def _moved(order: Ints, shift: int) -> Ints:
    donors = np.empty(len(order), dtype=np.int64)
    donors[order] = np.roll(order, -shift)
    return donors


def take_from(X: Any, columns: Ints, donors: Ints) -> Any:
    """X of the same type, its named columns from the rows of the donors, all others as they are.

    Examples
    --------
    >>> take_from(np.array([[1, 10], [2, 20], [3, 30]]), np.array([1]), np.array([2, 0, 1]))
    array([[ 1, 30],
           [ 2, 10],
           [ 3, 20]])
    """
    if isinstance(X, Table):
        taken = dict.fromkeys(columns.tolist())
        return Table(
            [
                Column(c.name, c.kind, c.arrow.take(donors)) if j in taken else c
                for j, c in enumerate(X.columns)
            ],
            X.source,
        )
    if hasattr(X, "isetitem"):  # pandas
        found = X.copy(deep=False)
        for j in columns:
            found.isetitem(int(j), X.iloc[:, int(j)].array.take(donors))
        return found
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns([X.to_series(int(j)).gather(donors) for j in columns])
    if hasattr(X, "set_column"):  # pyarrow
        for j in columns.tolist():
            X = X.set_column(j, X.schema.field(j), X.column(j).take(donors))
        return X
    return _of_sparse(X, columns, donors) if hasattr(X, "tocsc") else _of_array(X, columns, donors)


def _of_array(X: Array, columns: Ints, donors: Ints) -> Array:
    found = X.copy()
    found[:, columns] = X[np.ix_(donors, columns)]
    return found


def _of_sparse(X: Any, columns: Ints, donors: Ints) -> Any:
    found = X.tocsc()
    for j in columns.tolist():
        taken = found[:, [j]].tocsr()[donors].tocsc()
        found = hstack([found[:, :j], taken, found[:, j + 1 :]], format="csc")
    return found.asformat(X.format)


def with_columns(X: Any) -> Any:
    """X in a form that columns can be taken from: lists of rows as an array."""
    if isinstance(X, list | tuple):
        array = np.asarray(X)
        X = np.array(X, dtype=object) if array.dtype.kind in "USO" else array
    known = isinstance(X, Table | np.ndarray) or any(
        hasattr(X, name) for name in ("isetitem", "with_columns", "set_column", "tocsc")
    )
    if not known:
        raise DataTypeError(
            f"X is a {type(X).__name__}; columns are changed in an array, a sparse matrix, a "
            "Table, or a frame of pandas, polars or pyarrow: give one of these"
        )
    if len(X.shape) != 2:
        raise DataError(
            f"X has the shape {X.shape}; there are no columns to permute: give rows and columns"
        )
    return X
