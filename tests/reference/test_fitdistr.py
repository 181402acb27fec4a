"""Parametric densities beside R's MASS::fitdistr: fitdistr.json, made by fitdistr.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import ParametricDensity

R = json.loads((Path(__file__).parent / "fitdistr.json").read_text())

# scipy's parameters from R's.
TRANSLATED = {
    "norm": lambda r: {"loc": r["mean"], "scale": r["sd"]},
    "lognorm": lambda r: {"s": r["sdlog"], "scale": np.exp(r["meanlog"])},
    "expon": lambda r: {"scale": 1 / r["rate"]},
    "gamma": lambda r: {"a": r["shape"], "scale": 100 / r["rate"]},
    "weibull_min": lambda r: {"c": r["shape"], "scale": r["scale"]},
    "beta": lambda r: {"a": r["shape1"], "b": r["shape2"]},
    "cauchy": lambda r: {"loc": r["location"], "scale": r["scale"]},
    "logistic": lambda r: {"loc": r["location"], "scale": r["scale"]},
    "t": lambda r: {"loc": r["m"], "scale": r["s"]},
}


@pytest.mark.parametrize("family", TRANSLATED)
def test_the_estimates_of_fitdistr(family):
    known = R[family]
    fixed = {"df": 3} if family == "t" else "auto"
    x = np.array(known["x"])[:, None]
    density = ParametricDensity(family, fixed=fixed).fit(x)
    found, wanted = density.parameters_[0], TRANSLATED[family](known["estimate"])
    # Formulas to rounding. R's optim differentiates by steps of 1e-3, and is off by their square
    # over the curvature; that we are no worse is seen from the likelihood.
    rtol = 1e-12 if family in ("norm", "lognorm", "expon") else 2e-5
    for name, value in wanted.items():
        assert_allclose(found[name], value, rtol=rtol, err_msg=name)
    likelihood = density.score_samples(x).sum()
    unit = len(x) * np.log(100) if family == "gamma" else 0.0  # R was given hundreds of miles
    # Flat at the maximum: the square of what R's estimates are off by, (2e-5)^2, is lost.
    assert_allclose(likelihood + unit, known["log_likelihood"], rtol=1e-10)
    assert likelihood + unit >= known["log_likelihood"] - 1e-9  # no worse than R, but for rounding
