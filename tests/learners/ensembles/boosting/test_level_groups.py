"""Categories of more levels than bins: grouped anew for each tree, by what their rows ask for."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor, Tuned
from empirisk.learners.ensembles.boosting.level_groups import bins_of_levels
from tolerances import SUMMED

ROUNDS = 5


def sample(n_levels, per_level=20, seed=0):
    """A category with an effect of each level, some missing values, and a number."""
    rng = np.random.default_rng(seed)
    n, effect = n_levels * per_level, rng.normal(size=n_levels)
    level = rng.permutation(np.repeat(np.arange(n_levels), per_level))
    names = np.array([f"level {k:04d}" for k in range(n_levels)])
    X = pd.DataFrame(
        {"a": pd.Categorical(names[level], categories=names), "x": rng.normal(size=n).round(1)}
    )
    truth = effect[level] + X["x"].to_numpy()
    missing = rng.uniform(size=n) < 0.03
    X.loc[missing, "a"] = None
    truth[missing] -= effect[level[missing]]
    return X, truth, truth + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_bins_are_neighbours_in_the_order_of_the_steps(seed):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 300, size=9000)
    gradient, curvature = rng.normal(size=9000), rng.uniform(size=9000)
    bins = bins_of_levels(level, 400, gradient, curvature, None, 20)
    rows = np.array([(level == k).sum() for k in range(400)])
    assert (bins[rows < 10] == 19).all()  # few rows, or none
    step = np.array(
        [gradient[level == k].sum() / (curvature[level == k].sum() + 10) for k in range(400)]
    )
    own = np.flatnonzero(rows >= 10)
    assert (np.diff(bins[own[np.argsort(step[own])]].astype(int)) >= 0).all()
    counts = np.bincount(bins[own], rows[own])
    assert len(counts) == 19
    assert counts.min() > 0.5 * counts.mean()
    assert counts.max() < 2 * counts.mean()


def test_levels_that_fit_have_a_bin_each_and_those_without_rows_the_last():
    level = np.array([3, 3, 7, 5, 9])
    bins = bins_of_levels(level, 9, np.ones(5), None, None, 4)  # 9 is missing
    assert_array_equal(bins, [3, 3, 3, 0, 3, 1, 3, 2, 3])


def test_levels_of_equal_steps_share_a_bin():
    rng = np.random.default_rng(0)
    level = np.repeat(np.arange(100), 12)
    gradient = rng.choice([-0.3, 0.7], size=1200)
    bins = bins_of_levels(level, 100, gradient, None, None, 8)
    ones = (gradient.reshape(100, 12) > 0).sum(axis=1)
    assert len(np.unique(bins)) > 4
    for k in np.unique(ones):
        assert len(np.unique(bins[ones == k])) == 1


def test_thousands_of_levels_are_told_apart():
    X, truth, y = sample(2000)
    model = HistGradientBoostingRegressor(max_iter=150, early_stopping=False).fit(X, y)
    left = np.mean((model.predict(X) - truth) ** 2) / truth.var()
    # The mean of 20 rows with noise 0.25 has the error 0.0125, of a variance of about 2.
    assert left < 0.03


def test_the_first_cut_of_many_levels_is_nearly_the_best_of_their_order():
    X, _, y = sample(1000)
    stump = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0, early_stopping=False
    )
    found = np.mean((y - stump.fit(X[["a"]], y).predict(X[["a"]])) ** 2)
    codes, g = X["a"].cat.codes.to_numpy(), y - y.mean()
    sums, rows = np.bincount(codes + 1, g), np.bincount(codes + 1)
    order = np.argsort(sums / (rows + 10))
    G, n = np.cumsum(sums[order])[:-1], np.cumsum(rows[order])[:-1]
    gain = G**2 / n + G**2 / (len(y) - n)
    # A cut of 254 bins lies within half a bin, 1/500 of the rows, of the best.
    assert_allclose(y.var() - found, gain.max() / len(y), rtol=1e-3)


TARGETS = {
    "squared": (HistGradientBoostingRegressor, lambda y: y),
    "classes": (HistGradientBoostingClassifier, lambda y: np.digitize(y, [-1.0, 1.0])),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_a_row_of_weight_w_is_w_copies_of_it(kind):
    learner, of = TARGETS[kind]
    X, _, y = sample(300)
    target, weight = of(y), np.random.default_rng(1).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    model = learner(max_iter=ROUNDS).fit(X, target, sample_weight=weight)
    copied = learner(max_iter=ROUNDS).fit(X.iloc[rows], target[rows])
    assert_allclose(model._raw(X), copied._raw(X), rtol=0, atol=1e-12)  # sums in another order


@pytest.mark.parametrize("kind", TARGETS)
def test_folds_that_share_a_design_give_what_fits_of_each_give(kind):
    learner, of = TARGETS[kind]
    X, _, y = sample(300)
    target, folds = of(y), KFold(2)
    tuned = Tuned(learner(), values=[1, ROUNDS], cv=folds).fit(X, target)
    losses = np.zeros(2)
    for train, test in folds.split(X):
        model = learner(max_iter=ROUNDS).fit(X.iloc[train], target[train])
        staged = list(model.staged_predict(X.iloc[test]))
        for v, t in enumerate((1, ROUNDS)):
            error = staged[t - 1] - target[test]
            losses[v] += (error**2 if kind == "squared" else error != 0).sum() / len(y)
    assert_allclose(tuned.path_.risk, losses, rtol=1e-10)  # sums in another order


def test_held_out_rows_are_judged_by_the_groups_of_each_round():
    X, _, y = sample(300)
    model = HistGradientBoostingRegressor(max_iter=ROUNDS, early_stopping=True)
    model.fit(X, y, X_val=X[:500], y_val=y[:500])
    errors = [np.mean((p - y[:500]) ** 2) / 2 for p in model.staged_predict(X[:500])]
    assert_allclose(model.validation_score_[1:], -np.array(errors), rtol=SUMMED)
    own = HistGradientBoostingRegressor(
        max_iter=ROUNDS, early_stopping=True, validation_fraction=500, random_state=0
    ).fit(X, y)
    same = HistGradientBoostingRegressor(
        max_iter=ROUNDS, early_stopping=True, validation_fraction=500, random_state=0, scoring=score
    ).fit(X, y)
    assert_allclose(own.validation_score_, same.validation_score_, rtol=SUMMED)


def score(model, X, y):
    """Minus half the mean squared error, of predictions from the table itself."""
    return -np.mean((model.predict(X.copy()) - y) ** 2) / 2


def test_levels_that_training_did_not_have_go_where_missing_values_go():
    X, _, y = sample(300)
    model = HistGradientBoostingRegressor(max_iter=ROUNDS).fit(X, y)
    new = pd.DataFrame({"a": ["never seen", None], "x": [0.3, 0.3]})
    assert len(set(model.predict(new))) == 1


@pytest.mark.parametrize("monotone", [None, [0, 1]], ids=["free", "bounded"])
def test_two_levels_are_told_apart(monotone):
    level = np.arange(100) % 2
    X = np.column_stack([level, np.zeros(100)])
    model = HistGradientBoostingRegressor(
        max_iter=1, learning_rate=1.0, categorical_features=[0], monotonic_cst=monotone
    ).fit(X, level)
    assert_allclose(model.predict(X), level, rtol=0, atol=SUMMED)
