"""B7.5 of the lecture notes: nearest neighbours.

The nearest neighbour of a training row is the row itself; its risk is, with many rows, at most
twice the Bayes risk (Cover & Hart 1967); with k = n everybody is a neighbour.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import KNeighborsClassifier, KNeighborsRegressor, risk
from tolerances import LAST_BITS, SUMMED

WAYS = [
    {},
    {"algorithm": "kd_tree"},
    {"p": 1},
    {"metric": "chebyshev"},
    {"standardize": True},
    {"metric": "mahalanobis"},
    {"metric": "learned"},
    {"metric": "gower"},
    {"weights": "distance"},
]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_the_training_error_of_one_neighbour_is_zero(how):
    rng = np.random.default_rng(0)
    X, y = 1e3 + rng.normal(size=(400, 4)), rng.integers(0, 3, 400)  # nothing to learn
    assert (KNeighborsClassifier(1, **how).fit(X, y).predict(X) == y).all()
    target = rng.normal(size=400)
    assert_array_equal(KNeighborsRegressor(1, **how).fit(X, target).predict(X), target)


@pytest.mark.parametrize("how", WAYS[:-1], ids=str)
def test_with_k_equal_to_n_the_majority_decides(how):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.choice(3, size=90, p=[0.2, 0.5, 0.3])
    shares = np.bincount(y) / 90
    model = KNeighborsClassifier(90, **how).fit(X, y)
    assert_allclose(model.predict_proba(X), np.tile(shares, (90, 1)), rtol=LAST_BITS)
    assert (model.predict(X) == shares.argmax()).all()
    mean = KNeighborsRegressor(90, **how).fit(X, y).predict(X)
    assert_allclose(mean, y.mean(), rtol=1e-13)  # a sum of 90 terms in another order


@pytest.mark.parametrize("steep", [0.5, 2.0, 8.0])
def test_the_risk_of_one_neighbour_is_at_most_twice_the_bayes_risk(steep):
    """x uniform on (0, 1), P(y = 1 | x) = 1 / (1 + exp(-steep (2x - 1))).

    With n = 4000 rows the nearest is some 1e-4 away, and the risk is E 2 p (1 - p), its limit, but
    for less than 1e-3. The mean of 200,000 draws is within four standard errors, 4 / sqrt(4 m), but
    for a chance of 6e-5.
    """
    rng = np.random.default_rng(int(10 * steep))
    n, m = 4000, 200_000

    def draw(size):
        x = rng.random(size)
        p = 1 / (1 + np.exp(-steep * (2 * x - 1)))
        return x[:, None], (rng.random(size) < p).astype(int), p

    errors = []
    for _ in range(10):  # the risk of one training set varies by 1 / sqrt(n)
        X, y, _ = draw(n)
        points, truth, p = draw(m // 10)
        errors.append(np.mean(KNeighborsClassifier(1).fit(X, y).predict(points) != truth))
    p = draw(m)[2]
    bayes, limit = np.minimum(p, 1 - p).mean(), (2 * p * (1 - p)).mean()
    # Ten training sets of 4000 rows add an error of at most 1 / sqrt(4 * 40000) to that of draws.
    room = 4 * np.sqrt(1 / (4 * m) + 1 / (4 * 10 * n)) + 1e-3
    assert abs(np.mean(errors) - limit) < room
    assert limit <= 2 * bayes * (1 - bayes)
    assert bayes - room < np.mean(errors) < 2 * bayes + room


def test_more_neighbours_are_a_simpler_rule():
    """The variance falls and the bias grows with k (A1.4, on fixed rows, without simulation)."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.random(200))[:, None]
    H = [KNeighborsRegressor(k).fit(X, np.zeros(200)).conditional_weights(X) for k in (1, 5, 50)]
    variance = [float((h.multiply(h)).sum()) / 200 for h in H]
    truth = np.sin(8 * X[:, 0])
    bias = [float(((h @ truth - truth) ** 2).mean()) for h in H]
    assert_allclose(variance, [1, 1 / 5, 1 / 50], rtol=SUMMED)
    assert bias[0] == 0 < bias[1] < bias[2]


def test_neighbours_are_a_linear_smoother_whose_hat_matrix_has_trace_n_over_k():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = KNeighborsRegressor(4)
    H = risk.hat_matrix(model, X)
    assert np.trace(H) == pytest.approx(40 / 4, rel=SUMMED)
    assert_allclose(
        H, model.fit(X, np.zeros(40)).conditional_weights(X).toarray(), rtol=0, atol=LAST_BITS
    )
