"""Gaussian mixtures beside scikit-learn and naive lines; weights, missing values, collapse."""

import warnings

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import kstest, multivariate_normal
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture as Peer

from empirisk import GaussianMixture, PoissonMixture, Tuned, risk
from empirisk.learners.density.gaussian_starts import sphered
from empirisk.learners.density.mixture_starts import quantile_labels
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError, RankWarning

matplotlib.use("Agg")

TYPES = ("full", "tied", "diag", "spherical")
ALL = (*TYPES, "sieve")


def three_groups(seed=0, n=90):
    rng = np.random.default_rng(seed)
    groups = [
        rng.normal(size=(n, 2)),
        rng.normal(size=(n, 2)) @ [[1.0, 0.6], [0.0, 0.5]] + [5.0, 1.0],
        0.5 * rng.normal(size=(n // 2, 2)) + [0.0, 6.0],
    ]
    return np.concatenate(groups)


X = three_groups()


def matrices(mixture):
    """The covariance matrix of each component, from the public attributes."""
    K, p = mixture.means_.shape
    C = mixture.covariances_
    return {
        "full": lambda: C,
        "tied": lambda: np.array([C] * K),
        "diag": lambda: np.array([np.diag(row) for row in C]),
        "spherical": lambda: np.array([v * np.eye(p) for v in C]),
        "sieve": lambda: np.array([C[0] * np.eye(p)] * K),
    }[mixture.covariance_type]()


def naive_joint(mixture, X):
    """log(a_k f_k(x)) of the observed values, by SciPy."""
    joint = np.zeros((len(X), len(mixture.weights_)))
    for i, x in enumerate(X):
        seen = ~np.isnan(x)
        for k, (a, m, S) in enumerate(
            zip(mixture.weights_, mixture.means_, matrices(mixture), strict=True)
        ):
            joint[i, k] = np.log(a)
            if seen.any():
                density = multivariate_normal(m[seen], S[np.ix_(seen, seen)])
                joint[i, k] += density.logpdf(x[seen])
    return joint


@pytest.mark.parametrize("covariance_type", TYPES)
def test_from_the_same_start_the_steps_of_scikit_learn(covariance_type):
    rough = Peer(3, covariance_type=covariance_type, max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough.fit(X)
        start = {
            "weights_init": rough.weights_,
            "means_init": rough.means_,
            "precisions_init": rough.precisions_,
            "covariance_type": covariance_type,
            "max_iter": 7,
            "tol": 0.0,
        }
        peer = Peer(3, reg_covar=0, **start).fit(X)
    ours = GaussianMixture(3, reg_covar=0, **start).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        # Seven steps, each a contraction of rounding errors of condition below 1e3.
        assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-10, atol=1e-11)
    assert ours.lower_bound_ == pytest.approx(peer.lower_bound_, rel=1e-12)
    assert_allclose(ours.lower_bounds_, peer.lower_bounds_, rtol=1e-12)
    assert ours.n_iter_ == peer.n_iter_ == 7
    assert_array_equal(ours.predict(X), peer.predict(X))
    for method in ("predict_proba", "score_samples", "score", "bic", "aic"):
        theirs = getattr(peer, method)(X)
        assert_allclose(getattr(ours, method)(X), theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("covariance_type", ALL)
def test_densities_are_those_of_the_parameters(covariance_type):
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    rows = X[::7].copy()
    rows[2, 0], rows[5, 1], rows[8] = np.nan, np.nan, np.nan
    joint = naive_joint(mixture, rows)
    total = logsumexp(joint, axis=1)
    assert_allclose(mixture.score_samples(rows), total, rtol=1e-10, atol=1e-10)
    posterior = np.exp(joint - total[:, None])
    assert_allclose(mixture.predict_proba(rows), posterior, rtol=1e-8, atol=1e-12)
    assert_array_equal(mixture.predict(rows), posterior.argmax(axis=1))
    assert_allclose(mixture.predict_proba(rows)[8], mixture.weights_, rtol=1e-12)


def test_the_steps_of_the_sieve():
    """Equal weights; sigma^2 = sum_ik r_ik |x_i - m_k|^2 / (n p), about the new means."""
    rng = np.random.default_rng(0)
    means, variance = X[rng.permutation(len(X))[:8]], 1.3
    mixture = GaussianMixture(
        8, covariance_type="sieve", means_init=means, precisions_init=[1 / variance],
        max_iter=1, tol=0.0,
    ).fit(X)  # fmt: skip
    square = ((X[:, None] - means) ** 2).sum(axis=2)
    r = np.exp(-square / (2 * variance))
    r /= r.sum(axis=1, keepdims=True)
    new = r.T @ X / r.sum(axis=0)[:, None]
    sigma = (r * ((X[:, None] - new) ** 2).sum(axis=2)).sum() / X.size
    assert_allclose(mixture.means_, new, rtol=1e-11)
    assert_allclose(mixture.covariances_, [sigma], rtol=1e-11)
    assert_array_equal(mixture.weights_, np.full(8, 1 / 8))


@pytest.mark.parametrize("covariance_type", ALL)
def test_weights_are_copies_and_rows_without_weight_are_none(covariance_type):
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    settings = {"covariance_type": covariance_type, "init_params": "hierarchical"}
    weighted = GaussianMixture(3, **settings).fit(X, sample_weight=weight)
    repeated = GaussianMixture(3, **settings).fit(X[copies])
    assert_allclose(weighted.means_, repeated.means_, rtol=1e-9)
    assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-8, atol=1e-12)
    for criterion in ("bic", "aic", "icl"):
        one = getattr(weighted, criterion)(X, weight)
        assert one == pytest.approx(getattr(repeated, criterion)(X[copies]), rel=1e-9)
    score = weighted.score(X, sample_weight=weight)
    assert score == pytest.approx(repeated.score(X[copies]), rel=1e-10)


def naive_missing_step(X, shares, means, covariances):
    """One EM step with missing values, row by row, by the formulas of the textbook."""
    K, p = means.shape
    mass, first, second = np.zeros(K), np.zeros((K, p)), np.zeros((K, p, p))
    for x in X:
        o, m = ~np.isnan(x), np.isnan(x)
        filled, spread, joint = np.zeros((K, p)), np.zeros((K, p, p)), np.zeros(K)
        for k in range(K):
            S, u = covariances[k], x - means[k]
            joint[k] = np.log(shares[k]) + multivariate_normal(means[k][o], S[np.ix_(o, o)]).logpdf(
                x[o]
            )
            B = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            u[m] = B @ u[o]
            filled[k] = means[k] + u
            spread[k][np.ix_(m, m)] = S[np.ix_(m, m)] - B @ S[np.ix_(o, m)]
        r = np.exp(joint - logsumexp(joint))
        for k in range(K):
            mass[k] += r[k]
            first[k] += r[k] * filled[k]
            second[k] += r[k] * (np.outer(filled[k], filled[k]) + spread[k])
    new = first / mass[:, None]
    return mass / mass.sum(), new, second / mass[:, None, None] - np.einsum("ki,kj->kij", new, new)


def test_missing_values_by_the_conditional_moments():
    rng = np.random.default_rng(3)
    gaps = X[::4].copy()
    gaps[rng.random(gaps.shape) < 0.2] = np.nan
    gaps = gaps[~np.isnan(gaps).all(axis=1)]
    shares, means = np.array([0.5, 0.3, 0.2]), np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 5.0]])
    covariances = np.array([np.eye(2), [[2.0, 0.5], [0.5, 1.0]], 0.5 * np.eye(2)])
    mixture = GaussianMixture(
        3, weights_init=shares, means_init=means, precisions_init=np.linalg.inv(covariances),
        max_iter=2, tol=0.0,
    ).fit(gaps)  # fmt: skip
    for _ in range(2):
        shares, means, covariances = naive_missing_step(gaps, shares, means, covariances)
    assert_allclose(mixture.weights_, shares, rtol=1e-10)
    assert_allclose(mixture.means_, means, rtol=1e-9, atol=1e-10)
    assert_allclose(mixture.covariances_, covariances, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("covariance_type", ALL)
def test_with_missing_values_the_likelihood_never_falls(covariance_type):
    gaps = X.copy()
    gaps[np.random.default_rng(4).random(X.shape) < 0.25] = np.nan
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(gaps)
    assert np.diff(mixture.lower_bounds_).min() > -1e-12  # rounding of numbers of size 1
    seen = gaps[~np.isnan(gaps).all(axis=1)]
    assert mixture.score(seen) >= mixture.lower_bound_ - 1e-12


def test_missing_values_cost_little_where_features_tell_the_same():
    """A third of the values of one of two features that are correlated 0.95 is missing: EM is as
    good as with nearly all rows, the observed rows alone are not."""
    rng = np.random.default_rng(5)
    rows = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.95], [0.95, 1.0]], size=4000)
    gaps = rows.copy()
    gaps[rows[:, 0] > 0.5, 1] = np.nan  # missing at random given the other feature
    mean = GaussianMixture().fit(gaps).means_[0, 1]
    assert abs(mean) < 5 / np.sqrt(4000)  # about 4 standard errors: error probability 1e-4
    assert np.nanmean(gaps[:, 1]) < -0.3


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
    assert_allclose(other.predict_proba(moved), one.predict_proba(X), atol=50 * close)
    assert_allclose(other.means_, one.means_ * scale + offset, rtol=close)
    assert np.isfinite(other.sample(5, random_state=0)[0]).all()


@pytest.mark.parametrize("power", [-200, 200])
def test_huge_and_tiny_rows_with_missing_values(power):
    gaps = X.copy()
    gaps[::3, 0] = np.nan
    mixture = GaussianMixture(2, init_params="hierarchical").fit(gaps * 10.0**power)
    assert np.isfinite(mixture.score_samples(gaps * 10.0**power)).all()


@pytest.mark.parametrize("covariance_type", ALL)
def test_rows_far_from_all_components_give_numbers(covariance_type):
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    far = np.array([[1e300, -1e300], [1e200, 0.0], [np.nan, 1e300], [-1e30, 1e30]])
    for rows in (far, np.nan_to_num(far)):
        posterior = mixture.predict_proba(rows)
        assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
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
    assert_allclose(tiny.covariances_ * 1e16, usual.covariances_, rtol=1e-9, atol=1e-12)


def test_far_apart_groups_keep_their_digits():
    """About a common centre the squares of 5e3 would leave five digits of variances of 1e-2."""
    rng = np.random.default_rng(7)
    rows = 0.1 * rng.normal(size=(120, 2))
    rows[60:, 0] += 1e4
    mixture = GaussianMixture(2, reg_covar=0, init_params="hierarchical").fit(rows)
    low = int(mixture.means_[:, 0].argmin())
    assert_allclose(mixture.covariances_[low], np.cov(rows[:60].T, ddof=0), rtol=1e-8, atol=1e-10)


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


def test_a_start_without_collapse_is_preferred():
    """One far row in single: the largest likelihood would be a needle on it."""
    rng = np.random.default_rng(8)
    rows = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])
    rows = np.concatenate([rows, rows[:2]])
    mixture = GaussianMixture(2, random_state=0).fit(rows)
    assert mixture.weights_.min() > 0.4


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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"covariance_type": "round"}, "covariance_type is 'round'"),
        ({"init_params": "luck"}, "init_params is 'luck'"),
        ({"reg_covar": -1.0}, "reg_covar is -1.0"),
        ({"tol": -1.0}, "tol is -1.0"),
        ({"n_init": 0}, "n_init is 0"),
        ({"n_components": 0}, "n_components is 0"),
        ({"n_components": 2, "weights_init": [0.5, 0.6]}, "weights_init"),
        ({"n_components": 2, "means_init": [[0.0, 1.0]]}, "means_init has shape"),
        ({"precisions_init": [[[1.0, 2.0], [2.0, 1.0]]]}, "positive definite"),
        ({"covariance_type": "diag", "precisions_init": [[1.0, 0.0]]}, "numbers <= 0"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ParameterError, match=message):
        GaussianMixture(**settings).fit(X)


@pytest.mark.parametrize(
    "way", ["kmeans", "k-means++", "random", "random_from_data", "hierarchical"]
)
def test_every_start_leads_to_a_maximum(way):
    best = GaussianMixture(3, random_state=0).fit(X).score(X)
    mixture = GaussianMixture(3, init_params=way, n_init=10, random_state=0).fit(X)
    assert mixture.score(X) == pytest.approx(best, abs=1e-4)
    assert len(mixture.trajectory_.starts) == 10


def test_a_start_may_be_given_in_part():
    means = [[0.0, 0.0], [5.0, 1.0], [0.0, 6.0]]
    for given in ({"means_init": means}, {"weights_init": [0.4, 0.4, 0.2]}):
        mixture = GaussianMixture(3, random_state=0, **given).fit(X)
        assert mixture.score(X) == pytest.approx(
            GaussianMixture(3, random_state=0).fit(X).score(X), abs=1e-5
        )


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    cold = GaussianMixture(3, init_params="hierarchical", max_iter=12, tol=0.0).fit(X)
    warm = GaussianMixture(3, init_params="hierarchical", max_iter=6, tol=0.0, warm_start=True)
    warm.fit(X).fit(X)
    assert_allclose(warm.means_, cold.means_, rtol=1e-11)
    assert warm.lower_bounds_[0] > cold.lower_bounds_[5]
    other = warm.set_params(covariance_type="diag", tol=1e-6, max_iter=1000).fit(X)
    assert other.covariances_.shape == (3, 2)  # a start of its own


@pytest.mark.parametrize("n_init", [1, 2])  # rows are shared out, or starts
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_threads_change_no_bit_of_many_rows(covariance_type, n_init):
    rng = np.random.default_rng(9)
    rows = three_groups(9, n=2000)
    rows[rng.random(rows.shape) < 0.02] = np.nan
    settings = {
        "covariance_type": covariance_type,
        "random_state": 0,
        "n_init": n_init,
        "max_iter": 8,
        "tol": 0.0,
    }
    one = GaussianMixture(3, n_jobs=1, **settings).fit(rows)
    two = GaussianMixture(3, n_jobs=2, **settings).fit(rows)
    assert_array_equal(one.means_, two.means_)
    assert_array_equal(one.covariances_, two.covariances_)
    assert_array_equal(one.score_samples(rows), two.score_samples(rows))


@pytest.mark.parametrize("covariance_type", ALL)
def test_rows_that_are_drawn_have_the_density(covariance_type):
    mixture = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(X)
    rows, labels = mixture.sample(4000)
    assert rows.shape == (4000, 2)
    assert (np.diff(labels) >= 0).all()
    again, _ = mixture.sample(4000)
    assert_array_equal(rows, again)  # random_state is a number
    other, _ = mixture.sample(4000, random_state=1)
    # Two-sample Kolmogorov-Smirnov tests: error probability 1e-4 each, ten of them.
    assert kstest(mixture.score_samples(rows), mixture.score_samples(other)).pvalue > 1e-4
    for k in range(2):
        here = rows[labels == k]
        white = (here - mixture.means_[k]) @ np.linalg.cholesky(np.linalg.inv(matrices(mixture)[k]))
        assert kstest(white.ravel(), "norm").pvalue > 1e-4
    with pytest.raises(ParameterError, match="n_samples"):
        mixture.sample(0)


def test_the_number_of_components_by_rows_held_out():
    tuned = Tuned(GaussianMixture(random_state=0), values=[1, 2, 3, 4], cv=4, random_state=0).fit(X)
    assert tuned.best_value_ == 3
    path = GaussianMixture(random_state=0).density_path(X, [1, 2, 3, 4], cv=4, random_state=0)
    assert_allclose(path.risk, tuned.path_.risk, rtol=1e-12)
    held_out = risk.cross_validate(
        GaussianMixture(3, random_state=0), X, None, cv=4, loss="log_density", random_state=0
    )
    assert held_out.value == pytest.approx(path.risk[2], rel=1e-10)


def test_missing_values_go_through_the_engine():
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    tuned = Tuned(GaussianMixture(random_state=0), values=[1, 3], cv=3, random_state=0).fit(gaps)
    assert tuned.best_value_ == 3
    assert np.isfinite(tuned.score_samples(gaps)).all()


def test_pictures():
    import matplotlib.pyplot as plt

    mixture = GaussianMixture(3, random_state=0, keep_steps=True).fit(X)
    ax = mixture.plot(X)
    assert len(ax.lines) == 6  # an ellipse and a cross for each component
    steps = mixture.trajectory_.plot_steps(X, most=4)
    assert 1 <= len(steps.axes) <= 4
    assert mixture.trajectory_.plot().get_xlabel() == "step of EM"
    line = GaussianMixture(2, random_state=0).fit(X[:, :1]).plot(X[:, :1])
    at, density = line.lines[-1].get_data()
    # A curve of 400 points, four standard deviations about the outermost components.
    assert np.trapezoid(density, at) == pytest.approx(1.0, abs=1e-3)
    plt.close("all")
    with pytest.raises(DataError, match="keep_steps=True"):
        GaussianMixture(random_state=0).fit(X).trajectory_.plot_steps(X)
    with pytest.raises(ParameterError, match="features"):
        mixture.plot(features=(0, 2))


def test_an_ellipse_holds_its_share():
    mixture = GaussianMixture(1).fit(X)
    curve = np.column_stack(mixture.plot(share=0.8).lines[0].get_data())
    gaps = curve - mixture.means_[0]
    square = np.einsum("ij,jk,ik->i", gaps, mixture.precisions_[0], gaps)
    assert_allclose(square, -2 * np.log(0.2), rtol=1e-10)  # the quantile of chi^2 with 2 degrees


def test_it_does_not_converge_in_silence():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        GaussianMixture(3, random_state=0, max_iter=2, tol=1e-12).fit(X)


def test_a_line_for_each_fit_if_asked_for(capsys):
    GaussianMixture(2, random_state=0, verbose=1).fit(X)
    assert "GaussianMixture: log-likelihood" in capsys.readouterr().err


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_the_lower_bound_of_missing_values_is_in_the_units_of_x(covariance_type):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(60, 3)) * [1e-3, 1.0, 1e5]
    rows[rng.random(rows.shape) < 0.3] = np.nan
    rows = rows[~np.isnan(rows).all(axis=1)]
    weight = rng.integers(1, 4, len(rows)).astype(float)
    mixture = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(
        rows, sample_weight=weight
    )
    # The last M-step gains less than tol = 1e-6, ten times which is allowed here.
    assert mixture.lower_bound_ == pytest.approx(mixture.score(rows, None, weight), abs=1e-5)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_pictures_of_huge_and_tiny_rows(scale):
    rng = np.random.default_rng(7)
    rows = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))]) * scale
    mixture = GaussianMixture(2, random_state=0, n_init=1, keep_steps=True).fit(rows)
    ax = mixture.plot(rows)
    figure = mixture.trajectory_.plot_steps(rows)
    line = GaussianMixture(2, random_state=0, n_init=1).fit(rows[:, :1]).plot(rows[:, :1])
    for each in (ax, line, *figure.axes):
        assert all(np.isfinite(drawn.get_xydata()).all() for drawn in each.lines)


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


def test_a_floor_of_rounding_is_no_wrong_step():
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(8, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("ignore", RankWarning)
        for copies in range(1, 6):
            GaussianMixture(1, reg_covar=0).fit(np.repeat(rows[: 3 + copies], copies, axis=0))


def test_a_warm_start_from_another_scale():
    rng = np.random.default_rng(10)
    rows = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))])
    for scale in (1e200, 1e-200):
        mixture = GaussianMixture(2, random_state=0, warm_start=True).fit(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            mixture.fit(rows * scale)
        assert np.isfinite(mixture.score(rows * scale))


def test_what_cannot_be_fitted_is_said():
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(20, 2))
    with pytest.raises(DataError, match="no row with a value"):
        GaussianMixture(2).fit(np.full((5, 2), np.nan))
    with pytest.raises(ParameterError, match="far from the rows"):
        GaussianMixture(1, means_init=[[1e200, 0.0]]).fit(rows)
    with pytest.raises(ParameterError, match="symmetric"):
        GaussianMixture(1, precisions_init=[[[1.0, 0.5], [-0.5, 1.0]]]).fit(rows)
    gappy = np.array([[1.0, np.nan]] * 20 + [[np.nan, 2.0]] * 20 + [[2.0, 3.0], [5.0, 6.0]])
    with pytest.raises(DataError, match="4 different row"):
        GaussianMixture(6).fit(gappy)


def test_what_was_not_fitted_is_said():
    for mixture in (GaussianMixture(2), PoissonMixture(2)):
        with pytest.raises(NotFittedError):
            mixture.sample()
    with pytest.raises(NotFittedError):
        GaussianMixture(2).plot()
    with pytest.raises(ParameterError, match="means_init is"):
        GaussianMixture(2, means_init=[["a", "b"]] * 2).fit(X)


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
    assert_allclose(mixture.score_samples(rows), mixture.score_samples(zero), rtol=1e-12)
    assert len(np.unique(mixture.predict(rows))) == 3


def test_sphered_rows_have_no_correlations():
    rng = np.random.default_rng(0)
    weight = rng.random(len(X))
    rows = sphered(np.column_stack([X, X @ [1.0, 2.0]]), weight)
    assert rows.shape == X.shape  # the third column says nothing new
    gaps = rows - np.average(rows, axis=0, weights=weight)
    assert_allclose((gaps.T * weight) @ gaps / weight.sum(), np.eye(2), atol=1e-12)


def test_without_a_step_nothing_is_known_of_the_likelihood():
    rows = np.random.default_rng(12).normal(size=(20, 2))
    assert GaussianMixture(2, random_state=0, max_iter=0).fit(rows).lower_bound_ == -np.inf


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


def test_rows_missing_altogether_count_for_nothing():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 2))
    more = np.vstack([rows, np.full((30, 2), np.nan)])
    found = GaussianMixture(2, random_state=0).fit(rows)
    again = GaussianMixture(2, random_state=0).fit(more)
    assert_allclose(again.means_, found.means_, rtol=1e-12)
    for criterion in ("bic", "aic", "icl"):
        assert getattr(found, criterion)(more) == pytest.approx(getattr(found, criterion)(rows))
