"""From words to a category, truth values or text.

Words are labels of a category when they repeat: with n values and d different ones, when d is at
most n / 2 and at most 10 sqrt(n). Otherwise they are text: names, identifiers, free text. The rule
looks at the whole column, never at how it came in pieces.
"""

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.column import Column, Kind
from empirisk.data.spelling import TRUTHS, Spelling, truth_of
from empirisk.runtime.arrays import Int32s

MOST_SPELLINGS = 3 * len(TRUTHS)
"""More different words than these are not looked at as truth values: yes, Yes, YES, no, ..."""

_PART = 1 << 16


def most_levels(n: int) -> int:
    """The largest number of different words that n words may have as a category.

    Examples
    --------
    >>> [most_levels(n) for n in (1, 4, 100, 10_000, 1_000_000)]
    [0, 2, 50, 1000, 10000]
    """
    return min(n // 2, 10 * isqrt(n))


def shorten(texts: Any) -> Any:
    """Strings as codes with a dictionary of their own, if they repeat; else as they are."""
    coded = texts.dictionary_encode()
    return coded if 2 * len(coded.dictionary) <= len(texts) else texts


def column_of_words(
    name: str, chunks: Sequence[Any], *, kind: Kind | None = None, spelling: Spelling | None = None
) -> Column:
    """The column of some words: of the kind that is given, else as the rule says.

    Parameters
    ----------
    name : str
    chunks : sequence of string arrays, or dictionaries of strings with a dictionary each
    kind : {"category", "text"}, optional
    spelling : Spelling, optional
        Given where the words come from a file of text, in which truth values are words, too.

    Examples
    --------
    >>> column_of_words("size", [pa.array(["S", "L", "S"]), pa.array(["L", None])]).kind
    'category'
    """
    if kind is None:
        n = sum(len(chunk) - chunk.null_count for chunk in chunks)
        levels = _few_levels(chunks, max(most_levels(n), MOST_SPELLINGS))
        if levels is not None and len(levels) == 0:
            return Column(name, "number", pa.chunked_array([pa.nulls(_rows(chunks), pa.float64())]))
        truths = None if spelling is None or levels is None else _truths(levels, spelling)
        if truths is not None:
            return Column(name, "boolean", _boolean(levels, _codes(chunks, levels), truths))
        kind = "text" if levels is None or len(levels) > most_levels(n) else "category"
    if kind == "text":
        texts = [chunk.cast(pa.large_string()) for chunk in chunks if len(chunk)]
        return Column(name, "text", pa.chunked_array(texts, pa.large_string()))
    levels = _few_levels(chunks, _rows(chunks))
    levels = levels.take(pc.sort_indices(levels))
    if len(chunks) == 1 and _is_coded_by(chunks[0], levels):
        return Column(name, "category", pa.chunked_array(chunks))
    return Column(name, "category", coded(_codes(chunks, levels), levels))


def _is_coded_by(chunk: Any, levels: Any) -> bool:
    return chunk.type == pa.dictionary(pa.int32(), levels.type) and chunk.dictionary.equals(levels)


def coded(codes: Int32s, levels: Any) -> Any:
    """A dictionary from codes, -1 where missing, and levels."""
    missing = codes < 0
    indices = pa.array(codes, mask=missing) if missing.any() else pa.array(codes)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, levels)])


def _rows(chunks: Sequence[Any]) -> int:
    return sum(map(len, chunks))


def _few_levels(chunks: Sequence[Any], limit: int) -> Any:
    """The different words, or None if there are more than `limit`."""
    levels = pa.array([], pa.large_string())
    for words in _different(chunks):
        both = pa.chunked_array([levels, words.cast(levels.type)])
        levels = pc.drop_null(pc.unique(both))
        if len(levels) > limit:
            return None
    return levels


def _different(chunks: Sequence[Any]) -> Iterator[Any]:
    """The different words, some of them repeatedly, so that one can stop when they are many."""
    for chunk in chunks:
        if pa.types.is_dictionary(chunk.type):
            yield chunk.dictionary
        else:
            yield from (pc.unique(chunk.slice(i, _PART)) for i in range(0, len(chunk), _PART))


def _codes(chunks: Sequence[Any], levels: Any) -> Int32s:
    """The place of each word among the levels, -1 where it is missing."""
    codes = np.empty(_rows(chunks), np.int32)
    end = 0
    for chunk in chunks:
        if not pa.types.is_dictionary(chunk.type):
            chunk = chunk.dictionary_encode()
        place = pc.index_in(chunk.dictionary.cast(levels.type), levels)
        place = np.append(np.asarray(pc.fill_null(place, -1)), np.int32(-1))
        for i in range(0, len(chunk), _PART):
            indices = np.asarray(pc.fill_null(chunk.indices.slice(i, _PART), -1))
            start, end = end, end + len(indices)
            np.take(place, indices, out=codes[start:end], mode="wrap")  # -1 is the last
    return codes


def _truths(levels: Any, spelling: Spelling) -> list[bool | None] | None:
    """The truth of each level; None if one of them is no truth, or all mean missing."""
    truths = truth_of(levels.to_pylist(), spelling) if len(levels) <= MOST_SPELLINGS else None
    return None if truths is None or set(truths) == {None} else truths


def _boolean(levels: Any, codes: Int32s, truths: list[bool | None]) -> Any:
    """Truth values; where they are spelled no and yes, each always alike, the words stay."""
    truth = np.array([-1 if each is None else each for each in [*truths, None]], np.int32)[codes]
    spelled = zip(truths, levels.to_pylist(), strict=True)
    words = [word for _, word in sorted(pair for pair in spelled if pair[0] is not None)]
    if [word.lower() for word in words] == ["no", "yes"]:
        return coded(truth, pa.array(words, pa.large_string()))
    return pa.chunked_array([pa.array(truth == 1, mask=truth < 0)])
