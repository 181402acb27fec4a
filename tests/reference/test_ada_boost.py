"""AdaBoost around R's rpart. The numbers are in ada_boost.json, made by ada_boost.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import AdaBoostClassifier, DecisionTreeClassifier, datasets
from tolerances import SOLVED

R = json.loads((Path(__file__).parent / "ada_boost.json").read_text())
MPG = ["mpg", "displacement", "horsepower", "weight", "acceleration"]
TREES = {
    "two_gini": {"max_depth": 1},
    "two_deep": {"max_depth": 2},
    "three_gini": {"max_depth": 1},
    "three_deep": {"max_depth": 2},
}


def cars():
    table = datasets.auto_mpg()
    columns = np.column_stack([table[name].numbers() for name in MPG])
    columns = columns[~np.isnan(columns).any(axis=1)]
    return columns[:, 1:], columns[:, 0]


@pytest.mark.parametrize("name", TREES)
def test_the_rounds_of_rpart(name):
    X, mpg = cars()
    y = np.digitize(mpg, [22.0] if name.startswith("two") else [19.0, 26.0], right=True)
    theirs = R[name]
    model = AdaBoostClassifier(DecisionTreeClassifier(**TREES[name]))
    model.set_params(n_estimators=len(theirs["errors"])).fit(X, y)
    # The same numbers in another order, printed with 15 digits.
    assert_allclose(model.estimator_errors_, theirs["errors"], rtol=1e-9)
    assert_allclose(model.estimator_weights_, theirs["weights"], rtol=1e-9)
    assert_allclose(1 - model.score(X, y), theirs["training_error"], rtol=1e-9)
    K = y.max() + 1
    shares = np.array(theirs["first_votes"])
    decision = (K * shares - 1) / (K - 1) if K > 2 else 2 * (shares[:, 1] - shares[:, 0])
    assert_allclose(model.decision_function(X[:20]), decision, rtol=SOLVED, atol=SOLVED)
