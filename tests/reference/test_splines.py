"""Least squares on splines, polynomials and step functions of R.

The numbers are in splines.json, made by splines.R.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import BasisExpansion, BasisRegression, LinearRegression
from tolerances import LAST_BITS

R = json.loads((Path(__file__).parent / "splines.json").read_text())
X, Y, NEW = np.array(R["x"])[:, None], np.array(R["y"]), np.array(R["new"])[:, None]
DIGITS = 1e-11  # R prints 15; condition numbers are below 1e2, and R extrapolates to x = 1 and 17.5


def predictions(basis, new, weight=None):
    expansion = BasisExpansion(basis, knots=R["knots"]).fit(X)
    model = LinearRegression().fit(expansion.transform(X), Y, weight)
    return model.predict(expansion.transform(new)), model.predict(expansion.transform(X))


def test_b_splines_of_bs():
    columns = BasisExpansion("spline", knots=R["knots"]).fit_transform(X)
    assert_allclose(columns[:, 2], R["bs_third_column"], rtol=0, atol=LAST_BITS)
    new, old = predictions("spline", NEW[:6])
    assert_allclose(new, R["bs"], rtol=DIGITS)
    assert ((Y - old) ** 2).sum() == pytest.approx(R["rss"]["bs"][0], rel=DIGITS)


@pytest.mark.parametrize(("weight", "name"), [(None, "ns"), (R["weight"], "ns_weighted")])
def test_natural_splines_of_ns_inside_and_outside_of_the_range(weight, name):
    new, _ = predictions("natural_spline", NEW, weight)
    assert_allclose(new, R[name], rtol=DIGITS)


def test_polynomials_of_poly():
    columns = BasisExpansion("polynomial", 5).fit_transform(X)
    # R's columns have the sum of squares 1, ours the mean.
    assert_allclose(columns[:, 4] / 5, R["poly_fifth_column"], rtol=0, atol=1e-13)
    model = BasisRegression("polynomial", 5).fit(X, Y)
    assert_allclose(model.predict(NEW), R["poly5"], rtol=DIGITS)
    assert ((Y - model.predict(X)) ** 2).sum() == pytest.approx(R["rss"]["poly5"][0], rel=DIGITS)


def test_steps_of_cut():
    new, _ = predictions("steps", NEW)
    assert_allclose(new, R["steps"], rtol=DIGITS)
