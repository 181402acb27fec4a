"""Double descent of minimum-norm least squares, beside the theory (Belkin, Hsu and Xu 2020; Hastie
et al. 2022). Each statistical test fails with probability 1e-6; the seeds are fixed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk import LinearRegression
from empirisk.risk.learning_curves.double_descent import double_descent, linear_double_descent
from empirisk.risk.learning_curves.minimum_norm import LinearModel, minimum_norm
from empirisk.runtime.errors import ParameterError, RankWarning
from tolerances import LAST_BITS, SUMMED


def test_the_coefficients_are_those_of_the_learner():
    rng = np.random.default_rng(0)
    for p in (5, 30):
        X, y = rng.normal(size=(12, p)), rng.normal(size=12)
        learner = LinearRegression(fit_intercept=False)
        if p > 12:
            with pytest.warns(RankWarning, match="minimum-norm"):
                learner.fit(X, y)
            assert_allclose(learner.predict(X), y, rtol=0, atol=SUMMED)
        else:
            learner.fit(X, y)
        assert_allclose(minimum_norm(X, y), learner.coef_, rtol=SUMMED)
        assert_allclose(minimum_norm(X, y), np.linalg.pinv(X) @ y, rtol=SUMMED)


@pytest.mark.parametrize("relevant", [None, 60])
def test_the_expected_risk_on_both_sides_of_p_equal_n(relevant):
    """Variance v p/(n-p-1) below, v n/(p-n-1) above with bias s (1 - n/p): exact for each p."""
    n, draws = 20, 100
    features = [2, 8, 13, 29, 40, 120]
    curve = linear_double_descent(
        n, features,
        relevant=relevant, signal=2.0, noise_variance=0.5, n_draws=draws, random_state=0,
    )  # fmt: skip
    D = relevant or 120
    for p, estimate, theory in zip(features, curve.estimates, curve.theory, strict=True):
        seen = 2.0 * min(p, D) / D
        noise = 0.5 + 2.0 - seen
        variance = noise * (p / (n - p - 1) if p < n else n / (p - n - 1))
        bias = 0.0 if p < n else seen * (1 - n / p)
        assert_allclose(theory, noise + variance + bias, rtol=SUMMED)
        margin = stats.norm.isf(5e-7) * estimate.standard_error
        assert abs(estimate.value - theory) < margin
        if p == 120:
            assert bias > margin  # without the bias it would be seen to be another law


def test_the_risk_peaks_where_the_model_begins_to_interpolate():
    curve = linear_double_descent(
        30, [3, 10, 20, 30, 45, 90, 300], signal=4.0, n_draws=30, random_state=0
    )
    assert curve.peak == 30
    assert np.isinf(curve.theory[3])
    assert curve.estimates[3].interval is None
    assert curve.estimates[0].interval is not None
    assert_allclose(curve.training_risk[3:], 0, rtol=0, atol=LAST_BITS)
    assert (curve.training_risk[:3] > 0.01).all()
    assert (np.diff(curve.risk[3:]) < 0).all()  # the second descent


def test_more_rows_can_hurt():
    """At fixed p the risk rises as n comes near p from below."""
    curve = linear_double_descent([10, 20, 36, 40, 44, 80, 200], 40, n_draws=40, random_state=0)
    assert curve.along == "rows"
    assert curve.peak == 40
    assert curve.risk[2] > 2 * curve.risk[1]
    assert curve.risk[-1] < curve.risk[0]
    for n, estimate, theory in zip(curve.values, curve.estimates, curve.theory, strict=True):
        if abs(n - 40) >= 20:  # nearer to 40 the mean of the draws is far from normal
            margin = stats.norm.isf(5e-7) * estimate.standard_error
            assert abs(estimate.value - theory) < margin


def test_random_features_of_a_table_do_it_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=100)
    curve = double_descent(
        X, y, features=[5, 40, 70, 80, 90, 300, 800], test_size=0.2, random_state=0
    )
    assert curve.fixed == 80
    assert 70 <= curve.peak <= 90
    assert curve.risk[-1] < 0.1 * curve.risk.max()
    assert curve.estimates[0].interval is None
    by_rows = double_descent(X, y, rows=[20, 40, 60], features=40, n_draws=5, random_state=0)
    assert by_rows.values.tolist() == [20, 40, 60]
    assert len(double_descent(X, y, n_draws=2, random_state=0).values) == 16


def test_units_of_the_features_do_not_matter_to_random_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=40)
    plain = double_descent(X, y, features=[5, 60], n_draws=2, random_state=0)
    for scale in (1e-200, 1e200):
        scaled = double_descent(X * scale, y, features=[5, 60], n_draws=2, random_state=0)
        assert_allclose(scaled.risk, plain.risk, rtol=SUMMED)
    constant = np.column_stack([X, np.full(40, 3.0)])
    assert np.isfinite(double_descent(constant, y, features=[5], n_draws=2).risk).all()


def test_the_same_bits_for_any_number_of_threads():
    one, two = (
        linear_double_descent(10, [5, 20], n_draws=6, random_state=1, n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert (one.risk == two.risk).all()


def test_the_pictures_say_what_their_axes_are():
    curve = linear_double_descent(10, [2, 5, 10, 20], n_draws=3, random_state=0)
    ax = curve.plot()
    assert ax.get_xlabel() == "features p (n = 10 training rows)"
    assert ax.get_ylabel() == "squared risk"
    assert ax.child_axes[0].get_xlabel() == "p / n"
    by_rows = linear_double_descent([5, 10, 20], 10, n_draws=3, random_state=0)
    ax = by_rows.plot()
    assert ax.get_xlabel() == "training rows n (p = 10 features)"
    assert ax.child_axes[0].get_xlabel() == "n / p"
    assert "peaks at n = 10" in str(by_rows)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="one must be a number"):
        linear_double_descent(10, 20)
    with pytest.raises(ParameterError, match="1 or more"):
        linear_double_descent(10, [0, 5])
    with pytest.raises(ParameterError, match="n_draws"):
        linear_double_descent(10, [5], n_draws=1)
    with pytest.raises(ParameterError, match="noise_variance"):
        LinearModel(5, 1.0, -1.0)
    with pytest.raises(ParameterError, match="signal"):
        LinearModel(5, np.nan, 1.0)
    with pytest.raises(ParameterError, match="left beside"):
        double_descent(np.zeros((10, 1)), np.zeros(10), rows=9, features=[3])
    with pytest.raises(ParameterError, match="several"):
        double_descent(np.zeros((10, 1)), np.zeros(10), rows=[3, 4])
