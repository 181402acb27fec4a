import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut
from sklearn.neighbors import KernelDensity as PeerKernelDensity
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from empirisk import (
    Axis,
    DecisionTreeClassifier,
    Encoder,
    LinearRegression,
    Plan,
    Ridge,
    StagewiseRegressor,
    Table,
    Tuned,
    risk,
)
from empirisk.losses import LogDensity
from empirisk.runtime.errors import ParameterError
from tolerances import SOLVED, SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 12))
y = X[:, 0] + rng.normal(size=80)
ALPHA = Axis(("alpha",), "simpler", "log")
ALPHAS = [0.1, 1.0, 10.0, 100.0]


def test_the_choice_is_that_of_grid_search():
    search = GridSearchCV(ForeignRidge(), {"alpha": ALPHAS}, scoring="neg_mean_squared_error", cv=5)
    search.fit(X, y)
    for estimator in (ForeignRidge(), Ridge()):
        model = Tuned(estimator, axis=ALPHA, values=ALPHAS, cv=5).fit(X, y)
        assert model.best_value_ == search.best_params_["alpha"]
        assert_allclose(model.path_.risk, -search.cv_results_["mean_test_score"], rtol=SUMMED)
        assert_allclose(model.predict(X), search.predict(X), rtol=SOLVED)


def test_a_tuned_learner_keeps_its_path_and_the_winners_losses():
    model = Tuned(Ridge(), values=ALPHAS).fit(X, y)
    path = model.path_
    assert list(path.values) == ALPHAS
    assert_allclose(path.risk[model.best_index_], model.risk_.uncorrected, rtol=SUMMED)
    assert_allclose(path.training_risk, [
        np.mean((y - Ridge(alpha=alpha).fit(X, y).predict(X)) ** 2) for alpha in ALPHAS
    ], rtol=1e-10)  # fmt: skip
    assert (np.diff(path.training_risk) > 0).all()  # a larger penalty fits the training rows worse
    assert len(model.risk_.losses) == 80
    assert (model.risk_.chosen_among, model.risk_.corrected) == (4, True)
    assert model.risk_.uncorrected <= model.risk_.value < model.risk_.interval[1]


def test_one_se_is_never_richer_than_best():
    best = Tuned(Ridge()).fit(X, y)
    simple = Tuned(Ridge(), rule="one_se").fit(X, y)
    assert simple.best_value_ >= best.best_value_
    limit = best.risk_.value + best.path_.standard_error[best.best_index_]
    assert simple.risk_.value <= limit * (1 + 1e-8)


DEPTH = Axis(("max_depth",), "richer", "integer")
NEIGHBOURS = Axis(("n_neighbors",), "simpler", "integer")


@pytest.mark.parametrize("order", [1, -1], ids=["as given", "reversed"])
@pytest.mark.parametrize(
    ("estimator", "axis", "values", "simplest"),
    [
        (DecisionTreeRegressor(random_state=0), DEPTH, [1, 2, 3, 4, 6, 9], min),
        (KNeighborsRegressor(), NEIGHBOURS, [1, 2, 3, 5, 8, 12, 20, 50], max),
        (Ridge(), None, [1e-3, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0], max),
        (ForeignRidge(), ALPHA, [1e-3, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0], max),
    ],
    ids=["tree", "neighbours", "ridge", "foreign ridge"],
)
def test_one_se_goes_to_the_simpler_side_of_the_axis(estimator, axis, values, simplest, order):
    values = values[::order]
    step = np.where(X[:, 0] > 0, 1.0, -1.0) + X[:, 1] + np.random.default_rng(1).normal(size=80)
    best, simple = (
        Tuned(estimator, axis=axis, values=values, cv=5, rule=rule).fit(X, step)
        for rule in ("best", "one_se")
    )
    risk, error = best.path_.risk, best.path_.standard_error
    limit = risk.min() + error[np.argmin(risk)]
    within = [value for value, each in zip(values, risk, strict=True) if each <= limit]
    assert simple.best_value_ == simplest(within)
    assert simple.path_.values[simple.best_index_] == simple.best_value_
    # A rule in the wrong direction would be seen: the best is not the only one within the limit.
    assert simple.best_value_ != best.best_value_ == values[np.argmin(risk)]
    assert simplest([simple.best_value_, best.best_value_]) == simple.best_value_


def test_without_an_axis_there_is_nothing_to_choose():
    model = Tuned(LinearRegression(), cv=LeaveOneOut()).fit(X, y)
    assert model.best_value_ is None
    assert model.risk_.chosen_among == 1
    assert model.risk_.interval is not None
    assert model.path_.rung == "plan"
    assert_allclose(
        model.risk_.value, risk.leave_one_out(LinearRegression(), X, y).value, rtol=SUMMED
    )


def test_nested_tuning_is_one_procedure():
    inner = Tuned(Ridge(), values=ALPHAS, cv=3)
    outer = Tuned(inner, cv=4).fit(X, y)
    assert outer.risk_.chosen_among == 1
    folds = np.array_split(np.arange(80), 4)
    losses = np.empty(80)
    for fold in folds:
        train = np.setdiff1d(np.arange(80), fold)
        losses[fold] = (y[fold] - clone(inner).fit(X[train], y[train]).predict(X[fold])) ** 2
    assert_allclose(outer.risk_.losses, losses, rtol=SUMMED)


def test_a_foreign_learner_tuned_along_a_given_axis_is_one_procedure_too():
    foreign = Tuned(ForeignRidge(), axis=ALPHA, values=ALPHAS, cv=3)
    ours = Tuned(Ridge(), values=ALPHAS, cv=3)
    a, b = (risk.cross_validate(model, X, y, cv=4) for model in (foreign, ours))
    assert_allclose(a.losses, b.losses, rtol=SUMMED)
    assert_allclose(Tuned(foreign, cv=4).fit(X, y).risk_.value, a.value, rtol=SUMMED)


def test_a_pipeline_is_tuned_along_the_axis_of_its_last_step():
    model = Tuned(make_pipeline(StandardScaler(), Ridge()), values=ALPHAS, cv=4).fit(X, y)
    assert model.path_.rung == "path"
    slow = Tuned(
        make_pipeline(StandardScaler(), ForeignRidge()), axis=ALPHA, values=ALPHAS, cv=4
    ).fit(X, y)
    assert_allclose(model.path_.risk, slow.path_.risk, rtol=SUMMED)
    assert model.best_estimator_[-1].alpha == model.best_value_
    default_grid = Tuned(make_pipeline(StandardScaler(), Ridge())).fit(X, y)
    assert len(default_grid.path_.values) == 100


def test_groups_are_never_on_both_sides():
    groups = np.arange(80) // 8
    model = Tuned(Ridge(), values=ALPHAS).fit(X, y, groups=groups)
    again = Tuned(Ridge(), values=ALPHAS, cv=GroupKFold(10)).fit(X, y, groups=groups)
    assert_allclose(model.path_.risk, again.path_.risk, rtol=SUMMED)
    assert set(model.risk_.unit) == set(range(10))


def test_weights_are_copies_in_grid_folds_and_fit():
    weight = rng.integers(0, 3, size=80)
    model = Tuned(Ridge(), cv=LeaveOneOut()).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(80), weight)
    copies = Tuned(Ridge(), cv=GroupKFold(len(np.unique(rows)))).fit(X[rows], y[rows], groups=rows)
    assert_allclose(list(model.path_.values), list(copies.path_.values), rtol=SUMMED)
    assert_allclose(model.path_.risk, copies.path_.risk, rtol=SUMMED)
    assert_allclose(model.predict(X), copies.predict(X), rtol=SOLVED)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"params": "alpha"}, r"params is 'alpha'; give names in a tuple: \('alpha',\)"),
        ({"params": ()}, r"params is \(\); give names"),
        ({"larger": "bigger"}, "larger is 'bigger'; give 'simpler' or 'richer'"),
        ({"larger": ("simpler", "richer")}, "a tuple with one of them for each parameter"),
        ({"larger": None}, "larger is None; give .simpler. or .richer."),
        ({"scale": "ln"}, "scale is 'ln'; choose 'log', 'linear' or 'integer'"),
    ],
)
def test_an_axis_says_which_parameter_and_which_way_is_simpler(wrong, says):
    with pytest.raises(ParameterError, match=says):
        Axis(**{"params": ("alpha",), "larger": "simpler", "scale": "log", **wrong})


def test_one_parameter_goes_one_way_however_it_is_said():
    said = Axis(("alpha",), ("simpler",), "log")
    assert said == ALPHA
    assert Tuned(Ridge(), axis=said).fit(X, y).path_.rung == "plan"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (0.1, "values is 0.1: give a list with a number for each value of alpha"),
        ("12", "values is '12': give a list"),
        (["a"], "values has 'a': give a list with a number"),
        ([1.0, [2.0]], r"values has \[2.0\]: give a list"),
        ([], "empty"),
    ],
)
def test_values_are_a_list_of_numbers(values, says):
    with pytest.raises(ParameterError, match=says):
        Tuned(Ridge(), values=values).fit(np.eye(9), np.arange(9.0))


def test_a_foreign_learner_needs_an_axis_and_values():
    with pytest.raises(ParameterError, match="axis is 'alpha'; give an Axis"):
        Tuned(Ridge(), axis="alpha", values=[1.0]).fit(X, y)
    with pytest.raises(ParameterError, match="declares no axis"):
        Tuned(ForeignRidge(), values=[1.0]).fit(X, y)
    with pytest.raises(ParameterError, match="no default grid"):
        Tuned(ForeignRidge(), axis=ALPHA).fit(X, y)
    with pytest.raises(ParameterError, match="empty"):
        Tuned(Ridge(), values=[]).fit(X, y)


def test_the_same_seed_gives_the_same_forest_and_another_seed_another():
    trees = Axis(("max_features",), "richer", "integer")
    forest = RandomForestRegressor(n_estimators=3)
    first, second, other = (
        Tuned(forest, axis=trees, values=[1, 4], cv=2, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    )
    assert_array_equal(first.predict(X), second.predict(X))
    assert_array_equal(first.path_.risk, second.path_.risk)
    assert not np.array_equal(first.path_.risk, other.path_.risk)


def test_a_random_state_instance_is_drawn_from_once():
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        twin = pickle.loads(pickle.dumps(state))
        Tuned(Ridge(), values=ALPHAS, random_state=state).fit(X, y)
        draw = getattr(twin, "randint", None) or twin.integers
        draw(0, 2**32, size=4, dtype=np.uint64)
        after, expected = (
            getattr(s, "randint", getattr(s, "integers", None))(0, 2**31) for s in (state, twin)
        )
        assert after == expected


def test_classifiers_are_tuned_by_the_named_loss():
    labels = np.where(y > 0, "up", "down")
    k = Axis(("n_neighbors",), "simpler", "integer")
    for loss in ("zero_one", "log"):
        model = Tuned(KNeighborsClassifier(), axis=k, values=[1, 5, 15], loss=loss).fit(X, labels)
        assert model.risk_.loss == loss
        assert list(model.classes_) == ["down", "up"]
        assert model.predict_proba(X).shape == (80, 2)
        assert not hasattr(model, "decision_function")


def test_the_path_is_drawn_richer_to_the_right():
    model = Tuned(Ridge(), values=ALPHAS).fit(X, y)
    ax = model.path_.plot()
    left, right = ax.get_xlim()
    assert left > right  # small penalties, rich models, on the right
    honest, training = ax.lines[:2]
    assert_allclose(honest.get_ydata(), model.path_.risk, rtol=SUMMED)
    assert_allclose(training.get_ydata(), model.path_.training_risk, rtol=SUMMED)
    assert ax.get_xscale() == "log"


def test_a_column_is_one_output_to_a_learner_of_one():
    model = Tuned(StagewiseRegressor(n_estimators=5), cv=3)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        one = clone(model).fit(X, y[:, None])
    assert_array_equal(one.predict(X), clone(model).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="1d array"):
        clone(model).fit(X, np.column_stack([y, y]))


def test_learners_whose_score_takes_no_weights_are_scored():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    axis = Axis(("bandwidth",), "simpler", "log")
    tuned = Tuned(
        PeerKernelDensity(), axis=axis, values=[0.5, 1.0], loss=LogDensity(), random_state=0
    )
    assert np.isfinite(tuned.fit(rows).score(rows))


def test_the_risk_on_one_test_part_is_not_that_of_the_model_of_all_rows():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(80, 3))
    y = X[:, 0] + draw.normal(size=80)
    found = Tuned(Ridge(), cv=Plan.holdout(X, y, random_state=0)).fit(X, y).risk_
    assert found.estimates == "the procedure at this n"
    assert "fitted without the test rows" in found.reason


def test_a_table_is_read_by_its_names():
    draw = np.random.default_rng(0)
    table = Table.of({"a": draw.normal(size=60), "b": 10 * draw.normal(size=60)})
    labels = np.asarray(table["a"]) > 0
    tuned = Tuned(DecisionTreeClassifier(), random_state=0).fit(table, labels)
    assert_array_equal(tuned.feature_names_in_, ["a", "b"])
    assert_array_equal(tuned.predict(table.select(["b", "a"])), tuned.predict(table))


def test_an_encoder_that_met_an_array_expects_no_names():
    for rows in (X, X.tolist(), pd.DataFrame(X)):
        tuned = Tuned(make_pipeline(Encoder(), Ridge()), random_state=0).fit(rows, y)
        assert not hasattr(tuned, "feature_names_in_")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_array_equal(tuned.predict(rows), tuned.best_estimator_.predict(X))
    named = pd.DataFrame(X).add_prefix("column ")
    tuned = Tuned(make_pipeline(Encoder(), Ridge()), random_state=0).fit(named, y)
    assert_array_equal(tuned.feature_names_in_, named.columns)


def test_a_clone_has_the_default_grid_of_the_learners_axis():
    tuned = clone(Tuned(Ridge(), axis=Ridge.axis)).fit(X, y)
    assert tuned.path_.values == Tuned(Ridge()).fit(X, y).path_.values


def test_a_rule_that_there_is_not_costs_no_fit():
    class Untouched(Ridge):
        def design(self, X):
            raise AssertionError("rows were looked at")

    with pytest.raises(ParameterError, match="rule is 'least'"):
        Tuned(Untouched(), rule="least").fit(X, y)
