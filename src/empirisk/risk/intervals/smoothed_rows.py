"""Rows like those of a table: drawn from it, the numbers moved a little (the smoothed bootstrap).

A row drawn twice would be twice the same point, and a learner would find fewer points than rows. So
a row x becomes

    m + (x - m + h e) / sqrt(1 + h^2),    e ~ N(0, S),

with m and S the mean and covariance of the columns, which the new rows then have too, and the
bandwidth h = (4 / (n (q + 2)))^(1/(q + 4)) of Silverman (1986) for q columns.
"""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from empirisk.data.frames import chunked
from empirisk.data.kinds import column_of
from empirisk.data.table import Table
from empirisk.risk.populations.features import as_rows, covariance_root
from empirisk.runtime.arrays import Floats, Ints

FEW_VALUES = 10


def smoothed_rows(X: Any, rows: Ints, rng: np.random.Generator) -> Any:
    """The rows of these numbers, smoothed, as the type that X is.

    Columns of more than ten different numbers are moved, and stay within what they were; whole
    numbers stay whole. Categories, dates and missing values remain as they are.

    Examples
    --------
    >>> X = np.column_stack([np.arange(50.0), np.arange(50) % 2])
    >>> new = smoothed_rows(X, np.array([3, 3]), np.random.default_rng(0))
    >>> new[:, 1], bool(new[0, 0] != new[1, 0])
    (array([1., 1.]), True)
    """
    if hasattr(X, "__arrow_c_stream__"):
        return _smoothed_table(X, rows, rng)
    X = as_rows(X)
    drawn = _safe_indexing(X, rows)
    values = getattr(X, "dtype", np.dtype(object))
    if values.kind not in "fiu" or np.ndim(X) != 2 or not hasattr(X, "__array__"):
        return drawn  # sparse, or no numbers: as they are
    return _moved(np.asarray(X, dtype=float), rows, rng).astype(values)


def _smoothed_table(X: Any, rows: Ints, rng: np.random.Generator) -> Any:
    table = Table.of(X)
    numbers = [name for name, kind in table.kinds.items() if kind == "number"]
    drawn = table.take(rows)
    if numbers:
        values = np.column_stack([table[name].numbers() for name in numbers])
        moved = dict(zip(numbers, _moved(values, rows, rng).T, strict=True))
        columns = [
            column_of(each.name, chunked(each.name, moved[each.name]), "number")
            if each.name in moved
            else each
            for each in drawn.columns
        ]
        drawn = Table(columns)
    home = type(X).__module__.partition(".")[0]
    return drawn if home not in BACK else BACK[home](drawn)


BACK = {"pandas": Table.to_pandas, "polars": Table.to_polars, "pyarrow": Table.to_arrow}


def _moved(values: Floats, rows: Ints, rng: np.random.Generator) -> Floats:
    drawn = values[rows]
    smooth = np.array([len(np.unique(column)) > FEW_VALUES for column in values.T], dtype=bool)
    if not smooth.any():
        return drawn
    columns = values[:, smooth]
    size = np.nanmax(np.abs(columns), axis=0)  # so that no square overflows
    scaled = columns / size
    mean = np.nanmean(scaled, axis=0)
    known = np.where(np.isnan(scaled), mean, scaled) - mean
    n, q = known.shape
    root = covariance_root(np.atleast_2d(np.cov(known.T, bias=True)))
    h = (4 / (n * (q + 2))) ** (1 / (q + 4))
    noise = rng.standard_normal((len(rows), q)) @ root.T
    moved = mean + (scaled[rows] - mean + h * noise) / np.sqrt(1 + h**2)
    moved = np.clip(moved, np.nanmin(scaled, axis=0), np.nanmax(scaled, axis=0)) * size
    whole = (np.isnan(columns) | (columns == np.round(columns))).all(axis=0)
    drawn[:, smooth] = np.where(whole, np.round(moved), moved)
    return drawn


def draw_rows(X: Any, n: int, rng: np.random.Generator) -> tuple[Any, Ints]:
    """n smoothed rows, and which rows of X they come from."""
    rows = rng.integers(0, _num_samples(X), size=n)
    return smoothed_rows(X, rows, rng), rows
