"""Early stopping of boosted trees: when, by which rows and scores, and what is kept."""

import numpy as np
import pytest
import sklearn.ensemble as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, r2_score

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from empirisk.learners.ensembles.boosting.boosting_settings import Stopping
from empirisk.learners.ensembles.boosting.stopping import no_longer_grows, split_rows
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import spawn
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
Y = X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=300)
NEW, Y_NEW = X[:100] + 0.1, Y[:100]
HOW = {"max_iter": 200, "min_samples_leaf": 5, "early_stopping": True, "random_state": 0}


def test_rounds_end_when_held_out_rows_are_no_longer_predicted_better():
    model = HistGradientBoostingRegressor(n_iter_no_change=5, **HOW).fit(X, Y)
    scores = model.validation_score_
    assert 5 < model.n_iter_ < 200
    assert len(scores) == len(model.train_score_) == model.n_iter_ + 1
    stopping = Stopping(0.1, 5, 1e-7)
    ends = [no_longer_grows(list(scores[: t + 1]), stopping) for t in range(len(scores))]
    assert ends == [False] * model.n_iter_ + [True]  # nothing is restored: all rounds are kept
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert model.do_early_stopping_


def test_rows_that_only_numpy_can_read_are_set_aside_as_those_of_an_array():
    class Readable:
        """An array behind `__array__`, whose rows cannot be taken one by one."""

        shape = X.shape

        def __array__(self, dtype=None, copy=None):
            return np.asarray(X, dtype=dtype)

    ours, arrays = (HistGradientBoostingRegressor(**HOW).fit(rows, Y) for rows in (Readable(), X))
    assert_array_equal(ours.validation_score_, arrays.validation_score_)


def test_a_tolerance_ends_earlier_and_patience_later():
    rounds = [
        HistGradientBoostingRegressor(n_iter_no_change=k, tol=tol, **HOW).fit(X, Y).n_iter_
        for k, tol in [(5, 0.1), (5, 1e-7), (20, 1e-7)]
    ]
    assert rounds[0] < rounds[1] < rounds[2]


def test_scores_are_those_of_the_stages():
    weight = rng.uniform(0.5, 2, size=100)
    model = HistGradientBoostingRegressor(**HOW).fit(
        X, Y, X_val=NEW, y_val=Y_NEW, sample_weight_val=weight
    )
    stages = list(model.staged_predict(NEW))
    losses = [np.average(0.5 * (Y_NEW - stage) ** 2, weights=weight) for stage in stages]
    assert_allclose(-model.validation_score_[1:], losses, rtol=SUMMED)
    losses = [np.mean(0.5 * (Y - stage) ** 2) for stage in model.staged_predict(X)]
    assert_allclose(-model.train_score_[1:], losses, rtol=SUMMED)
    assert_allclose(-model.train_score_[0], Y.var() / 2, rtol=SUMMED)


def test_held_out_rows_do_not_train():
    """The rows are found again by the seed; a model of the others alone has the same trees."""
    table, y = X.round(1), Y > 0  # fewer values than bins: those of all rows are as good
    model = HistGradientBoostingClassifier(**HOW).fit(table, y)
    seed = spawn(model._seed, 1)[0]
    train, held_out = split_rows(y.astype(int), Stopping(0.1, 10, 1e-7), seed, 2, None)
    assert len(held_out) == 30
    assert_array_equal(np.sort(np.concatenate([train, held_out])), np.arange(300))
    again = HistGradientBoostingClassifier(**HOW)
    again.fit(table[train], y[train], X_val=table[held_out], y_val=y[held_out])
    assert_allclose(again.validation_score_, model.validation_score_, rtol=SUMMED)
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=SUMMED)


@pytest.mark.parametrize("scoring", ["r2", None, lambda m, A, b: r2_score(b, m.predict(A))])
def test_scorers_judge_predictions(scoring):
    model = HistGradientBoostingRegressor(scoring=scoring, **HOW)
    model.fit(X, Y, X_val=NEW, y_val=Y_NEW)
    scores = [r2_score(Y_NEW, stage) for stage in model.staged_predict(NEW)]
    assert_allclose(model.validation_score_[1:], scores, rtol=SUMMED)
    assert not hasattr(model, "_known_scores")


@pytest.mark.parametrize("scoring", ["loss", "r2"])
def test_judging_a_round_does_not_take_longer_the_more_rounds_there_are(scoring, monkeypatch):
    joined, join = [], ForestTrees.of

    def counting(packed, **how):
        joined.append(len(packed))
        return join(packed, **how)

    monkeypatch.setattr(ForestTrees, "of", counting)
    how = {**HOW, "max_iter": 30, "n_iter_no_change": 30}
    HistGradientBoostingRegressor(scoring=scoring, **how).fit(X, Y, X_val=NEW, y_val=Y_NEW)
    assert sum(joined) <= 3 * 30  # for each round one tree, and all of them in the end


def test_scorers_judge_labels_and_probabilities():
    labels = np.where(Y > 0.5, "high", "low")
    model = HistGradientBoostingClassifier(scoring="accuracy", **HOW)
    model.fit(X, labels, X_val=NEW, y_val=labels[:100])
    scores = [accuracy_score(labels[:100], stage) for stage in model.staged_predict(NEW)]
    assert_array_equal(model.validation_score_[1:], scores)
    by_log = HistGradientBoostingClassifier(scoring="neg_log_loss", **HOW).fit(X, labels)
    by_loss = HistGradientBoostingClassifier(**HOW).fit(X, labels)
    assert_allclose(by_log.validation_score_, by_loss.validation_score_, rtol=SUMMED)


def test_training_rows_judge_where_none_are_held_out():
    model = HistGradientBoostingRegressor(validation_fraction=None, **{**HOW, "max_iter": 20})
    model.fit(X, Y)
    assert model.validation_score_.shape == (0,)
    assert len(model.train_score_) == 21


def test_whole_groups_are_held_out():
    groups = np.repeat(np.arange(60), 5)
    train, held_out = split_rows(Y, Stopping(0.2, 10, 0.0), 7, 0, groups)
    assert not set(groups[train]) & set(groups[held_out])
    assert len(held_out) == 60
    model = HistGradientBoostingRegressor(**HOW).fit(X, Y, groups=groups)
    assert model.n_iter_ >= 1


def test_auto_is_for_many_rows():
    few = HistGradientBoostingRegressor(max_iter=2).fit(X, Y)
    assert not few.do_early_stopping_
    assert few.train_score_.shape == few.validation_score_.shape == (0,)
    many = HistGradientBoostingRegressor(max_iter=2)
    rows = np.zeros((10_001, 1))
    assert many.fit(rows, np.arange(10_001.0)).do_early_stopping_
    assert not many.fit(rows[:-1], np.arange(10_000.0)).do_early_stopping_


def test_going_on_after_a_stop_holds_out_the_same_rows():
    how = {**HOW, "max_iter": 4, "n_iter_no_change": 3, "warm_start": True}
    parts = HistGradientBoostingClassifier(**how).fit(X, Y > 0)
    parts.set_params(max_iter=9).fit(X, Y > 0)
    whole = HistGradientBoostingClassifier(**{**how, "max_iter": 9}).fit(X, Y > 0)
    assert_allclose(parts.validation_score_, whole.validation_score_, rtol=SUMMED)
    assert parts.n_iter_ == whole.n_iter_


def test_it_stops_where_scikit_learn_does():
    """On the same held-out rows, the same scores to its single precision, and so the same end."""
    data = rng.integers(0, 50, size=(600, 4)).astype(float)
    y = data[:, 0] + data[:, 1] * data[:, 2] / 20 + 10 * rng.normal(size=600)
    new, y_new = data[400:], y[400:]
    how = {**HOW, "learning_rate": 0.2}
    ours = HistGradientBoostingRegressor(**how).fit(data[:400], y[:400], X_val=new, y_val=y_new)
    theirs = peers.HistGradientBoostingRegressor(**how)
    theirs.fit(data[:400], y[:400], X_val=new, y_val=y_new)
    n = min(6, ours.n_iter_)  # before thresholds, which lie elsewhere, part new rows
    # The peer's gradients are rounded to single precision, 6e-8 of each.
    assert_allclose(ours.train_score_[:n], theirs.train_score_[:n], rtol=1e-7)
    assert_allclose(ours.validation_score_[0], theirs.validation_score_[0], rtol=SUMMED)
    assert abs(ours.n_iter_ - theirs.n_iter_) <= 15


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"validation_fraction": 1.5}, "validation_fraction is 1.5"),
        ({"validation_fraction": 0}, "validation_fraction is 0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change is 0"),
        ({"tol": -1.0}, "tol is -1.0"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ParameterError, match=message):
        HistGradientBoostingRegressor(early_stopping=True, **settings).fit(X, Y)


def test_rows_to_judge_by_are_checked():
    with pytest.raises(ParameterError, match="X_val was given and y_val was not"):
        HistGradientBoostingRegressor(**HOW).fit(X, Y, X_val=NEW)
    with pytest.raises(ParameterError, match="sample_weight_val was given and X_val was not"):
        HistGradientBoostingRegressor(**HOW).fit(X, Y, sample_weight_val=np.ones(100))
    with pytest.raises(ParameterError, match="early_stopping is False"):
        HistGradientBoostingRegressor(early_stopping=False).fit(X, Y, X_val=NEW, y_val=Y_NEW)
    with pytest.raises(DataError, match="a class 7 that y does not have"):
        HistGradientBoostingClassifier(**HOW).fit(X, Y > 0, X_val=NEW, y_val=np.full(100, 7))
    with pytest.raises(DataError, match="early_stopping cannot set rows aside"):
        HistGradientBoostingClassifier(**HOW).fit(X[:12], np.arange(12) == 0)
