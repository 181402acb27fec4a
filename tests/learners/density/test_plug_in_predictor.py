"""The conditional plug-in: means, medians, quantiles and least costs of what models say of Y."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier as PeerNeighbours
from sklearn.svm import LinearSVC

from empirisk import (
    DecisionTreeClassifier,
    KernelRegressor,
    LinearRegression,
    NaiveBayes,
    PlugInPredictor,
    Ridge,
    Table,
    Tuned,
    risk,
)
from empirisk.learners.density.best_actions import best_actions
from empirisk.learners.density.conditional import gaussian_values
from empirisk.losses import Absolute, Costs, Quantile, RegressionLoss, Squared
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


class Near(RegressorMixin, BaseEstimator):
    """Weights of the training rows by nearness, none beyond `reach`."""

    def __init__(self, reach=0.5):
        self.reach = reach

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_train_ = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.weight_ = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.n_features_in_ = self.X_.shape[1]
        return self

    def conditional_weights(self, X):
        distance = np.abs(np.asarray(X)[:, :1] - self.X_[:, 0])
        weight = np.maximum(self.reach - distance, 0) * self.weight_
        weight[np.arange(len(weight)), distance.argmin(axis=1)] += 1e-3
        return csr_array(weight / weight.sum(axis=1, keepdims=True))

    def predict(self, X):
        return self.conditional_weights(X) @ self.y_train_


@dataclass(frozen=True)
class Huber(RegressionLoss):
    """A loss of one's own: only the formula."""

    name: ClassVar[str] = "huber"

    def __call__(self, y, prediction):
        error = np.abs(np.subtract(y, prediction, dtype=float))
        return np.where(error <= 1, error**2 / 2, error - 0.5)


@dataclass(frozen=True)
class Hit(RegressionLoss):
    """1 unless the prediction is within 0.3 of y: not convex, and flat."""

    name: ClassVar[str] = "hit"

    def __call__(self, y, prediction):
        return (np.abs(np.subtract(y, prediction, dtype=float)) > 0.3).astype(float)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, size=(150, 1))
    return X, np.sin(2 * X[:, 0]) + rng.exponential(size=150)


def test_weights_give_mean_median_and_quantile(data):
    X, y = data
    model = Near().fit(X, y)
    at = np.linspace(0, 3, 40)[:, None]
    weights = model.conditional_weights(at).toarray()
    mean = PlugInPredictor(Near(), "squared").fit(X, y).predict(at)
    assert_allclose(mean, weights @ y, rtol=SUMMED)
    for loss, q in ((Absolute(), 0.5), (Quantile(0.1), 0.1), (Quantile(0.75), 0.75)):
        found = PlugInPredictor(Near(), loss).fit(X, y).predict(at)
        order = np.argsort(y)
        for action, share in zip(found, weights, strict=True):
            below = share[order][y[order] < action - 1e-12].sum()
            up_to = share[order][y[order] <= action + 1e-12].sum()
            assert below <= q + 1e-12
            assert up_to >= q - 1e-12


@pytest.mark.parametrize("loss", [Squared(), Absolute(), Quantile(0.3), Huber(), Hit()], ids=str)
def test_no_other_action_has_a_smaller_conditional_risk(data, loss):
    X, y = data
    at = np.linspace(0, 3, 7)[:, None]
    plug_in = PlugInPredictor(Near(), loss).fit(X, y)
    weights = plug_in.estimator_.conditional_weights(at).toarray()
    found = plug_in.conditional_risk(at)
    own = (weights * loss(y, plug_in.predict(at)[:, None])).sum(axis=1)
    assert_allclose(found, own, rtol=SUMMED)
    for action in np.linspace(y.min(), y.max(), 301):
        other = (weights * loss(y, np.full((7, 1), action))).sum(axis=1)
        # Hit is flat with jumps narrower than a step of the search: it may miss by a few rows.
        assert (found <= other + (0.02 if isinstance(loss, Hit) else 1e-9)).all()


def test_actions_given_are_the_only_ones(data):
    X, y = data
    at = np.linspace(0, 3, 7)[:, None]
    allowed = [-1.0, 0.0, 1.0, 2.0]
    for model in (Near(), LinearRegression()):
        found = PlugInPredictor(model, "squared", actions=allowed).fit(X, y).predict(at)
        mean = PlugInPredictor(model, "squared").fit(X, y).predict(at)
        nearest = np.array(allowed)[np.abs(mean[:, None] - allowed).argmin(axis=1)]
        assert_array_equal(found, nearest)  # of squares the action nearest to the mean is best


def test_a_normal_model_adds_quantiles_of_its_noise(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    mean, variance = model.predict(X), np.mean((y - model.predict(X)) ** 2)
    plug_in = PlugInPredictor(LinearRegression(), Quantile(0.9)).fit(X, y)
    assert_allclose(plug_in.noise_variance_, variance, rtol=SUMMED)
    assert_allclose(plug_in.predict(X), mean + norm.ppf(0.9) * np.sqrt(variance), rtol=SUMMED)
    for loss in ("squared", "absolute"):
        assert_allclose(PlugInPredictor(loss=loss).fit(X, y).predict(X), mean, rtol=SUMMED)
    given = PlugInPredictor(LinearRegression(), Quantile(0.9), noise_variance=4.0).fit(X, y)
    assert_allclose(given.predict(X), mean + 2 * norm.ppf(0.9), rtol=SUMMED)
    held_out = PlugInPredictor(LinearRegression(), noise_variance="held_out").fit(X, y)
    judged = risk.cross_validate(LinearRegression(), X, y, random_state=0).value
    assert_allclose(held_out.noise_variance_, judged, rtol=SUMMED)
    assert held_out.noise_variance_ > variance


@pytest.mark.parametrize("q", [0.02, 0.5, 0.9])
def test_the_nodes_of_a_normal_model_are_fine_enough(q):
    ((_, values, weight),) = gaussian_values(np.array([3.0]), 2.0)
    found = best_actions(Quantile(q), values, weight)
    # Nodes are 0.04 deviations apart, and a quantile is one of them or the middle of two.
    assert_allclose(found, 3 + 2 * norm.ppf(q), rtol=0, atol=2 * 0.02 * 1.01)
    assert_allclose(
        best_actions(Huber(), values, weight), 3.0, rtol=0, atol=1e-06
    )  # golden section


def test_the_plug_in_of_a_normal_model_knows_its_risk():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = X @ [1.0, 2.0] + 0.5 * rng.normal(size=5000)
    for loss, wanted in (("squared", 0.25), ("absolute", 0.5 * np.sqrt(2 / np.pi))):
        plug_in = PlugInPredictor(loss=loss).fit(X, y)
        # The variance of 5000 residuals has a relative error of 0.02: six of them.
        assert_allclose(plug_in.conditional_risk(X[:3]), wanted, rtol=0.12)


def test_classes_of_least_expected_cost(data):
    X, y = data
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [0.5, 1.5])]
    costs = Costs([[0, 1, 9], [2, 0, 3], [1, 1, 0]], classes=["low", "mid", "top"])
    peer = PeerNeighbours(15)
    plug_in = PlugInPredictor(peer, costs).fit(X, labels)
    p = peer.fit(X, labels).predict_proba(X)
    assert_array_equal(plug_in.predict_proba(X), p)
    assert_array_equal(plug_in.predict(X), plug_in.classes_[(p @ costs.matrix.T).argmin(axis=1)])
    assert_allclose(plug_in.conditional_risk(X), (p @ costs.matrix.T).min(axis=1), rtol=SUMMED)
    judged = risk.cross_validate(plug_in, X, labels, cv=4)
    plain = risk.cross_validate(peer, X, labels, cv=4, loss=costs)
    assert judged.loss == str(costs)
    assert judged.value < plain.value
    likely = PlugInPredictor(peer, "zero_one").fit(X, labels)
    assert_array_equal(likely.predict(X), peer.predict(X))


def test_the_log_loss_asks_for_the_probabilities(data):
    X, y = data
    labels = y > 1
    plug_in = PlugInPredictor(loss="log").fit(X, labels)
    entropy = -np.sum(plug_in.predict_proba(X) * np.log(plug_in.predict_proba(X)), axis=1)
    assert_allclose(plug_in.conditional_risk(X), entropy, rtol=SUMMED)


def test_the_axis_is_that_of_the_model(data):
    X, y = data
    learner = PlugInPredictor(Ridge(), "absolute")
    assert learner.axis.params == ("estimator__alpha",)
    assert PlugInPredictor.axis is None
    values = [0.1, 10.0, 1000.0]
    tuned = Tuned(learner, cv=4, values=values).fit(X, y)
    assert tuned.risk_.loss == "absolute"
    # The median of a normal model is its mean.
    plain = Tuned(Ridge(), cv=4, values=values, loss="absolute").fit(X, y)
    assert_allclose(tuned.path_.risk, plain.path_.risk, rtol=SUMMED)
    assert tuned.best_value_ == plain.best_value_


def test_weights_of_a_model_with_an_axis_go_through_its_path(data):
    X, y = data
    tuned = Tuned(PlugInPredictor(Ridge(), Quantile(0.8), noise_variance="held_out"), cv=3)
    tuned.set_params(values=[0.1, 10.0]).fit(X, y)
    by_path = Tuned(PlugInPredictor(Ridge(), Quantile(0.8)), cv=3, values=[0.1, 10.0]).fit(X, y)
    # Other variances of noise, nearly the same risk.
    assert_allclose(tuned.path_.risk, by_path.path_.risk, rtol=0.05)


def test_kernel_regression_gives_its_whole_distribution(data):
    X, y = data
    kernel = KernelRegressor(bandwidth=0.3).fit(X, y)
    mean = PlugInPredictor(KernelRegressor(bandwidth=0.3)).fit(X, y)
    assert mean.noise_variance_ is None
    assert_allclose(mean.predict(X), kernel.predict(X), rtol=SUMMED)
    low, high = (
        PlugInPredictor(KernelRegressor(bandwidth=0.3), Quantile(q)).fit(X, y) for q in (0.2, 0.8)
    )
    weights = kernel.conditional_weights(X).toarray()
    between = (y >= low.predict(X)[:, None]) & (y <= high.predict(X)[:, None])
    # By definition at least 0.6, and little more: each of some 40 rows has a few per cent.
    share = (weights * between).sum(axis=1)
    assert share.min() >= 0.6 - 1e-12
    assert share.mean() < 0.7
    learner = PlugInPredictor(KernelRegressor(), Quantile(0.8))
    assert learner.axis.params == ("estimator__bandwidth",)
    problem = risk.Problem.of(learner, X, y)
    plan = problem.plan(4)
    fast, slow = (
        risk.out_of_fold(learner, problem, plan, values=[0.1, 0.5], rung=rung)
        for rung in ("path", "generic")
    )
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED, atol=SUMMED)


def test_mixed_tables_reach_models_that_take_them():
    table = Table.of(
        {"size": [1.0, 2.0, 8.0, 9.0, None, 2.5], "kind": ["a", "a", "b", "b", "b", None]}
    )
    y = ["no", "no", "yes", "yes", "yes", "no"]
    plug_in = PlugInPredictor(NaiveBayes(), "asymmetric:1,9,yes").fit(table, y)
    assert list(plug_in.feature_names_in_) == ["size", "kind"]
    assert set(plug_in.predict(table)) <= {"no", "yes"}
    asked = PlugInPredictor(NaiveBayes(), "asymmetric:1,9,yes")
    assert risk.cross_validate(asked, table, y, cv=2).value >= 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"estimator": LinearRegression(), "loss": "zero_one"}, "is for classification"),
        ({"estimator": DecisionTreeClassifier(), "loss": "squared"}, "is for regression"),
        ({"estimator": LinearSVC(), "loss": "zero_one"}, "no predict_proba"),
        ({"loss": "log_density"}, "not one of predictions"),
        ({"actions": []}, "actions is"),
        ({"actions": ["high"]}, "actions is"),
        ({"noise_variance": -1}, "noise_variance is -1"),
        ({"noise_variance": "free"}, "noise_variance is 'free'"),
        ({"estimator": 3}, "estimator is 3"),
    ],
)
def test_parameters_are_checked(wrong, words, data):
    X, y = data
    with pytest.raises(ParameterError, match=words):
        PlugInPredictor(**wrong).fit(X, y > 1 if wrong.get("loss") == "zero_one" else y)


def test_the_conditional_risk_is_what_the_model_expects_of_its_own_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80)
    normal = PlugInPredictor(LinearRegression()).fit(X, y)
    assert_allclose(normal.conditional_risk(X[:5]), normal.noise_variance_, rtol=SUMMED)
    classes = PlugInPredictor(NaiveBayes(), loss="zero_one").fit(X, y > 0)
    doubt = 1 - classes.predict_proba(X).max(axis=1)
    assert_allclose(classes.conditional_risk(X), doubt, rtol=SUMMED, atol=SUMMED)
