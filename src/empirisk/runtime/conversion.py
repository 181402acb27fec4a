"""Arrays, lists and frames as the arrays that compiled code takes.

What comes out is float64, C-contiguous, aligned and writable. An array that is so already comes
out as it is, not copied: nobody may write into it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array

from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import check_names, column_names, name_columns
from empirisk.runtime.complaints import (
    explain,
    learner_name,
    refuse_dates,
    refuse_infinite,
    refuse_no_rows,
    refuse_not_finite,
)
from empirisk.runtime.errors import DataError

DOOR: dict[str, Any] = {
    "dtype": np.float64,
    "order": "C",
    "force_writeable": True,
    "ensure_all_finite": False,  # our own check names the column
}


def numbers(
    X: Any, estimator: Any, *, allow_nan: bool = False, keep_single: bool = False
) -> Floats:
    """X as a C-contiguous, writable float64 array of finite numbers, and of NaN if so allowed.

    With `keep_single` float32 stays float32.

    Examples
    --------
    >>> numbers([[1, 2]], "Ridge")
    array([[1., 2.]])
    >>> numbers([[1, 2], [3, float("nan")]], "Ridge")
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.DataError: column 1 has 1 missing value(s) (NaN), the first in row 1;
    Ridge needs numbers: put an Encoder() before it
    """
    return floats(
        dense(X, estimator),
        "X",
        learner_name(estimator),
        lambda X: check_array(X, estimator=estimator, input_name="X", **door(keep_single)),
        allow_nan=allow_nan,
    )


def dense(X: Any, estimator: Any) -> Any:
    """A sparse matrix or frame in full, where the estimator says that it takes one; else X itself.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn.linear_model import Ridge
    >>> dense(csr_array([[0.0, 2.0]]), Ridge())
    array([[0., 2.]])
    """
    if isinstance(X, np.ndarray | list):
        return X
    frame = getattr(X, "sparse", None)  # pandas has it where all columns are sparse
    in_full = X.toarray if issparse(X) else getattr(frame, "to_dense", None)
    if in_full is None or isinstance(estimator, str):
        return X
    return in_full() if get_tags(estimator).input_tags.sparse else X


def floats(
    table: Any,
    subject: str,
    name: str,
    convert: Callable[[Any], Array],
    *,
    allow_nan: bool = False,
    finite: bool = True,
) -> Floats:
    """What `convert` makes of a table, its columns named; it refuses what are no numbers.

    `subject` is "X", "y" or "sample_weight", and `name` is who asks; complaints speak of both.
    Without `finite` it is left to the caller to look for NaN and infinities.
    """
    table = as_array_like(table, subject)
    refuse_dates(table, subject, name)
    check_names(column_names(table) or ())  # pandas lets a name stand twice
    try:
        with np.errstate(over="ignore"):  # what overflows becomes inf, and is named below
            values = convert(table)
    except (ValueError, TypeError, OverflowError) as error:
        explain(table, subject, name, error)
        raise
    # Aligned, since compiled code would be compiled once more for arrays that are not.
    values = np.require(values, None, ["C", "ALIGNED", "WRITEABLE", "ENSUREARRAY"])
    if allow_nan:
        refuse_infinite(values, table, subject, name)
    elif finite:
        refuse_not_finite(values, table, subject, name)
    return name_columns(values, column_names(table))


def as_array_like(table: Any, subject: str) -> Any:
    """A table that scikit-learn reads: what is masked is NaN, an Arrow stream has been read."""
    refuse_no_rows(table, subject)
    if isinstance(table, np.ma.MaskedArray):
        return unmasked_table(table)
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "__array__"):
        try:
            import pyarrow
        except ImportError:
            raise DataError(
                f"a {type(table).__name__} can be read with pyarrow only; install it, "
                "or give an array or a data frame"
            ) from None
        return pyarrow.table(table)
    return table


def unmasked_table(table: Any) -> Array:
    """A masked array without its mask, of which scikit-learn knows nothing: numbers have NaN there.

    Examples
    --------
    >>> unmasked_table(np.ma.array([[1, 2]], mask=[[True, False]]))
    array([[nan,  2.]])
    """
    if table.dtype.kind in "biuf":
        return np.ma.filled(table.astype(np.float64), np.nan)
    return unmasked(table)


def unmasked(array: Any) -> Array:
    """The values of a masked array in their own type, or, where some are masked, with None there.

    Examples
    --------
    >>> unmasked(np.ma.array([0, 1])), unmasked(np.ma.array(["a", "b"], mask=[True, False]))
    (array([0, 1]), array([None, 'b'], dtype=object))
    """
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.dtype.kind in "mM":  # as objects, nanoseconds would be integers
        values: Array = array.filled(np.array("NaT", array.dtype))
        return values
    values = array.data.astype(object)
    values[np.ma.getmaskarray(array)] = None
    return values


def door(keep_single: bool) -> dict[str, Any]:
    """What scikit-learn's checks are to make of an array."""
    return {**DOOR, "dtype": [np.float64, np.float32]} if keep_single else DOOR
