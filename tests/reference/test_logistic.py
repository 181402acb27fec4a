"""Logistic models of R: glm, nnet's multinom, glmnet.

The numbers are in logistic_models.json, made by logistic_models.R, and in glm_examples.json: data
with the coefficients, standard errors and deviances of R's glm.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import LogisticRegression
from tolerances import LAST_BITS, SUMMED

R = json.loads((Path(__file__).parent / "logistic_models.json").read_text())
COLUMNS = ("age", "lwt", "smoke", "ht", "ui", "ptl")
X = np.column_stack([R[name] for name in COLUMNS])
UNITS = X / [10, 50, 1, 1, 1, 1]
LOW, RACE, N = np.array(R["low"]), np.array(R["race"]), R["n"]


EXAMPLES = json.loads((Path(__file__).parent / "glm_examples.json").read_text())["models"]


def intercept_first(model):
    return np.column_stack([model.intercept_, model.coef_])


def test_glm():
    model = LogisticRegression(C=np.inf).fit(X, LOW)
    # Condition number of the Hessian, scaled, below 1e3; both at the limit of rounding.
    assert_allclose(intercept_first(model)[0], R["glm coef"], rtol=1e-10)
    deviance = -2 * model.predict_log_proba(X)[np.arange(N), LOW].sum()
    assert_allclose(deviance, R["glm deviance"][0], rtol=LAST_BITS)
    weighted = LogisticRegression(C=np.inf).fit(X, LOW, sample_weight=R["weight"])
    assert_allclose(intercept_first(weighted)[0], R["glm weighted coef"], rtol=SUMMED)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_examples_of_glm(example):
    rows = np.array(example["X"]), example["y"], example["weight"]
    model = LogisticRegression(C=np.inf).fit(*rows)
    found = model.coefficient_intervals(*rows)
    printed = example["digits"] < 10
    # Half a unit of the last printed digit of numbers of size 1; else rounding.
    half = {"rtol": 0, "atol": 0.51 * 10.0 ** -example["digits"]} if printed else {"rtol": 1e-10}
    assert_allclose(intercept_first(model)[0], example["coef"], **half)
    errors = np.roll(found.standard_error, 1)
    # glm's standard errors are those one step before the end, at its default tolerance if printed.
    assert_allclose(errors, example["se"], rtol=3e-5 if printed else 1e-7, atol=half.get("atol", 0))
    if example["deviance"] is not None:
        own = model.predict_log_proba(rows[0])[np.arange(len(rows[1])), rows[1]]
        # Four digits of 257.8 are printed; else 15.
        assert_allclose(-2 * own @ rows[2], example["deviance"], rtol=2e-4 if printed else SUMMED)


@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_and_profile_intervals_of_glm(weighted):
    name, weight = ("glm weighted", R["weight"]) if weighted else ("glm", None)
    model = LogisticRegression(C=np.inf).fit(X, LOW, sample_weight=weight)
    wald = model.coefficient_intervals(X, LOW, weight)
    scale = np.array(R[f"{name} se"])
    # glm's standard errors are those one step before the end.
    assert_allclose(np.roll(wald.standard_error, 1), scale, rtol=1e-7)
    assert_allclose(
        wald.upper - wald.lower, 2 * 1.959963984540054 * wald.standard_error, rtol=SUMMED
    )
    profile = model.coefficient_intervals(X, LOW, weight, method="profile")
    for ours, theirs in ((profile.lower, "lower"), (profile.upper, "upper")):
        ours = np.roll(ours, 1)
        # The root of the deviance of glm with a coefficient held, by R's uniroot.
        assert np.abs((ours - R[f"{name} exact {theirs}"]) / scale).max() < 1e-6
        # MASS's confint interpolates the profile by a spline through points 0.2 z apart.
        assert np.abs((ours - R[f"{name} profile {theirs}"]) / scale).max() < 2e-3


def test_multinom():
    model = LogisticRegression(C=np.inf).fit(UNITS, RACE)
    both = intercept_first(model)
    theirs = np.reshape(R["multinom coef"], (2, 7))  # against the first class
    # multinom stops where the value no longer changes: half of the digits.
    assert_allclose(both[1:] - both[0], theirs, rtol=2e-5, atol=1e-6)
    deviance = -2 * model.predict_log_proba(UNITS)[np.arange(N), RACE - 1].sum()
    assert deviance <= R["multinom deviance"][0] * (1 + 1e-14)
    assert_allclose(deviance, R["multinom deviance"][0], rtol=SUMMED)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_glmnet(alpha):
    C = 1 / (0.02 * N)  # glmnet's loss is a mean
    two = LogisticRegression(C=C, l1_ratio=alpha).fit(UNITS, LOW)
    theirs = np.array(R[f"glmnet binomial {alpha:g}"])
    # glmnet stops when no coefficient changes the deviance by more than 1e-20 of it: 1e-10 each.
    assert_allclose(intercept_first(two)[0], theirs, rtol=0, atol=1e-9)
    assert_allclose(two.coef_[0] == 0, theirs[1:] == 0, rtol=SUMMED)
    three = LogisticRegression(C=C, l1_ratio=alpha).fit(UNITS, RACE)
    theirs = np.reshape(R[f"glmnet multinomial {alpha:g}"], (3, 7))
    ours = intercept_first(three)
    ours[:, 0] -= ours[:, 0].mean()  # any common shift of the intercepts fits as well
    # 1e-6, which glmnet's stopping rule allows.
    assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
