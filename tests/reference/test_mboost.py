"""Componentwise L2-boosting of R's mboost: coefficients and the AIC's stop, as it prints them."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import StagewiseRegressor

R = json.loads((Path(__file__).parent / "mboost_bodyfat.json").read_text())
Z = np.array(R["rows"])
TARGET = R["names"].index("DEXfat")
X, Y = np.delete(Z, TARGET, axis=1), Z[:, TARGET]
NAMES = [name for name in R["names"] if name != "DEXfat"]


@pytest.mark.parametrize(("rounds", "digits"), [(100, 6), (45, 7)])
def test_coefficients_are_those_of_mboost(rounds, digits):
    model = StagewiseRegressor("least_squares", rounds).fit(X, Y)
    printed = R[f"rounds_{rounds}"]
    half = 0.501 * 10.0**-digits  # of the last digit that is printed
    assert_allclose(model.coef_, [printed.get(name, 0.0) for name in NAMES], rtol=0, atol=half)
    assert_allclose(model.intercept_ - Y.mean(), printed["(Intercept)"], rtol=0, atol=half)
    assert_allclose(Y.mean(), R["offset"], rtol=0, atol=0.0005)  # three digits


def test_the_aic_stops_where_it_does_in_mboost():
    # mboost leaves the mean out of the degrees of freedom; here that makes no difference.
    model = StagewiseRegressor("least_squares", 100, stop="aic").fit(X, Y)
    assert model.n_estimators_ == R["aic_mstop"]
    squares = np.concatenate([[Y.var()], model.train_score_])
    df, n = model.degrees_of_freedom_ - 1, len(Y)
    without_mean = np.log(squares) + (1 + df / n) / (1 - (df + 2) / n)
    assert np.argmin(without_mean) == R["aic_mstop"]
