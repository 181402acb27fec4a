"""Margin classifiers from rows that come a few at a time, and from a model file."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from empirisk import MarginClassifier, load, save
from empirisk.losses import Logit, MarginLoss, as_margin_loss
from empirisk.losses.margin import NAMED
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from model_file.exactness import assert_same
from tolerances import SUMMED


def sample(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) * [0.5, 1.0, 2.0] + [0.0, 1.0, 2.0]
    score = X @ [1.0, -0.5, 0.8] - 1 + rng.normal(size=n)
    return X, np.where(score > 0, 1, -1)


def three_classes(n=120):
    X, _ = sample(n)
    score = X @ [1.0, -0.5, 0.2] + 0.5 * np.random.default_rng(5).normal(size=n)
    return X, np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.3, 0.6]))]


def objective(model, X, y):
    """The formula of the docstring."""
    b = model.coef_[0]
    loss = as_margin_loss(model.loss).value(y * (X @ b + model.intercept_[0]))
    return model.C * loss.sum() + b @ b / 2


@pytest.mark.parametrize("loss", [*NAMED])
def test_partial_fit_comes_near_the_fit_as_rows_stream_by(loss):
    X, y = sample(4000)
    stream = MarginClassifier(loss, C=0.01)
    for first in range(0, 4000, 500):
        rows = slice(first, first + 500)
        stream.partial_fit(X[rows], y[rows], classes=[-1, 1])
    whole = MarginClassifier(loss, C=0.01, max_iter=20).fit(X, y)
    if loss != "perceptron":  # of which any rule may be the last
        start = 0.01 * len(y)  # of the rule 0, whose margins are 0 and losses 1
        best = objective(whole, X, y)
        # 128 steps from zero take away most of the excess over the minimum.
        assert objective(stream, X, y) - best < 0.4 * (start - best)
    assert stream.score(X, y) > 0.65


@pytest.mark.parametrize("loss", ["logit", "hinge", "square"])
def test_one_large_cell_of_the_first_rows_does_not_shorten_all_steps(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(640, 4))
    y = X[:, 0] > 0
    X[0] = [40.0, 0.0, 0.0, 0.0]
    model = MarginClassifier(loss).partial_fit(X, y, classes=[False, True])
    # 20 steps of rows that a line separates: of a unit by the largest cell, 64, half are wrong.
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("weight", [0.5, 4.0])
def test_weights_of_a_stream_count_as_copies_against_the_penalty(penalty, weight):
    X, y = sample(640)
    kind = {"loss": "logit", "penalty": penalty, "eta0": 0.1}
    # Steps as long for the weighted rows as for others at as many times the C.
    heavy = MarginClassifier(**kind | {"eta0": 0.1 / weight}, C=0.01)
    light = MarginClassifier(**kind, C=0.01 * weight)
    for rows in (slice(0, 320), slice(320, 640)):
        heavy.partial_fit(X[rows], y[rows], [-1, 1], np.full(320, weight))
        light.partial_fit(X[rows], y[rows], [-1, 1])
    assert_allclose(heavy.coef_, light.coef_, rtol=SUMMED)
    for model, w in ((heavy, np.full(640, weight)), (light, np.ones(640))):
        model.fit(X, y, w).partial_fit(X, y, sample_weight=w)
    assert_allclose(heavy.coef_, light.coef_, rtol=1e-8)  # two ways to one minimum, and on from it


def test_the_perceptron_streams_without_a_penalty():
    X, y = sample(320)
    weak, strong = (
        MarginClassifier("perceptron", C=C).partial_fit(X, y, [-1, 1]) for C in (1e-3, 1e3)
    )
    assert_array_equal(weak.coef_, strong.coef_)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("loss", "no"), ("penalty", "l3"), ("C", -1.0), ("eta0", 0.0), ("t0", 0.0), ("power_t", -1)],
)
def test_a_bad_setting_is_named_and_leaves_no_rule(name, bad):
    X, y = sample(50)
    model = MarginClassifier(**{name: bad})
    with pytest.raises(ParameterError, match=f"{bad!r}" if name == "loss" else name):
        model.partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(NotFittedError):
        model.decision_function(X)


def test_probabilities_are_those_of_the_loss_that_was_fitted():
    X, y = sample(100)
    fitted = MarginClassifier("logit").fit(X, y)
    expected = fitted.predict_proba(X)
    assert_array_equal(fitted.set_params(loss="exponential").predict_proba(X), expected)
    for hinge in (MarginClassifier().fit(X, y), MarginClassifier().partial_fit(X, y, [-1, 1])):
        assert not hasattr(hinge.set_params(loss="logit"), "predict_proba")
    assert hasattr(hinge.partial_fit(X, y), "predict_proba")


def test_partial_fit_goes_on_from_a_fit_and_knows_its_classes():
    X, y = three_classes()
    model = MarginClassifier("logit").fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X[:10], y[:10])
    assert np.abs(model.coef_ - before).max() > 0
    assert list(model.classes_) == ["a", "b", "c"]
    with pytest.raises(DataError, match="'z'"):
        model.partial_fit(X[:2], ["a", "z"])
    with pytest.raises(ParameterError, match="first call"):
        model.partial_fit(X[:2], y[:2], classes=["a", "b"])
    with pytest.raises(ParameterError, match="first call"):
        MarginClassifier().partial_fit(X, y)
    with pytest.raises(ParameterError, match="balanced"):
        MarginClassifier(class_weight="balanced").partial_fit(X, y, classes=["a", "b", "c"])
    with pytest.warns(ConvergenceWarning, match="eta0"):
        MarginClassifier("exponential", eta0=1e6).partial_fit(X, y, classes=["a", "b", "c"])


def test_after_more_rows_the_minimum_of_the_fit_is_no_longer_reached():
    X, y = three_classes()
    model = MarginClassifier("logit").fit(X, y)
    assert model.converged_
    assert not model.partial_fit(X[:10], y[:10]).converged_


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("loss", [*NAMED, Logit()], ids=str)
def test_a_saved_rule_says_the_same_and_goes_on_learning(loss, penalty, tmp_path):
    X, y = three_classes()
    model = MarginClassifier(loss, penalty=penalty, class_weight={"a": 2.0}, max_iter=50)
    fitted = model.fit(X, y)
    again = load(save_to(tmp_path, fitted))
    assert_same(again, fitted)
    assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    for rows in (slice(0, 50), slice(50, 120)):  # as if it had never been away
        fitted.partial_fit(X[rows], y[rows])
        again = load(save_to(tmp_path, again.partial_fit(X[rows], y[rows])))
        assert_same(again, fitted)


class Own(MarginLoss):
    name = "own"

    def value(self, margin):
        return np.maximum(0, 1 - np.asarray(margin)) ** 3

    def derivative(self, margin):
        return -3 * np.maximum(0, 1 - np.asarray(margin)) ** 2


def test_a_loss_of_your_own_is_not_saved_and_the_message_says_so(tmp_path):
    X, y = sample(50)
    with pytest.raises(ParameterError, match=r"loss is a Own; a model file holds only Empirisk's"):
        save(MarginClassifier(Own()).fit(X, y), tmp_path / "own.empirisk")


def save_to(folder, model):
    save(model, folder / "rule.empirisk")
    return folder / "rule.empirisk"
