"""A file whose neighbours do not belong together is refused: no search leaves its arrays."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import KNeighborsClassifier, KNeighborsRegressor, Table
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
LABELS, Y = rng.choice(["a", "b", "c"], 40), rng.normal(size=40)
WEIGHT = rng.uniform(0.5, 2, 40)
TABLE = Table.of({"size": [1.0, 2.5, None, 4.0], "hair": ["dark", "fair", None, "dark"]})
CLASSIFIER = KNeighborsClassifier(3, standardize=True).fit(X, LABELS, sample_weight=WEIGHT)
REGRESSOR = KNeighborsRegressor(3, metric="mahalanobis", weights="distance").fit(X, Y)
PLAIN = KNeighborsRegressor(2, p=3).fit(X, Y)
MIXED = KNeighborsRegressor(2, metric="gower").fit(TABLE, np.arange(4.0))
MODELS = [(CLASSIFIER, X), (REGRESSOR, X), (PLAIN, X), (MIXED, TABLE)]


@pytest.mark.parametrize(("model", "rows"), MODELS)
def test_neighbours_come_back(tmp_path, model, rows):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict(rows), model.predict(rows))
    assert_array_equal(again.kneighbors(rows)[0], model.kneighbors(rows)[0])


def as_floats(array):
    return array.astype(np.float32)


CHANGES = [
    (CLASSIFIER, "X_train_", shorter),
    (CLASSIFIER, "X_train_", narrower),
    (CLASSIFIER, "X_train_", put((3, 1), np.nan)),
    (CLASSIFIER, "X_train_", lambda array: array[:, 0]),
    (CLASSIFIER, "X_train_", as_floats),
    (CLASSIFIER, "y_train_", put(5, 3)),
    (CLASSIFIER, "y_train_", put(5, -1)),
    (CLASSIFIER, "y_train_", shorter),
    (CLASSIFIER, "y_train_", lambda array: array.astype(np.int32)),
    (CLASSIFIER, "classes_", shorter),
    (CLASSIFIER, "weight_train_", put(0, 0.0)),
    (CLASSIFIER, "weight_train_", put(0, np.inf)),
    (CLASSIFIER, "weight_train_", shorter),
    (CLASSIFIER, "metric_.unit", put(0, -1.0)),
    (CLASSIFIER, "metric_.unit", shorter),
    (CLASSIFIER, "metric_.mean", narrower),
    (CLASSIFIER, "metric_.matrix", put(0, np.nan)),
    (CLASSIFIER, "metric_.matrix", put(0, 1e308)),
    (REGRESSOR, "metric_.matrix", shorter),
    (REGRESSOR, "metric_.matrix", lambda array: array[:, :0]),
    (REGRESSOR, "y_train_", put(0, np.nan)),
    (REGRESSOR, "y_train_", lambda array: array.astype(np.int64)),
    (PLAIN, "metric_.unit", put(0, 2.0)),
    (MIXED, "metric_.span", put(0, -1.0)),
    (MIXED, "metric_.span", shorter),
    (MIXED, "metric_.category", lambda array: ~array),
    (MIXED, "metric_.category", lambda array: array.astype(np.int64)),
    (MIXED, "X_train_", put((0, 0), np.inf)),
]


@pytest.mark.parametrize(("model", "way", "change"), CHANGES)
def test_what_does_not_belong_together_is_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")
