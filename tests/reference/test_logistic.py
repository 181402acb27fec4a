"""Logistic models of R: glm, nnet's multinom, glmnet.

The numbers are in logistic_models.json, made by logistic_models.R.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import LogisticRegression

R = json.loads((Path(__file__).parent / "logistic_models.json").read_text())
COLUMNS = ("age", "lwt", "smoke", "ht", "ui", "ptl")
X = np.column_stack([R[name] for name in COLUMNS])
UNITS = X / [10, 50, 1, 1, 1, 1]
LOW, RACE, N = np.array(R["low"]), np.array(R["race"]), R["n"]


def intercept_first(model):
    return np.column_stack([model.intercept_, model.coef_])


def test_glm():
    model = LogisticRegression(C=np.inf).fit(X, LOW)
    # Condition number of the Hessian, scaled, below 1e3; both at the limit of rounding.
    assert_allclose(intercept_first(model)[0], R["glm coef"], rtol=1e-10)
    deviance = -2 * model.predict_log_proba(X)[np.arange(N), LOW].sum()
    assert_allclose(deviance, R["glm deviance"][0], rtol=1e-13)
    weighted = LogisticRegression(C=np.inf).fit(X, LOW, sample_weight=R["weight"])
    assert_allclose(intercept_first(weighted)[0], R["glm weighted coef"], rtol=1e-10)


def test_standard_errors_and_profile_intervals_of_glm():
    model = LogisticRegression(C=np.inf).fit(X, LOW)
    wald = model.coefficient_intervals(X, LOW)
    # glm's standard errors are those one step before the end.
    assert_allclose(np.roll(wald.standard_error, 1), R["glm se"], rtol=1e-7)
    profile = model.coefficient_intervals(X, LOW, method="profile")
    # MASS interpolates the profile by a spline through points 0.2 z apart.
    scale = np.array(R["glm se"])
    for ours, theirs in ((profile.lower, "lower"), (profile.upper, "upper")):
        away = (np.roll(ours, 1) - R[f"glm profile {theirs}"]) / scale
        assert np.abs(away).max() < 2e-3


def test_multinom():
    model = LogisticRegression(C=np.inf).fit(UNITS, RACE)
    both = intercept_first(model)
    theirs = np.reshape(R["multinom coef"], (2, 7))  # against the first class
    # multinom stops where the value no longer changes: half of the digits.
    assert_allclose(both[1:] - both[0], theirs, rtol=2e-5, atol=1e-6)
    deviance = -2 * model.predict_log_proba(UNITS)[np.arange(N), RACE - 1].sum()
    assert deviance <= R["multinom deviance"][0] * (1 + 1e-14)
    assert_allclose(deviance, R["multinom deviance"][0], rtol=1e-10)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_glmnet(alpha):
    C = 1 / (0.02 * N)  # glmnet's loss is a mean
    two = LogisticRegression(C=C, l1_ratio=alpha).fit(UNITS, LOW)
    theirs = np.array(R[f"glmnet binomial {alpha:g}"])
    assert_allclose(intercept_first(two)[0], theirs, rtol=1e-6, atol=1e-8)
    assert_allclose(two.coef_[0] == 0, theirs[1:] == 0)
    three = LogisticRegression(C=C, l1_ratio=alpha).fit(UNITS, RACE)
    theirs = np.reshape(R[f"glmnet multinomial {alpha:g}"], (3, 7))
    ours = intercept_first(three)
    ours[:, 0] -= ours[:, 0].mean()  # any common shift of the intercepts fits as well
    # 1e-6, which glmnet's stopping rule allows.
    assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
