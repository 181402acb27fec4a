"""Importance where columns are of any kind: frames, pipelines, measures, costs; what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneOut, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from empirisk import DecisionTreeClassifier, Encoder, Table
from empirisk import LogisticRegression as OurLogistic
from empirisk.losses import Costs
from empirisk.risk import Plan, evaluate, importance
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DataError, DeadlineError, ParameterError, PlanError
from tolerances import SUMMED

rng = np.random.default_rng(0)
N = 150
CITY = rng.choice(["Oslo", "Bergen", "Voss"], size=N)
AGE = rng.uniform(20, 80, size=N)
FRAME = pd.DataFrame(
    {
        "age": np.where(rng.random(N) < 0.1, np.nan, AGE),
        "city": pd.Categorical(np.where(rng.random(N) < 0.1, None, CITY)),
        "noise": rng.normal(size=N),
    }
)
SICK = np.where((AGE > 50) ^ (CITY == "Oslo") ^ (rng.random(N) < 0.1), "sick", "well")


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, Table.of])
@pytest.mark.parametrize("how", ["test", "out_of_fold", "retrain"])
def test_categories_and_missing_values_are_permuted_as_they_are(make, how):
    tree = DecisionTreeClassifier(max_leaf_nodes=6)
    if how == "test":
        tree.fit(make(FRAME.iloc[:80]), SICK[:80])
        rows, label, options = FRAME.iloc[80:], SICK[80:], {}
    else:
        rows, label, options = FRAME, SICK, {"cv": 3}
    found = importance(tree, make(rows), label, how=how, n_repeats=2, random_state=0, **options)
    assert found.names == ("age", "city", "noise")
    assert found["age"] > 0.1
    assert found["city"] > 0.1
    assert abs(found["noise"]) < 0.1  # 2.5 standard errors of 0.03 to 0.04; the seed is fixed
    same = importance(tree, rows, label, how=how, n_repeats=2, random_state=0, **options)
    assert_allclose(found.values, same.values, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("how", ["out_of_fold", "retrain"])
def test_a_column_is_permuted_before_all_steps_of_a_pipeline(how):
    pipeline = make_pipeline(Encoder(), OurLogistic())
    found = importance(pipeline, FRAME, SICK, how=how, cv=3, n_repeats=2, random_state=0)
    assert found.names == ("age", "city", "noise")  # and not the columns of the encoder
    theirs = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["city"])), GaussianNB()
    )
    theirs.steps[0][1].sparse_threshold = 0
    found = importance(theirs, FRAME, SICK, how=how, cv=3, n_repeats=2, random_state=0)
    assert not found.repeats[:, [0, 2]].any()


def test_costs_weigh_the_rises():
    model = LogisticRegression().fit(FRAME[["noise"]], SICK)
    costs = Costs.from_dict({("well", "sick"): 5.0, ("sick", "well"): 1.0})
    found = importance(model, FRAME[["noise"]], SICK, loss=costs, random_state=0)
    assert found.baseline.value == evaluate(model, FRAME[["noise"]], SICK, loss=costs).value
    assert (np.abs(found.interval) <= 5).all()


def test_several_classes_and_several_outputs():
    forest = RandomForestClassifier(15, random_state=0).fit(FRAME[["noise"]].fillna(0), CITY)
    for loss in ("zero_one", "log", "auc", "f_score"):
        options = {"average": "macro"} if loss == "f_score" else {}
        rows = FRAME[["noise"]]
        found = importance(
            forest, rows, CITY, how="out_of_bag", loss=loss, random_state=0, **options
        )
        assert np.isfinite(found.values).all()
    Y = np.column_stack([AGE, 2 * AGE])
    found = importance(LinearRegression(), AGE[:, None], Y, how="out_of_fold", random_state=0)
    assert_allclose(found.values, 2 * AGE.var() * 2.5, rtol=0.2)  # the mean of 1 and 4


def test_numbers_without_names_sparse_matrices_and_lists():
    X = rng.normal(size=(60, 2)) * (rng.random((60, 2)) < 0.5)
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model = LinearRegression().fit(X, y)
    dense = importance(model, X, y, random_state=0)
    assert_allclose(
        importance(model, sp.csr_array(X), y, random_state=0).values, dense.values, rtol=SUMMED
    )
    assert_allclose(
        importance(model, X.tolist(), y, random_state=0).values, dense.values, rtol=SUMMED
    )
    frame = pd.DataFrame(X, columns=[10, 20])
    with_numbers = importance(LinearRegression().fit(frame, y), frame, y, random_state=0)
    assert with_numbers.names == ("10", "20")


def test_one_split_judges_one_model():
    X = FRAME[["noise"]].to_numpy()
    plan = Plan.holdout(X, AGE, random_state=0)
    found = importance(LinearRegression(), X, AGE, how="retrain", cv=plan, random_state=0)
    assert found.baseline.estimates == "this model"
    assert "not that of the model" in found.covers


def test_rows_in_time_order_have_no_interval():
    X = AGE[:, None]
    found = importance(
        LinearRegression(), X, AGE, how="out_of_fold", cv=TimeSeriesSplit(3), random_state=0
    )
    assert np.isnan(found.interval).all()
    assert "ordered in time" in found.covers


def test_groups_and_weights_reach_the_fits():
    group = np.arange(N) // 5
    weight = rng.integers(0, 3, size=N)
    found = importance(
        LogisticRegression(), FRAME[["noise"]], SICK, how="retrain", cv=3, n_repeats=2,
        groups=group, sample_weight=weight, random_state=0,
    )  # fmt: skip
    assert "30 groups" in found.covers
    assert np.isfinite(found.interval).all()


def test_a_deadline_holds():
    with deadline(1e-9), pytest.raises(DeadlineError):
        importance(LinearRegression(), AGE[:, None], AGE, how="retrain")


def test_strange_requests_are_refused():
    X, model = AGE[:, None], LinearRegression().fit(AGE[:, None], AGE)
    refused = [
        ({"how": "shap"}, ParameterError, "how is 'shap'"),
        ({"n_repeats": 0}, ParameterError, "n_repeats is 0"),
        ({"level": 1.5}, ParameterError, "level is 1.5"),
        ({"cv": 3}, ParameterError, "cv is for"),
        ({"features": "all"}, ParameterError, "features is 'all'"),
        ({"features": ["age"]}, ParameterError, "names a column 'age'; there are 'x0'"),
        ({"features": []}, ParameterError, "features is empty"),
        ({"features": {"none": []}}, ParameterError, "group without columns"),
        ({"features": [["x0", 0]]}, ParameterError, "twice in one group"),
        ({"features": ["x0", "x0"]}, ParameterError, "twice"),
        ({"loss": "auc"}, ParameterError, "one of classifiers"),
        ({"positive": 1}, ParameterError, "no parameter 'positive'"),
        ({"how": "out_of_bag"}, ParameterError, "does not tell which rows"),
        ({"how": "impurity"}, ParameterError, "tells no feature_importances_"),
        ({"how": "impurity", "loss": "squared"}, ParameterError, "loss means nothing"),
    ]
    for options, error, words in refused:
        with pytest.raises(error, match=words):
            importance(model, X, AGE, **options)
    with pytest.raises(DataError, match="give X and y"):
        importance(model)
    with pytest.raises(DataError, match="one row only"):
        importance(model, X[:1], AGE[:1])
    with pytest.raises(DataError, match="or fewer folds"):
        importance(LinearRegression(), X, AGE, how="out_of_fold", cv=LeaveOneOut())
    with pytest.raises(DataError, match="one group only"):
        importance(model, X, AGE, groups=np.zeros(N))
    with pytest.raises(NotFittedError):
        importance(RandomForestClassifier(), X, SICK, how="out_of_bag")
    with pytest.raises(PlanError):
        importance(LinearRegression(), X, AGE, how="retrain", cv=Plan.of(3, X[:9], AGE[:9]))
    with pytest.raises(DataError, match="'a' stands for columns 0 and 1"):
        importance(model, pd.DataFrame(np.zeros((5, 2)), columns=["a", "a"]), AGE[:5])
    forest = RandomForestClassifier(3, random_state=0).fit(X, SICK)
    with pytest.raises(ParameterError, match="how='out_of_bag'"):
        importance(forest, X, SICK, how="members", loss="auc")
    forest = RandomForestRegressor(3, random_state=0).fit(X, 1e200 * AGE)
    for how in ("test", "out_of_bag", "members"):
        with np.errstate(over="ignore"), pytest.raises(DataError, match="not finite"):
            importance(forest, X, -1e200 * AGE, how=how, random_state=0)
    found = importance(model, X, AGE, random_state=0)
    with pytest.raises(ParameterError, match="no feature 'height'"):
        found["height"]


def test_the_picture_has_a_bar_and_an_interval_for_each_feature(tmp_path):
    model = LinearRegression().fit(np.column_stack([AGE, rng.normal(size=N)]), AGE)
    found = importance(model, np.column_stack([AGE, rng.normal(size=N)]), AGE, random_state=0)
    ax = found.plot()
    ax.figure.savefig(tmp_path / "importance.svg")
    assert_allclose([bar.get_width() for bar in ax.patches], found.values[found.order], rtol=SUMMED)
    segments = np.array([line[:, 0] for line in ax.collections[0].get_segments()])
    assert_array_equal(segments, found.interval[found.order])
    assert ax.get_xlabel() == "rise in squared risk"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x0", "x1"]
    assert found.plot(ax) is ax
