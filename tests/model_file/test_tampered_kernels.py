"""A file whose kernel learner is none that a fit leaves is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import KernelClassifier, KernelDensity, KernelRegressor, save
from empirisk.model_file.load import load
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = rng.random((30, 2))
Y = X[:, 0] + rng.normal(size=30)
DENSITY = KernelDensity(bandwidth=[0.2, 0.3], support=((0, 1), (0, None))).fit(X)
MATRIX = KernelDensity(bandwidth="scott").fit(X)
REGRESSOR = KernelRegressor(degree=1).fit(X, Y, sample_weight=rng.uniform(1, 2, size=30))
CLASSIFIER = KernelClassifier().fit(X, np.where(Y > 0.5, "high", "low"))


def test_kernel_learners_come_back(tmp_path):
    for model in (DENSITY, MATRIX):
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert_array_equal(again.score_samples(X), model.score_samples(X))
        assert_array_equal(again.sample(5, random_state=0), model.sample(5, random_state=0))
    save(REGRESSOR, tmp_path / "model")
    again = load(tmp_path / "model")
    for one, two in zip(
        again.predict(X, return_std=True), REGRESSOR.predict(X, return_std=True), strict=True
    ):
        assert_array_equal(one, two)
    save(CLASSIFIER, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict_proba(X), CLASSIFIER.predict_proba(X))


CHANGES = [
    (DENSITY, "rows_", shorter),
    (DENSITY, "rows_", narrower),
    (DENSITY, "rows_", put((0, 0), np.nan)),
    (DENSITY, "rows_", put((0, 0), -1.0)),  # outside of the support
    (DENSITY, "rows_", lambda array: array.astype(np.float32)),
    (DENSITY, "rows_", lambda array: array[0]),
    (DENSITY, "weights_", shorter),
    (DENSITY, "weights_", put(0, 0.0)),
    (DENSITY, "weights_", put(0, np.inf)),
    (DENSITY, "bandwidth_", put(0, -1.0)),
    (DENSITY, "bandwidth_", lambda array: np.diag(array)),
    (MATRIX, "bandwidth_", narrower),
    (MATRIX, "bandwidth_", put((0, 1), 5.0)),
    (MATRIX, "bandwidth_", put((0, 0), np.nan)),
    (REGRESSOR, "rows_", shorter),
    (REGRESSOR, "bandwidth_", put(0, 0.0)),
    (REGRESSOR, "y_train_", shorter),
    (REGRESSOR, "y_train_", put(0, np.nan)),
    (REGRESSOR, "y_train_", lambda array: array.astype(np.int64)),
    (CLASSIFIER, "y_train_", put(0, 2)),
    (CLASSIFIER, "y_train_", put(0, -1)),
    (CLASSIFIER, "y_train_", lambda array: array.astype(np.float64)),
    (CLASSIFIER, "classes_", shorter),
    (CLASSIFIER, "classes_", lambda array: np.array(["low", "low"])),
]


@pytest.mark.parametrize(("model", "way", "change"), CHANGES)
def test_parts_that_no_fit_leaves_are_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError, match="not what a fit leaves"):
        load(tmp_path / "model")
