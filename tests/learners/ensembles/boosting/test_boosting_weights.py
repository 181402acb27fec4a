"""Weights of rows and classes in histogram gradient boosting."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from boosted_rows import SMALL, sample
from empirisk import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from tolerances import SOLVED, SUMMED


def test_weights_of_classes_are_weights_of_rows():
    X, score = sample()
    y = np.where(score > 1, "ill", "well")
    weight = np.where(y == "ill", 3.0, 1.0)
    by_class = HistGradientBoostingClassifier(class_weight={"ill": 3}, max_iter=4, **SMALL)
    plain = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=1, max_leaf_nodes=6)
    by_class.set_params(min_samples_leaf=1)
    assert_allclose(
        by_class.fit(X, y).predict_proba(X),
        plain.fit(X, y, sample_weight=weight).predict_proba(X),
        rtol=SUMMED,
    )
    balanced = clone(by_class).set_params(class_weight="balanced").fit(X, y)
    share = balanced._baseline_prediction
    assert_allclose(share, 0, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e200])
def test_weights_of_any_scale_are_the_same_weights(scale):
    """Also with a penalty and a least gain, if these are given on the same scale."""
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    how = {"max_iter": 3, "l2_regularization": 2.0, "min_gain_to_split": 1.0, **SMALL}
    one = HistGradientBoostingRegressor(**how).fit(X, y, sample_weight=weight)
    other = HistGradientBoostingRegressor(**how).set_params(
        l2_regularization=2.0 * scale, min_gain_to_split=scale
    )
    other.fit(X, y, sample_weight=scale * weight)
    assert_allclose(other.predict(X), one.predict(X), rtol=1e-10)  # products are rounded


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_whole_weights_may_be_as_large_as_counts_can_be(loss):
    X, y = sample(n=600)
    X, y = X.round(1), np.exp(y)
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    # With one row to a leaf it does not matter how many copies a row stands for.
    how = {"min_samples_leaf": 1, "max_leaf_nodes": 6, "max_iter": 5}
    model = HistGradientBoostingRegressor(loss, **how).fit(X, y, sample_weight=weight)
    large = HistGradientBoostingRegressor(loss, **how).fit(X, y, sample_weight=weight * 10**12)
    assert_allclose(large.predict(X), model.predict(X), rtol=1e-10)  # sums of larger numbers


@pytest.mark.parametrize("kind", ["classes", "quantile", "counts", "zeros and ones"])
def test_weights_are_copies_also_where_many_splits_are_worth_the_same(kind):
    """Few values of X and y, and so equal gains: the first counts, whatever sums were rounded."""
    small = {"max_iter": 3, "min_samples_leaf": 3}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.round(2 * rng.normal(size=(60, 4))) / 2
        score = X[:, 0] + X[:, 1] + rng.normal(size=60)
        weight = rng.integers(0, 4, size=60)
        rows = np.repeat(np.arange(60), weight)
        learner, y = {
            "classes": (HistGradientBoostingClassifier(**small), (score > 0).astype(int)),
            "quantile": (HistGradientBoostingRegressor("quantile", quantile=0.8, **small), score),
            "counts": (
                HistGradientBoostingRegressor("poisson", **small),
                np.floor(np.exp(score / 2)),
            ),
            "zeros and ones": (HistGradientBoostingRegressor(**small), (score > 0).astype(float)),
        }[kind]
        copied = clone(learner).fit(X[rows], y[rows])
        weighted = learner.fit(X, y, sample_weight=weight)
        assert_allclose(weighted._raw(X), copied._raw(X), rtol=SOLVED, atol=SUMMED)


def test_weights_are_copies_where_a_monotone_step_has_an_interval_of_best_factors():
    """The slope of the loss along the tree is 0 there but for rounding, which copies change."""
    rng = np.random.default_rng(148)
    n = int(rng.integers(20, 120))
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + rng.normal(size=n)
    weight = rng.integers(0, 3, size=n)
    copies = np.repeat(np.arange(n), weight)
    model = HistGradientBoostingRegressor(
        "quantile", quantile=0.3, max_iter=5, min_samples_leaf=5, monotonic_cst=[1, 0, 0]
    )
    weighted = clone(model).fit(X, y, sample_weight=weight.astype(float))
    copied = clone(model).fit(X[copies], y[copies])
    assert_allclose(weighted.predict(X), copied.predict(X), rtol=SOLVED)


@pytest.mark.parametrize("power", [0, 50, 110, -110])
@pytest.mark.parametrize(
    ("loss", "gain", "penalty"),
    [
        ("squared_error", 2, 0),
        ("huber", 2, 0),
        ("absolute_error", 0, 0),
        ("poisson", 1, 1),
        ("gamma", 0, 0),
    ],
)
def test_the_least_gain_of_a_split_goes_with_the_unit_of_the_target(loss, gain, penalty, power):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.exp(X[:, 0] + 0.3 * rng.normal(size=200))
    how = {"max_iter": 5, **SMALL}

    def fitted(y, unit):
        least, l2 = 8.0 * unit**gain, 3.0 * unit**penalty
        model = HistGradientBoostingRegressor(
            loss, min_gain_to_split=least, l2_regularization=l2, **how
        )
        return model.fit(X, y)

    one, many = fitted(y, 1.0), fitted(y * 2.0**power, 2.0**power)
    free = HistGradientBoostingRegressor(loss, l2_regularization=3.0, **how).fit(X, y)
    assert not np.array_equal(free.predict(X), one.predict(X))  # so it makes a difference
    # The logarithm of the unit is added to scores, and the exponential taken.
    assert_allclose(many.predict(X) / 2.0**power, one.predict(X), rtol=SUMMED)
