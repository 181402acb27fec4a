"""From what users have to named Arrow arrays: frames, dicts of sequences, arrays."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from empirisk.data.column import Column, Kind
from empirisk.runtime.column_names import check_names, default_names
from empirisk.runtime.complaints import is_missing, refuse_query
from empirisk.runtime.conversion import unmasked
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError

Arrays = list[tuple[str, Any]]
"""Names and chunked arrays, in order."""

_NAMELESS = re.compile(r"__index_level_\d+__")
_ARROW_UNITS = {
    **dict.fromkeys(["M8[Y]", "M8[M]", "M8[W]"], "M8[D]"),
    **dict.fromkeys(["M8[h]", "M8[m]"], "M8[s]"),
    **dict.fromkeys(["m8[W]", "m8[D]", "m8[h]", "m8[m]"], "m8[s]"),
}
"""Units of time that NumPy has and Arrow lacks, and those that are the same there."""


def named_arrays(data: Any, names: Sequence[str] | None, kinds: Mapping[str, Kind]) -> Arrays:
    """The columns of a frame, a dict or an array of two dimensions.

    Where names are given, the columns and their kinds go by these, not by those of the data.
    """
    return renamed(own_arrays(data, names, kinds), names)


def given_names(names: Any) -> list[str] | None:
    """The names that a user gave for the columns, which are texts."""
    if names is None:
        return None
    listed = isinstance(names, Iterable) and not isinstance(names, str)
    found: list[Any] = list(names) if listed else [None]
    if not all(isinstance(name, str) for name in found):
        raise ParameterError(f"names is {names!r:.60}; give a list of texts, one for each column")
    return found


def renamed(arrays: Arrays, names: Sequence[str] | None) -> Arrays:
    """The columns by the names that are given, if any, each of them once."""
    given = [name for name, _ in arrays] if names is None else list(names)
    if len(given) != len(arrays):
        raise DataError(f"there are {len(given)} names for {len(arrays)} columns; give as many")
    return list(zip(check_names(given), [array for _, array in arrays], strict=True))


def own_arrays(data: Any, names: Sequence[str] | None, kinds: Mapping[str, Kind]) -> Arrays:
    """The columns by the names that the data have, if they have any; `kinds` go by `names`."""
    if isinstance(data, Mapping):
        own = [str(key) for key in data]
        asked = _by_own_names(own, names, kinds)
        arrays = [
            (name, chunked(name, values, asked.get(name)))
            for name, values in zip(own, data.values(), strict=True)
        ]
    elif len(getattr(data, "shape", ())) == 1 and hasattr(data, "to_frame"):
        raise DataTypeError(f"a {type(data).__name__} is one column; give its to_frame()")
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        arrays = _of_frame(data, names, kinds)
    elif getattr(getattr(data, "dtype", None), "names", None):
        asked = _by_own_names(data.dtype.names, names, kinds)
        arrays = [(name, chunked(name, data[name], asked.get(name))) for name in data.dtype.names]
    else:
        arrays = _of_matrix(data, names, kinds)
    _check_lengths(arrays)
    return arrays


def _by_own_names(
    own: Sequence[str], names: Sequence[str] | None, kinds: Mapping[str, Kind]
) -> Mapping[str, Kind]:
    """The kinds by the names that the data have; names of another number are refused later."""
    if names is None:
        return kinds
    return {old: kinds[new] for old, new in zip(own, names, strict=False) if new in kinds}


def chunked(name: str, values: Any, kind: Kind | None = None) -> Any:
    """The values of one column as a chunked array."""
    if isinstance(values, Column):
        return values.arrow
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        return pa.chunked_array([pa.array(values)])
    if isinstance(values, np.ma.MaskedArray):
        values = unmasked(values)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise DataTypeError(
            f"column {name!r} is {values!r:.50}; give a sequence with a value for each row"
        )
    if np.ndim(values) > 1:
        raise DataError(f"column {name!r} has {np.ndim(values)} dimensions; give a column each")
    dtype = getattr(values, "dtype", np.dtype(object))
    if dtype.kind in "OSUT" and not hasattr(dtype, "categories"):
        return pa.chunked_array([_of_objects(name, values, kind)])
    unit = _ARROW_UNITS.get(dtype.str[1:]) if isinstance(values, np.ndarray) else None
    values = values if unit is None else values.astype(unit)
    try:
        return pa.chunked_array([pa.array(values, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        levels = getattr(dtype, "categories", None)
        found = str(dtype) if levels is None else f"categories such as {levels[:2].tolist()}"
        raise DataTypeError(not_a_column(name, found)) from error


def _of_frame(data: Any, names: Sequence[str] | None, kinds: Mapping[str, Kind]) -> Arrays:
    columns = getattr(data, "columns", None)
    if isinstance(columns, Iterable) and not isinstance(data, pa.Table | pa.RecordBatch):
        check_names(columns)  # pandas lets a name stand twice
    try:
        frame = pa.table(data)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        if hasattr(data, "iloc") and columns is not None:  # pandas: the culprit gets a name
            asked = _by_own_names([str(name) for name in columns], names, kinds)
            return [
                (str(name), chunked(str(name), data[name].array, asked.get(str(name))))
                for name in columns
            ]
        raise DataTypeError(
            f"a {type(data).__name__} cannot be read as a table: {error}; make each of its columns "
            "of one type: numbers, words, truth values or dates"
        ) from error
    index = _index_names(frame, hasattr(data, "index"))
    return [
        (name, column)
        for name, column in zip(frame.column_names, frame.columns, strict=True)
        if name not in index
    ]


def _index_names(frame: Any, is_pandas: bool) -> set[str]:
    """The columns that stand for the index of a pandas frame, in a file only those without name."""
    nameless = {name for name in frame.column_names if _NAMELESS.fullmatch(name)}
    metadata = (frame.schema.metadata or {}).get(b"pandas")
    if not is_pandas or metadata is None:
        return nameless
    index = json.loads(metadata)["index_columns"]
    return nameless | {name for name in index if isinstance(name, str)}


def _of_matrix(data: Any, names: Sequence[str] | None, kinds: Mapping[str, Kind]) -> Arrays:
    if hasattr(data, "toarray"):
        raise DataTypeError(f"a sparse {type(data).__name__} is no table; pass its toarray()")
    refuse_query(data, "the table")
    matrix = data if isinstance(data, np.ndarray) else np.array(data, dtype=object)
    if matrix.ndim != 2:
        raise DataTypeError(
            f"a {type(data).__name__} of {matrix.ndim} dimension(s) is no table; give a data frame,"
            " a dict of columns, or an array of rows and columns"
        )
    given = default_names(matrix.shape[1]) if names is None else list(names)
    given += default_names(matrix.shape[1])[len(given) :]
    return [
        (name, chunked(name, matrix[:, j], kinds.get(name)))
        for j, name in enumerate(given[: matrix.shape[1]])
    ]


def _of_objects(name: str, values: Any, kind: Kind | None) -> Any:
    """Python objects as an array of the one type that they have."""
    objects = values.tolist() if hasattr(values, "tolist") else list(values)
    try:
        return pa.array(objects, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if kind in ("text", "category") or isinstance(error, OverflowError):
            return pa.array([_word(each) for each in objects])
        raise DataTypeError(_mixture(name, objects)) from error


def _word(value: Any) -> str | None:
    return None if is_missing(value) else str(value)


def _mixture(name: str, objects: list[Any]) -> str:
    first: dict[str, int] = {}
    for i, each in enumerate(objects):
        if not is_missing(each):
            first.setdefault(type(each).__name__, i)
    found = ", ".join(f"{kind} (row {i}: {objects[i]!r:.30})" for kind, i in first.items())
    if len(first) < 2:
        return not_a_column(name, found)
    return (
        f"column {name!r} mixes types: {found}; give values of one type, or "
        f'kinds={{{name!r}: "text"}} to take them all as words'
    )


def not_a_column(name: str, found: str) -> str:
    """What to say of values that no kind of column can hold."""
    return (
        f"column {name!r} holds {found}; a table holds numbers, words, truth values and dates: "
        "leave the column out, or turn it into one of them"
    )


def _check_lengths(arrays: Arrays) -> None:
    if not arrays:
        raise DataError("the data have no columns; give at least one")
    name, first = arrays[0]
    for other, array in arrays:
        if len(array) != len(first):
            raise DataError(
                f"column {name!r} has {len(first)} values and column {other!r} {len(array)}; "
                "give one for each row"
            )
