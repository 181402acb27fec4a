"""Columns that grow at their end, each in one stretch of memory.

Many small arrays, joined at the end, would need twice the memory of the column. A stretch as long
as the column is expected to be needs hardly more than the column: memory that is not yet written
to costs nothing.
"""

import mmap
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.runtime.arrays import Array

SLACK, GROWTH = 1.02, 1.5
"""How much longer than expected a stretch is made, and how much longer if that is too short."""

_PART, _LARGE = 1 << 16, 1 << 20


class Stretch:
    """Values of one NumPy type, one after the other.

    Parameters
    ----------
    dtype : NumPy type
    expected : int
        About how many there will be.

    Examples
    --------
    >>> stretch = Stretch(np.int32)
    >>> stretch.append(np.arange(3))
    >>> stretch.append(np.arange(2))
    >>> stretch.values()
    array([0, 1, 2, 0, 1], dtype=int32)
    """

    def __init__(self, dtype: Any, expected: int = 0) -> None:
        self.length = 0
        self.memory = _fresh(max(int(SLACK * expected), 1024), np.dtype(dtype))

    def append(self, values: Any) -> None:
        """Add an array."""
        self.reserve(len(values))[:] = values

    def reserve(self, n: int) -> Array:
        """Room for n more values, to be filled at once."""
        start, self.length = self.length, self.length + n
        if self.length > self.memory.size:
            longer = _fresh(int(GROWTH * self.length), self.memory.dtype)
            longer[:start] = self.memory[:start]
            self.memory = longer
        return self.memory[start : self.length]

    def values(self) -> Array:
        """All values."""
        return self.memory[: self.length]


def _fresh(n: int, dtype: Any) -> Array:
    size = n * dtype.itemsize
    if size < _LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(n, dtype)
    # NumPy would ask for huge pages, which are dear where each is written to only once.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), dtype)


class Presence:
    """Which values are there; nothing is stored while all of them are."""

    def __init__(self, expected: int = 0) -> None:
        self.length, self.expected = 0, expected
        self.stretch: Stretch | None = None

    def append(self, array: Any) -> Any:
        """Add the presence of the values of an Arrow array, and return it."""
        if self.stretch is None and array.null_count:
            self.stretch = Stretch(np.bool_, self.expected)
            self.stretch.reserve(self.length)[:] = True
        valid = np.asarray(array.is_valid()) if array.null_count else True
        if self.stretch is not None:
            self.stretch.reserve(len(array))[:] = valid
        self.length += len(array)
        return valid

    def bitmap(self) -> Any:
        """As Arrow stores it."""
        if self.stretch is None:
            return None
        return pa.py_buffer(np.packbits(self.stretch.values(), bitorder="little"))


class GrowingArray:
    """An Arrow array of numbers, dates or codes that grows."""

    def __init__(self, kind: Any, expected: int = 0) -> None:
        self.kind, self.presence = kind, Presence(expected)
        self.stretch = Stretch(numpy_type(kind), expected)

    def append(self, array: Any) -> None:
        """Add an array of the same type, or floats to integers and the other way round."""
        if array.type != self.kind:
            self._to_floats()
            array = array.cast(pa.float64(), safe=False)
        valid = self.presence.append(array)
        if len(array) == 0:
            return
        room = self.stretch.reserve(len(array))
        values = np.frombuffer(array.buffers()[1], room.dtype)
        room[:] = values[array.offset : array.offset + len(array)]
        if array.null_count:
            room[~valid] = 0  # and not whatever happens to stand there

    def _to_floats(self) -> None:
        """From int64 to float64, in the same memory."""
        if self.kind != pa.int64():
            return
        floats = self.stretch.memory.view(np.float64)
        for start in range(0, self.stretch.length, _PART):
            part = slice(start, min(start + _PART, self.stretch.length))
            floats[part] = self.stretch.memory[part].astype(np.float64)
        self.stretch.memory, self.kind = floats, pa.float64()

    def done(self) -> Any:
        """The array."""
        values = self.stretch.values()
        buffers = [self.presence.bitmap(), pa.py_buffer(values)]
        return pa.Array.from_buffers(self.kind, len(values), buffers)


class GrowingTexts:
    """An Arrow array of large strings that grows."""

    def __init__(self, expected: int = 0) -> None:
        self.presence, self.expected = Presence(expected), expected
        self.characters, self.ends = Stretch(np.uint8), Stretch(np.int64, expected + 1)
        self.ends.append([0])

    def append(self, texts: Any) -> None:
        """Add an array of strings."""
        self.presence.append(texts)
        if len(texts) == 0:
            return
        _, offsets, data = texts.buffers()
        kind = np.dtype("int64" if pa.types.is_large_string(texts.type) else "int32")
        ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1]
        if self.characters.length == 0:
            share = (ends[-1] - ends[0]) / len(texts)
            self.characters = Stretch(np.uint8, int(share * self.expected))
        np.add(ends[1:], self.characters.length - int(ends[0]), out=self.ends.reserve(len(texts)))
        if data is not None:
            self.characters.append(np.frombuffer(data, np.uint8)[ends[0] : ends[-1]])

    def done(self) -> Any:
        """The array."""
        ends, characters = self.ends.values(), self.characters.values()
        buffers = [self.presence.bitmap(), pa.py_buffer(ends), pa.py_buffer(characters)]
        return pa.Array.from_buffers(pa.large_string(), len(ends) - 1, buffers)


class GrowingWords:
    """A dictionary that grows; each array that it is given has a dictionary of its own."""

    def __init__(self, expected: int = 0) -> None:
        self.codes = GrowingArray(pa.int32(), expected)
        self.levels = pa.array([], pa.large_string())

    def append(self, words: Any) -> None:
        """Add a dictionary of strings."""
        own = words.dictionary.cast(pa.large_string())
        if len(self.levels) == 0:  # in order; if no others come, they are so at the end, too
            self.levels = own.take(pc.sort_indices(own))
        place = pc.index_in(own, self.levels)
        if place.null_count:
            self.levels = pa.concat_arrays([self.levels, own.filter(place.is_null())])
            place = pc.index_in(own, self.levels)
        self.codes.append(place.take(words.indices))

    def done(self) -> Any:
        """The dictionary."""
        return pa.DictionaryArray.from_arrays(self.codes.done(), self.levels)


def numpy_type(kind: Any) -> Any:
    """The type of the numbers that lie below an array; Arrow's own way to it asks for pandas.

    Examples
    --------
    >>> numpy_type(pa.float32()), numpy_type(pa.date32()), numpy_type(pa.uint8())
    (dtype('float32'), dtype('int32'), dtype('uint8'))
    """
    if pa.types.is_floating(kind):
        return np.dtype(f"float{kind.bit_width}")
    unsigned = pa.types.is_unsigned_integer(kind)
    return np.dtype(f"{'u' if unsigned else ''}int{kind.bit_width}")
