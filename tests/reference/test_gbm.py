"""Boosted stumps of R's gbm. The numbers are in gbm_fits.json, made by gbm_fits.R.

gbm splits where the gradients differ most, and weighs no curvatures: for the squared and the
absolute error, and in the first round of the log loss, that is what we do. Its leaves have the
means and medians of their residuals, and Newton's step of the log loss.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor, datasets
from tolerances import SUMMED

R = json.loads((Path(__file__).parent / "gbm_fits.json").read_text())
MPG = ["displacement", "horsepower", "weight", "acceleration"]
STUMPS = {"max_leaf_nodes": 2, "min_samples_leaf": 10}


def mpg():
    table = datasets.auto_mpg()
    X = np.column_stack([table[name].numbers() for name in MPG])
    y = table["mpg"].numbers()
    X[:, 2] = np.floor(X[:, 2] / 50)  # no more values than bins
    kept = ~np.isnan(X).any(axis=1)
    return X[kept], y[kept]


def stumps(model):
    """The feature and the threshold of each tree."""
    trees = model.trees_.trees
    roots = trees.first_node[:-1]
    links, cuts = trees.nodes.view(np.int32), trees.nodes.view(np.float64)
    return links[roots, 2] >> 2, cuts[roots, 0]


@pytest.mark.parametrize(
    ("name", "loss"),
    [("gaussian", "squared_error"), ("laplace", "absolute_error"), ("weighted", "squared_error")],
)
def test_rounds_of_stumps_are_those_of_gbm(name, loss):
    X, y = mpg()
    model = HistGradientBoostingRegressor(loss, max_iter=30, **STUMPS)
    if name == "weighted":  # gbm counts rows, and no weights, for the least size of a leaf
        weight = np.resize([1.0, 2.0, 3.0], len(y)) * 1.000001
        model.fit(X, y, sample_weight=weight)
    else:
        model.fit(X, y)
    assert_allclose(model._baseline_prediction[0, 0], R[name]["start"], rtol=SUMMED)
    feature, threshold = stumps(model)
    assert_array_equal(feature, R[name]["variable"])
    assert_allclose(threshold, R[name]["threshold"], rtol=SUMMED)
    assert_allclose(model.predict(X), R[name]["score"], rtol=1e-10)  # sums in another order


def test_the_first_round_of_the_log_loss_is_that_of_gbm():
    X, y = mpg()
    model = HistGradientBoostingClassifier(max_iter=1, **STUMPS).fit(X, y > 22)
    assert_allclose(model._baseline_prediction[0, 0], R["bernoulli"]["start"], rtol=SUMMED)
    assert_array_equal(stumps(model)[0], [R["bernoulli"]["variable"]])
    assert_allclose(model.decision_function(X), R["bernoulli"]["score"], rtol=SUMMED)
