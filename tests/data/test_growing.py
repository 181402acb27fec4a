"""Columns that grow: what comes out is what went in, whatever was expected."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from empirisk.data.growing import GrowingArray, GrowingTexts, GrowingWords

EXPECTED = st.sampled_from([0, 1, 3000])


def pieces(values):
    return st.lists(st.lists(st.none() | values, max_size=9), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("kind", "value"), [(pa.int64(), 2**53), (pa.float64(), -0.5), (pa.date32(), 19_000)]
)
def test_a_column_longer_than_expected_keeps_all_values(kind, value):
    grown = GrowingArray(kind, expected=10)
    piece = pa.array([value, None, value] * 1000, pa.int32() if kind == pa.date32() else kind)
    for _ in range(3):
        grown.append(piece.cast(kind).slice(1))
    assert grown.done().equals(pa.concat_arrays([piece.cast(kind).slice(1)] * 3))


@given(pieces(st.integers(-5, 5)), pieces(st.floats(-1, 1)), EXPECTED)
def test_integers_become_floats_with_the_first_float(whole, fractions, expected):
    grown = GrowingArray(pa.int64(), expected)
    for piece in whole:
        grown.append(pa.array(piece, pa.int64()))
    for piece in fractions:
        grown.append(pa.array(piece, pa.float64()))
    wanted = [None if x is None else float(x) for piece in whole + fractions for x in piece]
    assert grown.done().to_pylist() == wanted


@given(pieces(st.text(max_size=5)), EXPECTED)
def test_texts_and_words_are_those_that_were_added(parts, expected):
    texts, words = GrowingTexts(expected), GrowingWords(expected)
    for part in parts:
        array = pa.array(part, pa.string())
        texts.append(array)
        words.append(array.dictionary_encode())
    wanted = [text for part in parts for text in part]
    assert texts.done().to_pylist() == wanted
    assert words.done().to_pylist() == wanted
    assert len(set(words.done().dictionary.to_pylist())) == len(words.done().dictionary)


def test_below_nulls_there_are_zeros():
    hidden = pa.Array.from_buffers(
        pa.float64(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(np.array([1.0, 7.0]))]
    )
    grown = GrowingArray(pa.float64())
    grown.append(hidden)
    assert np.frombuffer(grown.done().buffers()[1])[:2].tolist() == [1.0, 0.0]
