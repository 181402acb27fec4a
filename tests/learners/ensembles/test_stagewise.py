"""Forward stagewise regression: twins, peers, laws and doors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as ForeignLinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as ForeignTree

from empirisk import (
    AdaBoostRegressor,
    DecisionTreeRegressor,
    LinearRegression,
    LogitBoostClassifier,
    Ridge,
    StagewiseRegressor,
    Tuned,
    load,
    losses,
    risk,
    save,
)
from empirisk.learners.ensembles.boosting import column_rounds
from empirisk.learners.ensembles.boosting.any_rounds import AnyRounds
from empirisk.learners.ensembles.boosting.column_rounds import ColumnRounds
from empirisk.learners.ensembles.boosting.forward_stagewise import forward_stagewise
from empirisk.learners.ensembles.boosting.regression_costs import (
    SquaredCost,
)
from empirisk.runtime.errors import DataError, ParameterError
from stagewise_rows import data
from stagewise_twins import l2_boost_columns
from tolerances import SOLVED, SUMMED


def mixed(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "word": np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, size=n)],
            "hole": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    return X, (X["x"] + (X["word"] == "red") + 0.3 * rng.normal(size=n)).to_numpy()


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_componentwise_boosting_is_that_of_the_papers(rate, weighted):
    X, y = data(n=40)
    weight = np.random.default_rng(1).integers(0, 4, size=40) if weighted else None
    path, intercept, selected, df, aicc = l2_boost_columns(X, y, 60, rate, weight)
    model = StagewiseRegressor("least_squares", 60, learning_rate=rate).fit(X, y, weight)
    assert_array_equal(model.selected_, selected)
    # Sums in another order, over 60 rounds: a few hundred units in the last place.
    assert_allclose(model.coef_path_, path, rtol=1e-11, atol=1e-13)
    assert_allclose(model.intercept_, intercept[-1], rtol=1e-11)
    assert_allclose(model.degrees_of_freedom_, df, rtol=1e-11)
    assert_allclose(model.aicc_, aicc, rtol=1e-10)
    stopped = StagewiseRegressor("least_squares", 60, learning_rate=rate, stop="aic")
    stopped.fit(X, y, weight)
    assert stopped.n_estimators_ == np.argmin(aicc)
    assert_allclose(stopped.coef_, path[np.argmin(aicc)], rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("init", [None, "zero"])
def test_products_of_columns_as_they_are_needed_give_the_same(monkeypatch, init):
    X, y = data(n=50, p=12)
    model = StagewiseRegressor("least_squares", 200, init=init)
    at_once = model.fit(X, y)
    coef, freedom = at_once.coef_path_, at_once.degrees_of_freedom_
    monkeypatch.setattr(column_rounds, "ALL_AT_ONCE", 0)
    one_by_one = model.fit(X, y)
    # A product is a sum over rows, in another order.
    assert_allclose(one_by_one.coef_path_, coef, rtol=1e-10, atol=1e-13)
    assert_allclose(one_by_one.degrees_of_freedom_, freedom, rtol=1e-10)


@pytest.mark.parametrize("centred", [True, False])
def test_the_compiled_rounds_are_those_of_the_loop(centred):
    X, y = data(n=60)
    weight = np.random.default_rng(2).uniform(0.2, 3, size=60)
    init = None if centred else "zero"
    fast = StagewiseRegressor("least_squares", 80, learning_rate=0.2, init=init).fit(X, y, weight)
    f = np.full((60, 1), np.average(y, weights=weight) if centred else 0.0)
    weak, cost = ColumnRounds(X, centred=centred), SquaredCost(y, weight)
    stages, found = forward_stagewise(weak, cost, f, rounds=80, rate=0.2)
    assert_array_equal(stages.selected, fast.selected_)
    assert_allclose(f[:, 0], fast.predict(X), rtol=SOLVED)
    assert_allclose(found, fast.train_score_, rtol=SUMMED)


TREES = [
    {"max_depth": 3},
    {"max_depth": 1},
    {"max_leaf_nodes": 5, "min_samples_leaf": 4},
    {"max_depth": 3, "max_features": 2},
    {"max_depth": 4, "ccp_alpha": 0.05},
    {"max_depth": 2, "criterion": "absolute_error"},
    {"max_depth": 3, "min_weight_fraction_leaf": 0.1, "min_impurity_decrease": 0.01},
    {"max_depth": 3, "splitter": "random"},
]


@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize("weights", ["none", "whole", "any"])
def test_trees_on_one_coding_are_those_that_are_fitted_round_by_round(tree, weights):
    X, y = mixed()
    rng = np.random.default_rng(3)
    weight = {
        "none": np.ones(150),
        "whole": rng.integers(1, 4, size=150).astype(float),
        "any": rng.uniform(0.2, 3, size=150),
    }[weights]
    learner = DecisionTreeRegressor(**tree)
    fast = StagewiseRegressor(learner, 8, learning_rate=0.3, random_state=5).fit(X, y, weight)
    f = np.full((150, 1), losses.Squared().best_constant(y, weight))
    stages, _ = forward_stagewise(
        AnyRounds(learner, X), SquaredCost(y, weight), f, rounds=8, rate=0.3, random_state=5
    )
    assert_array_equal(fast.predict(X), f[:, 0])
    assert_array_equal(fast.stages_.weights, stages.weights)
    for one, other in zip(fast.estimators_, stages.members, strict=True):
        assert_array_equal(one.predict(X), other.predict(X))
        assert_array_equal(one.tree_.feature, other.tree_.feature)


@pytest.mark.parametrize("depth", [1, 3])
def test_trees_give_what_scikit_learn_gives(depth):
    X, y = data(n=300, seed=4)
    X = X.astype(np.float32).astype(float)  # which they are cast to
    ours = StagewiseRegressor(DecisionTreeRegressor(max_depth=depth), 60).fit(X, y)
    peer = GradientBoostingRegressor(n_estimators=60, max_depth=depth, random_state=0).fit(X, y)
    # Of equal splits another may be taken, which parts the training rows in the same way.
    for one, other in zip(ours.staged_predict(X), peer.staged_predict(X), strict=True):
        assert_allclose(one, other, rtol=SUMMED, atol=SUMMED)
    assert_allclose(ours.train_score_, peer.train_score_, rtol=SUMMED)


def test_stages_are_fits_with_fewer_rounds():
    X, y = data()
    for estimator in (None, "least_squares", Ridge(), ForeignLinearRegression()):
        model = StagewiseRegressor(estimator, 5, learning_rate=0.3).fit(X, y)
        stages = list(model.staged_predict(X))
        assert len(stages) == 5
        for t, stage in enumerate(stages, start=1):
            fewer = StagewiseRegressor(estimator, t, learning_rate=0.3).fit(X, y)
            assert_array_equal(stage, fewer.predict(X))


def test_the_importance_of_features_is_that_of_scikit_learn():
    X, y = data(n=500)
    X = X.astype(np.float32).astype(float)
    ours = StagewiseRegressor(n_estimators=10).fit(X, y)
    peer = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    assert_allclose(ours.feature_importances_, peer.feature_importances_, rtol=SUMMED)
    found = risk.importance(ours, X, y, how="impurity")
    assert_allclose(found.values, ours.feature_importances_, rtol=SUMMED)
    with pytest.raises(AttributeError, match="of trees"):
        StagewiseRegressor("least_squares").fit(X, y).feature_importances_  # noqa: B018


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_the_importance_of_features_does_not_depend_on_the_unit_of_y(criterion):
    X, y = data(n=80)
    y = y + np.abs(X[:, 1])
    tree = DecisionTreeRegressor(max_depth=2, criterion=criterion)
    found = [
        StagewiseRegressor(tree, 8, learning_rate=0.5).fit(X, unit * y).feature_importances_
        for unit in (1.0, 1024.0)
    ]
    assert np.count_nonzero(found[0] > 0.01) > 1
    assert_allclose(*found, rtol=SUMMED)


@pytest.mark.parametrize("other", ["least_squares", KNeighborsRegressor(), None])
def test_a_fitted_sum_predicts_whatever_its_parameter_says_then(other):
    X, y = data()
    for estimator in (None, "least_squares", Ridge()):
        model = StagewiseRegressor(estimator, 3).fit(X, y)
        wanted = model.predict(X)
        assert_array_equal(model.set_params(estimator=other).predict(X), wanted)


@pytest.mark.parametrize("other", ["least_squares", DecisionTreeRegressor(criterion="poisson")])
def test_members_and_files_of_a_fitted_sum_are_those_of_its_fit(tmp_path, other):
    X, y = data()
    for tree in (
        DecisionTreeRegressor(max_depth=2),
        DecisionTreeRegressor(criterion="absolute_error"),
    ):
        model = StagewiseRegressor(tree, 3).fit(X, y)
        impurity = model.estimators_[0].tree_.impurity
        model.set_params(estimator=other)
        assert str(model.estimators_[0]) == str(tree)
        assert_array_equal(model.estimators_[0].tree_.impurity, impurity)
        save(model, tmp_path / "model")
        assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize("estimator", [Ridge(3.0), LinearRegression(), Ridge(fit_intercept=False)])
@pytest.mark.parametrize("init", [None, "zero"])
@pytest.mark.parametrize("weighted", [False, True])
def test_freedom_of_linear_rules_is_the_trace_of_the_hat_matrix(estimator, init, weighted):
    X, y = data(n=12, p=3)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=12) if weighted else None
    model = StagewiseRegressor(estimator, 7, learning_rate=0.3, init=init).fit(X, y, weight)
    assert model.freedom == "path"
    for t in (1, 7):
        fewer = StagewiseRegressor(estimator, t, learning_rate=0.3, init=init)
        trace = sum(fewer.fit(X, e, weight).predict(X)[i] for i, e in enumerate(np.eye(12)))
        assert_allclose(model.degrees_of_freedom_[t], trace, rtol=SUMMED)


def test_the_aic_stops_any_smoother_of_few_rows():
    X, y = data(n=60, p=3)
    model = StagewiseRegressor(KNeighborsRegressor(15), 80, stop="aic").fit(X, y)
    assert 0 < model.n_estimators_ < 80
    S = risk.hat_matrix(KNeighborsRegressor(15), X)
    left = np.eye(60) - 1 / 60
    for df in model.degrees_of_freedom_:
        assert_allclose(60 - np.trace(left), df, rtol=SOLVED)
        left = (np.eye(60) - 0.1 * S) @ left
    with pytest.raises(ParameterError, match="not linear"):
        StagewiseRegressor(stop="aic").fit(X, y)


def test_along_the_axis_the_aic_stops_among_the_rounds_that_are_asked_for():
    X, y = data(n=60)
    learner = StagewiseRegressor("least_squares", 200, learning_rate=0.3, stop="aic")
    path = learner.fit_path(X, y, np.ones(60), [5, 200, 3], n_classes=0)
    for j, value in enumerate([5, 200, 3]):
        alone = StagewiseRegressor("least_squares", value, learning_rate=0.3, stop="aic").fit(X, y)
        assert path.rounds[j] == alone.n_estimators_
        assert_array_equal(path.at(j).predict(X), alone.predict(X))


def test_tuned_chooses_the_rounds_and_the_path_is_its_own():
    X, y = data(n=200)
    tuned = Tuned(StagewiseRegressor(n_estimators=150), cv=3).fit(X, y)
    assert 10 < tuned.best_value_ < 150
    assert len(tuned.path_.values) == 100
    assert_array_equal(
        tuned.predict(X),
        StagewiseRegressor(n_estimators=tuned.best_value_).fit(X, y).predict(X),
    )


def test_columns_are_selected_and_constant_ones_never():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    X[:, 3] = 7.0
    y = 3 * X[:, 5] - 2 * X[:, 8] + 0.5 * rng.normal(size=200)
    model = StagewiseRegressor("least_squares", 50).fit(X, y)
    assert set(model.selected_[:20]) == {5, 8}
    assert 3 not in model.selected_
    assert (model.coef_path_[:, 3] == 0).all()


def test_nothing_left_to_fit_ends_the_rounds():
    X = np.arange(10.0)[:, None]
    model = StagewiseRegressor("least_squares", 5000, learning_rate=0.5).fit(X, 3 * X[:, 0])
    assert model.n_estimators_ < 100
    assert_allclose(model.coef_, [3.0], rtol=SUMMED)
    constant = StagewiseRegressor("least_squares", 10).fit(X, np.ones(10))
    assert constant.n_estimators_ == 0
    assert_array_equal(constant.predict(X), 1.0)
    assert_array_equal(constant.coef_path_, [[0.0]])


def test_frames_categories_and_holes_go_to_trees():
    X, y = mixed()
    model = StagewiseRegressor(n_estimators=20).fit(X, y)
    assert list(model.feature_names_in_) == ["x", "word", "hole"]
    assert np.mean((y - model.predict(X)) ** 2) < 0.2 * y.var()
    assert {c.kind for c in model.columns_} == {"number", "category"}
    with pytest.raises(DataError, match="word"):
        StagewiseRegressor("least_squares").fit(X, y)


def test_pipelines_and_foreign_estimators_are_weak_learners():
    X, y = data()
    w = np.random.default_rng(0).uniform(size=len(y))
    pipe = make_pipeline(StandardScaler(), ForeignLinearRegression())
    one = StagewiseRegressor(pipe, 5, learning_rate=1.0).fit(X, y, w)
    assert_allclose(one.predict(X), LinearRegression().fit(X, y, w).predict(X), rtol=SUMMED)
    tree = ForeignTree(max_depth=2, max_features=2)
    first, second = (StagewiseRegressor(tree, 5, random_state=1).fit(X, y) for _ in range(2))
    assert_array_equal(first.predict(X), second.predict(X))
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        StagewiseRegressor(KNeighborsRegressor(), 3).fit(X, y, w)


def test_an_estimator_without_weights_is_fitted_to_copies_of_rows():
    X, y = data()
    w = np.random.default_rng(0).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), w)
    weighted = StagewiseRegressor(KNeighborsRegressor(), 3).fit(X, y, w)
    repeated = StagewiseRegressor(KNeighborsRegressor(), 3).fit(X[copies], y[copies])
    # Means of the same values, with other divisors and in another order.
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-10)


class Endless(ForeignLinearRegression):
    def predict(self, X):
        return np.full(len(X), np.inf)


@pytest.mark.parametrize("ensemble", [StagewiseRegressor, AdaBoostRegressor])
def test_members_predict_finite_numbers(ensemble):
    with pytest.raises(DataError, match="Endless predicts NaN or infinity"):
        ensemble(Endless(), n_estimators=3).fit(*data())


def test_a_sum_of_no_members_has_a_file_and_refuses_what_they_would(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    model = StagewiseRegressor(Ridge(), 5, learning_rate=0.3, stop="aic").fit(X, y)
    assert model.n_estimators_ == 0
    save(model, tmp_path / "mean")
    assert_array_equal(load(tmp_path / "mean").predict(X), np.full(50, y.mean()))
    with pytest.raises(DataError, match="missing"):
        model.predict(np.full((2, 3), np.nan))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"n_estimators": 2.5}, "n_estimators"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"loss": "zero_one"}, "loss is"),
        ({"loss": len}, "loss is"),
        ({"init": "mean"}, "init is"),
        ({"stop": "bic"}, "stop is"),
        ({"stop": "aic", "loss": "absolute"}, "squared loss"),
        ({"estimator": "lines"}, "estimator is"),
        ({"stop": "aic"}, "not linear in y.* use Tuned"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_parameters_without_meaning_are_refused(settings, match):
    X, y = data()
    with pytest.raises(ParameterError, match=match):
        StagewiseRegressor(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("boosting", "tree"),
    [
        (StagewiseRegressor(n_estimators=3), DecisionTreeRegressor(max_depth=1)),
        (LogitBoostClassifier(n_estimators=3), DecisionTreeRegressor(max_depth=1)),
    ],
    ids=["stagewise", "logit"],
)
def test_an_array_of_words_is_told_where_categories_are_named(boosting, tree):
    X = np.array([["red", "1.5"], ["blue", "2.5"]] * 20)
    y = np.tile([0, 1], 20)
    with pytest.raises(DataError, match="categorical_features of its estimator, a tree"):
        boosting.fit(X, y)
    named = tree.set_params(categorical_features=[0])
    model = boosting.set_params(estimator=named).fit(X, y)
    assert model.score(X, y) > 0
    plain = clone(boosting).set_params(estimator=None).fit(X[:, 1:].astype(float), y)
    with pytest.raises(DataError, match="categorical_features of its estimator, a tree"):
        plain.predict(X[:, :1])


def test_the_coefficients_are_drawn():
    X, y = mixed()
    X = X[["x", "hole"]].fillna(0)
    ax = StagewiseRegressor("least_squares", 30).fit(X, y).plot_coefficients()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "hole"]
    assert "rounds" in ax.get_xlabel()
    with pytest.raises(AttributeError, match="least_squares"):
        StagewiseRegressor(n_estimators=2).fit(X, y).coef_  # noqa: B018
    for name in ("coef_", "intercept_", "coef_path_"):
        assert not hasattr(StagewiseRegressor("least_squares"), name)
        with pytest.raises(NotFittedError):
            getattr(StagewiseRegressor("least_squares"), name)
