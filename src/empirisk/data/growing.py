"""Columns that grow at their end, each in one stretch of memory.

Many small arrays, joined at the end, would need twice the memory of the column. A stretch as long
as the column is expected to be, enlarged by a small share where that was too short, needs little
more than the column: memory that was not yet written to costs nothing.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.spelling import LARGEST_INTEGER
from empirisk.runtime.arrays import Array

SHARE, SLACK = 1.125, 1.02
"""By how much a stretch is enlarged that is full, and made longer than expected."""

_PART = 1 << 16


class Stretch:
    """Values of one NumPy type, one after the other.

    Parameters
    ----------
    dtype : NumPy type
    expected : int
        How many there will be, about.

    Examples
    --------
    >>> stretch = Stretch(np.int32)
    >>> stretch.append(np.arange(3))
    >>> stretch.append(np.arange(2))
    >>> stretch.done()
    array([0, 1, 2, 0, 1], dtype=int32)
    """

    def __init__(self, dtype: Any, expected: int = 0) -> None:
        self.memory, self.length = np.empty(max(expected, 1024), dtype), 0

    def append(self, values: Any) -> None:
        """Add an array, or so many times one value."""
        self.reserve(len(values))[:] = values

    def reserve(self, n: int) -> Array:
        """Room for n more values, to be filled."""
        start, self.length = self.length, self.length + n
        if self.length > self.memory.size:
            # In place where the system can; nobody else holds the array, so no check is needed.
            self.memory.resize(max(self.length, int(SHARE * self.memory.size)), refcheck=False)
        return self.memory[start : self.length]

    def done(self) -> Array:
        """All values; the room that is left is given back."""
        if self.length < self.memory.size:
            self.memory.resize(self.length, refcheck=False)
        return self.memory


class Presence:
    """Which values are there; nothing is stored while all of them are."""

    def __init__(self, expected: int = 0) -> None:
        self.length, self.expected = 0, expected
        self.stretch: Stretch | None = None

    def append(self, array: Any) -> None:
        """Add the presence of the values of an Arrow array."""
        if self.stretch is None and array.null_count:
            self.stretch = Stretch(np.bool_, self.expected)
            self.stretch.reserve(self.length)[:] = True
        if self.stretch is not None:
            valid = np.asarray(array.is_valid()) if array.null_count else True
            self.stretch.reserve(len(array))[:] = valid
        self.length += len(array)

    def bitmap(self) -> Any:
        """As Arrow stores it."""
        if self.stretch is None:
            return None
        return pa.py_buffer(np.packbits(self.stretch.done(), bitorder="little"))


class GrowingArray:
    """An Arrow array of numbers, dates or codes that grows."""

    def __init__(self, kind: Any, expected: int = 0) -> None:
        self.kind, self.presence = kind, Presence(expected)
        self.stretch = Stretch(_numpy_type(kind), expected)

    def append(self, array: Any) -> None:
        """Add an array of the same type."""
        self.presence.append(array)
        if len(array) == 0:
            return
        values = np.frombuffer(array.buffers()[1], self.stretch.memory.dtype)
        room = self.stretch.reserve(len(array))
        room[:] = values[array.offset : array.offset + len(array)]
        if array.null_count:
            room[np.asarray(array.is_null())] = 0  # and not whatever happens to stand there

    def to_integers(self) -> None:
        """Make float64 int64, in its memory, if all values are whole and none is too large."""
        parts = [self.stretch.done()[s : s + _PART] for s in range(0, self.stretch.length, _PART)]
        for part in parts:
            if not (np.abs(part) < LARGEST_INTEGER).all() or (part != np.floor(part)).any():
                return
        for part in parts:
            part.view(np.int64)[:] = part.astype(np.int64)
        self.stretch.memory, self.kind = self.stretch.memory.view(np.int64), pa.int64()

    def done(self) -> Any:
        """The array."""
        values = self.stretch.done()
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
        kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1]
        np.add(ends[1:], self.characters.length - int(ends[0]), out=self.ends.reserve(len(texts)))
        if data is not None:
            characters = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
            if self.characters.length == 0:
                share = len(characters) / len(texts)
                self.characters = Stretch(np.uint8, int(share * self.expected * SLACK))
            self.characters.append(characters)

    def done(self) -> Any:
        """The array."""
        ends, characters = self.ends.done(), self.characters.done()
        buffers = [self.presence.bitmap(), pa.py_buffer(ends), pa.py_buffer(characters)]
        return pa.Array.from_buffers(pa.large_string(), len(ends) - 1, buffers)


class GrowingWords:
    """A dictionary that grows; what it is given has a dictionary of its own."""

    def __init__(self, expected: int = 0) -> None:
        self.codes = GrowingArray(pa.int32(), expected)
        self.levels = pa.array([], pa.large_string())

    def append(self, words: Any) -> None:
        """Add a dictionary of strings."""
        own = words.dictionary.cast(pa.large_string())
        place = pc.index_in(own, self.levels)
        if place.null_count:
            self.levels = pa.concat_arrays([self.levels, own.filter(place.is_null())])
            place = pc.index_in(own, self.levels)
        self.codes.append(place.take(words.indices))

    def done(self) -> Any:
        """The dictionary."""
        return pa.DictionaryArray.from_arrays(self.codes.done(), self.levels)


def _numpy_type(kind: Any) -> Any:
    if pa.types.is_temporal(kind):
        return np.dtype(f"int{kind.bit_width}")
    return np.dtype(kind.to_pandas_dtype())
