"""Certified estimates of the NIST Statistical Reference Datasets, to a number of correct digits.

The powers of x are taken in floating-point arithmetic, as a user would: on Filip and Pontius their
rounding, not the solver, is what limits the digits.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import rational
from empirisk import LinearRegression

SETS = json.loads((Path(__file__).parent / "nist_linear.json").read_text())["sets"]
DIGITS = {
    "Norris": 13,
    "Pontius": 13,
    "NoInt1": 14,
    "NoInt2": 14,
    "Filip": 7,
    "Longley": 14,
    "Wampler1": 15,
    "Wampler2": 13,
    "Wampler3": 15,
    "Wampler4": 15,
    "Wampler5": 15,
}


def load(name):
    data = SETS[name]
    x = np.array(data["x"], dtype=float).T
    X = x if data["degree"] == 1 else x ** np.arange(1, data["degree"] + 1)
    return X, np.array(data["y"], dtype=float), data["intercept"]


def estimates(name, *, rows=slice(None), columns=None, sample_weight=None):
    X, y, intercept = load(name)
    columns = np.arange(X.shape[1]) if columns is None else columns
    model = LinearRegression(fit_intercept=intercept)
    model.fit(X[rows][:, columns], y[rows], sample_weight)
    coef = np.empty(X.shape[1])
    coef[columns] = model.coef_
    return np.append(model.intercept_, coef) if intercept else coef


def correct_digits(name, found):
    certified = np.array([float(value) for value in SETS[name]["estimates"]])
    error = np.abs(found - certified) / np.abs(certified)
    return -np.log10(np.maximum(error, 1e-16)).min()


def test_all_sets_are_here():
    assert set(DIGITS) == set(SETS)


@pytest.mark.parametrize("name", DIGITS)
def test_certified_digits(name):
    assert correct_digits(name, estimates(name)) >= DIGITS[name]


@pytest.mark.parametrize("name", DIGITS)
def test_neither_order_nor_copies_change_a_bit(name):
    rng = np.random.default_rng(0)
    n, p = load(name)[0].shape
    plain = estimates(name)
    assert_array_equal(estimates(name, rows=rng.permutation(n)), plain)
    assert_array_equal(estimates(name, columns=rng.permutation(p)), plain)
    copies = rng.integers(1, 4, n)
    assert_array_equal(
        estimates(name, rows=np.repeat(np.arange(n), copies)),
        estimates(name, sample_weight=copies),
    )


@pytest.mark.parametrize("name", DIGITS)
def test_estimates_are_those_of_rational_arithmetic_on_the_same_data(name):
    X, y, intercept = load(name)
    coef, level = rational.least_squares(X, y, intercept=intercept)
    assert_array_equal(estimates(name), np.append(level, coef) if intercept else coef)


@pytest.mark.parametrize("name", DIGITS)
def test_residual_standard_deviation(name):
    X, y, intercept = load(name)
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    freedom = len(y) - model.degrees_of_freedom_
    found = np.sqrt(((y - model.predict(X)) ** 2).sum() / freedom)
    certified = float(SETS[name]["residual_sd"])
    # Predictions cancel among powers of x: Filip's terms are 1e9 times their sum.
    assert found == pytest.approx(certified, rel=1e-5 if name == "Filip" else 1e-9, abs=1e-8)
