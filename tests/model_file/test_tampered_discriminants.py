"""Gaussian classes in files: they come back as they were, and what is none is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    load,
    save,
)
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
Y = rng.integers(0, 3, 90)
X = rng.normal(size=(90, 4)) + Y[:, None] * [1.0, 0.5, 0.0, -1.0]
LABELS = np.array(["a", "b", "c"])[Y]
LDA = LinearDiscriminantAnalysis(priors=[0.5, 0.5, 0.0]).fit(X, LABELS)
QDA = QuadraticDiscriminantAnalysis().fit(X, LABELS)
RDA = RegularizedDiscriminantAnalysis(0.3, 0.1).fit(X * 1e200, LABELS)


@pytest.mark.parametrize("model", [LDA, QDA, RDA], ids=str)
def test_a_model_comes_back(tmp_path, model):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    assert_array_equal(again.predict_proba(holes), model.predict_proba(holes))
    assert_array_equal(again.sample(9, random_state=1)[0], model.sample(9, random_state=1)[0])
    if model is LDA:
        assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("learner", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()])
def test_what_is_not_fitted_comes_back_too(tmp_path, learner):
    save(learner, tmp_path / "model")
    assert load(tmp_path / "model").get_params() == learner.get_params()


CHANGES = [
    (LDA, "coef_", narrower),
    (LDA, "coef_", put((0, 0), np.nan)),
    (LDA, "_offset", shorter),
    (LDA, "xbar_", shorter),
    (LDA, "scalings_", shorter),
    (LDA, "scalings_", lambda array: array.astype(np.float32)),
    (LDA, "classes_", shorter),
    (LDA, "_densities.covariance", narrower),
    (QDA, "priors_", put(0, 0.1)),
    (QDA, "means_", narrower),
    (QDA, "_densities.mean", shorter),
    (QDA, "_densities.mean", put((0, 0), np.nan)),
    (QDA, "_densities.mean", lambda array: array[0]),
    (QDA, "_densities.covariance", shorter),
    (QDA, "_densities.covariance", put((0, 1, 1), -1.0)),
    (QDA, "_densities.covariance", put((0, 1, 0), -np.inf)),
    (QDA, "_densities.priors", put(0, -1.0)),
    (QDA, "_densities.instead", put(0, -1.0)),
    (RDA, "_densities.unit", put(0, 5000)),
    (RDA, "_densities.unit", lambda array: array.astype(float)),
]


@pytest.mark.parametrize(("model", "way", "change"), CHANGES)
def test_what_does_not_belong_together_is_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError, match="cannot be loaded"):
        load(tmp_path / "model")
