"""Blocks: their ends depend on the rows alone."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError, DataTypeError


def data(n, p=2):
    X = np.arange(n * p, dtype=float).reshape(n, p)
    return X, X[:, 0] * 2, np.arange(n) % 3.0 + 1


def assert_same_blocks(left, right):
    left, right = list(left), list(right)
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        for x, z in zip(a, b, strict=True):
            assert_array_equal(x, z, strict=True)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2 * ROWS_PER_BLOCK), min_size=1, max_size=6))
def test_pieces_of_any_size_give_the_blocks_of_the_whole(sizes):
    n = sum(sizes) + 1
    X, y, w = data(n)
    ends = np.cumsum([0, *sizes, 1])
    pieces = [(X[a:b], y[a:b], w[a:b]) for a, b in pairwise(ends)]
    assert_same_blocks(Blocks.of_pieces(pieces, BaseEstimator()), Blocks.of_arrays(X, y, w))


def test_every_block_but_the_last_has_the_same_number_of_rows():
    blocks = Blocks.of_arrays(*data(2 * ROWS_PER_BLOCK + 3))
    assert [len(rows.X) for rows in blocks] == [ROWS_PER_BLOCK, ROWS_PER_BLOCK, 3]


def test_blocks_of_arrays_are_views():
    X, y, w = data(10)
    (rows,) = Blocks.of_arrays(X, y, w)
    assert all(np.shares_memory(a, b) for a, b in zip(rows, (X, y, w), strict=True))


def test_read_only_arrays_are_copied():
    arrays = data(10)
    for array in arrays:
        array.setflags(write=False)
    (rows,) = Blocks.of_arrays(*arrays)
    assert all(part.flags.writeable for part in rows)


def test_rows_of_weight_zero_leave_before_the_blocks_are_cut():
    X, y, w = data(ROWS_PER_BLOCK + 10)
    w[:20] = 0
    pieces = [(X[a : a + 500], y[a : a + 500], w[a : a + 500]) for a in range(0, len(X), 500)]
    pieces.insert(0, (X[:20], y[:20], w[:20]))
    assert_same_blocks(
        Blocks.of_pieces(pieces, BaseEstimator()), Blocks.of_arrays(X[20:], y[20:], w[20:])
    )


def test_a_source_may_reuse_its_memory():
    X, y, w = data(9)

    def source():
        buffer = np.empty((3, 2))
        for a in range(0, 9, 3):
            buffer[:] = X[a : a + 3]
            yield buffer, y[a : a + 3], w[a : a + 3]

    assert_same_blocks(Blocks.of_pieces(source, BaseEstimator()), Blocks.of_arrays(X, y, w))


def test_a_callable_is_called_for_each_pass():
    calls = []

    def source():
        calls.append(1)
        yield data(3)

    blocks = Blocks.of_pieces(source, BaseEstimator())
    assert len(list(blocks)) == len(list(blocks)) == 1
    assert len(calls) == 2


def test_weights_may_be_left_out():
    X, y, _ = data(4)
    (rows,) = Blocks.of_pieces([(X, y)], BaseEstimator())
    assert_array_equal(rows.weight, np.ones(4))


def test_names_and_width_are_learned_from_the_first_piece():
    X, y, _ = data(4)
    learner = BaseEstimator()
    list(Blocks.of_pieces([(pd.DataFrame(X, columns=["a", "b"]), y)], learner))
    assert learner.n_features_in_ == 2
    assert list(learner.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="3 features"):
        list(Blocks.of_pieces([(X, y), (np.ones((4, 3)), y)], BaseEstimator()))


def test_what_cannot_be_used_is_refused():
    X, y, w = data(4)
    with pytest.raises(DataError, match="only once"):
        Blocks.of_pieces(iter([(X, y)]), BaseEstimator())
    for piece in (X, Table.of(X), (X,)):
        with pytest.raises(DataTypeError, match=r"piece 0 is a \w+; give \(X, y\) or"):
            list(Blocks.of_pieces([piece], BaseEstimator()))
    with pytest.raises(DataError, match="4 rows in X and 3 in y"):
        list(Blocks.of_pieces([(X, y[:3])], BaseEstimator()))
    with pytest.raises(DataError, match="no rows"):
        list(Blocks.of_pieces([], BaseEstimator()))
    with pytest.raises(DataError, match="no rows"):
        list(Blocks.of_pieces([(X, y, 0 * w)], BaseEstimator()))
    with pytest.raises(DataError, match="negative"):
        list(Blocks.of_pieces([(X, y, -w)], BaseEstimator()))
    for missing in (np.nan, None):
        with pytest.raises(DataError, match=r"y has 1 missing value\(s\)"):
            list(Blocks.of_pieces([(X, [1.0, missing, 2.0, 3.0])], BaseEstimator()))
    with pytest.raises(DataError, match=r"y has 1 infinite"):
        list(Blocks.of_pieces([(X, [1.0, np.inf, 2.0, 3.0])], BaseEstimator()))
    with pytest.raises(DataError, match=r"y has 1 missing value\(s\)"):
        list(Blocks.of_pieces([(X, ["a", None, "b", "a"])], BaseEstimator()))
    gap = np.where(np.arange(4)[:, np.newaxis] == 2, np.nan, X)
    with pytest.raises(DataError, match=r"^piece 1, .* column 0 has 1 missing .* in row 2, and"):
        list(Blocks.of_pieces([(X, y), (gap, y)], BaseEstimator()))


def test_all_rows_are_gathered_up_to_a_number():
    X, y, w = data(ROWS_PER_BLOCK + 5)
    blocks = Blocks.of_arrays(X, y, w)
    assert blocks.all_rows(at_most=ROWS_PER_BLOCK + 4) is None
    rows = blocks.all_rows(at_most=ROWS_PER_BLOCK + 5)
    assert rows is not None
    assert_array_equal(rows.X, X)


def test_mapped_blocks_are_changed_in_every_pass():
    blocks = Blocks.of_arrays(*data(5)).map(lambda rows: rows._replace(X=-rows.X))
    for _ in range(2):
        (rows,) = blocks
        assert_array_equal(rows.X, -data(5)[0])
    assert blocks.n_columns == 2
