"""At defaults the objective is never above that of scikit-learn at its defaults."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.special import logsumexp

from empirisk import LogisticRegression


def draw(seed, n, p, n_classes, scale=1.0, sharpness=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * scale + rng.normal(size=p) * scale
    B = rng.normal(size=(p, n_classes)) / np.broadcast_to(scale, p)[:, None] / np.sqrt(p)
    y = (sharpness * (X - X.mean(axis=0)) @ B + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y, np.ones(n)


def weighted(n_classes):
    X, y, _ = draw(3, 150, 4, n_classes)
    return X, y, np.random.default_rng(4).exponential(size=150) ** 3


def rare():
    X, y, weight = draw(5, 400, 3, 2)
    y[:] = 0
    y[:3] = 1
    return X, y, weight


def copies():
    X, y, _ = draw(6, 30, 3, 3)
    return np.repeat(X, 7, axis=0), np.repeat(y, 7), np.ones(210)


def dependent():
    X, y, weight = draw(7, 120, 4, 2)
    return np.column_stack([X, X[:, 0] + X[:, 1], np.ones(120)]), y, weight


DATA = {
    "two classes": draw(0, 200, 5, 2),
    "five classes": draw(1, 300, 4, 5),
    "columns from 1e-3 to 1e5": draw(2, 200, 9, 2, np.logspace(-3, 5, 9)),
    "three classes, columns from 1e-3 to 1e5": draw(2, 200, 5, 3, np.logspace(-3, 5, 5)),
    "weights, two classes": weighted(2),
    "weights, four classes": weighted(4),
    "more columns than rows": draw(8, 30, 100, 2),
    "more columns than rows, three classes": draw(9, 30, 60, 3),
    "a rare class": rare(),
    "copies of rows": copies(),
    "dependent columns": dependent(),
    "all but separated": draw(10, 100, 2, 2, sharpness=50.0),
    "many columns": draw(11, 900, 320, 2),  # L-BFGS goes first
    "many columns, three classes": draw(12, 900, 110, 3),
}
STRENGTHS = (1e-4, 1e-2, 1.0, 100.0, 1e6)


def objective(model, X, y, weight, C, l1_ratio):
    """Written out, from the coefficients as they are given."""
    scores = X @ model.coef_.T + model.intercept_
    if len(model.classes_) == 2:
        scores = np.column_stack([np.zeros(len(y)), scores])
    loss = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    b = model.coef_
    penalty = (1 - l1_ratio) / 2 * (b**2).sum() + l1_ratio * np.abs(b).sum()
    return weight @ loss + penalty / C


def peers_of(l1_ratio, n_classes):
    if l1_ratio == 0:
        return [{}, {"solver": "newton-cholesky"}]
    saga = {"solver": "saga", "l1_ratio": l1_ratio}
    return [saga, {"solver": "liblinear", "l1_ratio": 1}] if l1_ratio == n_classes - 1 else [saga]


@pytest.mark.parametrize("l1_ratio", [0, 0.5, 1])
@pytest.mark.parametrize("name", DATA)
def test_never_above_scikit_learn(name, l1_ratio):
    X, y, weight = DATA[name]
    for C in STRENGTHS:
        ours = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, y, sample_weight=weight)
        found = objective(ours, X, y, weight, C, l1_ratio)
        for parameters in peers_of(l1_ratio, int(y.max()) + 1):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it did not converge, which is the point
                peer = peers.LogisticRegression(C=C, **parameters).fit(X, y, sample_weight=weight)
            theirs = objective(peer, X, y, weight, C, l1_ratio)
            # Sums of up to 900 terms; intercepts of columns of size 1e5 lose five more digits.
            assert found <= theirs * (1 + 1e-11), (C, parameters)
