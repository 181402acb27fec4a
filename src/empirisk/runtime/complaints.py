"""What is wrong with data that cannot be used: column, number of values, first row, remedy."""

import re
from typing import Any, NoReturn

import numpy as np

from empirisk.runtime.arrays import Array, Bools, Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.errors import DataError, DataTypeError

_OF_TABLES = ("shape", "__arrow_c_stream__")
_DATES = re.compile("date|time|duration|period", re.IGNORECASE)
_NUMBERS = re.compile(r"u?int\d|float|double|half|bool", re.IGNORECASE)
_REMEDIES = {
    ("X", "missing"): "put an Encoder() before it",
    ("X", "other"): "put an Encoder() before it",
    ("y", "missing"): "leave out these rows",
    ("y", "other"): "use a classifier, or turn y into numbers",
    ("sample_weight", "missing"): "give each row a number >= 0",
    ("sample_weight", "other"): "give each row a number >= 0",
}


def learner_name(estimator: Any) -> str:
    """How to speak of an estimator; a text says so itself."""
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def refuse_dates(table: Any, subject: str, name: str) -> None:
    """Dates would turn into numbers, unasked: days here, nanoseconds there."""
    for j, dtype in enumerate(_dtypes(table)):
        if _DATES.match(str(dtype)):
            where = _column(table, subject, j, len(table.shape))
            raise DataError(
                f"{where} holds dates or times ({dtype}); {name} needs numbers: "
                f"{_REMEDIES[subject, 'other']}"
            )


def refuse_query(table: Any, subject: str = "X") -> None:
    """A table that is yet to be computed, as a LazyFrame of polars, has no rows to look at."""
    for verb in ("collect", "compute"):
        if hasattr(table, verb) and not hasattr(table, "__arrow_c_stream__"):
            raise DataTypeError(
                f"{subject} is a {type(table).__name__}, a query that has not been run: give "
                f"{subject}.{verb}()"
            )


def refuse_no_rows(data: Any, subject: str) -> None:
    """Queries, sets, generators, dictionaries, names of files: nothing with rows in an order."""
    refuse_query(data, subject)
    if isinstance(data, list | tuple) or any(hasattr(data, name) for name in _OF_TABLES):
        return
    try:
        single = np.asarray(data).ndim == 0
    except ValueError:  # rows of different lengths, of which the readers of tables complain
        return
    if single:
        raise DataTypeError(
            f"{subject} is a {type(data).__name__}, of which no rows can be taken: give an array, "
            "a list or a frame; columns by name become a table by empirisk.data.Table.of"
        )


def refuse_not_finite(values: Floats, table: Any, subject: str, name: str) -> None:
    """Complain of NaN and infinities in `values`, which `table` was made into."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one quick pass; huge numbers need the second look
            return
    bad = ~np.isfinite(values).reshape(len(values), -1)
    columns = np.flatnonzero(bad.any(axis=0))
    if columns.size == 0:
        return
    j = int(columns[0])
    where = _column(table, subject, j, values.ndim)
    column = values.reshape(len(values), -1)[:, j]
    others = f", and {columns.size - 1} more column(s) have such" if columns.size > 1 else ""
    missing = np.isnan(column)
    if missing.any():
        _refuse_missing(where, missing, others, subject, name)
    infinite = np.isinf(column)
    raise DataError(
        f"{where} has {infinite.sum()} infinite value(s) (inf, or too large for float64), "
        f"{first_row(infinite)}{others}; {name} needs finite numbers: replace them or leave out "
        "these rows"
    )


def refuse_infinite(values: Array, table: Any, subject: str, name: str) -> None:
    """Complain of infinities in `values`, among which NaN may be."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum())
    if suspicious and np.isinf(values).any():
        refuse_not_finite(np.where(np.isnan(values), 0.0, values), table, subject, name)


def first_row(wrong: Any) -> str:
    """Where the first of some wrong cells is; rows count from 0.

    Examples
    --------
    >>> first_row([False, False, True, True])
    'the first in row 2'
    """
    return f"the first in row {int(np.argmax(wrong))}"


def refuse_one_class(classes: Array, name: str) -> None:
    """Raise a DataError where there is nothing to tell apart."""
    if len(classes) < 2:
        raise DataError(
            f"y has one class only, {classes.tolist()[0]!r}; {name} needs rows of at least two "
            "classes"
        )


def refuse_missing_labels(labels: Array, name: str) -> None:
    """Complain of class labels that are None, NaN or another mark of a missing value."""
    if labels.dtype.kind == "f":
        infinite = np.isinf(labels)
        if infinite.any():
            raise DataError(
                f"y has infinite values (inf), {first_row(infinite)}; {name} needs labels: correct "
                "them"
            )
    missing = missing_labels(labels)
    if missing.any():
        raise DataError(
            f"y has {missing.sum()} missing value(s) (NaN or None), {first_row(missing)}, rows "
            f"without a label; {name} needs a label for each row: leave out these rows"
        )


def missing_labels(labels: Array) -> Bools:
    """Which labels are None, NaN or another mark of a missing value.

    Examples
    --------
    >>> missing_labels(np.array(["a", None, "b"], dtype=object))
    array([False,  True, False])
    """
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind == "O":
        return np.array([is_missing(label) for label in labels], dtype=bool)
    return np.zeros(labels.shape, dtype=bool)


def explain(
    table: Any, subject: str, name: str, error: Exception, *, remedy: str | None = None
) -> None:
    """Name the column that could not be made into numbers; return if that was not the trouble.

    `remedy` says what to do with text, instead of what is usual.
    """
    shape = getattr(table, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is "
            f"required by {name}."
        ) from error
    if shape is not None and len(shape) > 2 and subject == "X":
        raise DataError(
            f"Found array with dim {len(shape)}, while dim <= 2 is required by {name}: a row of X "
            "is a list of numbers; X.reshape(len(X), -1) writes pictures out so, and networks of "
            "pictures are told their shape by input_shape"
        ) from error
    if "inhomogeneous" in str(error):
        raise DataError(f"the rows of {subject} have different lengths: {error}") from error
    dtypes = _dtypes(table)
    if dtypes and all(_NUMBERS.match(str(dtype)) for dtype in dtypes):
        return
    try:
        cells = np.asarray(table, dtype=object)
    except (ValueError, TypeError):
        return
    if cells.ndim not in (1, 2) or cells.size == 0:
        return
    if cells.ndim == 1 and subject == "X":
        raise DataError(
            f"Expected 2D array, got 1D array instead: {name} takes rows and columns; a single row "
            "of a frame is frame.iloc[[0]], of an array array[[0]]"
        ) from error
    for j, column in enumerate(cells.reshape(len(cells), -1).T):
        wrong = np.array([not _is_number(value) for value in column]) if _fails(column) else None
        if wrong is not None and wrong.any():
            advice = _REMEDIES[subject, "other"] if remedy is None else remedy
            column_name = _column(table, subject, j, cells.ndim)
            _refuse_value(column_name, column, wrong, subject, name, error, advice)


def _refuse_value(
    column: str,
    cells: Array,
    wrong: Bools,
    subject: str,
    name: str,
    error: Exception,
    remedy: str,
) -> NoReturn:
    row = int(np.argmax(wrong))
    value = cells[row]
    if is_missing(value):
        missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
        _refuse_missing(column, missing, "", subject, name)
    if isinstance(value, str | bytes):
        raise DataError(
            f"{column} holds text ({value!r:.60} in row {row}); {name} needs numbers: {remedy}"
        ) from error
    if isinstance(value, complex):
        raise DataError(
            f"Complex data not supported: {column} holds {value!r} in row {row}"
        ) from error
    if isinstance(error, OverflowError):
        raise DataError(f"{column} holds a number too large for float64 in row {row}") from error
    raise DataTypeError(
        f"{column} holds a {type(value).__name__} ({value!r:.60} in row {row}); {name} needs "
        f"numbers: {remedy} ({error})"
    ) from error


def _refuse_missing(column: str, missing: Bools, others: str, subject: str, name: str) -> NoReturn:
    raise DataError(
        f"{column} has {missing.sum()} missing value(s) (NaN), {first_row(missing)}{others}; "
        f"{name} needs numbers: {_REMEDIES[subject, 'missing']}"
    )


def _column(table: Any, subject: str, j: int, ndim: int) -> str:
    """How to speak of a column, by name where it has one."""
    if ndim == 1:
        return subject
    of = "" if subject == "X" else f" of {subject}"
    names = column_names(table)
    if names is None:  # pandas also has numbers and tuples for names
        names = getattr(table, "columns", None)
    if names is None or not all(isinstance(name, str | int | tuple) for name in names):
        return f"column {j}{of}"
    return f"column {list(names)[j]!r}{of}"


def _dtypes(table: Any) -> list[Any]:
    dtype = getattr(table, "dtype", None)
    if dtype is not None:
        return [dtype] if getattr(dtype, "names", None) is None else []
    types = getattr(table, "dtypes", None)
    if types is None:
        types = getattr(getattr(table, "schema", None), "types", None)
    return [] if types is None else list(types)


def _fails(column: Array) -> bool:
    try:
        column.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return True
    return False


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (ValueError, TypeError, OverflowError):
        return value is None  # NumPy makes NaN of it
    return True


def is_missing(value: Any) -> bool:
    """None, NaN, no date, or the marks of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.datetime64) and bool(value != value)
