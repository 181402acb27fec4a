"""Labels become codes, weights become floats."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import check_target, check_weights, coded


@pytest.mark.parametrize("weight", [[1, 2, 0, 1], np.array([1.0, 2, 0, 1]), (1, 2, 0, 1)])
def test_weights_become_floats(weight):
    assert_array_equal(check_weights(weight, 4), [1.0, 2.0, 0.0, 1.0])
    assert_array_equal(check_weights(pd.Series(weight), 4), [1.0, 2.0, 0.0, 1.0])
    assert_array_equal(check_weights(2, 3), [2.0, 2.0, 2.0])
    assert_array_equal(check_weights(None, 3), np.ones(3))


@pytest.mark.parametrize("labels", [[0, 1, 1], ["a", "b", "a"], [True, False, True]])
def test_masked_labels_keep_their_type_and_what_is_masked_is_missing(labels):
    X = np.zeros((3, 1))
    found, _ = check_target("a tree", np.ma.array(labels), X, classifier=True)
    assert_array_equal(found, labels)
    assert found.dtype == np.array(labels).dtype
    with pytest.raises(DataError, match=r"y has 1 missing value\(s\).* the first in row 1"):
        check_target("a tree", np.ma.array(labels, mask=[0, 1, 0]), X, classifier=True)


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "boolean"])
def test_integers_of_pandas_that_might_be_missing_stay_apart_beyond_float64(dtype):
    y = [True, False, True] if dtype == "boolean" else [2**53, 2**53 + 1, 2**53]
    series = pd.Series(y, dtype=dtype)
    with pytest.warns(UserWarning, match="column-vector"):
        column, _ = check_target("a tree", series.to_frame(), [[1], [2], [3]], classifier=True)
    for found in (column, check_target("a tree", series, [[1], [2], [3]], classifier=True)[0]):
        assert found.tolist() == y
        assert found.dtype.kind == np.asarray(y).dtype.kind
    series = pd.Series([*y[:2], None], dtype=dtype)
    with pytest.raises(DataError, match="y has 1 missing"):
        check_target("a tree", series, [[1], [2], [3]], classifier=True)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("offset", [0, 100])
def test_whole_numbers_are_coded_as_by_sorting(dtype, offset):
    y = (np.random.default_rng(0).integers(0, 20, 60) + offset).astype(dtype)
    codes, classes = coded(y)
    sorted_classes, sorted_codes = np.unique(y, return_inverse=True)
    assert_array_equal(classes, sorted_classes)
    assert classes.dtype == dtype
    assert_array_equal(codes, sorted_codes)
    assert codes.dtype == np.int64


@pytest.mark.parametrize("y", [[-128, 127] * 200, [2**62, -(2**62)], [5, 5, -3]])
def test_whole_numbers_far_apart_are_coded_too(y):
    dtype = np.int8 if max(y) < 128 else np.int64
    codes, classes = coded(np.array(y, dtype))
    assert_array_equal(classes[codes], y)
