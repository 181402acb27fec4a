"""A file whose PCA is none is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import PCA
from empirisk.model_file.load import load
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

X = np.random.default_rng(0).normal(size=(20, 4))
MODEL = PCA(2).partial_fit(X)

CHANGES = [
    ("components_", shorter),
    ("components_", narrower),
    ("components_", put((0, 0), 3.0)),
    ("components_", put((0, 0), np.nan)),
    ("components_", lambda array: array.astype(np.float32)),
    ("mean_", shorter),
    ("mean_", put(0, np.inf)),
    ("scale_", put(0, 0.0)),
    ("explained_variance_", put(0, -1.0)),
    ("explained_variance_", put(1, 1e9)),
    ("singular_values_", shorter),
    ("explained_variance_ratio_", put(0, np.nan)),
    ("_squares", shorter),
    ("_squares", put(0, np.nan)),
    ("_moments_scatter", narrower),
    ("_squares", put(0, np.inf)),
    ("_moments_scatter", put((0, 0), -1.0)),
    ("_moments_mean", shorter),
    ("_moments_unit", put(0, 0.0)),
]


def test_it_comes_back_where_nothing_was_changed(tmp_path):
    altered(tmp_path / "pca", MODEL, "mean_", lambda array: array)
    assert_array_equal(load(tmp_path / "pca").encode(X), MODEL.encode(X))


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_parts_that_no_fit_leaves_are_refused(tmp_path, name, change):
    altered(tmp_path / "pca", MODEL, name, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "pca")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components_", 3),
        ("n_features_in_", 5),
        ("n_samples_", 0),
        ("n_samples_", "many"),
        ("_unit", 0.0),
        ("_weight", 1.0),
        ("_weight", None),
        ("_dropped", -1.0),
        ("_dropped", float("inf")),
        ("noise_variance_", float("nan")),
        ("svd_solver_", 3),
    ],
)
def test_numbers_that_no_fit_leaves_are_refused(name, value):
    model = PCA(2).fit(X)
    setattr(model, name, value)
    with pytest.raises(DataError, match="not what a fit leaves"):
        model.check_loaded()
