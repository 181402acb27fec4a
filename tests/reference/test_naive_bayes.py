"""Naive Bayes of R's package e1071: numbers, factors, and missing cells in training and prediction.

The numbers are in naive_bayes.json, made by naive_bayes.R. e1071 divides variances by n - 1.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import NaiveBayes

R = json.loads((Path(__file__).parent / "naive_bayes.json").read_text())
SETS = [name for name in R if name != "source"]


def table_of(columns):
    return pd.DataFrame(
        {
            name: pd.Categorical(cells)
            if any(isinstance(cell, str) for cell in cells)
            else np.array(cells, dtype=float)
            for name, cells in columns.items()
        }
    )


@pytest.mark.parametrize("name", SETS)
def test_posteriors_of_e1071(name):
    known = R[name]
    X, y = table_of(known["columns"]), np.array(known["y"])
    model = NaiveBayes(known["laplace"], ddof=1).fit(X, y)
    assert_array_equal(model.classes_, known["classes"])
    # Sums of up to a dozen logarithms of size 100 at most, in both: 1e-13; asked for is 1e-8.
    assert_allclose(model.predict_proba(X), known["posterior"], rtol=1e-10, atol=1e-14)


def test_without_the_option_the_divisor_is_n():
    known = R["iris"]
    X, y = table_of(known["columns"]), np.array(known["y"])
    assert np.abs(NaiveBayes().fit(X, y).predict_proba(X) - known["posterior"]).max() > 1e-3
