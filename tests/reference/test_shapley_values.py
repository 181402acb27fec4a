"""Shapley values by LightGBM and XGBoost of their own trees; numbers by shapley_values.py."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.shapley import contributions, sums_of
from numpy.testing import assert_allclose

PEERS = json.loads((Path(__file__).parent / "shapley_values.json").read_text())


# XGBoost adds in single precision, and writes the values of its leaves with nine digits
@pytest.mark.parametrize(("peer", "tolerance"), [("lightgbm", 1e-13), ("xgboost", 1e-6)])
def test_the_same_trees_have_the_same_values(peer, tolerance):
    sums = sums_of(PEERS["trees"][peer])
    found = contributions(sums, np.array(PEERS["rows"]), 1)
    assert_allclose(found, PEERS["values"][peer], rtol=0, atol=tolerance)
