"""Probabilities: log loss, Brier's score, calibration, and the threshold on them under costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve as peer_curve
from sklearn.linear_model import LogisticRegression

from empirisk import risk
from empirisk.losses import Asymmetric
from empirisk.risk import measures
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SOLVED, SUMMED


def calibrated(n, seed=0):
    """Probabilities that are the true ones, and what happened."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_and_brier_are_those_of_scikit_learn(weighted):
    y, p = calibrated(200)
    weight = np.random.default_rng(1).uniform(size=200) if weighted else None
    rng = np.random.default_rng(2)
    labels = rng.choice(["a", "b", "c"], size=200)
    matrix = rng.dirichlet([1, 1, 1], size=200)
    for ours, theirs in (
        (measures.log_loss, metrics.log_loss),
        (measures.brier, metrics.brier_score_loss),
    ):
        peer = theirs(y, p, sample_weight=weight)
        columns = np.column_stack([1 - p, p])
        assert_allclose(ours(y, p, sample_weight=weight).value, peer, rtol=SUMMED)
        assert_allclose(ours(y, columns, sample_weight=weight).value, peer, rtol=SUMMED)
        assert_allclose(ours(y, 1 - p, positive=0, sample_weight=weight).value, peer, rtol=SUMMED)
        peer = theirs(labels, matrix, sample_weight=weight)
        assert_allclose(ours(labels, matrix, sample_weight=weight).value, peer, rtol=SUMMED)


def test_log_loss_is_the_log_risk_of_the_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.random(300) < 1 / (1 + np.exp(-X[:, 0]))
    model = LogisticRegression().fit(X[:150], y[:150])
    found = measures.log_loss(y[150:], model.predict_proba(X[150:]))
    whole = risk.evaluate(model, X[150:], y[150:], loss="log")
    assert_allclose(found.interval, whole.interval, rtol=SUMMED)
    assert (found - whole).value == pytest.approx(0, abs=LAST_BITS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_brier_measure_is_the_risk_under_the_loss_brier(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["no", "yes", "zero"])[np.digitize(X[:, 0] + rng.normal(size=300), [0, 1])]
    X, y = X[y < "z"] if n_classes == 2 else X, y[y < "z"] if n_classes == 2 else y
    model = LogisticRegression().fit(X[:150], y[:150])
    loss = risk.evaluate(model, X[150:], y[150:], loss="brier")
    measure = measures.brier(y[150:], model.predict_proba(X[150:]))
    peer = metrics.brier_score_loss(y[150:], model.predict_proba(X[150:]), labels=np.unique(y))
    assert loss.value == measure.value == pytest.approx(peer, rel=LAST_BITS)
    assert (loss.interval, loss.loss) == (measure.interval, measure.loss)
    assert loss.bounds == measure.bounds == (0, n_classes - 1)
    # Bounded: Hoeffding's inequality holds for it, and scales with the range.
    bound = risk.bounds.hoeffding(loss)
    width = (n_classes - 1) * np.sqrt(np.log(20) / 2 / len(y[150:]))
    assert bound.interval[1] - loss.value == pytest.approx(width, rel=SUMMED)


def test_certain_and_wrong_is_finite():
    found = measures.log_loss([0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0])
    assert found.value == pytest.approx(-np.log(np.finfo(float).eps) / 2, rel=SUMMED)
    assert measures.brier([0, 1], [1.0, 0.0]).value == 1
    assert measures.brier([0, 1, 2], np.eye(3)[[1, 2, 0]]).value == 2


@pytest.mark.parametrize(
    ("p", "words"),
    [
        ([0.2, 1.2], "must lie between 0 and 1"),
        ([[0.2, 0.2], [0.5, 0.5]], "do not sum to one"),
        (np.full((2, 3), 1 / 3), "3 columns for 2 classes"),
    ],
)
def test_what_is_no_probability_is_refused(p, words):
    for measure in (measures.log_loss, measures.brier):
        with pytest.raises(DataError, match=words):
            measure([0, 1], p)
    with pytest.raises(DataError, match="the probabilities of one"):
        measures.log_loss([0, 1, 2], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 5, 10])
def test_the_calibration_curve_is_that_of_scikit_learn(strategy, n_bins):
    # With distinct probabilities and equal parts both definitions of a quantile cut alike.
    y, p = calibrated(500)
    curve = measures.calibration_curve(y, p**2, n_bins=n_bins, strategy=strategy)
    observed, predicted = peer_curve(y, p**2, n_bins=n_bins, strategy=strategy)
    assert_allclose(curve.observed, observed, rtol=SUMMED)
    assert_allclose(curve.predicted, predicted, rtol=SUMMED)
    assert_allclose(curve.share.sum(), 1, rtol=SUMMED)
    expected = np.abs(observed - predicted) @ curve.share
    assert_allclose(curve.error.value, expected, rtol=SUMMED)
    assert_allclose(curve.error.losses.mean(), expected, rtol=SUMMED)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_weights_are_copies_in_bins_too(strategy):
    y, p = calibrated(100)
    p = np.round(p, 2)
    weight = np.random.default_rng(1).integers(0, 4, size=100)
    row = np.repeat(np.arange(100), weight)
    one = measures.calibration_curve(y, p, n_bins=7, strategy=strategy, sample_weight=weight)
    two = measures.calibration_curve(y[row], p[row], n_bins=7, strategy=strategy)
    for name in ("observed", "predicted", "share"):
        assert_allclose(getattr(one, name), getattr(two, name), rtol=SUMMED)
    assert_allclose(one.error.value, two.error.value, rtol=SUMMED)


def test_each_bin_has_the_exact_interval_of_its_share():
    y, p = calibrated(60)
    curve = measures.calibration_curve(y, p, n_bins=3, level=0.9)
    place = np.searchsorted([1 / 3, 2 / 3], p)
    for b, ends in enumerate(curve.intervals):
        own = y[place == b]
        expected = stats.binomtest(int(own.sum()), len(own)).proportion_ci(0.9, "exact")
        assert_allclose(ends, expected, rtol=SOLVED)


def test_the_calibration_error_is_compared_with_that_of_calibrated_probabilities():
    # Its mean over 100 samples is the one foretold, by normal approximation, to 4 standard errors
    # (probability 6e-5) and 5 % for the approximation in bins of 20 rows.
    errors, foretold = [], []
    for seed in range(100):
        y, p = calibrated(200, seed)
        curve = measures.calibration_curve(y, p, n_bins=10, strategy="quantile")
        errors.append(curve.error.value)
        foretold.append(curve.error_if_calibrated)
    off = abs(np.mean(errors) - np.mean(foretold))
    assert off < 4 * np.std(errors) / 10 + 0.05 * np.mean(foretold)
    assert curve.error.interval is None
    assert "biased upwards" in str(curve.error)


def test_bins_that_make_no_sense_are_refused():
    y, p = calibrated(20)
    for number in (0, 2.5, None):
        with pytest.raises(ParameterError, match="n_bins"):
            measures.calibration_curve(y, p, n_bins=number)
    with pytest.raises(ParameterError, match="'uniform' or 'quantile'"):
        measures.calibration_curve(y, p, strategy="kmeans")
    alike = measures.calibration_curve(y, np.full(20, 0.3), n_bins=5, strategy="quantile")
    assert len(alike.share) == 1


def cost_of(y, score, threshold, a, b, weight):
    predicted = score > threshold
    return np.average(a * (predicted & (y == 0)) + b * (~predicted & (y == 1)), weights=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 4), (3, 0.5), (0, 1), (1, 0)])
def test_no_threshold_costs_less(a, b, weighted):
    rng = np.random.default_rng(0)
    y, p = calibrated(80)
    score = np.round(p + 0.3 * rng.normal(size=80), 1)  # ties, and no probabilities
    weight = rng.uniform(0.5, 2, size=80) if weighted else np.ones(80)
    found = measures.best_threshold(y, score, a=a, b=b, sample_weight=weight if weighted else None)
    everywhere = [-np.inf, *np.unique(score), *(np.unique(score) - 0.05), np.inf]
    least = min(cost_of(y, score, t, a, b, weight) for t in everywhere)
    assert_allclose(found.risk.value, least, rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(
        cost_of(y, score, found.value, a, b, weight), least, rtol=SUMMED, atol=LAST_BITS
    )
    for threshold, cost in zip(found.thresholds, found.costs, strict=True):
        expected = cost_of(y, score, threshold, a, b, weight)
        assert_allclose(cost, expected, rtol=1e-12, atol=1e-12)  # sums minus sums
    assert found.bayes_risk is None
    assert found.bayes_value == Asymmetric(a, b).threshold


def test_the_chosen_risk_has_no_interval_and_new_rows_give_an_honest_one():
    y, p = calibrated(300)
    found = measures.best_threshold(y, p, a=1, b=4)
    assert found.risk.interval is None
    assert found.risk.chosen_among == 301
    assert found.bayes_value == 0.2
    assert found.bayes_risk.interval is not None
    assert found.risk.value <= found.bayes_risk.value
    new_y, new_p = calibrated(300, seed=1)
    honest = found.evaluate(new_y, new_p)
    assert honest.value == pytest.approx(
        cost_of(new_y, new_p, found.value, 1, 4, np.ones(300)), rel=SUMMED
    )
    assert honest.interval is not None
    assert "0.2, the best for calibrated probabilities" in str(found)


def test_thresholds_of_many_classes_of_infinite_scores_and_of_neighbouring_numbers():
    labels = np.array(["a", "b", "c"] * 20)
    matrix = np.random.default_rng(0).dirichlet([1, 1, 1], size=60)
    many = measures.best_threshold(labels, matrix, positive="b")
    one = measures.best_threshold(labels == "b", matrix[:, 1])
    assert many.value == one.value
    assert many.loss.positive == "b"
    score = np.array([-np.inf, 0.0, np.inf, np.inf])
    found = measures.best_threshold([0, 0, 1, 1], score)
    assert (found.risk.value, found.value) == (0, 0)
    assert np.isfinite(found.costs).all()
    close = np.array([1.0, np.nextafter(1.0, 2)])
    assert measures.best_threshold([0, 1], close).risk.value == 0
