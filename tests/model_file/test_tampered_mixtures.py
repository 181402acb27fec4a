"""Mixtures in files: they come back as they were, and what is no mixture is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import GaussianMixture, PoissonMixture, Tuned, load, save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

X = np.random.default_rng(0).normal(size=(80, 3))
X[40:] += 3.0
COUNTS = np.random.default_rng(1).poisson(3.0, size=(60, 2)).astype(float)
FULL = GaussianMixture(2, init_params="hierarchical").fit(X)
STEPS = GaussianMixture(2, init_params="hierarchical", keep_steps=True).fit(X)
OTHERS = [
    GaussianMixture(2, covariance_type=form, init_params="hierarchical").fit(X)
    for form in ("tied", "diag", "spherical", "sieve")
]
TIED, DIAGONAL, SPHERICAL, SIEVE = OTHERS
POISSON = PoissonMixture(2, init_params="hierarchical").fit(COUNTS)
TUNED = Tuned(GaussianMixture(random_state=0), values=[1, 2], cv=3, random_state=0).fit(X)


@pytest.mark.parametrize("model", [FULL, STEPS, *OTHERS, TUNED], ids=str)
def test_a_gaussian_mixture_comes_back(tmp_path, model):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    rows = X.copy()
    rows[::9, 1] = np.nan
    assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    fitted = getattr(model, "best_estimator_", model)
    back = getattr(again, "best_estimator_", again)
    assert_array_equal(back.covariances_, fitted.covariances_)
    assert_array_equal(back.sample(5, random_state=1)[0], fitted.sample(5, random_state=1)[0])


def test_a_poisson_mixture_comes_back(tmp_path):
    save(POISSON, tmp_path / "model")
    assert_array_equal(
        load(tmp_path / "model").predict_proba(COUNTS), POISSON.predict_proba(COUNTS)
    )


def test_the_trajectory_comes_back(tmp_path):
    save(STEPS, tmp_path / "model")
    again = load(tmp_path / "model").trajectory_
    assert_array_equal(again.log_likelihoods, STEPS.trajectory_.log_likelihoods)
    assert_array_equal(again.covariances, STEPS.trajectory_.covariances)


def skewed(array):
    array[0, 0, 1] += 1.0
    return array


def negative_definite(array):
    return -array


ALTERATIONS = [
    (FULL, "weights_", shorter),
    (FULL, "weights_", put(0, -0.5)),
    (FULL, "weights_", put(0, np.nan)),
    (FULL, "weights_", lambda array: array * 2),
    (FULL, "means_", narrower),
    (FULL, "means_", put((0, 0), np.inf)),
    (FULL, "_placed_means", shorter),
    (FULL, "_unit", put(0, 0.0)),
    (FULL, "_unit", shorter),
    (FULL, "_shift", put(0, np.nan)),
    (FULL, "_placed_covariances", skewed),
    (FULL, "_placed_covariances", negative_definite),
    (FULL, "_placed_covariances", lambda array: array.astype(np.float32)),
    (FULL, "_placed_covariances", lambda array: array[0]),
    (FULL, "covariances_", narrower),
    (FULL, "precisions_", lambda array: array[0]),
    (FULL, "precisions_cholesky_", lambda array: array.astype(np.int64)),
    (FULL, "lower_bounds_", lambda array: array[:, np.newaxis]),
    (FULL, "trajectory_.log_likelihoods", lambda array: array[:, np.newaxis]),
    (STEPS, "trajectory_.means", shorter),
    (STEPS, "trajectory_.roots", narrower),
    (STEPS, "trajectory_.weights", lambda array: array[0]),
    (TIED, "_placed_covariances", negative_definite),
    (TIED, "_placed_covariances", narrower),
    (DIAGONAL, "_placed_covariances", put((0, 0), 0.0)),
    (DIAGONAL, "_placed_covariances", shorter),
    (SPHERICAL, "_placed_covariances", put(1, -1.0)),
    (SIEVE, "_placed_covariances", lambda array: np.repeat(array, 2)),
    (POISSON, "rates_", put((0, 0), -1.0)),
    (POISSON, "rates_", narrower),
    (POISSON, "weights_", shorter),
    (POISSON, "lower_bounds_", lambda array: array.astype(np.int64)),
]


@pytest.mark.parametrize(("model", "way", "change"), ALTERATIONS)
def test_what_was_altered_is_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError):
        load(tmp_path / "model")
