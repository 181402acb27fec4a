"""How fields of text spell numbers and dates, and which fields are missing.

A field is missing if it is empty. In a column whose other fields all are numbers, or all dates, or
all truth values, the words in `MISSING_WORDS` are missing too; in a column of words they are words
(NA is Namibia). Texts that are written as identifiers are written are no numbers: with a leading
zero (01234), a plus sign (+4930...), or an integer beyond 2^53, whose digits float64 cannot hold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.growing import numpy_type
from empirisk.runtime.arrays import Array, Floats

MISSING_WORDS = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", ".", "-")
"""Words, in lower case, that mean a missing value in a column of numbers, dates or truths."""

TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
"""Words, in lower case, that make a column boolean; 0 and 1 are numbers."""

ASKED_TRUTHS = {**TRUTHS, "t": True, "f": False, "y": True, "n": False, "1": True, "0": False}
"""Words that are truth values where a boolean column is asked for."""

LARGEST_INTEGER = 2.0**53
"""Up to here float64 holds every integer."""

DATE_LADDERS = (
    (pa.date32(), pa.timestamp("us"), pa.timestamp("ns")),
    (pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")),
)
"""Types of dates, without and with a zone; what fits a type fits the later ones of its ladder."""

_TASTE = 64
_ZERO, _PLUS, _MINUS = b"0+-"
_SWAP = bytes.maketrans(b".,", b",.")


@dataclass(frozen=True)
class Spelling:
    """The decimal mark, and the fields that are missing everywhere (None: the rule above)."""

    decimal: str = "."
    missing: tuple[str, ...] | None = None


def parse_numbers(texts: Any, spelling: Spelling, *, asked: bool = False) -> Any:
    """The numbers that texts spell, as float64 with nulls, or None if one of them is no number.

    Where numbers are asked for, identifiers and huge integers are numbers as well.

    Examples
    --------
    >>> parse_numbers(pa.array(["1.5", "NA", " 2e3", None]), Spelling()).to_pylist()
    [1.5, None, 2000.0, None]
    >>> parse_numbers(pa.array(["1", "02"]), Spelling()) is None
    True
    """
    texts = without_given(texts, spelling)
    values = cast_or_none(_pointed(texts, spelling), pa.float64())
    if values is None:
        texts = _without_missing(texts, spelling)
        values = cast_or_none(_pointed(texts, spelling), pa.float64())
    if values is None or not _are_numbers(texts, values, asked):
        return None
    if np.isnan(_floats(values)).any():
        values = _null_where(pc.is_nan(values), values)
    return values


def is_plain(texts: Any, kind: Any, spelling: Spelling) -> bool:
    """Whether Arrow by itself reads texts as numbers of a type, and reads them as we do.

    Examples
    --------
    >>> [is_plain(pa.array([text]), pa.int64(), Spelling()) for text in ("1", "1.5", "NA")]
    [True, False, False]
    """
    numbers = (
        None if spelling.missing is not None else cast_or_none(_pointed(texts, spelling), kind)
    )
    return numbers is not None and are_moderate(numbers)


def are_moderate(numbers: Any) -> bool:
    """Whether all are below 2^53 in size: no digit is lost, and none is infinite or no number."""
    below = np.frombuffer(numbers.buffers()[1], numpy_type(numbers.type))
    values = below[numbers.offset :][: len(numbers)]
    if values.size == 0:
        return True  # below nulls there are zeros
    return bool(values.min() > -LARGEST_INTEGER and values.max() < LARGEST_INTEGER)


def parse_dates(texts: Any, spelling: Spelling, least: Any = None) -> Any:
    """The dates that ISO texts spell, or None if one of them is no date.

    Parameters
    ----------
    texts : string array
    spelling : Spelling
    least : data type, optional
        Only this type of date and those above it on its ladder come into question.

    Examples
    --------
    >>> parse_dates(pa.array(["2024-02-29", "NA"]), Spelling()).to_pylist()
    [datetime.date(2024, 2, 29), None]
    >>> parse_dates(pa.array(["29.02.2024"]), Spelling()) is None
    True
    """
    texts = without_given(texts, spelling)
    types = [kind for ladder in DATE_LADDERS for kind in _from(ladder, least)]
    dates = _first_cast(texts, types)
    return _first_cast(_without_missing(texts, spelling), types) if dates is None else dates


def parse_truths(texts: Any, spelling: Spelling, *, asked: bool = False) -> Any:
    """The truth values that texts spell, or None if one of them is none.

    Examples
    --------
    >>> parse_truths(pa.array(["yes", "No", "NA"]), Spelling()).to_pylist()
    [True, False, None]
    """
    coded = texts.dictionary_encode()
    truths = truth_of(coded.dictionary.to_pylist(), spelling, asked=asked)
    return None if truths is None else pa.array(truths, pa.bool_()).take(coded.indices)


def truth_of(
    words: list[str], spelling: Spelling, *, asked: bool = False
) -> list[bool | None] | None:
    """The truth of each word, None where it means missing; None if one of them is no truth."""
    truths, known = [], ASKED_TRUTHS if asked else TRUTHS
    for word in words:
        missing, truth = is_missing_word(word, spelling), known.get(word.strip().lower())
        if truth is None and not missing:
            return None
        truths.append(None if missing else truth)
    return truths


def is_missing_word(text: str, spelling: Spelling) -> bool:
    """Whether a field is missing in a column of numbers, dates or truths."""
    if spelling.missing is not None:
        return text in spelling.missing or not text.strip()
    return text.strip().lower() in MISSING_WORDS


def has_evidence(values: Any) -> bool:
    """Whether an array has a value that shows its type: a date, or a number that is finite."""
    if not pa.types.is_floating(values.type):
        return bool(values.null_count < len(values))
    return bool(pc.any(pc.is_finite(values)).as_py())


def first_failure(texts: Any, parse: Any) -> tuple[int, str]:
    """The first row with which `parse` cannot read on, and its text, by halving.

    Rows may fail only together, as dates with and without a zone do: it is the later one then.

    Examples
    --------
    >>> from functools import partial
    >>> first_failure(pa.array(["1", "x", "2"]), partial(parse_numbers, spelling=Spelling()))
    (1, 'x')
    """
    good, bad = 0, len(texts)
    while bad - good > 1:
        middle = (good + bad) // 2
        if parse(texts.slice(0, middle)) is None:
            bad = middle
        else:
            good = middle
    return bad - 1, texts[bad - 1].as_py()


def _from(ladder: tuple[Any, ...], least: Any) -> tuple[Any, ...]:
    if least is None:
        return ladder
    return ladder[ladder.index(least) :] if least in ladder else ()


def cast_or_none(texts: Any, kind: Any) -> Any:
    """The texts, or dates, as an array of a type, or None if one of them is none."""
    try:
        pc.cast(texts.slice(0, _TASTE), kind)  # a cast that fails is slow: it goes to the end
        return pc.cast(texts, kind)
    except pa.ArrowInvalid:
        return None


def _first_cast(texts: Any, kinds: list[Any]) -> Any:
    casts = (cast_or_none(texts, kind) for kind in kinds)
    return next((cast for cast in casts if cast is not None), None)


def without_given(texts: Any, spelling: Spelling) -> Any:
    """The texts, null where they are among the fields that are missing everywhere, if any are."""
    if spelling.missing is None:
        return texts
    return _null_where(pc.is_in(texts, pa.array(spelling.missing, texts.type)), texts)


def _null_where(mask: Any, values: Any) -> Any:
    return pc.if_else(mask, pa.scalar(None, values.type), values)


def _without_missing(texts: Any, spelling: Spelling) -> Any:
    """The texts without blanks around them, null where they are a word for missing."""
    texts = pc.ascii_trim_whitespace(texts)
    words = MISSING_WORDS if spelling.missing is None else ("",)
    return _null_where(pc.is_in(pc.ascii_lower(texts), pa.array(words, texts.type)), texts)


def _pointed(texts: Any, spelling: Spelling) -> Any:
    """With a decimal comma, comma and point exchanged: then a text with a point is no number."""
    validity, offsets, data = texts.buffers()
    if spelling.decimal == "." or data is None:
        return texts
    swapped = pa.py_buffer(data.to_pybytes().translate(_SWAP))
    buffers = [validity, offsets, swapped]
    return pa.Array.from_buffers(texts.type, len(texts), buffers, texts.null_count, texts.offset)


def _are_numbers(texts: Any, values: Any, asked: bool) -> bool:
    if _too_large(texts, values, asked):
        return False
    return asked or not _like_identifiers(texts)


def _like_identifiers(texts: Any) -> bool:
    """Whether a text has a leading zero before another digit, or a plus sign."""
    data, start, end = _bytes(texts)
    if data.size == 0:
        return False
    first = data.take(start, mode="clip")
    digit = start + (first == _MINUS)
    zero = np.flatnonzero(data.take(digit, mode="clip") == _ZERO)
    after = digit[zero] + 1
    # What comes after may belong to the next text. Unsigned: what is below 0 wraps around.
    doubtful = zero[data.take(after, mode="clip") - _ZERO < 10]
    doubtful = doubtful[digit[doubtful] + 1 < end[doubtful]]
    plus = np.flatnonzero(first == _PLUS)
    rows = np.append(doubtful, plus[start[plus] < end[plus]])
    return rows.size > 0 and bool(np.asarray(texts.is_valid())[rows].any())


def _too_large(texts: Any, values: Any, asked: bool) -> bool:
    """Whether a text spells a number beyond float64 or, if not asked for, an integer past 2^53."""
    numbers = _floats(values)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(~(np.abs(numbers) < LARGEST_INTEGER))
    if rows.size == 0:
        return False
    overflow = np.isinf(numbers[rows])
    if _any_matches(texts.take(rows[overflow]), r"\d"):
        return True
    return not asked and _any_matches(texts.take(rows[~overflow]), r"^-?\d+$")


def _any_matches(texts: Any, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _bytes(texts: Any) -> tuple[Array, Array, Array]:
    """The bytes of an array of strings, and where each begins and ends."""
    _, offsets, data = texts.buffers()
    kind = "int64" if pa.types.is_large_string(texts.type) else "int32"
    ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1]
    bytes_ = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return bytes_, ends[:-1], ends[1:]


def _floats(values: Any) -> Floats:
    """The values of a float64 array; anything where they are null."""
    buffer = values.buffers()[1]
    return np.frombuffer(buffer, np.float64)[values.offset : values.offset + len(values)]
