"""Shapley values of boosted trees: on the scale of the scores, a column for each class."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor, shap_values

EXACT = {"rtol": 1e-11, "atol": 1e-12}  # sums of some hundred terms of size 1, in double precision
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
X[rng.random(X.shape) < 0.1] = np.nan
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    town=pd.Categorical(rng.choice(list("pqrstuvw"), size=300))
)
Y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + FRAME["town"].isin(["q", "w"])


@pytest.mark.parametrize(
    ("loss", "quantity"), [("squared_error", "prediction"), ("poisson", "log of the prediction")]
)
def test_values_add_up_to_the_score_of_a_regression(loss, quantity):
    y = np.exp(Y / 3)
    model = HistGradientBoostingRegressor(loss=loss, max_iter=10, max_leaf_nodes=7).fit(FRAME, y)
    found = shap_values(model, FRAME)
    expected = model.predict(FRAME)
    score = expected if loss == "squared_error" else np.log(expected)
    assert_allclose(found.predictions, score, **EXACT)
    assert found.quantity == quantity


def test_two_classes_have_log_odds():
    model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=7).fit(FRAME, Y > 0)
    found = shap_values(model, FRAME)
    assert_allclose(found.predictions, model.decision_function(FRAME), **EXACT)
    assert (found.quantity, found.outputs) == ("log-odds", None)


def test_more_classes_have_a_score_each():
    label = np.digitize(Y, [-0.3, 0.5])
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=7).fit(FRAME, label)
    found = shap_values(model, FRAME)
    assert_allclose(found.predictions, model.decision_function(FRAME), **EXACT)
    assert found.outputs == (0, 1, 2)
