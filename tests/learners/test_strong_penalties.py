"""Intervals of logistic rules that a penalty keeps far from the minimum of their loss."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from empirisk import LogisticRegression, Tuned, risk
from empirisk.learners.linear.logistic_path import SHRUNKEN, TOO_STRONG


def sample(n=300, p=5, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    scores = X @ rng.normal(size=(p, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def best_stretch(model, X, y):
    """By which factor the coefficients had to be longer to fit the training rows best."""
    slope = np.vstack([np.zeros_like(model.coef_), model.coef_])[-len(model.classes_) :]
    level = np.append(np.zeros(1), model.intercept_)[-len(model.classes_) :]
    level = level + slope @ X.mean(axis=0)
    scores = (X - X.mean(axis=0)) @ slope.T

    def loss(log_factor):
        stretched = np.exp(log_factor) * scores + level
        return (logsumexp(stretched, axis=1) - stretched[np.arange(len(y)), y]).sum()

    return np.exp(minimize_scalar(loss, bounds=(-2, 8), method="bounded").x)


@pytest.mark.parametrize("loss", ["log", "zero_one"])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_they_are_doubted_where_longer_coefficients_would_fit_the_rows_better(
    n_classes, l1_ratio, loss
):
    X, y = sample(n_classes=n_classes)
    limit = SHRUNKEN["probability" if loss == "log" else "value"]
    doubted = []
    for C in np.geomspace(0.002, 5, 12):
        learner = LogisticRegression(C=C, l1_ratio=l1_ratio)
        stretch = best_stretch(learner.fit(X, y), X, y)
        found = risk.cross_validate(learner, X, y, loss=loss, random_state=0)
        if learner.coef_.any():
            doubted.append(TOO_STRONG in found.cautions)
            assert doubted[-1] == (stretch > limit)
    assert doubted[0]
    assert not doubted[-1]


def test_a_rule_without_coefficients_is_the_constant_one_and_not_doubted():
    X, y = sample()
    learner = LogisticRegression(C=1e-6, l1_ratio=1.0)
    assert not learner.fit(X, y).coef_.any()
    assert TOO_STRONG not in risk.cross_validate(learner, X, y, random_state=0).cautions


def test_the_penalty_that_is_best_for_the_log_loss_is_not_doubted():
    X, y = sample()
    tuned = Tuned(LogisticRegression(), loss="log", random_state=0).fit(X, y)
    assert TOO_STRONG not in tuned.risk_.cautions
