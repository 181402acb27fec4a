"""Data that cannot be used are refused with the column, the first row and the remedy."""

from collections import deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression as Learner

from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, DataTypeError, EmpiriskError
from empirisk.runtime.validation import check_fit

ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.0, -1.0, -2.0]])
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"])


def frames(**columns):
    """The same table in pandas, polars and pyarrow."""
    frame = pd.DataFrame(columns)
    return {"pandas": frame, "polars": pl.DataFrame(columns), "pyarrow": pa.table(columns)}


KINDS = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_column_and_the_first_row_with_missing_values_are_named(kind):
    table = frames(size=[1.0, 2.0, 3.0, 4.0], age=[4.0, None, 4.0, None], c=[1, 2, 3, 4])[kind]
    complaint = r"column 'age' has 2 missing value\(s\) \(NaN\), the first in row 1; Lin.*Encoder\("
    with pytest.raises(DataError, match=complaint):
        check_fit(Learner(), table, [1, 2, 3, 4])


@pytest.mark.parametrize("kind", KINDS)
def test_the_column_with_text_is_named(kind):
    table = frames(size=[1.0, 2.0], colour=["red", "blue"])[kind]
    with pytest.raises(
        DataError,
        match=r"column 'colour' holds text \('red' in row 0\); Lin.* needs numbers",
    ):
        check_fit(Learner(), table, [1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_the_column_with_dates_is_named(kind):
    # Alone, and beside numbers: some libraries turn dates into numbers unasked.
    days = pd.to_datetime(["2020-01-01", "2021-01-01"]).to_pydatetime().tolist()
    for table in (frames(day=days)[kind], frames(size=[1.0, 2.0], day=days)[kind]):
        with pytest.raises(DataError, match="column 'day' holds dates or times"):
            check_fit(Learner(), table, [1, 2])


@pytest.mark.parametrize(
    "X, complaint",
    [
        ([[1.0, np.nan], [np.nan, np.nan]], r"column 0 has 1 missing.*in row 1, and 1 more column"),
        ([[1.0, np.inf], [2.0, -np.inf]], r"column 1 has 2 infinite .* the first in row 0; "),
        ([[1.0, 1.0], [np.nan, np.inf], [1.0, np.inf]], r"column 0 has 1 missing .* in row 1, and"),
        ([[1.0, None], [2.0, 3.0]], r"column 1 has 1 missing"),
        (np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]]), "column 1 has 1 missing"),
        (
            pd.DataFrame({"a": [1, None, pd.NA], "b": [1, 2, 3]}, dtype=object),
            r"column 'a' has 2 missing .* the first in row 1",
        ),
        (pd.DataFrame({"a": [1.0, np.nan]}, index=["x", "y"]), "the first in row 1"),
        (pd.DataFrame({0: [1.0, np.nan]}), "column 0 has 1 missing"),
        (FRAME.astype({"b": "category"}).assign(b=pd.Categorical(list("xyxy"))), "'b' holds text"),
        (np.array([["1", "x"], ["2", "y"]]), r"column 1 holds text \('x' in row 0\)"),
        (np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), "column 0 holds dates"),
        (
            FRAME.assign(b=pd.to_timedelta([1, 2, 3, 4], unit="D")),
            "column 'b' holds dates or times",
        ),
        ([[1, 1], [1, 10**400]], "column 1 holds a number too large for float64 in row 1"),
        ([[1.0, 2.0], [3.0]], "rows of X have different lengths"),
        (deque([[1.0, 2.0], [3.0]]), "rows of X have different lengths"),
        (np.array([[1j]]), "Complex data not supported"),
        (
            np.array([[1.0, 1j]], dtype=object),
            "Complex data .* column 1 holds 1j in row 0",
        ),
        (pd.DataFrame(index=range(3)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.arange(3.0), "Reshape your data"),
        (pd.Series([1.0]), "2-dimensional container"),
        (np.zeros((2, 2, 2)), "dim 3"),
        ("text", "^X is a str, of which no rows can be taken"),
        ({(1.0, 2.0)}, "^X is a set, of which no rows can be taken"),
        (iter(ROWS), "^X is a .*iterator, of which no rows can be taken"),
        ({"a": [1.0]}, r"^X is a dict, .* become a table by empirisk\.data\.Table\.of"),
        (None, "^X is a NoneType, of which no rows can be taken"),
    ],
)
def test_data_that_are_no_table_of_numbers_are_refused_with_the_reason(X, complaint):
    with pytest.raises(ValueError, match=complaint):
        numbers(X, "Ridge")


def test_an_object_that_is_no_number_is_both_a_type_and_a_value_error():
    with pytest.raises(DataTypeError, match=r"column 1 holds a dict \({'a': 1} in r") as caught:
        numbers([[1, {"a": 1}]], "Ridge")
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, EmpiriskError)


def test_sparse_data_are_refused_as_scikit_learn_does():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        numbers(scipy.sparse.csr_array(ROWS), "Ridge")


@pytest.mark.parametrize(
    "y, complaint",
    [
        ([1.0, np.nan, 2.0, 1.0], r"^y has 1 missing .* in row 1, rows without a label; Lin"),
        ([1.0, np.inf, 2.0, 1.0], r"^y has infinite values \(inf\), the first in row 1; "),
        (np.array(["a", None, "b", None], dtype=object), r"^y has 2 missing .* in row 1, "),
        (pd.Series(["a", pd.NA, "b", "a"], dtype="string"), r"^y has 1 missing"),
        ([0.5, 1.5, 2.5, 0.1], "Unknown label type"),
        (np.array(["a", 1, "b", 2], dtype=object), r"^y mixes labels of several types"),
        (np.array([b"a", b"b", b"a", b"b"]), r"^y has labels of bytes"),
        (np.zeros((4, 2)), "y should be a 1d array"),
        ([0, 1, 0], "^X has 4 rows and y has 3, inconsistent numbers of samples: give one value"),
        (np.array([0, 1, 0, 1], dtype=object), r"objects of the type int; give y.astype\(int\)"),
        ([1j, 2j, 1j, 2j], "y should be a label for each row: Complex data"),
        ({0, 1}, "^y is a set, of which no rows can be taken"),
        (np.asmatrix([0, 1, 0, 1]).T, "^y should be a label for each row: np.matrix is not"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_with_the_reason(y, complaint):
    with pytest.raises(ValueError, match=complaint):
        check_fit(Learner(), ROWS, y, classifier=True)


@pytest.mark.parametrize(
    "y, complaint",
    [
        ([1.0, np.nan, 2.0, np.nan], r"^y has 2 missing .*the first in row 1; .*leave out these r"),
        ([1.0, np.inf, 2.0, 1.0], r"^y has 1 infinite .* the first in row 1; "),
        (list("abcd"), r"^y holds text \('a' in row 0\); Lin.* needs numbers: use a classifier"),
        (np.array(["2020"] * 4, dtype="M8[Y]"), r"^y holds dates"),
        ([1.0, 2.0, 3.0, {}], r"^y holds a dict"),
        ([1j, 2.0, 3.0, 4.0], "Complex data not supported"),
        ([10**400, 1, 1, 1], r"^y holds a number too large"),
        (np.zeros((4, 2)), "y should be a 1d array"),
        ([0, 1, 0], "inconsistent numbers of samples"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_targets_that_cannot_be_used_are_refused_with_the_reason(y, complaint):
    with pytest.raises(ValueError, match=complaint):
        check_fit(Learner(), ROWS, y)


def test_a_missing_value_among_several_outputs_names_the_column():
    y = pd.DataFrame({"first": [1.0, 2, 3, 4], "second": [1.0, np.nan, 3, 4]})
    with pytest.raises(DataError, match=r"column 'second' of y has 1 missing"):
        check_fit(Learner(), ROWS, y, multi_output=True)


@pytest.mark.parametrize(
    "weight, complaint",
    [
        ([1, 1, -1, -2], r"^sample_weight has 2 negative value\(s\), the first in row 2"),
        ([1, 1, np.nan, 1], r"^sample_weight has 1 missing .* in row 2"),
        ([1, 1, np.inf, 1], r"^sample_weight has 1 infinite"),
        ([0, 0, 0, 0], "all values of sample_weight are zero"),
        (0, "all values of sample_weight are zero"),
        (list("abcd"), r"^sample_weight holds text"),
        (b"1", "^sample_weight is b'1'; give each row a number"),
        ({1.0}, "^sample_weight is a set, of which no rows can be taken"),
        ([1, 1, 1], r"^sample_weight has shape \(3,\); wanted \(4,\)"),
        (np.ones((4, 1)), r"^sample_weight has shape \(4, 1\)"),
        ([1e308] * 4, "sum of sample_weight is too large"),
    ],
)
def test_weights_that_make_no_sense_are_refused_with_the_reason(weight, complaint):
    with pytest.raises(DataError, match=complaint):
        check_fit(Learner(), ROWS, range(4), weight)


def test_a_row_of_words_and_numbers_is_no_table():
    row = pd.DataFrame({"age": [3.0], "town": ["Oslo"]}).iloc[0]
    with pytest.raises(DataError, match=r"Expected 2D array.*frame.iloc\[\[0\]\]"):
        numbers(row, "Ridge")


@pytest.mark.parametrize("cell", ["x" * 10**5, ["x"] * 10**5])
def test_a_long_value_is_quoted_in_part(cell):
    column = np.ones(4, dtype=object)
    column[0] = cell
    with pytest.raises(ValueError, match=r"^y holds") as found:
        check_fit(Learner(), ROWS, column)
    assert len(str(found.value)) < 1000
