"""AdaBoost beyond the laws of every learner: two classes, any weak learner, margins, frames."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree

from empirisk import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Encoder,
    LogisticRegression,
    Tuned,
    risk,
)
from empirisk.compiled.boosting import voting
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


def two_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X**2).sum(axis=1) + 0.5 * rng.normal(size=n) > 2.4
    return X, np.where(y, "out", "in")


def numbers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(6 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


def test_a_weighted_row_is_so_many_copies_for_stumps_of_two_classes():
    X, y = two_classes()
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = AdaBoostClassifier(n_estimators=20).fit(X, y, sample_weight=weight)
    repeated = AdaBoostClassifier(n_estimators=20).fit(X[copies], y[copies])
    # Sums of the same terms in another order.
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-9)
    assert_allclose(weighted.estimator_errors_, repeated.estimator_errors_, rtol=1e-9)


@pytest.mark.parametrize("power", [-200, 200])
def test_extreme_units_and_weights_stay_finite(power):
    X, y = two_classes()
    plain = AdaBoostClassifier(n_estimators=5).fit(X, y)
    model = AdaBoostClassifier(n_estimators=5)
    model.fit(X * 10.0**power, y, sample_weight=np.full(len(y), 10.0**power))
    assert_allclose(model.predict_proba(X * 10.0**power), plain.predict_proba(X), rtol=SUMMED)
    uneven = 10.0 ** np.linspace(0, power, len(y))
    model.fit(X, y, sample_weight=uneven)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.estimator_weights_).all()


@pytest.mark.parametrize("weak", [None, GaussianNB()])
def test_a_very_large_learning_rate_neither_overflows_nor_warns(weak):
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoostClassifier(weak, learning_rate=1e5, n_estimators=20).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "weak",
    [
        GaussianNB(),
        make_pipeline(Encoder(), LogisticRegression()),
        TheirTree(max_depth=2),
        DecisionTreeClassifier(max_depth=3, cost_matrix=[[0, 1.3], [1, 0]]),
        DecisionTreeClassifier(max_depth=2, class_weight={"in": 2.0}),
        DecisionTreeClassifier(max_depth=2, max_features=1),
        DecisionTreeClassifier(max_depth=3, ccp_alpha=0.01),
    ],
    ids=str,
)
def test_any_weak_learner_that_takes_weights(weak):
    X, y = two_classes()
    model = AdaBoostClassifier(weak, n_estimators=8, random_state=0).fit(X, y)
    again = AdaBoostClassifier(weak, n_estimators=8, random_state=0).fit(X, y)
    assert_array_equal(model.decision_function(X), again.decision_function(X))
    votes = np.array([2.0 * (member.predict(X) == "out") - 1.0 for member in model.estimators_])
    by_hand = model.estimator_weights_ @ votes / model.estimator_weights_.sum()
    assert_allclose(model.decision_function(X), 2 * by_hand, rtol=SUMMED, atol=LAST_BITS)
    assert model.score(X, y) >= model[0].score(X, y) - 0.1


@pytest.mark.parametrize(
    "weak", [KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())]
)
def test_a_weak_learner_without_weights_is_refused(weak):
    X, y = two_classes(40)
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        AdaBoostClassifier(weak).fit(X, y)
    X, y = numbers(40)
    AdaBoostRegressor(KNeighborsRegressor(), n_estimators=2).fit(X, y)  # gets copies of rows
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        AdaBoostRegressor(KNeighborsRegressor(), bootstrap=False).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"n_estimators": 2.0}, "n_estimators is 2.0"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"learning_rate": np.inf}, "learning_rate is inf"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'"),
        ({"estimator": 3}, "estimator is 3"),
        ({"estimator": DecisionTreeRegressor()}, "not for the task.*give a classifier"),
        ({"random_state": -1}, "random_state is -1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_parameters_are_checked(settings, message):
    X, y = two_classes(40)
    with pytest.raises(ParameterError, match=message):
        AdaBoostClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["constant", "two values", "far away"])
def test_a_tree_that_is_wrong_by_rounding_only_ends_the_rounds_of_the_regressor(kind, weighted):
    X, y = numbers(60)
    y = {"constant": 0.0 * y + 0.1, "two values": np.where(y > 0, 0.1, 0.7)}.get(kind, y + 1e9)
    weight = np.random.default_rng(0).exponential(size=60) if weighted else None
    model = AdaBoostRegressor(DecisionTreeRegressor(), bootstrap=False)
    model.fit(X, y, sample_weight=weight)
    assert_array_equal(model.estimator_errors_, [0.0])
    assert_array_equal(model.estimator_weights_, [1.0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "cubic"}, "loss is 'cubic'"),
        ({"bootstrap": 1}, "bootstrap is 1"),
        ({"estimator": DecisionTreeClassifier()}, "not for the task.*give a regressor"),
    ],
)
def test_parameters_of_the_regressor_are_checked(settings, message):
    X, y = numbers(40)
    with pytest.raises(ParameterError, match=message):
        AdaBoostRegressor(**settings).fit(X, y)


class Wide(ClassifierMixin, BaseEstimator):
    """Predicts what it should not."""

    def __init__(self, wrong):
        self.wrong = wrong

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.zeros((len(X), 2)) if self.wrong == "shape" else np.full(len(X), "other")


def test_strange_predictions_are_named():
    X, y = two_classes(20)
    with pytest.raises(DataError, match=r"Wide gives an array of shape \(20, 2\)"):
        AdaBoostClassifier(Wide("shape")).fit(X, y)
    with pytest.raises(DataError, match="Wide predicts the label 'other'"):
        AdaBoostClassifier(Wide("label")).fit(X, y)


def test_another_weak_learner_leaves_nothing_of_the_one_before():
    X, y = two_classes(60)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    model.set_params(estimator=GaussianNB()).fit(X, y)
    assert not hasattr(model, "trees_")
    assert isinstance(model[0], GaussianNB)
    model.set_params(estimator=None).fit(X, y)
    assert not hasattr(model, "_members")
    assert [type(member) for member in model] == [DecisionTreeClassifier] * 3


def test_sparse_matrices_reach_a_weak_learner_that_takes_them():
    X, y = two_classes(60)
    weak = TheirTree(max_depth=1)
    dense = AdaBoostClassifier(weak, n_estimators=5).fit(X, y)
    sparse = AdaBoostClassifier(weak, n_estimators=5).fit(csr_array(X), y)
    assert_allclose(sparse.decision_function(csr_array(X)), dense.decision_function(X), rtol=SUMMED)


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", "grey"], size=n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    score = np.isin(colour, ["red", "grey"]) + np.nan_to_num(size) + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"colour": colour, "size": size}), score


@pytest.mark.parametrize("depth", [1, 2])
def test_categories_and_missing_values_as_they_are(depth):
    frame, score = mixed()
    labels = np.where(score > 0.5, "yes", "no")
    tree = DecisionTreeClassifier(max_depth=depth)
    model = AdaBoostClassifier(tree, n_estimators=10).fit(frame, labels)
    assert list(model.feature_names_in_) == ["colour", "size"]
    assert model.score(frame, labels) > 0.8
    for member in model.estimators_[:3]:
        assert list(member.feature_names_in_) == ["colour", "size"]
    votes = [(member.predict(frame) == "yes") * 2.0 - 1 for member in model]
    by_hand = model.estimator_weights_ @ votes / model.estimator_weights_.sum()
    assert_allclose(model.decision_function(frame), 2 * by_hand, rtol=SUMMED, atol=LAST_BITS)
    fitted = AdaBoostRegressor(n_estimators=5, random_state=0).fit(frame, score)
    assert fitted.score(frame, score) > 0.6


def test_margins_of_two_classes():
    X, y = two_classes()
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    sign = np.where(y == "out", 1.0, -1.0)
    assert_allclose(model.margins(X, y), sign * model.decision_function(X) / 2, rtol=0, atol=SUMMED)
    assert_array_equal(model.margins(X, y) > 0, model.predict(X) == y)
    early = list(model.staged_decision_function(X))[6]
    assert_allclose(model.margins(X, y, n_estimators=7), sign * early / 2, rtol=0, atol=SUMMED)
    assert_array_equal(model.margins(X, y, n_estimators=99), model.margins(X, y))


def test_margins_are_those_of_a_fitted_vote():
    for ask in (AdaBoostClassifier().margins, AdaBoostClassifier().plot_margins):
        with pytest.raises(NotFittedError):
            ask([[0.0], [1.0]], [0, 1])


def test_stages_are_those_of_a_fitted_ensemble():
    for model in (AdaBoostClassifier(), AdaBoostRegressor()):
        with pytest.raises(NotFittedError):
            next(model.staged_predict([[0.0], [1.0]]))


def test_margins_of_three_classes_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=150), [-0.5, 0.5])
    model = AdaBoostClassifier(n_estimators=12).fit(X, y)
    share = np.zeros((150, 3))
    for weight, member in zip(model.estimator_weights_, model, strict=True):
        share[np.arange(150), member.predict(X)] += weight / model.estimator_weights_.sum()
    margins = [row[k] - np.delete(row, k).max() for row, k in zip(share, y, strict=True)]
    assert_allclose(model.margins(X, y), margins, rtol=0, atol=SUMMED)
    with pytest.raises(DataError, match="y has the label 7"):
        model.margins(X, np.full(150, 7))


def test_the_picture_of_margins():
    X, y = two_classes(100)
    model = AdaBoostClassifier(n_estimators=25).fit(X, y)
    ax = Figure().add_subplot()
    assert model.plot_margins(X, y, ax=ax) is ax
    assert [line.get_label() for line in ax.lines[:3]] == ["1 round", "10 rounds", "25 rounds"]
    last = ax.lines[2]
    share_wrong = (model.predict(X) != y).mean()
    at_zero = last.get_ydata()[np.searchsorted(last.get_xdata(), 0.0, side="right") - 1]
    assert at_zero == pytest.approx(share_wrong, rel=SUMMED)
    ax = model.plot_margins(X, y, rounds=[2], sample_weight=np.arange(100.0))
    assert len(ax.lines) == 2


def test_tuned_chooses_rounds_and_refits():
    X, y = two_classes(150)
    tuned = Tuned(AdaBoostClassifier(n_estimators=60), cv=4).fit(X, y)
    assert tuned.path_.values[0] == 1
    assert len(tuned.path_.values) == 60
    assert len(tuned.best_estimator_) <= tuned.best_value_
    assert tuned.risk_.value < 0.35
    many = AdaBoostClassifier(n_estimators=5000).axis_values(X, y, np.ones(150), n_train=100)
    assert many[0] == 1
    assert many[-1] == 5000
    assert len(many) <= 100


@pytest.mark.parametrize("weak", [None, DecisionTreeClassifier(max_depth=2), GaussianNB()])
def test_the_path_of_two_classes_is_the_generic_loop(weak):
    X, y = two_classes(90)
    learner = AdaBoostClassifier(weak, n_estimators=9)
    for loss in ("zero_one", "log"):
        problem = risk.Problem.of(learner, X, y, loss=loss)
        plan = problem.plan(3)
        values = [9, 1, 4, 4]
        path = risk.out_of_fold(learner, problem, plan, values=values)
        slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
        assert path.rung == "path"
        # The same rounds, but for a coding of all rows: sums are the same.
        assert_allclose(path.losses, slow.losses, rtol=1e-9, atol=1e-12)


class Mean(RegressorMixin, BaseEstimator):
    """The weighted mean."""

    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def first_means(X, y, weight, seeds):
    """What the first member of each seed was fitted to."""
    models = (AdaBoostRegressor(Mean(), n_estimators=1, random_state=seed) for seed in seeds)
    return [model.fit(X, y, sample_weight=weight)[0].mean_ for model in models]


def test_a_weighted_row_is_drawn_like_so_many_copies():
    rng = np.random.default_rng(0)
    X, y = np.zeros((12, 1)), rng.normal(size=12)
    weight = np.array([0, 1, 2, 3, 1, 1, 0, 5, 1, 2, 1, 4])
    copies = np.repeat(np.arange(12), weight)
    weighted = first_means(X, y, weight, range(400))
    repeated = first_means(X[copies], y[copies], None, range(400, 800))
    ignored = first_means(X, y, None, range(800, 1200))
    assert stats.ks_2samp(weighted, repeated).pvalue > ERROR_PROBABILITY
    assert stats.ks_2samp(weighted, ignored).pvalue < ERROR_PROBABILITY  # the test can fail


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_without_draws_is_what_the_paper_says(loss):
    X, y = numbers()
    start = np.random.default_rng(3).uniform(0.5, 2, size=len(y))
    model = AdaBoostRegressor(n_estimators=10, loss=loss, bootstrap=False, learning_rate=0.6)
    model.fit(X, y, sample_weight=start)
    w, members, weights = start / start.sum(), [], []
    for _ in range(10):
        members.append(DecisionTreeRegressor(max_depth=3).fit(X, y, sample_weight=w))
        error = np.abs(members[-1].predict(X) - y)
        error = error / error.max()
        error = {"linear": error, "square": error**2, "exponential": 1 - np.exp(-error)}[loss]
        beta = (w @ error) / (1 - w @ error)
        weights.append(0.6 * np.log(1 / beta))
        w = w * beta ** (0.6 * (1 - error))
        w = w / w.sum()
    assert_allclose(model.estimator_weights_, weights, rtol=SUMMED)
    each = np.array([member.predict(X) for member in members])
    by_hand = [weighted_median(column, np.array(weights)) for column in each.T]
    assert_allclose(model.predict(X), by_hand, rtol=SUMMED)


def weighted_median(values, weights):
    """The least value with half the weight up to it."""
    upto = [weights[values <= z].sum() for z in values]
    return min(z for z, w in zip(values, upto, strict=True) if w >= weights.sum() / 2)


@pytest.mark.parametrize("equal", [False, True])
def test_weighted_medians_run_uncompiled(equal):
    rng = np.random.default_rng(0)
    table, weights = rng.integers(0, 5, size=(30, 9)).astype(float), rng.uniform(size=9)
    weights = np.ones(9) if equal else weights  # of four, two have just half of the weight
    stages = np.array([1, 4, 9])
    fast, slow = np.empty((2, 30, 3))
    voting.weighted_medians(table, weights, stages, fast)
    voting.weighted_medians.py_func(table, weights, stages, slow)
    assert_array_equal(slow, fast)
    for v, t in enumerate(stages):
        assert_array_equal(fast[:, v], [weighted_median(row[:t], weights[:t]) for row in table])


def test_stages_are_added_up_in_one_pass():
    X, y = two_classes(50)
    model = AdaBoostClassifier(n_estimators=12).fit(X, y)
    trees, value = model.trees_, np.random.default_rng(0).normal(size=(24, 2))
    stages = np.array([1, 2, 7, 12])
    fast, slow = np.empty((2, 50, 4, 2))
    for add, totals in ((voting.add_votes, fast), (voting.add_votes.py_func, slow)):
        add(
            trees.nodes.view(np.float64), trees.nodes.view(np.int32), trees.subsets,
            trees.first_node, trees.first_subset, trees.first_leaf, value, X,
            np.empty(50, np.int32), stages, totals,
        )  # fmt: skip
    assert_array_equal(slow, fast)
    leaves = np.array([member.apply(X) - 1 for member in model])
    for v, t in enumerate(stages):
        by_hand = sum(value[2 * b + leaves[b]] for b in range(t))
        assert_allclose(fast[:, v], by_hand, rtol=SUMMED, atol=LAST_BITS)
