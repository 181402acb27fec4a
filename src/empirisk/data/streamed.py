"""A column that comes in pieces: what it is as a whole is found first, then each piece is read so.

A piece cannot tell. Whether words are a category depends on all of them, and so do the levels of a
category; one integer beyond 2^53 makes words of all the others, and one time of day makes times of
all dates.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.column import Column, Kind, dictionary
from empirisk.data.kinds import beyond_float64, column_of, is_words, parsed, plain
from empirisk.data.words import most_levels
from empirisk.runtime.errors import DataError


class StreamedColumn:
    """A column of which pieces are looked at and then read, as often as wanted.

    The pieces together give the column that `column_of` gives of the whole.

    Parameters
    ----------
    name : str
    nothing : chunked array
        Without values, of the type that the pieces have.
    asked : Kind or None
        The kind that was asked for.
    n_rows : int
        How many rows the pieces have together.

    Attributes
    ----------
    unsure : bool
        Whether all pieces have to be looked at, from the first, before one can be read.

    Examples
    --------
    >>> pieces = [pa.chunked_array([["b", "a"]]), pa.chunked_array([["b", None, "a"]])]
    >>> column = StreamedColumn("x", pieces[0][:0], None, n_rows=5)
    >>> column.begin()
    >>> for piece in pieces:
    ...     column.look(piece)
    >>> column.settle()
    >>> [column.read(piece).codes().tolist() for piece in pieces]
    [[1, 0], [1, -1, 0]]
    """

    kind: Kind
    type: Any

    def __init__(self, name: str, nothing: Any, asked: Kind | None, n_rows: int) -> None:
        self.name, self.nothing, self.asked = name, nothing, asked
        self.large = False  # whether there is an integer that float64 cannot hold
        self.values = 0
        self.levels: Any = None
        self.date_type: Any = None
        self.limit = most_levels(n_rows) if asked is None else n_rows
        natural = self._typed(nothing).type
        self.unsure = asked not in (None, "text") or _needs_a_look(natural)
        self.keeps_order = pa.types.is_dictionary(natural)
        column_of(name, nothing, asked)  # complains of a type that cannot be of this kind

    def begin(self) -> None:
        """From here on pieces are looked at, from the first."""
        self.unsure, self.values = False, 0
        nothing = self._typed(self.nothing)
        if self._may_be_category(nothing.type):
            self.levels = dictionary(column_of(self.name, nothing, "category").arrow)

    def look(self, piece: Any, start: int = 0) -> None:
        """Learn from a piece, whose first row has the number `start`."""
        array = self._typed(piece)
        if not self.large and _is_whole(array.type) and beyond_float64(array):
            self.large = self.unsure = True  # what it means for earlier pieces shows next time
        if self.unsure:
            return
        if self._may_be_category(array.type):
            self._gather(array)
        elif self.asked == "date" and is_words(array.type):
            dates = parsed(self.name, array, "date", start=start, least=self.date_type)
            if dates.null_count < len(dates):
                self.date_type = dates.type
        elif self.asked is not None:
            column_of(self.name, array, self.asked, start=start)  # complains of what does not fit

    def settle(self) -> None:
        """All pieces were looked at: decide."""
        nothing = self._typed(self.nothing)
        if self.asked is None and is_words(nothing.type):
            few = self.levels is not None and len(self.levels) <= most_levels(self.values)
            self.kind = "number" if not self.values else "category" if few else "text"
        else:
            self.kind = column_of(self.name, nothing, self.asked).kind
        if self.kind == "category" and not self.keeps_order:
            self.levels = self.levels.take(pc.sort_indices(self.levels))
        self.type = self._read(nothing).type

    def read(self, piece: Any, start: int = 0) -> Column:
        """The column of a piece, whose first row has the number `start`."""
        array = self._read(self._typed(piece), start)
        if array.type != self.type:
            raise DataError(changed(f"column {self.name!r} has {array.type}, not {self.type}"))
        return Column(self.name, self.kind, array)

    def _typed(self, array: Any) -> Any:
        """A piece in the type from which the kind follows."""
        array = plain(self.name, array)
        if pa.types.is_dictionary(array.type) and self.asked not in (None, "category"):
            array = array.cast(array.type.value_type)
        if not self.large:
            return array
        as_words = self.asked in (None, "category", "text")
        return array.cast(pa.large_string() if as_words else pa.float64(), safe=False)

    def _may_be_category(self, kind: Any) -> bool:
        natural = is_words(kind) or pa.types.is_dictionary(kind)
        return self.asked == "category" or (self.asked is None and natural)

    def _gather(self, array: Any) -> None:
        """Add to the levels those of a piece, unless they are too many for a category."""
        self.values += len(array) - array.null_count
        if self.levels is None:
            return
        more = dictionary(column_of(self.name, array, "category").arrow)
        self.levels = pc.unique(pa.chunked_array([self.levels, more]))
        if len(self.levels) > self.limit and not self.keeps_order:
            self.levels = None

    def _read(self, array: Any, start: int = 0) -> Any:
        if self.kind == "category":
            return self._coded(column_of(self.name, array, "category").arrow)
        if self.kind == "date" and is_words(array.type):
            return parsed(self.name, array, "date", start=start, least=self.date_type)
        return column_of(self.name, array, self.kind, start=start).arrow

    def _coded(self, array: Any) -> Any:
        """A dictionary of its own as codes into the levels of the whole column."""
        place = pc.index_in(dictionary(array), self.levels)
        if place.null_count:
            raise DataError(changed(f"column {self.name!r} has a level that was not there before"))
        ordered = array.type.ordered
        indices = [chunk.indices for chunk in array.chunks] or [pa.array([], pa.int32())]
        chunks = [  # one at least, which has the levels
            pa.DictionaryArray.from_arrays(place.take(each), self.levels, ordered=ordered)
            for each in indices
        ]
        return pa.chunked_array(chunks, pa.dictionary(pa.int32(), self.levels.type, ordered))


def changed(what: str) -> str:
    """What to say of data that are not what they were before."""
    return (
        f"{what}: the data are not the same as before; leave the files alone while they are read, "
        "and let a query give the same rows each time (ORDER BY fixes their order)"
    )


def _needs_a_look(kind: Any) -> bool:
    return is_words(kind) or pa.types.is_dictionary(kind) or _is_whole(kind)


def _is_whole(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))
