"""Partial dependence beside a loop that anyone can read, scikit-learn, and known laws."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.inspection import partial_dependence as peer_dependence
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Encoder,
    GaussianMixture,
    HistGradientBoostingRegressor,
    KernelDensity,
    KMeans,
    LinearRegression,
    RandomForestRegressor,
    Table,
)
from empirisk.risk import partial_dependence
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

mpl.use("agg")
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=120)
LABEL = np.digitize(Y, [-0.7, 0.7])
WEIGHT = rng.integers(0, 4, size=120).astype(float)
FOREST = RandomForestRegressor(10, random_state=0).fit(X, Y)
BOOSTED = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(X, Y)


def frame(n=90):
    draw = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 80, size=n),
            "town": pd.Categorical(draw.choice(["Bergen", "Oslo", "Voss"], size=n)),
            "smoker": draw.random(n) < 0.3,
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, n), "D"),
        }
    )


def naive(model, X, columns, values, weight):
    """The mean at one point, and its standard error: a row of weight w is one observation."""
    rows = X.copy()
    for j, value in zip(columns, values, strict=True):
        rows[:, j] = value
    said = model.predict(rows)
    mean = np.average(said, weights=weight)
    n = (weight > 0).sum()
    error = np.sqrt(n / (n - 1) * np.sum(weight**2 * (said - mean) ** 2)) / weight.sum()
    return mean, error


@pytest.mark.parametrize("model", [FOREST, BOOSTED], ids=["forest", "boosted trees"])
def test_one_feature_is_a_loop_over_its_values(model):
    found = partial_dependence(model, X, 1, sample_weight=WEIGHT, grid_resolution=15)
    (values,) = found.grid
    assert len(values) == 15
    each = [naive(model, X, [1], [value], WEIGHT) for value in values]
    assert_allclose(found.mean, [mean for mean, _ in each], rtol=SUMMED)
    assert_allclose(found.standard_error, [error for _, error in each], rtol=SUMMED)
    reach = stats.t.ppf(0.975, (WEIGHT > 0).sum() - 1) * found.standard_error
    assert_allclose(
        found.interval, np.column_stack([found.mean - reach, found.mean + reach]), rtol=SUMMED
    )


def test_two_features_are_a_loop_over_pairs():
    found = partial_dependence(FOREST, X, ["x0", "x2"], grid_resolution=4)
    assert found.mean.shape == (4, 4)
    for i, a in enumerate(found.grid[0]):
        for j, b in enumerate(found.grid[1]):
            mean, error = naive(FOREST, X, [0, 2], [a, b], np.ones(120))
            assert_allclose(found.mean[i, j], mean, rtol=SUMMED)
            assert_allclose(found.standard_error[i, j], error, rtol=SUMMED)


@pytest.mark.parametrize("features", [0, (0, 2)])
def test_it_is_scikit_learns_on_the_same_grid(features):
    forest = PeerForest(10, random_state=0).fit(X, LABEL)
    grid = {0: [-1.0, 0.2, 1.5], 2: [-0.5, 0.5]}
    asked = [features] if isinstance(features, int) else features
    ours = partial_dependence(forest, X, features, grid={j: grid[j] for j in asked})
    peers = peer_dependence(
        forest, X, asked, custom_values={j: np.array(grid[j]) for j in asked}, method="brute",
        kind="average",
    )  # fmt: skip
    assert_allclose(np.moveaxis(ours.mean, -1, 0), peers["average"], rtol=SUMMED)
    curves = peer_dependence(
        forest, X, asked, custom_values={j: np.array(grid[j]) for j in asked}, method="brute",
        kind="individual",
    )["individual"]  # fmt: skip
    kept = partial_dependence(
        forest, X, features, grid={j: grid[j] for j in asked}, individual=True
    ).individual
    assert_allclose(np.moveaxis(kept, -1, 0), curves, rtol=SUMMED)


def test_weights_are_copies_in_the_grid_and_in_the_mean():
    copies = np.repeat(np.arange(120), WEIGHT.astype(int))
    once = partial_dependence(FOREST, X, 0, sample_weight=WEIGHT, grid_resolution=9)
    often = partial_dependence(FOREST, X[copies], 0, grid_resolution=9)
    assert_array_equal(once.grid[0], often.grid[0])
    assert_allclose(once.mean, often.mean, rtol=SUMMED)


def test_groups_are_the_observations_of_the_error():
    unit = np.arange(120) // 4
    found = partial_dependence(FOREST, X, 0, grid={0: [0.5]}, groups=unit)
    rows = X.copy()
    rows[:, 0] = 0.5
    means = FOREST.predict(rows).reshape(30, 4).mean(axis=1)
    assert_allclose(found.standard_error, means.std(ddof=1) / np.sqrt(30), rtol=SUMMED)


def test_a_linear_model_has_straight_lines_that_are_parallel():
    model = LinearRegression().fit(X, Y)
    found = partial_dependence(model, X, 2, individual=True, centred=True)
    slope = model.coef_[2] * (found.grid[0] - found.grid[0][0])
    assert_allclose(found.mean, slope, rtol=0, atol=SUMMED)
    assert_allclose(found.individual, np.tile(slope, (120, 1)), rtol=0, atol=SUMMED)
    assert_allclose(found.standard_error, 0, rtol=0, atol=1e-12)  # all rows change alike
    assert found.quantity == "change of prediction"


def test_intervals_cover_the_mean_over_the_population():
    """x1 ~ N(0, 1), f = (x0 + 1) x1: at x0 = 1 the mean over the population is 0.

    400 samples of 50 rows; fewer than 0.95 - 3.1 standard errors by chance once in 1000 seeds.
    """
    draw, inside = np.random.default_rng(5), 0
    for _ in range(400):
        Z = draw.normal(size=(50, 2))
        found = partial_dependence(lambda Z: (Z[:, 0] + 1) * Z[:, 1], Z, 0, grid={0: [1.0]})
        inside += found.interval[0, 0] <= 0 <= found.interval[0, 1]
    assert inside / 400 > 0.95 - 3.1 * np.sqrt(0.95 * 0.05 / 400)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "table"])
@pytest.mark.parametrize("name", ["age", "town", "smoker", "seen"])
def test_mixed_tables_of_every_kind_are_set_as_they_come(kind, name):
    data = frame()
    y = data["age"] / 20 + (data["town"] == "Oslo") + (data["seen"] > "2021-06-01")
    make = {"pandas": lambda d: d, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas,
            "table": Table.of}[kind]  # fmt: skip
    given = make(data)
    tree = DecisionTreeRegressor(min_samples_leaf=5).fit(given, y)
    found = partial_dependence(tree, given, name, grid_resolution=6)
    plain = DecisionTreeRegressor(min_samples_leaf=5).fit(data, y)
    for value, mean in zip(found.grid[0], found.mean, strict=True):
        rows = data.copy()
        rows[name] = pd.Categorical([value] * len(data), data[name].cat.categories) if (
            name == "town") else value  # fmt: skip
        assert_allclose(mean, plain.predict(rows).mean(), rtol=SUMMED)
    if name in ("town", "smoker"):
        assert len(found.grid[0]) == data[name].nunique()


def test_values_that_no_row_has_are_written():
    data = frame()
    y = data["age"] / 20.0 + (data["seen"] > "2021-06-01")
    day = np.datetime64("2021-03-04")
    tree = DecisionTreeRegressor(min_samples_leaf=5).fit(data, y)
    for make in (lambda d: d, pl.from_pandas, pa.Table.from_pandas, Table.of):
        found = partial_dependence(tree, make(data), "age", grid={"age": [40.5]})
        assert_allclose(found.mean, tree.predict(data.assign(age=40.5)).mean(), rtol=SUMMED)
        found = partial_dependence(tree, make(data), "seen", grid={"seen": [day]})
        expected = tree.predict(data.assign(seen=pd.Timestamp(day))).mean()
        assert_allclose(found.mean, expected, rtol=SUMMED)
    sparse = csr_array(np.where(X > 0, X, 0.0))
    model = lambda Z: Z.sum(axis=1)  # noqa: E731
    found = partial_dependence(model, sparse, 1, grid={1: [2.5]})
    assert_allclose(found.mean, 2.5 + sparse.toarray()[:, [0, 2]].sum(axis=1).mean(), rtol=SUMMED)


def test_an_integer_array_takes_a_fraction():
    Z = rng.integers(0, 9, size=(40, 2))
    found = partial_dependence(lambda Z: Z[:, 0] * 2.0, Z, 0, grid={0: [0.5, 3]})
    assert_allclose(found.mean, [1.0, 6.0], rtol=SUMMED)


def test_a_pipeline_is_set_in_front_of_its_steps():
    data = frame()
    y = data["age"] / 20 + (data["town"] == "Oslo")
    model = make_pipeline(Encoder(), LinearRegression()).fit(data[["age", "town"]], y)
    found = partial_dependence(model, data[["age", "town"]], "town")
    difference = found.mean - found.mean[0]
    assert_allclose(difference, [0.0, 1.0, 0.0], rtol=0, atol=1e-08)  # an exact linear relation


def test_missing_values_are_no_value_of_the_grid():
    Z = X.copy()
    Z[::3, 0] = np.nan
    tree = DecisionTreeRegressor(max_depth=3).fit(Z, Y)
    found = partial_dependence(tree, Z, 0)
    assert np.isfinite(found.grid[0]).all()


def test_classifiers_are_asked_for_what_they_have():
    tree = DecisionTreeClassifier(max_depth=3).fit(X, LABEL)
    found = partial_dependence(tree, X, 0, grid_resolution=5)
    assert found.outputs == (0, 1, 2)
    assert_allclose(found.mean.sum(axis=1), 1.0, rtol=SUMMED)
    assert found.of_output(2).quantity == "probability of 2"
    both = DecisionTreeRegressor(max_depth=3).fit(X, np.column_stack([Y, -Y]))
    outputs = partial_dependence(both, X, 0, grid_resolution=5)
    assert outputs.of_output(1).quantity == "prediction of output 1"
    scores = partial_dependence(LinearSVC().fit(X, LABEL > 1), X, 0, grid_resolution=5)
    assert (scores.quantity, scores.outputs) == ("score", None)
    shares = partial_dependence(
        RidgeClassifier().fit(X, LABEL), X, 0, grid_resolution=5, response_method="predict"
    )
    assert_allclose(shares.mean.sum(axis=1), 1.0, rtol=SUMMED)
    assert ((shares.interval >= 0) & (shares.interval <= 1)).all()


def test_features_that_go_together_are_named():
    Z = np.column_stack([X[:, 0], X[:, 0] + 0.3 * rng.normal(size=120), X[:, 2]])
    found = partial_dependence(lambda Z: Z.sum(axis=1), Z, 0)
    assert found.cautions[0].startswith("x0 goes together with x1 (0.9")
    assert found.cautions[0] in str(found)
    both = partial_dependence(lambda Z: Z.sum(axis=1), Z, [0, 1], grid_resolution=3)
    assert both.cautions[0].startswith("x0 and x1 go together")
    assert partial_dependence(lambda Z: Z.sum(axis=1), Z, 2).cautions == ()


def test_columns_that_no_table_can_hold_are_left_to_the_predictor():
    data = pd.DataFrame({"a": [1.0, 2.0, 4.0], "odd": [1, "x", (2,)]})
    found = partial_dependence(lambda data: 2 * data["a"].to_numpy(), data, "a")
    assert_array_equal(found.mean, [2.0, 4.0, 8.0])
    assert found.cautions == ()


def test_a_feature_that_is_called_mean_keeps_its_column():
    data = pd.DataFrame({"mean": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 0.0]})
    table = partial_dependence(lambda data: 2 * data["mean"].to_numpy(), data, "mean").to_table()
    assert table.names[:2] == ("mean (set)", "mean")
    assert_array_equal(table["mean"].numbers(), [2.0, 4.0, 8.0])


def test_n_jobs_changes_nothing():
    one = partial_dependence(FOREST, X, 0, grid_resolution=5)
    two = partial_dependence(FOREST, X, 0, grid_resolution=5, n_jobs=2)
    assert_array_equal(one.mean, two.mean)


def test_words_tables_and_pictures(tmp_path):
    data = frame()
    y = data["age"] / 20 + (data["town"] == "Oslo")
    tree = DecisionTreeRegressor(min_samples_leaf=5).fit(data, y)
    for features in ("age", "town", "seen", ["age", "town"], ["age", "seen"]):
        found = partial_dependence(tree, data, features, grid_resolution=4, individual=True)
        found.plot().figure.savefig(tmp_path / "picture.svg")
        assert found.to_table().shape[0] == found.mean.size
        assert "not that of the model" in str(found)
    classes = DecisionTreeClassifier(max_depth=3).fit(X, LABEL)
    found = partial_dependence(classes, X, 0, grid_resolution=3)
    assert found.to_table().shape == (9, 6)
    with pytest.raises(ParameterError, match="say which output"):
        found.plot()
    assert found.plot(output=1).get_ylabel() == "mean probability of 1"


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"features": [0, 1, 2]}, ParameterError, "names 3 columns"),
        ({"features": "height"}, ParameterError, "names a column 'height'"),
        ({"features": None}, ParameterError, "None; give the name or number of a column"),
        ({"features": 0.5}, ParameterError, "0.5; give the name or number of a column"),
        ({"grid": [0.0, 1.0]}, ParameterError, "give a dict from columns to their values"),
        ({"grid": {1: [0.0]}}, ParameterError, "not among the features"),
        ({"grid": {0: []}}, ParameterError, "no values for 'x0'"),
        ({"grid": {0: ["a"]}}, ParameterError, "a column of numbers"),
        ({"grid_resolution": 1}, ParameterError, "whole number from 2"),
        ({"percentiles": (0.9, 0.1)}, ParameterError, "two shares"),
        ({"level": 95}, ParameterError, "between 0 and 1"),
        ({"response_method": "proba"}, ParameterError, "choose one of"),
        ({"response_method": "predict_proba"}, ParameterError, "has no predict_proba"),
        ({"sample_weight": np.zeros(120)}, DataError, "weight"),
    ],
)
def test_what_cannot_be_done_is_said(changes, error, words):
    with pytest.raises(error, match=words):
        partial_dependence(FOREST, X, **{"features": 0, **changes})


def test_text_and_levels_that_no_row_has_are_refused():
    data = pd.DataFrame({"id": [f"n{i}" for i in range(30)], "town": ["a", "b", "c"] * 10})
    model = lambda data: np.ones(len(data))  # noqa: E731
    with pytest.raises(DataError, match="holds text"):
        partial_dependence(model, data, "id")
    with pytest.raises(ParameterError, match="which no row has"):
        partial_dependence(model, data, "town", grid={"town": ["z"]})


def test_what_predicts_no_y_is_refused_and_its_density_is_a_function():
    density = KernelDensity().fit(X)
    for model in (density, KMeans(2, random_state=0).fit(X), GaussianMixture().fit(X)):
        with pytest.raises(ParameterError, match="predicts no y"):
            partial_dependence(model, X, 0)
    found = partial_dependence(density.score_samples, X, 0, grid={0: [0.0]})
    rows = X.copy()
    rows[:, 0] = 0.0
    assert_allclose(
        found.mean, [density.score(rows) / len(X)], rtol=1e-12
    )  # a sum in another order


def test_days_are_written_without_a_time():
    frame = pd.DataFrame({"day": pd.date_range("2024-12-30", periods=4)})
    tree = DecisionTreeRegressor().fit(frame, np.arange(4.0))
    said = str(partial_dependence(tree, frame, "day"))
    assert "2024-12-31  1 " in said
    assert "T00:00" not in said
