"""Names that are kept beside an array while it lives."""

import gc
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from empirisk.runtime import column_names as kept
from empirisk.runtime.column_names import column_names, name_columns, no_column
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError
from empirisk.runtime.validation import check_fit

FRAME = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 1.0]})


def test_names_belong_to_one_array_and_to_no_copy_of_it():
    X = np.zeros((2, 2))
    assert name_columns(X, ["a", "b"]) is X
    assert column_names(X) == ("a", "b")
    for other in (X.copy(), X[:], X[:, :1], np.zeros((2, 2))):
        assert column_names(other) is None
    name_columns(X, ["c", "d"])
    assert column_names(X) == ("c", "d")
    name_columns(X, None)
    assert column_names(X) == ("c", "d")


def test_names_go_with_their_array():
    gc.collect()
    before = len(kept._noted)
    arrays = [name_columns(np.zeros((1, 1)), [str(i)]) for i in range(100)]
    assert len(kept._noted) == before + 100
    del arrays
    gc.collect()
    assert len(kept._noted) == before
    # A new array in the place of an old one does not inherit its names.
    assert all(column_names(np.zeros((1, 1))) is None for _ in range(100))


def test_threads_do_not_mix_up_names():
    wrong = []

    def work(me):
        for i in range(300):
            X = name_columns(np.zeros((1, 1)), [f"{me} {i}"])
            if column_names(X) != (f"{me} {i}",):
                wrong.append((me, i))

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    "frame",
    [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_frames_bring_their_names_through_the_door(frame):
    assert column_names(frame) == ("a", "b")
    assert column_names(numbers(frame, "a test")) == ("a", "b")


def test_columns_that_are_not_all_words_have_no_names():
    for columns in ([0, 1], ["a", 1]):
        assert column_names(FRAME.set_axis(columns, axis=1)) is None


def test_rows_of_weight_zero_do_not_take_the_names_along():
    from empirisk import LinearRegression

    for weight in (None, [1, 0, 2]):
        assert column_names(check_fit(LinearRegression(), FRAME, [1, 2, 3], weight).X) == ("a", "b")


def test_a_column_that_is_not_there_is_told_with_the_nearest_name():
    names = ["Sex", "age", "cholesterol", *(f"x{j}" for j in range(20))]
    for given, meant in {"AGE": "age", "colesterol": "cholesterol", "sex ": "Sex"}.items():
        assert f"no column {given!r}; did you mean {meant!r}? There are 'Sex'" in no_column(
            given, names
        )
    assert "mean" not in no_column("town", names)
    assert no_column("town", names).endswith("'x6', ...")
    assert no_column("b", []) == "there is no column 'b'; there are none"


def test_complaints_speak_of_the_names_that_are_kept():
    X = name_columns(np.array([[1.0, np.nan]]), ["height", "weight"])
    with pytest.raises(DataError, match="column 'weight' has 1 missing"):
        numbers(X, "Ridge")
