"""Training rows without missing values."""

import warnings

import numpy as np

from empirisk.data.blocks import Rows
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import column_names, name_columns
from empirisk.runtime.errors import DataError, EmpiriskWarning


def has_missing(X: Floats) -> bool:
    """Whether there is a NaN in X, where there is nothing infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        # One quick pass; the sum of huge numbers may be none, too.
        return bool(np.isnan(X.sum()) and np.isnan(X).any())


def complete_rows(rows: Rows, classes: Array, name: str) -> Rows:
    """Those of which all features are known; a warning says how many are left out."""
    if not has_missing(rows.X):
        return rows
    kept = np.flatnonzero(~np.isnan(rows.X).any(axis=1))
    left = np.bincount(rows.y[kept], minlength=len(classes))
    if not left.all():
        label = classes.tolist()[int(np.argmin(left))]
        raise DataError(
            f"every row of class {label!r} has missing values (NaN); {name} learns from complete "
            "rows: put an Encoder() before it"
        )
    n = len(rows.y)
    warnings.warn(
        f"{n - len(kept)} of {n} rows have missing values (NaN) and are left out: {name} learns "
        "from complete rows; to use all rows, put an Encoder() before it",
        EmpiriskWarning,
        stacklevel=4,
    )
    X = name_columns(rows.X[kept], column_names(rows.X))
    return Rows(X, rows.y[kept], rows.weight[kept])
