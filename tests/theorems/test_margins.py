"""Statements of the notes on linear classifiers by margin losses."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from empirisk.compiled.perceptron import perceptron_pass
from empirisk.learners.linear.margin_classifier import MarginClassifier
from empirisk.losses import as_margin_loss
from empirisk.losses.margin import NAMED
from tolerances import SUMMED


def separable(seed, n=60, p=4, margin=0.05):
    """Rows on both sides of a plane through the origin, none nearer to it than the margin."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=p)
    normal /= np.linalg.norm(normal)
    X = rng.normal(size=(4 * n, p))
    X = X[np.abs(X @ normal) > margin][:n]
    return X, np.sign(X @ normal), normal


@pytest.mark.parametrize("seed", range(5))
def test_the_perceptron_stops_on_separable_rows_after_novikoffs_number_of_mistakes(seed):
    X, y, normal = separable(seed)
    bound = np.max(np.sum(X**2, axis=1)) / np.min(y * (X @ normal)) ** 2
    b, order, mistakes = np.zeros(5), np.arange(len(y)), 0.0
    for _ in range(int(bound) + 1):
        made = perceptron_pass(X, y, np.ones(len(y)), order, 0.0, b)
        mistakes += made
        if made == 0:
            break
    assert made == 0
    assert mistakes <= bound
    assert (y * (X @ b[:4]) > 0).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_perceptron_separates_what_can_be_separated(seed, fit_intercept):
    X, y, normal = separable(seed)
    X = X + 3 * normal if fit_intercept else X
    model = MarginClassifier("perceptron", fit_intercept=fit_intercept, max_iter=10**5).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0


def test_the_perceptron_makes_no_end_where_no_plane_separates():
    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    model = MarginClassifier("perceptron", max_iter=50).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 50


def test_the_perceptron_risk_is_least_at_zero():
    X, y, _ = separable(0)
    loss = as_margin_loss("perceptron")
    assert loss.risk(y, np.zeros(len(y))) == 0
    for b in np.random.default_rng(1).normal(size=(20, 4)):
        assert loss.risk(y, X @ b) >= 0


def overlapping(n=300):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 2))
    return X, np.where(rng.random(n) < expit(X @ [1.0, -2.0] + 0.5), 1, -1)


def test_the_least_logit_risk_is_maximum_likelihood():
    X, y = overlapping()
    model = MarginClassifier("logit", C=1e9).fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))])
    b = np.append(model.coef_, model.intercept_)

    def log_likelihood(b):
        return np.sum(np.log(expit(y * (Z @ b))))

    # The score equations; what is left is the penalty 1e-9 |b| and rounding of 300 terms.
    assert_allclose(Z.T @ ((y > 0) - expit(Z @ b)), 0.0, rtol=0, atol=1e-07)
    assert_allclose(
        as_margin_loss("logit").risk(y, Z @ b), -log_likelihood(b) / 300 / np.log(2), rtol=1e-12
    )
    for shift in np.random.default_rng(3).normal(size=(20, 3)):
        assert log_likelihood(b + 0.01 * shift) < log_likelihood(b)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logit", "exponential"])
def test_the_risk_of_c_times_b_falls_to_zero_if_b_separates(loss):
    X, y, normal = separable(0)
    risks = [as_margin_loss(loss).risk(y, X @ (c * normal)) for c in (1.0, 10.0, 100.0, 1000.0)]
    assert all(later <= earlier for earlier, later in pairwise(risks))
    assert risks[-1] < 1e-12  # the least margin is 50


def test_support_vectors_alone_decide():
    X, y = overlapping()
    model = MarginClassifier("hinge", C=0.5).fit(X, y)
    margin = y * model.decision_function(X)
    kept = margin <= 1 + 1e-9
    assert 0 < kept.sum() < len(y)
    again = MarginClassifier("hinge", C=0.5).fit(X[kept], y[kept])
    assert_allclose(again.coef_, model.coef_, rtol=1e-9)  # both are exact


def test_no_plane_has_a_wider_margin_than_the_support_vector_machine():
    X, y, normal = separable(3)
    model = MarginClassifier("hinge", C=1e6, fit_intercept=False).fit(X, y)
    width = np.min(y * (X @ model.coef_[0])) / np.linalg.norm(model.coef_)
    # At the optimum the least margin is 1: the width is 1 / |b|.
    assert_allclose(width, 1 / np.linalg.norm(model.coef_), rtol=1e-8)
    assert width >= np.min(y * (X @ normal))
    rng = np.random.default_rng(4)
    for other in model.coef_[0] + 0.1 * np.linalg.norm(model.coef_) * rng.normal(size=(50, 4)):
        assert np.min(y * (X @ other)) / np.linalg.norm(other) < width


@pytest.mark.parametrize("loss", [name for name, kind in NAMED.items() if kind.has_probability])
def test_a_constant_score_tells_the_share_of_the_class(loss):
    # The intercept alone minimises the risk at the minimiser of eta, and its inverse gives eta.
    y = np.repeat([-1, 1], [30, 70])
    model = MarginClassifier(loss).fit(np.zeros((100, 1)), y)
    assert_allclose(model.predict_proba([[0.0]]), [[0.3, 0.7]], rtol=SUMMED)
