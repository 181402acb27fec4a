"""Nearest neighbours of tables with categories and missing values."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from empirisk import KNeighborsClassifier, KNeighborsRegressor, PlugInPredictor, Tuned, risk
from empirisk.losses import Quantile
from empirisk.selection.candidates import takes_tables
from tolerances import LAST_BITS, SUMMED


def frame(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "old": rng.random(n) < 0.5,
        }
    )
    y = X["size"] + 2.0 * (X["colour"] == "red") + 0.1 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.15, "size"] = np.nan
    X.loc[rng.random(n) < 0.15, "colour"] = None
    return X, y


def test_tables_are_taken_as_they_are():
    X, y = frame()
    model = KNeighborsRegressor(5, metric="gower").fit(X, y)
    assert takes_tables(model)
    assert not takes_tables(KNeighborsRegressor())
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, y) > 0.5


def test_a_level_that_was_not_there_in_training_differs_from_all_others():
    X, y = frame()
    new = X.iloc[[0]].assign(size=X["size"].max(), colour="yellow", old=True)
    model = KNeighborsRegressor(len(X), metric="gower").fit(X, y)
    distances, rows = model.kneighbors(new)
    near = X.iloc[rows[0]]
    span = X["size"].max() - X["size"].min()
    parts = np.column_stack(
        [
            (X["size"].max() - near["size"]) / span,
            np.where(near["colour"].isna(), np.nan, 1.0),
            1.0 - near["old"].astype(float),
        ]
    )
    assert_allclose(distances[0], np.nanmean(parts, axis=1), rtol=LAST_BITS)


def test_levels_of_one_fold_alone_count_the_same_in_the_fast_way():
    X, y = frame()
    X.loc[[3, 40], "colour"] = ["rare", "seldom"]
    model = KNeighborsRegressor(metric="gower")
    problem = risk.Problem.of(model, X, y)
    plan = problem.plan(KFold(4))
    fast, slow = (
        risk.out_of_fold(model, problem, plan, values=[1, 3, 8], rung=rung)
        for rung in (None, "generic")
    )
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)


def test_quantiles_of_mixed_tables_are_those_of_each_fold():
    X, y = frame()
    model = PlugInPredictor(KNeighborsRegressor(metric="gower"), Quantile(0.9))
    problem = risk.Problem.of(model, X, y)
    plan = problem.plan(KFold(4))
    fast, slow = (
        risk.out_of_fold(model, problem, plan, values=[1, 3, 8], rung=rung)
        for rung in (None, "generic")
    )
    assert fast.rung != "generic"
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)


def test_columns_of_a_table_are_forgotten_by_a_fit_to_numbers():
    X, y = frame()
    model = KNeighborsRegressor(metric="gower").fit(X, y)
    model.set_params(metric="minkowski").fit(np.arange(80.0)[:, None], y)
    assert not hasattr(model, "columns_")


def test_a_row_of_which_nothing_is_known_has_all_rows_at_the_same_distance():
    X, y = frame()
    model = KNeighborsRegressor(len(X), metric="gower").fit(X, y)
    nothing = X.iloc[:1].copy()
    nothing["size"], nothing["colour"], nothing["old"] = np.nan, None, None
    distances, rows = model.kneighbors(nothing)
    assert_array_equal(distances, 1.0)
    assert_array_equal(rows[0], np.arange(len(X)))
    assert_allclose(model.predict(nothing), y.mean(), rtol=LAST_BITS)


@pytest.mark.parametrize("learner", [KNeighborsRegressor, KNeighborsClassifier])
def test_ranges_are_those_of_the_training_rows_of_each_fold(learner):
    X, y = frame()
    target = y if learner is KNeighborsRegressor else (y > y.median()).astype(int)
    model = learner(metric="gower")
    problem = risk.Problem.of(model, X, target)
    plan = problem.plan(KFold(4))
    fast, slow = (
        risk.out_of_fold(model, problem, plan, values=[1, 3, 8], rung=rung)
        for rung in (None, "generic")
    )
    assert fast.rung == "plan"
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)
    tuned = Tuned(model, cv=4).fit(X, target)
    assert tuned.predict(X).shape == (80,)


def test_copies_of_rows_with_missing_cells():
    X, y = frame()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    one = KNeighborsRegressor(6, metric="gower", weights="distance").fit(X, y, weight).predict(X)
    many = KNeighborsRegressor(6, metric="gower", weights="distance")
    many.fit(X.iloc[copies], y.iloc[copies])
    assert_allclose(many.predict(X), one, rtol=1e-12)  # sums in another order
