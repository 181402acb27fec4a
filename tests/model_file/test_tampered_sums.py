"""Boosted learners in a file: they come back, and one whose parts do not fit is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import LogitBoostClassifier, Ridge, StagewiseRegressor
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] ** 2
CLASSES = np.array(["a", "b", "c"])[np.digitize(Y, [0.3, 1.5])]
TREES = StagewiseRegressor(n_estimators=3).fit(X, Y)
LINES = StagewiseRegressor("least_squares", 5, stop="aic").fit(X, Y)
RULES = StagewiseRegressor(Ridge(), 3, loss="quantile:0.3").fit(X, Y)
STUMPS = LogitBoostClassifier(n_estimators=4).fit(X, CLASSES)
LOGISTIC = LogitBoostClassifier("least_squares", 4).fit(X, CLASSES)


@pytest.mark.parametrize("model", [TREES, LINES, RULES, STUMPS, LOGISTIC], ids=str)
def test_a_sum_comes_back(tmp_path, model):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.train_score_, model.train_score_)
    for one, other in zip(again.staged_predict(X), model.staged_predict(X), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("model", "name", "change"),
    [
        (TREES, "stages_.weights", shorter),
        (TREES, "stages_.weights", put(0, np.nan)),
        (TREES, "stages_.trees.value", shorter),
        (TREES, "stages_.trees.nodes", put((0, 1), 10**6 << 32)),
        (TREES, "stages_.trees.gains", narrower),
        (TREES, "_start", shorter),
        (TREES, "_start", put(0, np.inf)),
        (LINES, "stages_.selected", put(0, 3)),
        (LINES, "stages_.selected", put(0, -2)),
        (LINES, "stages_.selected", shorter),
        (LINES, "stages_.slopes", put(0, np.nan)),
        (LINES, "stages_.weights", lambda array: array.astype(np.float32)),
        (RULES, "stages_.weights", shorter),
        (STUMPS, "stages_.weights", put(0, np.inf)),
        (STUMPS, "_start", shorter),
        (STUMPS, "classes_", shorter),
        (LOGISTIC, "stages_.offsets", shorter),
    ],
)
def test_a_part_that_does_not_fit_is_refused(tmp_path, model, name, change):
    altered(tmp_path / "model", model, name, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")
