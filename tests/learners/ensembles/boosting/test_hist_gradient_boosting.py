"""Histogram gradient boosting: trees of the twin, laws of boosting, and scikit-learn's answers."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.base import clone

import boosting_twins as twins
from boosted_rows import SMALL, sample
from empirisk import (
    DecisionTreeRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from empirisk.learners.ensembles.boosting import boosted_trees
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.classification_losses import (
    BinaryLogLoss,
    MultinomialLogLoss,
)
from empirisk.learners.ensembles.boosting.room import Limits
from empirisk.learners.ensembles.boosting.rounds import Rounds, TrainingRows
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SOLVED, SUMMED


def squared(**how):
    return {
        "gradient": lambda y, f: f - y,
        "curvature": lambda y, f: np.ones(len(y)),
        **how,
    }


def logistic(**how):
    return {
        "gradient": lambda y, f: expit(f) - y,
        "curvature": lambda y, f: expit(f) * expit(-f),
        **how,
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["numbers", "missing", "category"])
def test_squared_error_grows_the_trees_of_the_twin(seed, kind):
    X, y = sample(seed=seed, missing=kind != "numbers", category=kind == "category")
    categories = [1] if kind == "category" else []
    model = HistGradientBoostingRegressor(max_iter=6, categorical_features=categories, **SMALL).fit(
        X, y
    )
    staged, _ = twins.boost(X, y, y.mean(), **squared(), rounds=6, categories=categories, **SMALL)
    # The same sums in another order, 6 rounds of them.
    assert_allclose(list(model.staged_predict(X)), staged, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [False, True])
def test_log_loss_grows_the_trees_of_the_twin(seed, missing):
    X, score = sample(seed=seed, missing=missing)
    y = (score > np.median(score)).astype(int)
    how = {**SMALL, "max_depth": 3}
    model = HistGradientBoostingClassifier(max_iter=5, l2_regularization=0.5, **how).fit(X, y)
    share = y.mean()
    start = np.log(share / (1 - share))
    staged, _ = twins.boost(X, y, start, **logistic(), rounds=5, l2=0.5, **how)
    found = list(model.staged_decision_function(X))
    assert_allclose(found, staged, rtol=1e-10, atol=1e-12)  # as above


@pytest.mark.parametrize("category", [False, True], ids=["numbers", "category"])
@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
def test_new_rows_go_the_ways_of_the_twin(category, seen):
    """Also levels that a node does not have, and missing values that training did not have."""
    X, y = sample(missing=seen, category=category)
    new, _ = sample(seed=9, n=300, missing=True, category=category)
    categories = [1] if category else []
    how = {"max_leaf_nodes": 12, "min_samples_leaf": 4}
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features=categories, **how)
    model.fit(X, y)
    how["categories"] = categories
    _, trees = twins.boost(X, y, y.mean(), **squared(), rounds=2, **how)
    wanted = y.mean() + 0.1 * sum(tree.predict(new) for tree in trees)
    assert_allclose(model.predict(new), wanted, rtol=SUMMED, atol=SUMMED)


def test_a_split_gains_more_than_the_least_gain():
    X, y = sample()
    model = HistGradientBoostingRegressor(max_iter=3, min_gain_to_split=30.0, **SMALL).fit(X, y)
    staged, trees = twins.boost(X, y, y.mean(), **squared(), rounds=3, min_gain=30.0, **SMALL)
    assert_allclose(model.predict(X), staged[-1], rtol=SUMMED, atol=SUMMED)
    assert max(len(tree.leaves()) for tree in trees) < SMALL["max_leaf_nodes"]


@pytest.mark.parametrize("seed", range(3))
def test_one_full_step_of_squared_error_is_a_regression_tree(seed):
    X, y = sample(seed=seed, missing=seed > 0)
    model = HistGradientBoostingRegressor(
        learning_rate=1.0, max_iter=1, max_leaf_nodes=8, min_samples_leaf=5
    ).fit(X, y)
    tree = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=5).fit(X, y)
    assert_allclose(model.predict(X), tree.predict(X), rtol=1e-10, atol=1e-12)  # means of leaves


def test_each_round_of_squared_error_fits_the_residuals():
    X, y = sample()
    how = {"max_leaf_nodes": 8, "min_samples_leaf": 5}
    model = HistGradientBoostingRegressor(max_iter=3, learning_rate=0.3, **how).fit(X, y)
    fit = np.full(len(y), y.mean())
    for staged in model.staged_predict(X):
        fit = fit + 0.3 * DecisionTreeRegressor(**how).fit(X, y - fit).predict(X)
        assert_allclose(staged, fit, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma", "log_loss"]
)
def test_the_training_loss_falls_in_every_round(loss):
    X, score = sample()
    y = score if loss in ("squared_error", "absolute_error", "quantile") else np.exp(0.5 * score)
    learner = HistGradientBoostingRegressor(loss, quantile=0.8)
    if loss == "log_loss":
        y = np.digitize(score, [0.5, 1.5])
        learner = HistGradientBoostingClassifier()
    learner.set_params(max_iter=30, validation_fraction=None, early_stopping=True, tol=0.0, **SMALL)
    model = learner.fit(X, y)
    assert model.n_iter_ == 30
    scores = model.train_score_
    assert len(scores) == 31
    assert (np.diff(scores) > -1e-13 * np.abs(scores[1:])).all()  # rounding of a mean
    assert scores[-1] > scores[0] + 0.05


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "huber", "poisson", "gamma"])
def test_values_of_leaves_are_those_of_their_rows(loss):
    """One round, all rows in few leaves: what a leaf says is known by hand."""
    X, score = sample()
    y = np.exp(0.5 * score)
    learner = HistGradientBoostingRegressor(
        loss, quantile=0.7, learning_rate=1.0, max_iter=1, max_leaf_nodes=4
    )
    model = learner.fit(X, y)
    fitted, start = model.predict(X), model._baseline_prediction[0, 0]
    for value in np.unique(fitted):
        rows = np.flatnonzero(fitted == value)
        wanted = {
            "absolute_error": lambda r: np.median(y[r]),
            "quantile": lambda r: np.quantile(y[r], 0.7, method="averaged_inverted_cdf"),
            "huber": lambda r: _huber(y[r], y, start),
            "poisson": lambda r: _poisson(y[r], y.mean()),
            "gamma": lambda r: y[r].mean(),
        }[loss](rows)
        assert_allclose(value, wanted, rtol=SUMMED)


def _poisson(y, mean):
    """Newton's step where it falls short of the mean of the leaf, else the mean."""
    ratio = y.mean() / mean
    return mean * (ratio if ratio > 1 else np.exp(ratio - 1))


def _huber(y, everything, start):
    delta = np.quantile(np.abs(everything - start), 0.9, method="averaged_inverted_cdf")
    apart = y - np.median(y)
    return np.median(y) + np.clip(apart, -delta, delta).mean()


def test_many_classes_have_a_tree_each_to_the_same_probabilities():
    X, score = sample(n=150)
    y = np.digitize(score, [0.5, 1.5])
    model = HistGradientBoostingClassifier(max_iter=3, **SMALL).fit(X, y)
    assert model.n_trees_per_iteration_ == 3
    assert len(model.trees_.trees) == 9
    shares = np.bincount(y) / len(y)
    raw = np.tile(np.log(shares) - np.log(shares).mean(), (len(y), 1))
    for staged in model.staged_decision_function(X):
        p = softmax(raw, axis=1)
        for k in range(3):
            tree = twins.grow(X, p[:, k] - (y == k), 2 * p[:, k] * (1 - p[:, k]), **SMALL)
            raw[:, k] += 0.1 * tree.predict(X)
        assert_allclose(staged, raw, rtol=SUMMED, atol=SUMMED)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1, rtol=LAST_BITS)
    assert_allclose(proba, softmax(model.decision_function(X), axis=1), rtol=LAST_BITS)


def test_two_classes_with_a_score_each_are_those_of_the_binary_loss():
    X, score = sample()
    y = (score > 0.5).astype(np.int64)
    rows = TrainingRows(BinnedTable.of(X, [False] * 4), y, np.ones(len(y)), np.ones(len(y)))
    limits = Limits(max_leaf_nodes=6, min_samples_leaf=4, monotone=np.zeros(4, np.int8))
    one = Rounds(rows, BinaryLogLoss(), limits, n_trees=1)
    two = Rounds(rows, MultinomialLogLoss(2), limits, n_trees=2)
    for seed in range(5):
        one.boost(seed)
        two.boost(seed)
    assert_allclose(two.scores[1] - two.scores[0], one.scores[0], rtol=SUMMED, atol=SUMMED)
    assert_allclose(
        two.scores.sum(axis=0), 0, rtol=0, atol=1e-12
    )  # the trees of the two are opposite


def test_stages_end_at_the_model():
    X, score = sample()
    y = np.where(score > 0.5, "yes", "no")
    model = HistGradientBoostingClassifier(max_iter=5, **SMALL).fit(X, y)
    for staged, whole in [
        (model.staged_predict, model.predict),
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_decision_function, model.decision_function),
    ]:
        stages = list(staged(X))
        assert len(stages) == model.n_iter_ == 5
        assert_array_equal(stages[-1], whole(X))
        first = clone(model).set_params(max_iter=1).fit(X, y)
        assert_array_equal(stages[0], getattr(first, whole.__name__)(X))
    assert_array_equal(
        np.exp(model.predict_log_proba(X)).round(12), model.predict_proba(X).round(12)
    )


PEERS = [
    (HistGradientBoostingRegressor(), peers.HistGradientBoostingRegressor()),
    (
        HistGradientBoostingRegressor("absolute_error", max_leaf_nodes=5),
        peers.HistGradientBoostingRegressor(loss="absolute_error", max_leaf_nodes=5),
    ),
    (
        HistGradientBoostingRegressor(l2_regularization=3.0, max_depth=2),
        peers.HistGradientBoostingRegressor(l2_regularization=3.0, max_depth=2),
    ),
    (HistGradientBoostingClassifier(), peers.HistGradientBoostingClassifier()),
]


@pytest.mark.parametrize(("ours", "theirs"), PEERS, ids=lambda each: str(each)[:60])
def test_few_rounds_are_those_of_scikit_learn(ours, theirs):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 40, size=(400, 5)).astype(float)
    y = np.sin(X[:, 0] / 5) + X[:, 1] * X[:, 2] / 400 + 0.2 * rng.normal(size=400)
    method = "predict"
    if hasattr(ours, "predict_proba"):
        y, method = y > 1, "predict_proba"  # of more classes our steps are half as long
    ours, theirs = (clone(each).set_params(max_iter=10).fit(X, y) for each in (ours, theirs))
    # Its gradients have single precision, 6e-8 each; no two splits of these data are so near.
    assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-4, atol=1e-5)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.n_trees_per_iteration_ == theirs.n_trees_per_iteration_


def test_going_on_is_one_fit():
    X, y = sample(missing=True)
    how = {"subsample": 0.7, "max_features": 0.5, "random_state": 3, **SMALL}
    whole = HistGradientBoostingRegressor(max_iter=6, **how).fit(X, y)
    parts = HistGradientBoostingRegressor(max_iter=2, warm_start=True, **how).fit(X, y)
    parts.set_params(max_iter=6).fit(X, y)
    assert parts.n_iter_ == 6
    assert_allclose(parts.predict(X), whole.predict(X), rtol=SUMMED, atol=LAST_BITS)
    with pytest.raises(ParameterError, match="max_iter is 3 and there are 6 rounds"):
        parts.set_params(max_iter=3).fit(X, y)
    classifier = HistGradientBoostingClassifier(max_iter=2, warm_start=True).fit(X, y > 0)
    with pytest.raises(DataError, match="classes"):
        classifier.fit(X, np.digitize(y, [0, 1]))
    with pytest.raises(ParameterError, match="loss is 'poisson', whose scores mean something else"):
        parts.set_params(max_iter=9, loss="poisson").fit(X, np.exp(y))


def test_going_on_with_other_bins_starts_from_the_predictions_so_far():
    X = np.arange(200.0)[:, None]
    model = HistGradientBoostingRegressor(max_iter=30, warm_start=True, **SMALL).fit(X, X[:, 0])
    left = X[:, 0] - model.predict(X)
    coarse = {"max_bins": 2, "learning_rate": 1.0, "max_iter": 31}
    after = X[:, 0] - model.set_params(**coarse).fit(X, X[:, 0]).predict(X)
    half = X[:, 0] < 100
    for side in (half, ~half):  # the two bins: a step of length 1 is the mean of what was left
        assert_allclose(after[side], left[side] - left[side].mean(), rtol=0, atol=SUMMED)


EXTREMES = [
    (loss, factor)
    for loss in ("squared_error", "huber", "quantile", "poisson", "gamma")
    for factor in (1e-200, 1e-25, 1e200)
    if (loss, factor) != ("poisson", 1e-25)  # curvatures of counts: no leaf has a thousandth
]


@pytest.mark.parametrize(("loss", "factor"), EXTREMES)
def test_extreme_targets_are_fitted_like_ordinary_ones(loss, factor):
    X, y = sample()
    y = np.exp(0.5 * y)
    learner = HistGradientBoostingRegressor(loss, quantile=0.6, max_iter=4, **SMALL)
    one, other = clone(learner).fit(X, y), clone(learner).fit(X, y * factor)
    # Products with 1e200, which is no power of two, are rounded; the log link adds its logarithm.
    assert_allclose(other.predict(X) / factor, one.predict(X), rtol=1e-9)
    again = other.set_params(warm_start=True, max_iter=6).fit(X, y * factor)
    wanted = clone(learner).set_params(max_iter=6).fit(X, y).predict(X)
    assert_allclose(again.predict(X) / factor, wanted, rtol=SOLVED)


def test_steps_that_run_away_are_named():
    X, y = sample()
    with pytest.raises(ParameterError, match="learning_rate is 5: give a smaller one"):
        HistGradientBoostingRegressor(learning_rate=5.0, max_iter=2000, **SMALL).fit(X, y)
    far = HistGradientBoostingClassifier(learning_rate=50.0, max_iter=60, min_samples_leaf=1)
    assert np.isfinite(far.fit(X, y > 0).decision_function(X)).all()
    assert np.isfinite(far.fit(X, np.digitize(y, [0, 1])).decision_function(X)).all()


def test_importances_are_shares_of_the_gains():
    X, y = sample(n=300)
    X = np.column_stack([X, np.zeros(300)])
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1.0, rel=SUMMED)
    assert shares[4] == 0
    assert shares[:4].min() > 0
    stump = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(X, y)
    assert sorted(stump.feature_importances_) == [0, 0, 0, 0, 1]


def test_a_frame_with_words_and_gaps_is_taken_as_it_is():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], size=200)
    size = rng.normal(size=200)
    y = np.where(np.isin(colour, ["red", "grey"]), 2.0, 0.0) + size
    frame = pd.DataFrame({"colour": colour, "size": size})
    frame.loc[::9, "size"] = np.nan
    frame.loc[::7, "colour"] = None
    model = HistGradientBoostingRegressor().fit(frame, y)
    assert_array_equal(model.is_categorical_, [True, False])
    assert list(model.feature_names_in_) == ["colour", "size"]
    new = pd.DataFrame({"colour": ["red", "blue", "violet", None], "size": [0.0, 0.0, 0.0, 0.0]})
    predicted = model.predict(new)
    assert np.isfinite(predicted).all()
    assert predicted[0] - predicted[1] > 1.5
    plain = HistGradientBoostingRegressor().fit(frame[["size"]].to_numpy(), y)
    assert plain.is_categorical_ is None


def test_a_draw_of_rows_is_without_replacement_and_of_that_size():
    X, y = sample()
    how = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "max_leaf_nodes": None}
    model = HistGradientBoostingRegressor(subsample=0.5, random_state=0, **how).fit(X, y)
    exact = np.isclose(model.predict(X), y, rtol=0, atol=SUMMED)
    assert 60 <= exact.sum() <= 75  # those that were drawn, and few by chance
    again = HistGradientBoostingRegressor(subsample=0.5, random_state=1, **how).fit(X, y)
    assert not np.array_equal(np.isclose(again.predict(X), y, rtol=0, atol=SUMMED), exact)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", 0.0),
        ("max_iter", 0),
        ("max_leaf_nodes", 1),
        ("max_depth", 0),
        ("min_samples_leaf", 0),
        ("min_samples_leaf", 0.5),
        ("l2_regularization", -1.0),
        ("min_gain_to_split", -1.0),
        ("max_features", 1.5),
        ("subsample", 0.0),
        ("max_bins", 256),
        ("warm_start", 1),
        ("early_stopping", "yes"),
    ],
)
def test_parameters_without_meaning_are_named(name, value):
    X, y = sample()
    with pytest.raises(ParameterError, match=f"{name} is {value!r}"):
        HistGradientBoostingRegressor(**{name: value}).fit(X, y)


def test_stages_are_the_same_however_many_are_found_at_a_time(monkeypatch):
    X, y = sample(missing=True)
    target = np.digitize(y, [0.0, 1.0])
    model = HistGradientBoostingClassifier(max_iter=7, **SMALL).fit(X, target)
    together = list(model.staged_decision_function(X))
    assert_array_equal(together[-1], model.decision_function(X))
    monkeypatch.setattr(boosted_trees, "NUMBERS_AT_ONCE", 2 * 3 * len(X))  # two rounds
    assert_array_equal(list(model.staged_decision_function(X)), together)
    monkeypatch.setattr(boosted_trees, "NUMBERS_AT_ONCE", 1)
    assert_array_equal(list(model.staged_decision_function(X)), together)
    for t in range(7):
        shorter = HistGradientBoostingClassifier(max_iter=t + 1, **SMALL).fit(X, target)
        assert_array_equal(shorter.decision_function(X), together[t])
