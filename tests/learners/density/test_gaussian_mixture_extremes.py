"""Gaussian mixtures of units, offsets and groups that strain the arithmetic, and of collapse."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh

from empirisk import GaussianMixture
from empirisk.learners.density.covariance_structures import CovarianceFloor
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError, RankWarning
from mixture_rows import ALL, X, matrices
from tolerances import SOLVED, SUMMED


@pytest.mark.parametrize("covariance_type", ALL)
@pytest.mark.parametrize(("scale", "offset"), [(2.0**600, 0.0), (2.0**-600, 0.0), (1.0, 1e9)])
def test_neither_units_nor_offsets_are_felt(covariance_type, scale, offset):
    settings = {"covariance_type": covariance_type, "init_params": "hierarchical"}
    one = GaussianMixture(3, **settings).fit(X)
    other = GaussianMixture(3, **settings).fit(X * scale + offset)
    moved = X * scale + offset
    close = 1e-12 if offset == 0 else 1e-6  # 1e9 leaves seven digits of X
    shift = 2 * np.log(scale)
    assert_allclose(
        other.score_samples(moved) + shift, one.score_samples(X), atol=50 * close, rtol=close
    )
    assert_allclose(other.predict_proba(moved), one.predict_proba(X), rtol=0, atol=50 * close)
    assert_allclose(other.means_, one.means_ * scale + offset, rtol=close)
    assert np.isfinite(other.sample(5, random_state=0)[0]).all()


@pytest.mark.parametrize("covariance_type", ALL)
def test_rows_far_from_all_components_give_numbers(covariance_type):
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    far = np.array([[1e300, -1e300], [1e200, 0.0], [np.nan, 1e300], [-1e30, 1e30]])
    for rows in (far, np.nan_to_num(far)):
        posterior = mixture.predict_proba(rows)
        assert_allclose(posterior.sum(axis=1), 1.0, rtol=SUMMED)
        assert (mixture.score_samples(rows) < -1e10).all()


def test_small_scales_are_not_swamped():
    """Two groups of spread 1e-5, 1 apart: an absolute 1e-6 on variances would hide them."""
    rng = np.random.default_rng(6)
    rows = np.concatenate([1e-5 * rng.normal(size=(50, 2)), 1.0 + 1e-5 * rng.normal(size=(50, 2))])
    spread = GaussianMixture(2, reg_covar=1e-12, init_params="hierarchical").fit(rows)
    for k in range(2):
        group = rows[spread.predict(rows) == k]
        assert len(group) == 50
        # 1e-16 of differences of size 1, squared spreads of 1e-10.
        assert_allclose(spread.covariances_[k], np.cov(group.T, ddof=0), rtol=1e-5, atol=1e-14)
    tiny = GaussianMixture(3, init_params="hierarchical").fit(1e-8 * X)
    usual = GaussianMixture(3, init_params="hierarchical").fit(X)
    assert_allclose(tiny.covariances_ * 1e16, usual.covariances_, rtol=SUMMED, atol=SUMMED)


def test_far_apart_groups_keep_their_digits():
    """About a common centre the squares of 5e3 would leave five digits of variances of 1e-2."""
    rng = np.random.default_rng(7)
    rows = 0.1 * rng.normal(size=(120, 2))
    rows[60:, 0] += 1e4
    mixture = GaussianMixture(2, reg_covar=0, init_params="hierarchical").fit(rows)
    low = int(mixture.means_[:, 0].argmin())
    assert_allclose(
        mixture.covariances_[low], np.cov(rows[:60].T, ddof=0), rtol=SOLVED, atol=SOLVED
    )


def test_a_floor_leaves_alone_what_does_not_collapse():
    settings = {"init_params": "hierarchical"}
    one = GaussianMixture(3, reg_covar=0, **settings).fit(X)
    other = GaussianMixture(3, reg_covar=1e-4, **settings).fit(X)
    assert_array_equal(one.covariances_, other.covariances_)


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_a_component_that_collapses_is_held_up_and_named(covariance_type):
    rows = np.concatenate([X, np.repeat([[30.0, 30.0]], 20, axis=0)])
    mixture = GaussianMixture(4, covariance_type=covariance_type, init_params="hierarchical")
    with pytest.warns(RankWarning, match="closed around a few rows"):
        mixture.fit(rows)
    k = int(mixture.means_[:, 0].argmax())
    total = np.cov(rows.T, ddof=0)
    least = np.linalg.eigvals(np.linalg.solve(total, matrices(mixture)[k])).real.min()
    assert least > 1e-7
    assert np.diff(mixture.lower_bounds_).min() > -1e-10  # the constrained M-step is exact
    assert mixture.predict(rows[-20:]).tolist() == [k] * 20


def test_degenerate_data_are_clear():
    with pytest.raises(DataError, match=r"column\(s\) 1 of X"):
        GaussianMixture().fit(np.column_stack([X[:, 0], np.ones(len(X))]))
    with pytest.raises(DataError, match="3 different row"):
        GaussianMixture(4).fit(np.repeat(X[:3], 5, axis=0))
    with pytest.raises(ParameterError, match="n_samples=3 should be >= n_components=4"):
        GaussianMixture(4).fit(X[:3])
    rows = np.column_stack([X, X.sum(axis=1)])
    with pytest.warns(RankWarning, match="2 of 3 dimensions"):
        mixture = GaussianMixture(2, init_params="hierarchical").fit(rows)
    assert np.isfinite(mixture.score_samples(rows)).all()
    apart = GaussianMixture(2, init_params="hierarchical").fit(X).predict(X)
    assert len(np.unique(np.column_stack([mixture.predict(rows), apart]), axis=0)) <= 4
    many = GaussianMixture(2, covariance_type="diag", init_params="hierarchical").fit(rows)
    assert np.isfinite(many.score_samples(rows)).all()


def test_a_floor_of_rounding_is_no_wrong_step():
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(8, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("ignore", RankWarning)
        for copies in range(1, 6):
            GaussianMixture(1, reg_covar=0).fit(np.repeat(rows[: 3 + copies], copies, axis=0))


def test_precisions_beyond_all_numbers_are_infinite_and_in_silence():
    rows = X * 1e-310  # whose digits are few
    for covariance_type in ALL:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mixture = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(rows)
        assert not np.isnan(mixture.precisions_).any()
        assert np.isfinite(mixture.score(rows))


@pytest.mark.parametrize("covariance_type", ["spherical", "sieve"])
def test_a_feature_that_vanishes_beside_another_is_no_trouble(covariance_type):
    rows = X * [1e-170, 1e170]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(rows)
    zero = X * [0.0, 1e170]  # which is what is left of it beside the other
    assert_allclose(mixture.score_samples(rows), mixture.score_samples(zero), rtol=SUMMED)
    assert len(np.unique(mixture.predict(rows))) == 3


def test_matrices_below_the_floor_are_raised_as_one_by_one():
    """Eigenvalues relative to T, in its own coordinates, are raised to the share; others stay."""
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(6, 3, 3)) * np.array([1, 1e-3, 1, 1, 1, 1e-5])[:, None, None]
    roots[2, :, 0] = 0.0  # of rank two
    matrices = roots @ roots.swapaxes(1, 2)
    total = np.cov(rng.normal(size=(3, 20)))
    floor = CovarianceFloor(1e-4, total)
    raised = floor.raised(matrices)
    for S, found in zip(matrices, raised, strict=True):
        values, vectors = eigh(S, total)
        sides = total @ vectors
        expected = (sides * np.maximum(values, 1e-4)) @ sides.T
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)  # condition of T about 10
        assert floor.holds_up(found[np.newaxis]) == (values[0] < 1e-4)
    assert_array_equal(raised[0], matrices[0])
    assert floor.holds_up(raised)
    assert not floor.above(matrices)
