"""The risk of guessing, against all pairs of a guess and a target."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import Baseline, LinearDiscriminantAnalysis, Ridge, losses
from empirisk.risk.intervals.no_information import guessing_risk
from empirisk.risk.problem import Problem
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
labels = np.array(["a", "b", "c"])[np.arange(40) % 7 % 3]
weight = rng.integers(0, 4, size=40)


def test_classes_are_guessed_as_often_as_they_occur():
    problem = Problem.of(LinearDiscriminantAnalysis(), X, labels, sample_weight=weight)
    copies = np.repeat(labels, weight)
    assert_allclose(guessing_risk(problem), np.mean(copies[:, None] != copies), rtol=SUMMED)


def test_a_cost_matrix_prices_the_guesses():
    costs = losses.Costs([[0, 1, 5], [2, 0, 1], [1, 3, 0]])
    problem = Problem.of(LinearDiscriminantAnalysis(), X, labels, loss=costs)
    codes = np.searchsorted(["a", "b", "c"], labels)
    expected = np.mean([[costs(i, j) for j in codes] for i in codes])
    assert_allclose(guessing_risk(problem), expected, rtol=SUMMED)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numbers_are_guessed_by_the_best_constant(loss):
    y = rng.normal(size=(40, 2)) + 5
    problem = Problem.of(Ridge(), X, y, loss=loss)
    best = y.mean(axis=0) if loss == "squared" else np.median(y, axis=0)
    away = np.abs(y - best)
    assert_allclose(
        guessing_risk(problem), np.mean(away**2 if loss == "squared" else away), rtol=SUMMED
    )


def test_probabilities_are_the_frequencies():
    problem = Problem.of(LinearDiscriminantAnalysis(), X, labels, loss="log")
    p = np.unique(labels, return_counts=True)[1] / 40
    assert_allclose(guessing_risk(problem), -np.sum(p * np.log(p)), rtol=SUMMED)


def test_the_risk_of_guessing_numbers_is_that_of_the_baseline():
    y = rng.normal(size=40)
    problem = Problem.of(Baseline(), X, y)
    fitted = Baseline().fit(X, y)
    assert_allclose(guessing_risk(problem), np.mean((y - fitted.predict(X)) ** 2), rtol=SUMMED)
