"""Nearest neighbours and Gower's dissimilarities of R.

The numbers are in neighbors.json, made by neighbors.R.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import LeaveOneOut

from empirisk import KNeighborsClassifier, KNeighborsRegressor, Table, risk

R = json.loads((Path(__file__).parent / "neighbors.json").read_text())
X, Z = np.array(R["X"]).reshape(100, 3), np.array(R["Z"]).reshape(20, 3)
Y = np.array(R["y"])
DIGITS = 1e-13  # R prints 15


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_classes_and_shares_of_r(algorithm):
    model = KNeighborsClassifier(5, algorithm=algorithm).fit(X, Y)
    assert_array_equal(model.predict(Z), R["knn"])
    assert_allclose(model.predict_proba(Z).max(axis=1), R["prob"], rtol=DIGITS)


def test_leave_one_out_errors_of_r():
    learner = KNeighborsClassifier()
    problem = risk.Problem.of(learner, X, Y)
    found = risk.out_of_fold(learner, problem, problem.plan(LeaveOneOut()), values=R["cv_k"])
    assert found.rung == "plan"
    assert_allclose(found.losses.mean(axis=0), R["cv_error"], rtol=DIGITS)


def test_means_of_neighbours_of_r():
    model = KNeighborsRegressor(4).fit(X, X[:, 0] + X[:, 2])
    assert_allclose(model.predict(Z), R["knn_reg"], rtol=DIGITS)


def test_gowers_dissimilarities_of_r():
    table = Table.of(
        {
            "age": [23, 35, None, 51, 44, 29],
            "height": [1.7, 1.82, 1.65, None, 1.91, 1.75],
            "hair": ["dark", "fair", "fair", "red", None, "dark"],
        }
    )
    model = KNeighborsRegressor(6, metric="gower").fit(table, np.arange(6.0))
    distance, rows = model.kneighbors(table)
    found = np.empty((6, 6))
    np.put_along_axis(found, rows, distance, axis=1)
    assert_allclose(found, np.reshape(R["gower"], (6, 6)), rtol=DIGITS)
