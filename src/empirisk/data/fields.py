"""The fields of one column, piece by piece, until its kind is known.

A column starts undecided, becomes numbers, dates or words with the first piece that has values, and
stays so while the pieces agree. If a later piece does not (text among numbers, say), the column is
words after all; its first pieces are gone as they were written, so it is read once more. The kind
thus depends on all of the column and never on how it was cut into pieces.
"""

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from empirisk.data.column import Column, Kind
from empirisk.data.growing import GrowingArray, GrowingTexts, GrowingWords
from empirisk.data.spelling import (
    DATE_LADDERS,
    Spelling,
    cast_or_none,
    first_failure,
    has_evidence,
    is_plain,
    parse_dates,
    parse_numbers,
    parse_truths,
    without_given,
)
from empirisk.data.words import column_of_words, shorten

BEFORE = -1
"""The row of a misfit that stands in a piece before this one."""

LOOKED_AT, MOSTLY = 1000, 0.9
"""If so many of the first fields are numbers or dates, the first that is none is worth a note."""

_LIKE = {
    "number": re.compile(r"[-+]?[\d.,]*\d[\d.,]*%?"),
    "date": re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:.*)?"),
}


@dataclass(frozen=True)
class Way:
    """How the fields of a column are read at the moment.

    Attributes
    ----------
    form : {"undecided", "number", "date", "boolean", "words", "text", "nothing"}
        Words are looked at for repetition, text is not; nothing is read of a column that will be
        read again.
    asked : bool
        Whether the user gave the kind.
    least : data type or None
        The type of the dates so far.
    whole : bool
        Whether all numbers so far are whole.
    plain : tuple of data types
        As what Arrow could read all numbers so far by itself.
    """

    form: str
    asked: bool = False
    least: Any = None
    whole: bool = True
    plain: tuple[Any, ...] = (pa.int64(), pa.float64())


@dataclass(frozen=True)
class Misfit:
    """A field because of which a column is words, and its row in the piece, or BEFORE."""

    row: int
    text: str


@dataclass(frozen=True)
class Read:
    """What was read of a piece in some way: an array, or the first misfit.

    `plain` are the types as which Arrow could have read numbers by itself.
    """

    way: Way
    values: Any
    plain: tuple[Any, ...] = ()


def read_fields(texts: Any, way: Way, spelling: Spelling) -> Read:
    """The fields of a piece, texts or numbers already, in the way of their column.

    Needs nothing but its arguments, so that pieces can be read at the same time.
    """
    if way.form in ("nothing", "undecided"):
        return Read(way, texts)
    if texts.type in way.plain:
        return _numbers(texts, way, way.plain)
    if way.form in ("words", "text"):
        texts = without_given(texts, spelling)
        return Read(way, shorten(texts) if way.form == "words" else texts)
    parse = _parser(way, spelling)
    values = parse(texts)
    if values is None:
        return Read(way, Misfit(*first_failure(texts, parse)))
    if way.form != "number":
        return Read(way, values)
    plain = tuple(kind for kind in way.plain if is_plain(texts, kind, spelling))
    return _numbers(values, way, plain)


def _numbers(values: Any, way: Way, plain: tuple[Any, ...]) -> Read:
    """Numbers, as integers while all of the column are whole."""
    return Read(way, _as_integers(values) if way.whole else values, plain)


def _parser(way: Way, spelling: Spelling) -> Any:
    if way.form == "number":
        return partial(parse_numbers, spelling=spelling, asked=way.asked)
    if way.form == "date":
        return partial(parse_dates, spelling=spelling, least=way.least)
    return partial(parse_truths, spelling=spelling, asked=True)


class Fields:
    """The fields of a column so far.

    Parameters
    ----------
    name : str
    spelling : Spelling
    kind : str, optional
        The kind that the user gave.

    Attributes
    ----------
    way : Way
    expected : int
        About how many fields there will be, where that is known.
    """

    def __init__(self, name: str, spelling: Spelling, kind: Kind | None = None) -> None:
        self.name, self.spelling, self.kind = name, spelling, kind
        form = {None: "undecided", "category": "words"}.get(kind, kind)
        self.way = Way(str(form), asked=kind is not None)
        self.expected = 0
        self._clear()

    def _clear(self) -> None:
        self.waiting: list[Any] = []
        self.values: GrowingArray | None = None
        self.words: GrowingWords | None = None
        self.texts: GrowingTexts | None = None

    def add(self, read: Read) -> Misfit | None:
        """Take in a piece; a misfit in it, if the column is words because of that."""
        if self.way.form == "nothing":
            return None
        if self.way.form == "undecided":
            return self._decide(read.values)
        if read.way.form == "undecided":  # was sent off before the way was known
            read = read_fields(read.values, self.way, self.spelling)
        if isinstance(read.values, Misfit):
            return self._give_up(read.values)
        if self.way.form in ("words", "text"):
            self._add_words(read.values)
            return None
        return self._add_values(read)

    def read_again(self) -> None:
        """Begin again, with words."""
        self._clear()
        self.way = Way("words")

    def column(self) -> Column:
        """The column, when all pieces are in; they are given up."""
        form = self.way.form
        if form == "undecided":
            self.way = Way("words")
            for each in self.waiting:
                self.add(read_fields(each, self.way, self.spelling))
        values, words, texts = self.values, self.words, self.texts
        self._clear()
        if form in ("undecided", "words", "text"):
            asked = self.kind if self.kind in ("category", "text") else None
            chunks = [part.done() for part in (words, texts) if part is not None]
            return column_of_words(self.name, chunks, kind=asked, spelling=self.spelling)
        kind, stored = _STORED[form]
        array = (values or GrowingArray(stored)).done()
        if form == "boolean":
            array = array.cast(pa.bool_())
        return Column(self.name, kind, pa.chunked_array([array]))

    def _decide(self, texts: Any) -> Misfit | None:
        """Find a way with the first piece that shows one, and go it with the pieces before."""
        numbers = parse_numbers(texts, self.spelling)
        dates = parse_dates(texts, self.spelling) if numbers is None else None
        values = dates if numbers is None else numbers
        if values is not None and not has_evidence(values):
            self.waiting.append(texts)  # nothing but words for missing values
            return None
        waiting, self.waiting = self.waiting, []
        if values is None:
            self.way = Way("words")
        else:
            self.way = Way("number" if dates is None else "date", least=values.type)
        for each in waiting:
            misfit = self.add(read_fields(each, self.way, self.spelling))
            if misfit is not None:
                return Misfit(BEFORE, misfit.text)
        misfit = self.add(read_fields(texts, self.way, self.spelling))
        return self._odd_one(texts) if values is None else misfit

    def _odd_one(self, texts: Any) -> Misfit | None:
        """The first field that is no number or date, where nearly all are."""
        head = [text for text in texts.slice(0, LOOKED_AT).to_pylist() if text]
        for form, like in _LIKE.items():
            if sum(bool(like.fullmatch(text)) for text in head) >= MOSTLY * len(head):
                return Misfit(*first_failure(texts, _parser(Way(form), self.spelling)))
        return None

    def _give_up(self, misfit: Misfit) -> Misfit:
        self._clear()
        self.way = Way("nothing", self.way.asked)
        return misfit

    def _add_words(self, words: Any) -> None:
        repeated = pa.types.is_dictionary(words.type)
        if repeated and self.way.form == "words":
            self.words = self.words or GrowingWords(self.expected)
            self.words.append(words)
        else:  # once they do not repeat there is no need to look again
            self.way = Way("text", self.way.asked)
            self.texts = self.texts or GrowingTexts(self.expected)
            self.texts.append(words.cast(pa.large_string()) if repeated else words)

    def _add_values(self, read: Read) -> Misfit | None:
        values = read.values
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        if self.values is None:
            self.values = GrowingArray(values.type, self.expected)
        if self.way.form == "date" and values.type != self.values.kind:
            return self._add_dates(self.values, values)
        self.values.append(values)
        if self.way.form == "number":
            plain = tuple(kind for kind in self.way.plain if kind in read.plain)
            self.way = replace(self.way, whole=self.values.kind == pa.int64(), plain=plain)
        return None

    def _add_dates(self, before: GrowingArray, dates: Any) -> Misfit | None:
        """Take in dates of another type: all become the later type on the ladder."""
        ladder = next(ladder for ladder in DATE_LADDERS if dates.type in ladder)
        later = max(before.kind, dates.type, key=ladder.index)
        self.way = Way("date", self.way.asked, later)
        self.values = GrowingArray(later, self.expected)
        for each, earlier in ((before.done(), True), (dates, False)):
            cast = cast_or_none(each, later)
            if cast is None:  # a year that nanoseconds do not reach
                row, date = first_failure(each, partial(cast_or_none, kind=later))
                return self._give_up(Misfit(BEFORE if earlier else row, str(date)))
            self.values.append(cast)
        return None


_STORED: dict[str, tuple[Kind, Any]] = {
    "number": ("number", pa.float64()),
    "date": ("date", pa.date32()),
    "boolean": ("boolean", pa.int8()),
}
"""The kind of a form, and the type in which it is stored where there are no rows."""


def _as_integers(numbers: Any) -> Any:
    """Whole numbers as int64, if all of them are whole."""
    if pa.types.is_integer(numbers.type):
        return numbers
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:
        return numbers
