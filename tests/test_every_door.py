"""Doors of every learner: tables and names go in, and what cannot be fitted is said clearly."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from empirisk import (
    AdaBoostClassifier,
    BaggingClassifier,
    Baseline,
    DecisionTreeClassifier,
    KNeighborsClassifier,
    LinearTreeClassifier,
    RandomForestClassifier,
    Table,
)
from empirisk.runtime.errors import EmpiriskWarning, RankWarning
from learner_settings import every_estimator, every_learner, outputs, sample
from tolerances import SUMMED


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames_go_in_and_their_names_are_kept(learner, frame):
    X, y = sample(learner)
    names = ["width", "height", "depth", "weight"]
    table = frame(dict(zip(names, X.T, strict=True)))
    model = clone(learner).fit(table, y)
    assert list(model.feature_names_in_) == names
    assert_allclose(outputs(model, table), outputs(clone(learner).fit(X, y), X), rtol=SUMMED)
    with pytest.raises(ValueError, match="feature names"):
        outputs(model, table[names[::-1]])


@every_estimator
def test_a_series_is_a_target(learner):
    X, y = sample(learner)
    model = clone(learner).fit(X, pd.Series(y, index=np.arange(len(y)) + 7))
    assert_array_equal(outputs(model, X), outputs(clone(learner).fit(X, y), X))


@every_estimator
def test_a_column_of_a_table_is_a_target(learner):
    X, y = sample(learner)
    model = clone(learner).fit(X, Table.of({"y": y})["y"])
    assert_array_equal(outputs(model, X), outputs(clone(learner).fit(X, y), X))


@every_estimator
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values_are_named(learner, bad):
    X, y = sample(learner)
    X[3, 2] = bad
    if np.isnan(bad) and get_tags(learner).input_tags.allow_nan:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmpiriskWarning)  # rows that were left out are named
            assert np.isfinite(outputs(clone(learner).fit(X, y), X)).all()
        return
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        clone(learner).fit(X, y)
    good, _ = sample(learner)
    model = clone(learner).fit(good, y)
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        outputs(model, X)


@every_estimator
def test_bad_shapes_are_clear_errors(learner):
    X, y = sample(learner)
    with pytest.raises(ValueError, match="0 sample"):
        clone(learner).fit(X[:0], y[:0])
    if not (hasattr(learner, "reconstruct") or hasattr(learner, "score_samples")):  # without y
        with pytest.raises(ValueError, match="inconsistent"):
            clone(learner).fit(X, y[:-1])
    with pytest.raises(ValueError, match="0 feature"):
        clone(learner).fit(X[:, :0], y)
    model = clone(learner).fit(X, y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        outputs(model, X[:, :3])
    with pytest.raises(ValueError, match=r"(?i)1d|reshape"):
        outputs(model, X[0])
    for series in (pd.Series(X[:, 0]), pl.Series(X[:, 0])):
        with pytest.raises(ValueError, match=r"2-dimensional|2D"):
            clone(learner).fit(series, y)


@every_estimator
def test_one_row_is_fitted_finitely_or_refused_clearly(learner):
    X, y = sample(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        try:
            model = clone(learner).fit(X[:1], y[:1])
        except ValueError as error:
            refusal = str(error)
        else:
            refusal = ""
            assert np.isfinite(outputs(model, X)).all()
    assert refusal == "" or "1" in refusal or "one" in refusal


@every_estimator
def test_one_class_is_refused_clearly(learner):
    # As in scikit-learn.
    one_class_will_do = (
        AdaBoostClassifier
        | Baseline
        | DecisionTreeClassifier
        | KNeighborsClassifier
        | LinearTreeClassifier
        | RandomForestClassifier
    )
    if isinstance(learner, BaggingClassifier) and learner.estimator is None:
        return  # members are trees
    if not is_classifier(learner) or isinstance(learner, one_class_will_do):
        return
    X, y = sample(learner)
    with pytest.raises(ValueError, match="class"):
        clone(learner).fit(X, np.full(len(y), "a"))


@every_estimator
def test_what_is_written_into_the_data_afterwards_changes_no_model(learner):
    X, y = sample(learner)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    model = clone(learner).fit(X, y, sample_weight=weight)
    rows = X.copy()
    said = outputs(clone(learner).fit(X.copy(), y.copy(), sample_weight=weight.copy()), rows)
    X[:], y[:], weight[:] = X[0], y[0], 7.0
    assert_array_equal(outputs(model, rows), said)


@every_learner
def test_weights_are_checked(learner):
    X, y = sample(learner)
    assert has_fit_parameter(learner, "sample_weight")
    for weight in (-np.ones(len(y)), np.zeros(len(y)), np.full(len(y), np.nan), np.ones(3)):
        with pytest.raises(ValueError, match="weight"):
            clone(learner).fit(X, y, sample_weight=weight)


@every_estimator
def test_flags_of_numpy_count_as_those_of_python(learner):
    X, y = sample(learner)
    settings = clone(learner).get_params()
    flags = {name: np.bool_(value) for name, value in settings.items() if isinstance(value, bool)}
    if flags:
        theirs = clone(learner).set_params(**flags).fit(X, y)
        assert_array_equal(outputs(theirs, X), outputs(clone(learner).fit(X, y), X))
