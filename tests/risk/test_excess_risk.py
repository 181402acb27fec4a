"""Excess risk: approximation and estimation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

import empirisk
from decomposed_learners import Least
from empirisk.risk import populations
from empirisk.risk.decomposition import (
    bias_variance,
    excess_risk,
)
from empirisk.risk.populations import GaussianClasses, LinearModel, Points, StudentT
from empirisk.runtime.errors import DataError
from five_sigmas import SIGMAS
from tolerances import LAST_BITS, SUMMED


def test_excess_risk_is_approximation_plus_estimation():
    population = populations.polynomial([0, 0, 1.0], noise=0.5)
    found = excess_risk(empirisk.LinearRegression(), population, 20, n_sets=50, random_state=0)
    errors = found.standard_error
    assert_allclose(found.approximation + found.estimation, found.excess, rtol=SUMMED)
    assert_allclose(found.bayes_risk + found.excess, found.expected_risk, rtol=LAST_BITS)
    assert abs(found.approximation - 4 / 45) < SIGMAS * errors["approximation"]  # Var(X^2)
    assert found.estimation > SIGMAS * errors["estimation"]
    assert_allclose(found.best_in_class.intercept_, 1 / 3, rtol=0, atol=0.005)  # of a large sample
    parts = bias_variance(Least(), population, 20, n_sets=50, random_state=1)
    gap = np.hypot(parts.standard_error["total"], errors["expected_risk"])
    assert abs(parts.total - found.expected_risk) < SIGMAS * gap


def test_a_class_that_holds_the_truth_has_no_approximation_error():
    linear = excess_risk(Least(), LinearModel([1.0, 2.0]), 20, n_sets=5, random_state=0)
    assert linear.approximation < 1e-20
    classes = GaussianClasses([[0.0], [1.0]])
    logistic = LogisticRegression(C=1e6)
    for loss in ("log", "zero_one"):
        found = excess_risk(
            logistic, classes, 25, loss=loss, n_large=20_000, n_sets=25, random_state=0
        )
        # scikit-learn stops at slopes of 1e-4: their squares over twice the curvature, about 0.1.
        assert abs(found.approximation) < 1e-6
        assert found.estimation > 3 * found.standard_error["estimation"]


def test_a_discrete_population_has_an_exact_best_in_class():
    points = Points([[0.0], [1.0], [3.0]], [1, 2, 1])
    population = populations.polynomial([0, 0, 1.0], features=points, noise=0.1)
    found = excess_risk(empirisk.LinearRegression(), population, 20, n_sets=10, random_state=0)
    x, f, p = np.array([0, 1, 3.0]), np.array([0, 1, 9.0]), np.array([0.25, 0.5, 0.25])
    slope = (p * (x - p @ x)) @ f / ((p * (x - p @ x)) @ x)
    gap = f - p @ f - slope * (x - p @ x)
    assert_allclose(found.approximation, p @ gap**2, rtol=SUMMED)
    assert found.standard_error["approximation"] == 0


def test_excess_risk_of_any_loss_and_of_a_given_best_rule():
    population = populations.sine(noise=populations.Noise(StudentT(3).law, 0.5))
    found = excess_risk(
        KNeighborsRegressor(), population, 30, loss="absolute", n_sets=20,
        best_in_class=population.bayes_rule("absolute"), random_state=0,
    )  # fmt: skip
    assert (found.approximation, found.loss) == (0, "absolute")
    assert found.estimation > 0
    worse = excess_risk(
        empirisk.LinearRegression(), population, 30, n_sets=20,
        best_in_class=lambda X: np.full(len(X), 9.0), random_state=0,
    )  # fmt: skip
    assert "not the best" in worse.sentence
    with pytest.raises(DataError, match="infinite"):
        excess_risk(Least(), populations.sine(noise=StudentT(2)), 10, n_sets=4, n_large=50)
