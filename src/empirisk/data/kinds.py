"""From typed arrays to columns: the kind that a type stands for, or the kind that is asked for.

Numbers, decimals, durations and times of day are numbers; integers beyond 2^53 become words, since
float64 would lose their last digits. Dates and times are dates. Words are a category or text by the
rule of `empirisk.data.words`, a dictionary is a category whose levels stay as they are.
"""

import re
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.column import Column, Kind, dictionary
from empirisk.data.frames import not_a_column
from empirisk.data.spelling import (
    LARGEST_INTEGER,
    Spelling,
    first_failure,
    parse_dates,
    parse_numbers,
    parse_truths,
)
from empirisk.data.words import coded, column_of_words, shorten
from empirisk.runtime.errors import DataError, DataTypeError

_SPELLING = Spelling()
_CLOCK = re.compile(r"\d:\d\d|\d days?\b")


def column_of(name: str, array: Any, kind: Kind | None = None, *, start: int = 0) -> Column:
    """The column of an Arrow array, of the kind that is given, else of the kind of its type.

    Its first row is called `start` in an error.

    Examples
    --------
    >>> column_of("n", pa.chunked_array([[1, None]])).kind
    'number'
    >>> column_of("id", pa.chunked_array([[2**60, 2**60 + 1]])).values().tolist()
    ['1152921504606846976', '1152921504606846977']
    """
    array = plain(name, array)
    if is_words(array.type):
        if kind in (None, "category", "text"):
            words = array.chunks if kind == "text" else [shorten(chunk) for chunk in array.chunks]
            return column_of_words(name, words, kind=kind)
        return Column(name, kind, parsed(name, array, kind, start=start))
    natural = _natural_kind(name, array)
    if natural is None:
        if kind in (None, "text", "category"):
            return column_of(name, array.cast(pa.large_string()), kind, start=start)
        natural, array = "number", array.cast(pa.float64(), safe=False)
    if natural == "number" and pa.types.is_decimal(array.type):
        array = array.cast(pa.int64() if array.type.scale <= 0 else pa.float64(), safe=False)
    if kind in (None, natural):
        return Column(name, natural, array)
    return _converted(Column(name, natural, array), kind, start)


def plain(name: str, array: Any) -> Any:
    """The array without wrappings: extension types, views, and dictionaries that differ."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = _unwrapped(array)
    if pa.types.is_dictionary(array.type):
        return _one_dictionary(name, array)
    if is_words(array.type) and not pa.types.is_string(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_null(array.type):
        return array.cast(pa.float64())
    return array


def is_words(kind: Any) -> bool:
    """Whether a type is one of strings."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _unwrapped(array: Any) -> Any:
    """What an extension type stands for: words for the intervals of pandas, else what it stores."""
    kind = array.type
    if getattr(kind, "extension_name", "") == "pandas.interval":
        texts = [_intervals(chunk.storage, kind.closed) for chunk in array.chunks]
        return pa.chunked_array(texts, pa.large_string())
    return pa.chunked_array([chunk.storage for chunk in array.chunks], kind.storage_type)


def _intervals(ends: Any, closed: str) -> Any:
    """Intervals from their ends, spelled as pandas does: (0.5, 2.0]."""
    opening = "[" if closed in ("left", "both") else "("
    closing = "]" if closed in ("right", "both") else ")"
    texts = [
        None if each is None else f"{opening}{each['left']}, {each['right']}{closing}"
        for each in ends.to_pylist()
    ]
    return pa.array(texts, pa.large_string())


def _one_dictionary(name: str, array: Any) -> Any:
    """The same codes, as int32, into one dictionary without null."""
    value_type = array.type.value_type
    if isinstance(value_type, pa.BaseExtensionType):
        array = _with_levels(array, lambda levels: _unwrapped(pa.chunked_array([levels])))
        value_type = array.type.value_type
    if pa.types.is_nested(value_type) or pa.types.is_binary(value_type):
        raise DataTypeError(not_a_column(name, f"categories of {value_type}"))
    if is_words(value_type):
        value_type = pa.large_string()
    array = array.cast(pa.dictionary(pa.int32(), value_type, array.type.ordered))
    array = array.unify_dictionaries()
    levels = dictionary(array)
    if levels.null_count or len(pc.unique(levels)) < len(levels):
        return array.cast(value_type).dictionary_encode()
    return array


def _with_levels(array: Any, change: Any) -> Any:
    """The same codes into other levels."""
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, change(chunk.dictionary).combine_chunks(), ordered=array.type.ordered
        )
        for chunk in array.chunks or [pa.array([], array.type)]
    ]
    return pa.chunked_array(chunks)


def _natural_kind(name: str, array: Any) -> Kind | None:
    """The kind of a type; None for integers that float64 cannot hold."""
    kind, types = array.type, pa.types
    if types.is_dictionary(kind):
        return "category"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    if types.is_integer(kind) or types.is_decimal(kind):
        return None if beyond_float64(array) else "number"
    if types.is_floating(kind) or types.is_time(kind) or types.is_duration(kind):
        return "number"
    raise DataTypeError(not_a_column(name, str(kind)))


def beyond_float64(array: Any) -> bool:
    """Whether there is an integer that float64 cannot hold."""
    if pa.types.is_decimal(array.type) and array.type.scale > 0:
        return False
    extremes = pc.min_max(array).as_py()
    return any(abs(each) >= LARGEST_INTEGER for each in extremes.values() if each is not None)


def spelled_integers(words: Any) -> Any:
    """The integers of 64 bits that all words spell, as a table has those beyond 2^53, or None.

    Examples
    --------
    >>> spelled_integers(pa.chunked_array([["1152921504606846977", "5", None]])).to_pylist()
    [1152921504606846977, 5, None]
    >>> spelled_integers(pa.chunked_array([["007"]])) is None
    True
    """
    for kind in (pa.int64(), pa.uint64()):
        try:
            numbers = words.cast(kind)
        except pa.ArrowInvalid:
            continue
        if numbers.cast(words.type).equals(words):
            return numbers
    return None


def large_integers(words: Any) -> Any:
    """The integers that words spell, where words are what a table has for want of digits; or None.

    Examples
    --------
    >>> large_integers(pa.chunked_array([["1152921504606846977", "5", None]])).to_pylist()
    [1152921504606846977, 5, None]
    >>> large_integers(pa.chunked_array([["10115", "80331"]])) is None
    True
    """
    found = spelled_integers(words)
    return found if found is not None and beyond_float64(found) else None


def parsed(name: str, array: Any, kind: Kind, *, start: int = 0, least: Any = None) -> Any:
    """Words as numbers, dates (of type `least` or above) or truth values.

    A word that is none is an error that names it and its row, where the first row is `start`.
    """
    parse = {
        "number": partial(parse_numbers, spelling=_SPELLING, asked=True),
        "date": partial(parse_dates, spelling=_SPELLING, least=least),
        "boolean": partial(parse_truths, spelling=_SPELLING, asked=True),
    }[kind]
    texts = array.cast(pa.large_string()).combine_chunks()
    values = parse(texts)
    if values is None:
        row, text = first_failure(texts, parse)
        raise DataError(refusal(name, kind, text, f"row {start + row}"))
    return pa.chunked_array([values])


def refusal(name: str, kind: Kind, text: str, where: str) -> str:
    """What to say of a value that is not of the kind that was asked for."""
    wanted = {
        "number": "a number",
        "date": "a date as in 2024-12-31 or 2024-12-31 23:59:59 (of the years 1678 to 2261, where "
        "one has nanoseconds)",
        "boolean": "true or false, yes or no, 1 or 0",
    }[kind]
    if kind == "number" and _CLOCK.search(text):
        wanted += ", spans and times of day in seconds (in pandas: .dt.total_seconds())"
    return (
        f"column {name!r} cannot be a {kind}: {where} has {text[:50]!r}, wanted {wanted}; correct "
        "it, leave its cell empty, or ask for another kind"
    )


def _converted(column: Column, kind: Kind, start: int) -> Column:
    """A column of another kind than its own, where that makes sense."""
    name, array = column.name, column.arrow
    if column.kind == "category":
        decoded = array.cast(array.type.value_type)
        return column_of(name, decoded, kind, start=start)
    if kind == "text":
        return Column(name, kind, array.cast(pa.large_string()))
    if kind == "category":
        return Column(name, kind, _as_category(array))
    if kind == "number":
        return Column(name, kind, pa.chunked_array([pa.array(column.numbers(), from_pandas=True)]))
    if kind == "boolean" and column.kind == "number":
        return Column(name, kind, _as_boolean(column, start))
    if column.missing.all():  # of a file, a column without any value counts as numbers
        nothing = pa.nulls(len(array), pa.bool_() if kind == "boolean" else pa.date32())
        return Column(name, kind, pa.chunked_array([nothing]))
    raise DataError(f"column {name!r} is a {column.kind} and cannot be read as a {kind}")


def _as_category(array: Any) -> Any:
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    levels = pc.drop_null(pc.unique(array))
    levels = levels.take(pc.sort_indices(levels))
    codes = pc.fill_null(pc.index_in(array, levels), -1).combine_chunks()
    return coded(np.asarray(codes), levels)


def _as_boolean(column: Column, start: int) -> Any:
    numbers = column.numbers()
    missing = np.isnan(numbers)
    odd = np.flatnonzero(~missing & (numbers != 0) & (numbers != 1))
    if odd.size:
        row = int(odd[0])
        text = f"{numbers[row]:g}"
        raise DataError(refusal(column.name, "boolean", text, f"row {start + row}"))
    return pa.chunked_array([pa.array(numbers == 1, mask=missing)])
