"""A warning of dependent columns names them as the user knows them, by whatever way they came."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import (
    Encoder,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Table,
    Tuned,
    risk,
    select,
)
from empirisk.runtime.errors import RankWarning

N = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "length": (length := RNG.normal(size=N)),
        "colour": np.array(["blue", "green", "red"])[np.arange(N) % 3],
        "width": 2 * length,
        "tint": np.array(["cold", "cold", "warm"])[np.arange(N) % 3],
    }
)
NUMBERS = FRAME[["length", "width"]]
Y = length + RNG.normal(size=N)
HALF = np.arange(N) % 2
LABELS = np.where(Y > 0, "yes", "no")


def heard(act):
    """What the library says of ranks, each text once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return {str(w.message) for w in caught if issubclass(w.category, RankWarning)}


def encoded(learner):
    return make_pipeline(Encoder(), learner)


@pytest.mark.parametrize(
    "act",
    [
        lambda model: model.fit(FRAME, Y),
        lambda model: model.fit(Table.of(FRAME), Y, linearregression__sample_weight=HALF),
        lambda model: risk.cross_validate(model, FRAME, Y, cv=3),
        lambda model: risk.cross_validate(model, Table.of(FRAME), Y, cv=3, n_jobs=2),
        lambda model: risk.holdout(model, FRAME, Y, random_state=0),
        lambda model: Tuned(model, cv=3).fit(FRAME, Y),
        lambda model: select([model, encoded(Ridge())], FRAME, Y, cv=3, random_state=0),
    ],
)
def test_least_squares_behind_an_encoder_names_encoded_columns(act):
    texts = heard(lambda: act(encoded(LinearRegression())))
    assert texts
    for text in texts:
        assert "column 'width' is a combination of 'length'" in text
        assert "column 'tint=warm' is a combination of 'colour=" in text


@pytest.mark.parametrize(
    "act",
    [
        lambda model: model.fit(FRAME, LABELS),
        lambda model: risk.cross_validate(model, FRAME, LABELS, cv=3),
        lambda model: select([model], FRAME, LABELS, cv=3, random_state=0),
    ],
)
def test_discriminants_behind_an_encoder_name_encoded_columns(act):
    texts = heard(lambda: act(encoded(LinearDiscriminantAnalysis())))
    assert texts
    assert all("columns 'width', 'tint=warm' are dependent" in text for text in texts)


@pytest.mark.parametrize(
    "frame",
    [NUMBERS, pl.from_pandas(NUMBERS), pa.Table.from_pandas(NUMBERS), Table.of(NUMBERS)],
    ids=["pandas", "polars", "pyarrow", "Table"],
)
def test_a_frame_lends_its_names(frame):
    named = "column 'width' is a combination of 'length'"
    (text,) = heard(lambda: LinearRegression().fit(frame, Y))
    assert named in text
    (text,) = heard(lambda: LinearDiscriminantAnalysis().fit(frame, LABELS))
    assert "column 'width' is dependent" in text


@pytest.mark.parametrize("cross_validate", [risk.cross_validate, risk.leave_one_out])
def test_folds_of_a_frame_keep_its_names(cross_validate):
    (text,) = heard(lambda: cross_validate(LinearRegression(), NUMBERS, Y))
    assert "column 'width' is a combination of 'length'" in text
    (text,) = heard(lambda: cross_validate(LinearDiscriminantAnalysis(), NUMBERS, LABELS))
    assert "column 'width' is dependent" in text


def test_a_step_that_gives_frames_lends_their_names():
    scaler = StandardScaler().set_output(transform="pandas")
    (text,) = heard(lambda: make_pipeline(scaler, LinearRegression()).fit(NUMBERS, Y))
    assert "column 'width' is a combination of 'length'" in text


def test_an_array_has_numbers():
    (text,) = heard(lambda: LinearRegression().fit(NUMBERS.to_numpy(), Y))
    assert "column 1 is a combination of 0" in text
    (text,) = heard(lambda: LinearDiscriminantAnalysis().fit(NUMBERS.to_numpy(), LABELS))
    assert "column 1 is dependent" in text


def test_the_names_are_for_warnings_only():
    """The encoder gives plain arrays: a learner behind it has no feature names to insist on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        model = encoded(LinearRegression()).fit(FRAME, Y)
    assert not hasattr(model[-1], "feature_names_in_")
    plain = model[0].transform(FRAME).copy()
    np.testing.assert_array_equal(model[-1].predict(plain), model.predict(FRAME))
