"""Whatever comes in, what compiled code takes comes out."""

import decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from empirisk import DecisionTreeClassifier, Ridge
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError

ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.0, -1.0, -2.0]])
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"])


def memory_map(tmp_path, mode):
    file = tmp_path / "rows.npy"
    np.save(file, ROWS)
    return np.load(file, mmap_mode=mode)


def unaligned():
    memory = np.frombuffer(bytearray(b"." + ROWS.tobytes()), np.uint8)
    return memory[1:].view(np.float64).reshape(ROWS.shape)


def read_only():
    rows = ROWS.copy()
    rows.flags.writeable = False
    return rows


SAME = {
    "array": lambda tmp: ROWS.copy(),
    "Fortran order": lambda tmp: np.asfortranarray(ROWS),
    "strided": lambda tmp: np.repeat(ROWS, 2, axis=1)[:, ::2],
    "reversed": lambda tmp: ROWS[::-1].copy()[::-1],
    "big-endian": lambda tmp: ROWS.astype(">f8"),
    "unaligned": lambda tmp: unaligned(),
    "read-only": lambda tmp: read_only(),
    "read-only memory map": lambda tmp: memory_map(tmp, "r"),
    "writable memory map": lambda tmp: memory_map(tmp, "c"),
    "float32": lambda tmp: ROWS.astype(np.float32),
    "int8": lambda tmp: ROWS.astype(np.int8),
    "object": lambda tmp: ROWS.astype(object),
    "decimals": lambda tmp: [[decimal.Decimal(int(v)) for v in row] for row in ROWS],
    "list": lambda tmp: ROWS.tolist(),
    "pandas": lambda tmp: FRAME,
    "pandas, mixed": lambda tmp: FRAME.astype({"a": "int16", "b": "float32"}),
    "pandas, nullable": lambda tmp: FRAME.astype({"a": "Int64", "b": "Float64"}),
    "pandas, numeric categories": lambda tmp: FRAME.astype({"a": "category"}),
    "polars": lambda tmp: pl.DataFrame(FRAME),
    "polars, mixed": lambda tmp: pl.DataFrame(FRAME).cast({"a": pl.Int8}),
    "pyarrow": lambda tmp: pa.table(FRAME),
    "Arrow stream": lambda tmp: ArrowStream(pa.table(FRAME)),
    "masked, nothing missing": lambda tmp: np.ma.array(ROWS),
}


class ArrowStream:
    """A table of which nothing is known but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", SAME)
def test_whatever_comes_in_the_same_kind_of_array_comes_out(kind, tmp_path):
    out = numbers(SAME[kind](tmp_path), "Ridge")
    np.testing.assert_array_equal(out, ROWS)
    assert type(out) is np.ndarray
    assert out.dtype == np.float64
    assert out.dtype.isnative
    assert out.flags.carray  # C-contiguous, aligned, writable


@pytest.mark.parametrize("value", [1e308, -1e308, 1e-308, 5e-324])
def test_numbers_at_the_ends_of_the_range_are_numbers(value):
    X = np.full((3, 2), value)  # their sum may overflow; they do not
    np.testing.assert_array_equal(numbers(X, "Ridge"), X)


def test_an_arrow_stream_sets_the_names_too():
    learner = Ridge().fit(ArrowStream(pa.table(FRAME)), range(4))
    assert list(learner.feature_names_in_) == list("abc")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([["a"], ["b"]], "holds text"),
        (np.array([["2020-01-01"]] * 2, "M8[ns]"), "holds dates"),
    ],
)
def test_masked_words_and_dates_are_no_numbers(cells, said):
    for mask in (False, [[False], [True]]):
        with pytest.raises(DataError, match=f"column 0 {said}"):
            numbers(np.ma.array(cells, mask=mask), "Ridge")


def test_trees_take_integers_beyond_64_bits_in_a_list_as_numbers():
    tree = DecisionTreeClassifier(random_state=0).fit([[2**70, 1], [2**71, 1], [1, 1]], [0, 1, 0])
    assert tree.predict([[2**70, 1], [2**72, 1]]).tolist() == [0, 1]
    assert tree.predict([[Fraction(1, 3), decimal.Decimal(1)]]).tolist() == [0]
