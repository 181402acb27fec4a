"""Where EM starts for a Gaussian mixture, and where it ends from there."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import GaussianMixture
from empirisk.learners.density.mixture_starts import quantile_labels
from empirisk.runtime.errors import ConvergenceWarning, RankWarning
from mixture_rows import X
from tolerances import SUMMED


def test_a_start_without_collapse_is_preferred():
    """One far row in single: the largest likelihood would be a needle on it."""
    rng = np.random.default_rng(8)
    rows = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])
    rows = np.concatenate([rows, rows[:2]])
    mixture = GaussianMixture(2, random_state=0).fit(rows)
    assert mixture.weights_.min() > 0.4


@pytest.mark.parametrize(
    "way", ["kmeans", "k-means++", "random", "random_from_data", "hierarchical"]
)
def test_every_start_leads_to_a_maximum(way):
    best = GaussianMixture(3, random_state=0).fit(X).score(X)
    mixture = GaussianMixture(3, init_params=way, n_init=10, random_state=0).fit(X)
    assert mixture.score(X) == pytest.approx(best, abs=1e-6)  # EM ends at such gains
    assert len(mixture.trajectory_.starts) == 10


def test_a_start_may_be_given_in_part():
    means = [[0.0, 0.0], [5.0, 1.0], [0.0, 6.0]]
    for given in ({"means_init": means}, {"weights_init": [0.4, 0.4, 0.2]}):
        mixture = GaussianMixture(3, random_state=0, **given).fit(X)
        assert mixture.score(X) == pytest.approx(
            GaussianMixture(3, random_state=0).fit(X).score(X),
            abs=1e-6,  # EM ends at such gains
        )


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    cold = GaussianMixture(3, init_params="hierarchical", max_iter=12, tol=0.0).fit(X)
    warm = GaussianMixture(3, init_params="hierarchical", max_iter=6, tol=0.0, warm_start=True)
    warm.fit(X).fit(X)
    assert_allclose(warm.means_, cold.means_, rtol=SUMMED)
    assert warm.lower_bounds_[0] > cold.lower_bounds_[5]
    other = warm.set_params(covariance_type="diag", tol=1e-6, max_iter=1000).fit(X)
    assert other.covariances_.shape == (3, 2)  # a start of its own


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_a_warm_start_notices_that_it_has_converged(scale):
    mixture = GaussianMixture(3, max_iter=1, tol=1e-5, random_state=0, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = next(t for t in range(500) if mixture.fit(scale * X).converged_)
    assert fits > 1
    assert mixture.n_iter_ == 1
    once = GaussianMixture(3, tol=1e-5, random_state=0, warm_start=True)
    once.fit(scale * X).fit(scale * X)  # other rows are another likelihood, and no end
    assert once.n_iter_ == 1
    assert once.fit(scale * X[:-20]).n_iter_ > 1


def test_a_start_below_the_floor_is_raised_to_it():
    """Otherwise the first step would lower the likelihood, and pass for a wrong one."""
    rng = np.random.default_rng(8)
    rows = np.concatenate([rng.normal(0, 0.01, (50, 2)), rng.normal(5, 0.01, (50, 2))])
    mixture = GaussianMixture(2, random_state=0, warm_start=True).fit(rows)
    precisions = mixture.precisions_
    given = GaussianMixture(
        2, weights_init=[0.5, 0.5], means_init=mixture.means_, precisions_init=precisions
    )
    for learner in (mixture, given):
        learner.set_params(reg_covar=0.1)
        with pytest.warns(RankWarning, match="reg_covar"):
            learner.fit(rows)
        assert learner.converged_
        assert np.diff(learner.lower_bounds_).min() >= -1e-12  # rounding of numbers of size 1
        assert np.linalg.eigvalsh(learner.covariances_).max() > 1.0  # a tenth of that of all rows


def test_a_warm_start_from_another_scale():
    rng = np.random.default_rng(10)
    rows = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))])
    for scale in (1e200, 1e-200):
        mixture = GaussianMixture(2, random_state=0, warm_start=True).fit(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            mixture.fit(rows * scale)
        assert np.isfinite(mixture.score(rows * scale))


def test_quantiles_are_the_same_for_copies():
    rng = np.random.default_rng(13)
    rows, weight = rng.normal(size=(30, 1)), rng.integers(1, 4, 30)
    labels = quantile_labels(rows, weight.astype(float), 4)
    copies = quantile_labels(np.repeat(rows, weight, axis=0), np.ones(weight.sum()), 4)
    assert_array_equal(np.repeat(labels, weight), copies)
    order = np.argsort(rows[:, 0])
    assert (np.diff(labels[order]) >= 0).all()
    assert set(labels) == {0, 1, 2, 3}


def test_starts_are_tried_on_a_part_of_many_rows_and_end_as_high():
    """Of four groups, well apart, all ways to the end lead to the one sensible maximum."""
    rng = np.random.default_rng(0)
    centres = 6.0 * np.eye(4, 3)
    rows = centres[rng.integers(4, size=24_000)] + rng.normal(size=(24_000, 3))
    found = GaussianMixture(4, random_state=0, keep_steps=True).fit(rows)
    start = GaussianMixture(4, means_init=centres, random_state=0).fit(rows)
    assert found.lower_bound_ >= start.lower_bound_ - 1e-6  # tol
    assert len(found.trajectory_.starts) == 20
    assert len(found.lower_bounds_) == found.n_iter_ < start.n_iter_ + 10
    again = GaussianMixture(4, random_state=0, n_jobs=2).fit(rows)
    assert_array_equal(again.means_, found.means_)
