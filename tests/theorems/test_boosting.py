"""Statements of the notes on AdaBoost (B9.3.2, Algorithm 6), with the factor 1/2 put right.

Classes are y = -1, +1. With a_t = log((1 - e_t) / e_t), the weights of members, b_t = a_t / 2 are
the steps of forward stagewise additive modelling with the exponential loss: f = sum_t b_t h_t.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.dummy import DummyClassifier

from empirisk import AdaBoostClassifier, DecisionTreeClassifier
from tolerances import SUMMED

T = 12


def rows(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.8, 1, -1)


def boosted(criterion="misclassification", K=2):
    """A fit, what its members say (T, n), and the rows."""
    X, y = rows()
    if K > 2:
        y = np.digitize(X[:, 0] + 0.4 * np.random.default_rng(1).normal(size=len(X)), [-0.5, 0.5])
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, criterion=criterion))
    model.set_params(n_estimators=T).fit(X, y)
    return model, np.array([member.predict(X) for member in model]), X, y


def all_stumps(X):
    """What every split by a number says, and the constants: (stumps, n)."""
    n, p = X.shape
    sides = [np.where(X[:, j] <= s, 1, -1) for j in range(p) for s in X[:, j]]
    return np.vstack([sides, np.negative(sides), np.ones((1, n)), -np.ones((1, n))])


def test_each_member_has_the_least_weighted_error_of_all_stumps():
    model, h, X, y = boosted()
    stumps, f = all_stumps(X), np.zeros(len(y))
    for t in range(T):
        w = np.exp(-y * f)
        w /= w.sum()
        # Sums of 80 terms, of weights that went through up to 12 rounds.
        assert_allclose(model.estimator_errors_[t], ((stumps != y) @ w).min(), rtol=1e-9)
        f = f + 0.5 * model.estimator_weights_[t] * h[t]


def test_each_weight_is_twice_the_step_that_minimises_the_exponential_loss():
    model, h, _, y = boosted("gini")
    f = np.zeros(len(y))
    for t in range(T):
        best = minimize_scalar(lambda b, t=t, f=f: np.exp(-y * (f + b * h[t])).sum())
        # The minimum of a function is found to the root of its precision.
        assert_allclose(0.5 * model.estimator_weights_[t], best.x, rtol=1e-6)
        f = f + best.x * h[t]


def test_member_and_step_minimise_the_exponential_loss_together():
    # The best step of a stump of error e leaves 2 sqrt(e (1 - e)) of the loss: less for less error.
    model, h, X, y = boosted()
    stumps, f = all_stumps(X), np.zeros(len(y))
    for t in range(T):
        loss = np.exp(-y * f)
        e = (stumps != y) @ loss / loss.sum()
        reached = np.exp(-y * (f + 0.5 * model.estimator_weights_[t] * h[t])).sum()
        assert_allclose(reached, (2 * np.sqrt(e * (1 - e))).min() * loss.sum(), rtol=SUMMED)
        f = f + 0.5 * model.estimator_weights_[t] * h[t]


@pytest.mark.parametrize("K", [2, 3])
def test_after_the_update_the_last_member_is_no_better_than_a_guess(K):
    # Of two classes: its weighted error is exactly 1/2.
    model, h, _, y = boosted("gini", K)
    w = np.full(len(y), 1 / len(y))
    for t, (weight, error) in enumerate(
        zip(model.estimator_weights_, model.estimator_errors_, strict=True)
    ):
        wrong = h[t] != y
        assert_allclose(w[wrong].sum(), error, rtol=SUMMED)
        w = w * np.exp(weight * wrong)
        w /= w.sum()
        assert_allclose(w[wrong].sum(), 1 - 1 / K, rtol=SUMMED)


def test_both_ways_to_write_the_factor_give_the_same_weights():
    # exp(-y b h) with b = 1/2 log((1 - e) / e), or exp(a 1[y != h]) with a = log((1 - e) / e).
    model, h, _, y = boosted("gini")
    by_sign, by_mistake = np.ones((2, len(y)))
    for t, a in enumerate(model.estimator_weights_):
        by_sign = by_sign * np.exp(-y * a / 2 * h[t])
        by_mistake = by_mistake * np.exp(a * (h[t] != y))
        assert_allclose(by_sign / by_sign.sum(), by_mistake / by_mistake.sum(), rtol=SUMMED)


def test_the_algorithm_as_printed_overshoots():
    # b = log((1 - e) / e) with exp(-y b h): the last member would be wrong more often than not,
    # (1 - e) of the time. At e = 0.3: b = 0.42365 is right, 0.84730 is not.
    e = 0.3
    right, printed = 0.5 * np.log((1 - e) / e), np.log((1 - e) / e)
    assert_allclose([right, printed], [0.42365, 0.84730], rtol=0, atol=5e-6)  # five digits
    for b, after in ((right, 0.5), (printed, 1 - e)):
        wrong, correct = e * np.exp(b), (1 - e) * np.exp(-b)
        assert_allclose(wrong / (wrong + correct), after, rtol=SUMMED)


@pytest.mark.parametrize("criterion", ["gini", "misclassification"])
def test_the_training_error_is_below_the_mean_exponential_loss_which_is_a_product(criterion):
    model, h, X, y = boosted(criterion)
    e, f = model.estimator_errors_, np.zeros(len(y))
    for t, score in enumerate(model.staged_score(X, y)):
        f = f + 0.5 * model.estimator_weights_[t] * h[t]
        bound = np.prod(2 * np.sqrt(e[: t + 1] * (1 - e[: t + 1])))
        assert_allclose(np.exp(-y * f).mean(), bound, rtol=SUMMED)
        assert 1 - score <= bound
        assert bound <= np.exp(-2 * ((0.5 - e[: t + 1]) ** 2).sum())  # by the edges 1/2 - e


@pytest.mark.parametrize("theta", [0.0, 0.05, 0.2])
def test_few_rows_have_a_small_margin(theta):
    # Schapire, Freund, Bartlett & Lee (1998), Theorem 5.
    model, _, X, y = boosted("gini")
    e = model.estimator_errors_
    for t in range(1, T + 1):
        bound = np.prod(2 * np.sqrt(e[:t] ** (1 - theta) * (1 - e[:t]) ** (1 + theta)))
        assert (model.margins(X, y, n_estimators=t) <= theta).mean() <= bound


def test_the_multi_class_form_minimises_the_multi_class_exponential_loss():
    # Zhu et al. (2009): y and g(x) coded as 1 for their class and -1 / (K - 1) for the others, the
    # loss exp(-y'f / K), the best step (K - 1)^2 / K times the weight of the member.
    K = 3
    model, h, _, y = boosted("gini", K)
    coded = np.where(np.eye(K) == 1, 1.0, -1 / (K - 1))
    f = np.zeros((len(y), K))
    for t, weight in enumerate(model.estimator_weights_):
        g = coded[h[t]]
        best = minimize_scalar(
            lambda b, f=f, g=g: np.exp(-(coded[y] * (f + b * g)).sum(axis=1) / K).sum()
        )
        assert_allclose((K - 1) ** 2 / K * weight, best.x, rtol=1e-6)  # as above
        f = f + best.x * g


def test_the_rounds_end_at_no_error():
    X, y = rows()
    assert len(AdaBoostClassifier(n_estimators=T).fit(X, np.sign(X[:, 1]))) == 1
    model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=T).fit(X, y)
    assert model.estimator_errors_.tolist() == [0.0]


@pytest.mark.parametrize("K", [2, 3])
def test_the_rounds_end_where_a_member_is_no_better_than_a_guess(K):
    # A learner that says the same whatever the weights is a guess in the second round.
    X, y = np.zeros((7, 1)), np.array([0] * 4 + [1] * 2 + [K - 1])
    always = DummyClassifier(strategy="constant", constant=0)
    model = AdaBoostClassifier(always, n_estimators=T).fit(X, y)
    assert_allclose(model.estimator_errors_, [3 / 7], rtol=SUMMED)
    with pytest.raises(ValueError, match="no better than a guess"):
        AdaBoostClassifier(always).fit(X, (y + 1) % K)
