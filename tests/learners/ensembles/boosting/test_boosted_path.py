"""Boosted trees at all numbers of rounds from one fit, and how `Tuned` chooses among them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from empirisk import (
    Axis,
    Encoder,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    Tuned,
    risk,
    select,
)
from empirisk.learners.ensembles.boosting.number_of_rounds import rounds_grid
from empirisk.risk.learner import along_axis
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=120)
HOW = {"min_samples_leaf": 4, "max_leaf_nodes": 5}


@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (HistGradientBoostingRegressor(**HOW), Y),
        (HistGradientBoostingRegressor("quantile", quantile=0.8, **HOW), Y),
        (HistGradientBoostingRegressor("poisson", subsample=0.6, random_state=0, **HOW), np.exp(Y)),
        (HistGradientBoostingClassifier(max_features=0.5, random_state=0, **HOW), Y > 0),
        (HistGradientBoostingClassifier(**HOW), np.digitize(Y, [0, 1])),
    ],
    ids=["squared", "quantile", "poisson", "two", "three"],
)
def test_each_stage_is_the_model_of_so_many_rounds(learner, y):
    values = [7, 1, 4]  # in any order
    codes = np.asarray(y, dtype=float) if y.dtype.kind == "f" else y.astype(int)
    n_classes = 0 if y.dtype.kind == "f" else len(np.unique(y))
    design = learner.design(X)
    path = learner.fit_path(design, codes, np.ones(120), values, n_classes=n_classes)
    stages = path.predict_path(design[np.arange(40)], "probability" if n_classes else "value")
    assert stages.shape == (40, 3, *((n_classes,) if n_classes else ()))
    for j, value in enumerate(values):
        model = type(learner)(**{**learner.get_params(), "max_iter": value}).fit(X, codes)
        method = "predict_proba" if n_classes else "predict"
        assert_allclose(stages[:, j], getattr(model, method)(X[:40]), rtol=SUMMED)
        again = path.at(j)
        assert again.n_iter_ == value
        assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


def test_tuned_chooses_rounds_with_the_same_bits_for_every_n_jobs():
    learner = HistGradientBoostingRegressor(max_iter=30, learning_rate=0.3, **HOW)
    one, two = (Tuned(learner, cv=4, random_state=0, n_jobs=k).fit(X, Y) for k in (1, 2))
    assert list(one.path_.values) == list(range(1, 31))
    assert_array_equal(one.path_.risk, two.path_.risk)
    assert one.best_value_ == one.best_estimator_.n_iter_
    assert one.path_.risk[one.best_index_] == one.path_.risk.min()


def test_along_the_axis_no_value_stops_early():
    learner = HistGradientBoostingRegressor(
        max_iter=40, early_stopping=True, n_iter_no_change=2, tol=0.01, random_state=0, **HOW
    )
    assert learner.fit(X, Y).n_iter_ < 40
    tuned = Tuned(learner, cv=3, values=[5, 40], random_state=0).fit(X, Y)
    assert tuned.best_estimator_.n_iter_ == tuned.best_value_
    assert not tuned.best_estimator_.do_early_stopping_
    chosen = select([learner], X, Y, cv=3, random_state=0)
    if chosen.name != "Baseline":
        assert chosen.model.n_iter_ == chosen.value
    behind = make_pipeline(Encoder(), learner)
    named = Axis(("histgradientboostingregressor__max_iter",), "richer", "integer")
    for axis in (learner.axis, named):
        assert not along_axis(behind, axis).steps[-1][1].early_stopping
    other = Axis(("learning_rate",), "richer", "log")
    assert along_axis(learner, other) is learner


def test_a_learner_as_it_is_stops_early_in_each_fold():
    learner = HistGradientBoostingRegressor(
        max_iter=60,
        learning_rate=0.5,
        early_stopping=True,
        n_iter_no_change=2,
        tol=0.01,
        random_state=0,
        **HOW,
    )
    table = X.round(1)  # few values, so that bins of a fold are those of all rows
    problem = risk.Problem.of(learner, table, Y)
    plan = problem.plan(4, random_state=0)
    path = risk.out_of_fold(learner, problem, plan, rung="path")
    slow = risk.out_of_fold(learner, problem, plan, rung="generic")
    assert_allclose(path.losses, slow.losses, rtol=SUMMED)
    never = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.5, random_state=0, **HOW)
    assert np.abs(risk.out_of_fold(never, problem, plan).losses - path.losses).max() > 1


def test_many_values_share_bins_whose_edges_are_of_all_rows():
    """With more values than bins a fold alone has other edges: nearly the same risk."""
    rows = np.random.default_rng(1).normal(size=(2000, 2))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] + 0.3 * np.random.default_rng(2).normal(size=2000)
    learner = HistGradientBoostingRegressor(max_iter=30, max_bins=32)
    problem = risk.Problem.of(learner, rows, y)
    plan = problem.plan(3, random_state=0)
    shared, own = (
        risk.out_of_fold(learner, problem, plan, values=[30], rung=rung).risk[0]
        for rung in ("path", "generic")
    )
    # The noise of 0.09 dominates; edges move by a fraction of a bin of 1/32 of the rows.
    assert abs(shared - own) < 0.05 * own


def test_the_grid_of_rounds_has_no_gaps_where_it_need_not():
    assert rounds_grid(100) == list(range(1, 101))
    for most in (101, 150, 1000, 20_000):
        grid = rounds_grid(most)
        assert grid[0] == 1
        assert grid[-1] == most
        assert 100 <= len(grid) <= 101
        assert (np.diff(grid) > 0).all()


def test_losses_that_are_aimed_at_judge():
    assert str(HistGradientBoostingRegressor("quantile", quantile=0.9).own_loss) == "quantile(0.9)"
    assert str(HistGradientBoostingRegressor("absolute_error").own_loss) == "absolute"
    assert HistGradientBoostingRegressor().own_loss is None
    learner = HistGradientBoostingRegressor("absolute_error", max_iter=3)
    assert risk.cross_validate(learner, X, Y, cv=3).loss == "absolute"


def test_rounds_go_on_from_the_model_that_was_chosen():
    learner = HistGradientBoostingRegressor(
        max_iter=3, subsample=0.5, warm_start=True, early_stopping=False, random_state=1, **HOW
    )
    model = Tuned(learner, values=[1, 3], cv=2).fit(X, Y).best_estimator_
    went_on = model.set_params(max_iter=6).fit(X, Y)
    at_once = clone(learner).set_params(max_iter=6).fit(X, Y)
    # The scores that the rounds go on from are sums in another order.
    assert_allclose(went_on.predict(X), at_once.predict(X), rtol=1e-9)
