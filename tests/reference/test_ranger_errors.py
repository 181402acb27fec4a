"""Standard errors by the infinitesimal jackknife of R's ranger, made by ranger_errors.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bagged_twins import ToldEnsemble
from empirisk.risk import prediction_errors
from tolerances import LAST_BITS, SOLVED, SUMMED

R = json.loads((Path(__file__).parent / "ranger_errors.json").read_text())


@pytest.mark.parametrize("name", ["regression", "half", "without", "probability"])
def test_the_standard_errors_are_those_of_ranger(name):
    counts = np.array([[int(count) for count in tree] for tree in R[name]["counts"]])
    each = np.moveaxis(np.array(R[name]["each"]), -1, 0)
    classes = ["setosa", "versicolor", "virginica"] if name == "probability" else None
    ensemble = ToldEnsemble(counts, each, classes)
    found = prediction_errors(ensemble, ensemble.rows())
    se = np.array(R[name]["se"], dtype=float)
    if name == "without":  # ranger has 1/(1 - s/n)^2; Wager and Athey (2018) (n - 1)/n of that
        se *= np.sqrt(1 - 1 / counts.shape[1])
    known = np.isfinite(se)
    assert_allclose(found.prediction, R[name]["prediction"], rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(found.variance[known], se[known] ** 2, rtol=SOLVED)
    clear = ~found.floored
    assert clear.sum() >= 3
    assert_allclose(found.standard_error[clear], se[clear], rtol=SUMMED)
    # Where ranger has NaN, the root of a negative variance, we have what 150 trees can show.
    assert found.floored[~known].all()
    assert (found.variance[~known] < 0).all()
    assert (found.standard_error > 0).all()
