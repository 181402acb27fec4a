"""A column: a name, a kind, and values some of which may be missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.runtime.arrays import Array, Bools, Floats, Int32s
from empirisk.runtime.column_names import no_column
from empirisk.runtime.errors import DataError, ParameterError

Kind = Literal["number", "category", "boolean", "date", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a `Table`. It cannot be changed, and arrays that it gives may be read-only.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "boolean", "date", "text"}
    arrow : pyarrow.ChunkedArray
        The values: a dictionary of int32 codes for a category, large strings for text.

    Examples
    --------
    >>> from empirisk.data.table import Table
    >>> city = Table.of({"city": ["Oslo", "Bergen", None, "Oslo", "Oslo", "Bergen"]})["city"]
    >>> city.kind, city.levels.tolist(), city.codes().tolist(), int(city.missing.sum())
    ('category', ['Bergen', 'Oslo'], [1, 0, -1, 1, 1, 0], 1)
    """

    name: str
    kind: Kind
    arrow: Any

    def __len__(self) -> int:
        return len(self.arrow)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """`values()`: so a column can be a target, weights or groups as it is."""
        values = self.values() if dtype is None else self.values().astype(dtype)
        return values.copy() if copy else values

    def numbers(self) -> Floats:
        """The values as float64, NaN where missing.

        A number is itself (durations and times of day in seconds), False and True are 0 and 1, a
        date is the days since 1970-01-01 with their fraction, in UTC where it has a zone. So a
        number tells microseconds apart until 2149 (a third of one, these days), and times that are
        closer may have one number.
        """
        if self.kind in ("category", "text"):
            remedy = "codes() numbers its levels" if self.kind == "category" else "drop it"
            raise DataError(
                f"column {self.name!r} is a {self.kind}, not numbers; {remedy}, or read it with "
                f'kinds={{{self.name!r}: "number"}} if it spells numbers'
            )
        chunks = [_floats(chunk) for chunk in self.arrow.chunks]
        return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0), *chunks])

    def codes(self) -> Int32s:
        """The index of each value in `levels`, -1 where missing."""
        self._check_levels()
        if pa.types.is_boolean(self.arrow.type):
            chunks = [chunk.cast(pa.int32()) for chunk in self.arrow.chunks]
        else:
            chunks = [chunk.indices for chunk in self.arrow.chunks]
        parts = [np.asarray(pc.fill_null(chunk, -1)) for chunk in chunks]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int32), *parts])

    @cached_property
    def levels(self) -> Array:
        """The values that a category can take, or the two of a boolean, false first."""
        self._check_levels()
        if pa.types.is_boolean(self.arrow.type):
            return np.array([False, True])
        return _values(dictionary(self.arrow))

    @cached_property
    def missing(self) -> Bools:
        """Where there is no value: null, or NaN among numbers."""
        return np.asarray(pc.is_null(self.arrow, nan_is_null=True).combine_chunks())

    def values(self) -> Array:
        """The values as NumPy has them; among words and labels, None where missing.

        Durations and times of day are seconds, as in `numbers()`.

        Examples
        --------
        >>> from empirisk.data.table import Table
        >>> Table.of({"y": ["no", "yes", "no", "no"]})["y"].values().tolist()
        ['no', 'yes', 'no', 'no']
        """
        if self.kind == "date" and pa.types.is_date(self.arrow.type):
            return self.arrow.cast(pa.timestamp("s")).to_numpy().astype("datetime64[D]")
        spans = pa.types.is_temporal(self.arrow.type)
        if self.kind == "number" and (self.arrow.null_count or spans):
            return self.numbers()
        array = self.arrow
        return _values(array.cast(array.type.value_type) if _is_dictionary(array.type) else array)

    def _check_levels(self) -> None:
        if self.kind not in ("category", "boolean"):
            raise DataError(
                f"column {self.name!r} is a {self.kind} and has no levels; read it with "
                f'kinds={{{self.name!r}: "category"}} if its values are labels'
            )


def check_kinds(kinds: Any, names: list[str]) -> dict[str, Kind]:
    """The kinds that a user gave for some of the columns."""
    kinds = {} if kinds is None else kinds
    if not isinstance(kinds, Mapping):
        raise ParameterError(f'kinds is {kinds!r:.60}; give a dict such as {{"zip": "text"}}')
    for name, kind in kinds.items():
        if name not in names:
            raise DataError(f"{name!r} is to be read as {kind}, and {no_column(name, names)}")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ParameterError(
                f"the kind of column {name!r} is given as {kind!r}; give one of {', '.join(KINDS)}"
            )
    return dict(kinds)


def hash_column(whole: Any, column: Column) -> None:
    """Add to a hash what a column holds, not how it is stored."""
    whole.update(np.packbits(column.missing).tobytes())
    if column.kind == "text":
        _, offsets, data = pc.fill_null(column.arrow, "").combine_chunks().buffers()
        ends = np.frombuffer(offsets, np.int64)[: len(column) + 1]
        whole.update(np.diff(ends).tobytes())
        whole.update(b"" if data is None else memoryview(data)[ends[0] : ends[-1]])
    elif column.kind == "category":
        whole.update(repr(column.levels.tolist()).encode())
        whole.update(column.codes().tobytes())
    else:
        numbers = np.where(column.missing, 0.0, column.numbers())
        whole.update((numbers + 0.0).tobytes())  # 0.0 and -0.0 are one number


def dictionary(array: Any) -> Any:
    """The dictionary that all chunks share."""
    if array.num_chunks:
        return array.chunk(0).dictionary
    return pa.array([], array.type.value_type)


def _is_dictionary(kind: Any) -> bool:
    return bool(pa.types.is_dictionary(kind))


def _floats(chunk: Any) -> Floats:
    kind, scale = chunk.type, 1
    if _is_dictionary(kind):  # a boolean that is spelled no and yes
        chunk = chunk.indices
    elif pa.types.is_boolean(kind):
        chunk = chunk.cast(pa.int8())
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        chunk = chunk.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        chunk = chunk.cast(pa.int64())
    if pa.types.is_date64(kind):
        scale = _PER_DAY["ms"]
    elif pa.types.is_timestamp(kind):
        scale = _PER_DAY[kind.unit]
    elif pa.types.is_time(kind) or pa.types.is_duration(kind):
        scale = PER_SECOND[kind.unit]
    if scale == 1:
        return chunk.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    numbers = whole_and_part(chunk.fill_null(0).to_numpy(), scale)
    numbers[chunk.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return numbers


def whole_and_part(count: Any, scale: Any) -> Any:
    """count / scale of integers, the nearest number but for the last bit of a few.

    It grows with the count, and is the same in every unit of count and scale: a day of so many
    seconds or nanoseconds. The count itself, as a float64, would lose nanoseconds.

    Examples
    --------
    >>> whole_and_part(3 * 86_400 + 21_600, 86_400)
    3.25
    """
    whole, part = divmod(count, scale)
    return whole + part / scale


def _values(array: Any) -> Array:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return np.array(array.to_pylist() + [None], dtype=object)[:-1]
    return array.to_numpy(zero_copy_only=False)
