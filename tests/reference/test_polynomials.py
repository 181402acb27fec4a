"""Polynomials of the NIST Statistical Reference Datasets, of certified coefficients.

The numbers are in nist_linear.json.
"""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import BasisRegression
from tolerances import LAST_BITS, SUMMED

SETS = json.loads((Path(__file__).parent / "nist_linear.json").read_text())["sets"]
DEGREES = {"Filip": 10, "Pontius": 2, **{f"Wampler{i}": 5 for i in range(1, 6)}}


@pytest.mark.parametrize("name", DEGREES)
def test_polynomials_on_raw_data_have_the_certified_values(name):
    data = SETS[name]
    x, y = np.array(data["x"], dtype=float).reshape(-1), np.array(data["y"], dtype=float)
    model = BasisRegression(degree=DEGREES[name]).fit(x[:, None], y)
    fitted = model.predict(x[:, None])
    certified = [
        float(sum(Fraction(b) * Fraction(t) ** k for k, b in enumerate(data["estimates"])))
        for t in x.tolist()
    ]
    # Certified to 15 digits; half a unit of the last in each of Filip's terms, of up to 5e6, adds
    # up to 6e-8. The others are rounded in the sixteenth digit.
    size = 1.5e7 if name == "Filip" else 1e13
    assert_allclose(fitted, certified, rtol=0, atol=np.abs(y).max() / size)
    deviation = np.sqrt(((y - fitted) ** 2).sum() / (len(y) - DEGREES[name] - 1))
    rounding = LAST_BITS * np.abs(y).max()  # all that is left of polynomials without noise
    assert_allclose(deviation, float(data["residual_sd"]), rtol=SUMMED, atol=rounding)
