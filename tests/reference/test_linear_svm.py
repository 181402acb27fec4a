"""Linear support vector machines of R's e1071.

The numbers are in linear_svm.json, made by linear_svm.R.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import MarginClassifier

R = json.loads((Path(__file__).parent / "linear_svm.json").read_text())
COLUMNS = ("npreg", "glu", "bp", "skin", "bmi", "ped", "age")
X = np.column_stack([R[name] for name in COLUMNS])
DIABETES = np.array(R["diabetes"])


def objective(C, weight, coef, intercept):
    margin = np.where(DIABETES == 1, 1, -1) * (X @ coef + intercept)
    return C * np.sum(weight * np.maximum(0, 1 - margin)) + coef @ coef / 2


@pytest.mark.parametrize(
    ("name", "C", "class_weight"),
    [
        ("C = 0.1", 0.1, None),
        ("C = 1", 1.0, None),
        ("C = 10", 10.0, None),
        ("class weights", 1.0, {1: 2.0}),
    ],
)
def test_e1071(name, C, class_weight):
    model = MarginClassifier("hinge", C=C, class_weight=class_weight).fit(X, DIABETES)
    coef, intercept = np.array(R[f"{name} coef"]), R[f"{name} intercept"][0]
    weight = np.where(DIABETES == 1, 2.0 if class_weight else 1.0, 1.0)
    ours = objective(C, weight, model.coef_[0], model.intercept_[0])
    assert ours <= objective(C, weight, coef, intercept) * (1 + 1e-13)  # rounding of the sums
    # libsvm stops where the slopes of its dual differ by 1e-8.
    assert_allclose(model.coef_[0], coef, rtol=1e-6)
    assert_allclose(model.intercept_[0], intercept, rtol=2e-6)
    margin = np.where(DIABETES == 1, 1, -1) * model.decision_function(X)
    theirs = set(R[f"{name} support vectors"])  # counted from 1; one on the margin may be none
    assert set(np.flatnonzero(margin < 1 - 1e-6) + 1) <= theirs
    assert theirs <= set(np.flatnonzero(margin < 1 + 1e-6) + 1)
