"""What a learner says of its degrees of freedom reaches the interval."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import empirisk
from empirisk import (
    Baseline,
    Encoder,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Table,
    Tuned,
    risk,
)
from empirisk.risk.intervals.interval import shared_training
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) * [1.0, 3.0, 0.5, 2.0]
y = X[:, 0] + rng.normal(size=60)
labels = y > 0


def freedom(learner, target=y, data=X, **options):
    return risk.cross_validate(learner, data, target, **options).table.degrees_of_freedom


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [5, "loo"])
def test_of_ridge_it_is_the_trace_of_the_hat_matrix(weighted, cv):
    weight = rng.uniform(0.5, 2, size=60) if weighted else np.ones(60)
    centred = X - np.average(X, axis=0, weights=weight)
    gram = centred.T @ (weight[:, None] * centred)
    expected = np.trace(np.linalg.solve(gram + 20 * np.eye(4), gram)) + 1
    judge = risk.cross_validate if cv == 5 else risk.leave_one_out
    found = judge(Ridge(20.0), X, y, sample_weight=weight).table.degrees_of_freedom
    assert_allclose(found, expected, rtol=SUMMED)


def test_of_least_squares_it_is_the_rank_and_the_intercept():
    assert_allclose(freedom(LinearRegression()), 5, rtol=SUMMED)
    assert_allclose(freedom(LinearRegression(fit_intercept=False)), 4, rtol=SUMMED)


def test_behind_an_encoder_it_is_that_of_the_encoded_columns():
    table = Table.of({"x": X[:, 0], "side": np.where(rng.random(60) < 0.5, "l", "r")})
    for learner, target in (
        (LinearRegression(), y),
        (LinearDiscriminantAnalysis(), labels),
        (empirisk.LogisticRegression(), labels),
    ):
        assert_allclose(freedom(make_pipeline(Encoder(), learner), target, table), 3, rtol=SUMMED)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_of_logistic_regression_every_column_counts_also_one_that_is_shrunken_to_nothing(l1_ratio):
    """Which columns an L1 penalty leaves differs from fold to fold: counting those that it left
    here, intervals of the 0-1 risk covered 82 % at 90 % (100 rows of 20 columns, C = 0.1)."""
    learner = empirisk.LogisticRegression(C=0.05, l1_ratio=l1_ratio)
    assert freedom(learner, labels) == freedom(learner.set_params(C=1.0), labels) == 5
    assert freedom(learner.set_params(fit_intercept=False), labels) == 4


def test_others_have_parameters_or_a_share_of_the_rows_or_are_unknown():
    assert freedom(LinearDiscriminantAnalysis(), labels) == 5
    assert freedom(LogisticRegression(), labels) == 5
    assert freedom(Baseline()) == freedom(DummyClassifier(), labels) == 1
    assert freedom(KNeighborsRegressor()) == freedom(KNeighborsRegressor(40)) == 10
    assert freedom(KNeighborsRegressor(1)) == 20
    forest = RandomForestRegressor(2, max_depth=2, random_state=0)
    assert freedom(forest, np.tile(y, 4), np.tile(X, (4, 1)), cv=2) == 240 / 11
    assert freedom(DecisionTreeRegressor()) is None
    assert freedom(make_pipeline(LogisticRegression()), labels) is None


@pytest.mark.parametrize("learner", [KNeighborsRegressor(), empirisk.KNeighborsRegressor()])
def test_of_neighbours_along_an_axis_they_are_those_of_the_value_that_was_chosen(learner):
    axis = empirisk.KNeighborsRegressor.axis
    tuned = Tuned(learner, axis=axis, values=[1, 2]).fit(X, y)
    alone = freedom(clone(learner).set_params(n_neighbors=tuned.best_value_))
    assert tuned.risk_.table.degrees_of_freedom == alone == 60 / (2 * tuned.best_value_ + 1)


def test_a_model_that_is_judged_once_needs_none():
    assert risk.holdout(Ridge(), X, y).table.degrees_of_freedom is None


def test_a_richer_learner_has_a_wider_interval_of_losses_that_are_no_more_skew():
    stiff, free = (
        shared_training(risk.cross_validate(Ridge(alpha), X, y).table) for alpha in (1e4, 1e-4)
    )
    assert_allclose(free, 1.25 + 2.5 * 5 / 55, rtol=1e-4)  # but for so small a penalty
    assert 1.25 < stiff < free


def test_a_difference_takes_the_larger_and_an_unknown_one_counts_as_unknown():
    ours = risk.cross_validate(Ridge(1.0), X, y)
    constant = risk.cross_validate(Baseline(), X, y)
    tree = risk.cross_validate(DecisionTreeRegressor(random_state=0), X, y)
    assert (ours - constant).table.degrees_of_freedom == ours.table.degrees_of_freedom
    assert (tree - constant).table.degrees_of_freedom is None
