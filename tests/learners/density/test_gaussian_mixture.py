"""Gaussian mixtures beside scikit-learn and naive lines; weights, missing values, collapse."""

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import kstest, multivariate_normal
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture as Peer

from empirisk import GaussianMixture, PoissonMixture, Tuned, risk
from empirisk.learners.density.gaussian_starts import sphered
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from mixture_rows import ALL, TYPES, X, matrices, three_groups
from tolerances import SOLVED, SUMMED

matplotlib.use("Agg")


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
    assert ours.lower_bound_ == pytest.approx(peer.lower_bound_, rel=SUMMED)
    assert_allclose(ours.lower_bounds_, peer.lower_bounds_, rtol=SUMMED)
    assert ours.n_iter_ == peer.n_iter_ == 7
    assert_array_equal(ours.predict(X), peer.predict(X))
    for method in ("predict_proba", "score_samples", "score", "bic", "aic"):
        theirs = getattr(peer, method)(X)
        assert_allclose(getattr(ours, method)(X), theirs, rtol=0, atol=SOLVED)


@pytest.mark.parametrize("covariance_type", ALL)
def test_densities_are_those_of_the_parameters(covariance_type):
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    rows = X[::7].copy()
    rows[2, 0], rows[5, 1], rows[8] = np.nan, np.nan, np.nan
    joint = naive_joint(mixture, rows)
    total = logsumexp(joint, axis=1)
    assert_allclose(mixture.score_samples(rows), total, rtol=SUMMED, atol=SUMMED)
    posterior = np.exp(joint - total[:, None])
    assert_allclose(mixture.predict_proba(rows), posterior, rtol=SOLVED, atol=SUMMED)
    assert_array_equal(mixture.predict(rows), posterior.argmax(axis=1))
    assert_allclose(mixture.predict_proba(rows)[8], mixture.weights_, rtol=SUMMED)


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
    assert_allclose(mixture.means_, new, rtol=SUMMED)
    assert_allclose(mixture.covariances_, [sigma], rtol=SUMMED)
    assert_array_equal(mixture.weights_, np.full(8, 1 / 8))


@pytest.mark.parametrize("covariance_type", ALL)
def test_weights_are_copies_and_rows_without_weight_are_none(covariance_type):
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    settings = {"covariance_type": covariance_type, "init_params": "hierarchical"}
    weighted = GaussianMixture(3, **settings).fit(X, sample_weight=weight)
    repeated = GaussianMixture(3, **settings).fit(X[copies])
    assert_allclose(weighted.means_, repeated.means_, rtol=SUMMED)
    assert_allclose(weighted.covariances_, repeated.covariances_, rtol=SUMMED, atol=SUMMED)
    for criterion in ("bic", "aic", "icl"):
        one = getattr(weighted, criterion)(X, weight)
        assert one == pytest.approx(getattr(repeated, criterion)(X[copies]), rel=SUMMED)
    score = weighted.score(X, sample_weight=weight)
    assert score == pytest.approx(repeated.score(X[copies]), rel=SUMMED)


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
    assert_allclose(path.risk, tuned.path_.risk, rtol=SUMMED)
    held_out = risk.cross_validate(
        GaussianMixture(3, random_state=0), X, None, cv=4, loss="log_density", random_state=0
    )
    assert held_out.value == pytest.approx(path.risk[2], rel=SUMMED)


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


def test_what_cannot_be_fitted_is_said():
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(20, 2))
    with pytest.raises(DataError, match="no row with a value"):
        GaussianMixture(2).fit(np.full((5, 2), np.nan))
    table = pd.DataFrame(rows, columns=["width", "height"])
    with pytest.raises(DataError, match=r"column\(s\) 'height' of X have one value only \("):
        GaussianMixture(2).fit(table.assign(height=1.0))
    with pytest.raises(DataError, match=r"'height' of X have one value only, or none at all"):
        GaussianMixture(2).fit(table.assign(height=np.nan))
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


def test_sphered_rows_have_no_correlations():
    rng = np.random.default_rng(0)
    weight = rng.random(len(X))
    rows = sphered(np.column_stack([X, X @ [1.0, 2.0]]), weight)
    assert rows.shape == X.shape  # the third column says nothing new
    gaps = rows - np.average(rows, axis=0, weights=weight)
    assert_allclose((gaps.T * weight) @ gaps / weight.sum(), np.eye(2), rtol=0, atol=SUMMED)


def test_without_a_step_nothing_is_known_of_the_likelihood():
    rows = np.random.default_rng(12).normal(size=(20, 2))
    assert GaussianMixture(2, random_state=0, max_iter=0).fit(rows).lower_bound_ == -np.inf


FORMS = {"full": (3, 2, 2), "tied": (2, 2), "diag": (3, 2), "spherical": (3,)}


@pytest.mark.parametrize("kind", FORMS)
def test_means_and_covariances_that_are_written_are_those_of_the_density(kind):
    rng = np.random.default_rng(0)
    means, weights = 100.0 + rng.normal(size=(3, 2)), np.array([0.5, 0.2, 0.3])
    matrices_in_it = kind in ("full", "tied")
    covariances = np.broadcast_to(0.5 * np.eye(2) if matrices_in_it else 0.5, FORMS[kind])
    rows = 100.0 + rng.normal(size=(40, 2))
    wanted = np.log(
        sum(
            weight * multivariate_normal(mean, 0.5 * np.eye(2)).pdf(rows)
            for weight, mean in zip(weights, means, strict=True)
        )
    )
    fitted = GaussianMixture(3, covariance_type=kind, n_init=2, random_state=0).fit(rows)
    for mixture in (fitted, GaussianMixture(3, covariance_type=kind)):
        mixture.weights_, mixture.means_, mixture.covariances_ = weights, means, covariances
        assert_allclose(mixture.score_samples(rows), wanted, rtol=SOLVED)
        drawn, labels = mixture.sample(2000, random_state=0)
        # Five standard errors of a mean of some hundred rows of variance 0.5.
        assert_allclose(drawn[labels == 1].mean(axis=0), means[1], rtol=0, atol=0.2)


def test_covariances_of_another_type_are_named():
    fitted = GaussianMixture(2, random_state=0).fit(X)
    for ask in (fitted.score, fitted.predict, fitted.bic, lambda X: fitted.sample(3)):
        fitted.set_params(covariance_type="spherical")
        with pytest.raises(DataError, match=r"has shape .*'spherical' has \(2,\): fit again"):
            ask(X)
        fitted.set_params(covariance_type="full")
        ask(X)


def test_components_that_are_written_are_those_of_the_picture():
    mixture = GaussianMixture(1).fit(np.random.default_rng(0).normal(size=(40, 2)))
    mixture.means_, mixture.covariances_ = np.array([[5.0, 5.0]]), np.array([[[4.0, 0], [0, 4.0]]])
    ax = mixture.plot(share=0.9)
    # Of two features the share 0.9 lies within sqrt(-2 log 0.1) = 2.15 standard deviations.
    reach = np.abs(np.concatenate([line.get_xydata() for line in ax.lines]) - 5.0).max()
    assert_allclose(reach, 2 * np.sqrt(-2 * np.log(0.1)), rtol=1e-3)  # of the points of the line


def test_a_mixture_with_means_alone_says_what_is_missing():
    mixture = GaussianMixture(1)
    mixture.weights_, mixture.means_ = np.ones(1), np.zeros((1, 2))
    with pytest.raises(DataError, match="covariances_ are wanted"):
        mixture.predict([[0.0, 0.0]])
