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
    # Certified to 15 digits, of which the sums of Filip, with terms of 1e6, lose 6.
    size = 1e9 if name == "Filip" else 1e13
    assert_allclose(fitted, certified, atol=np.abs(y).max() / size)
    deviation = np.sqrt(((y - fitted) ** 2).sum() / (len(y) - DEGREES[name] - 1))
    assert_allclose(deviation, float(data["residual_sd"]), rtol=1e-11, atol=np.abs(y).max() / 1e14)
