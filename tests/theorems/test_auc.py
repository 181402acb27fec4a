"""Statements of the lecture notes on measures of a classifier (B7.1), and on ranks.

Where the notes have slips the corrected statement is tested: AUC is the integral of the true over
the false positive rate, and a classifier that guesses has both rates 1 - t at the threshold t.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import mannwhitneyu, norm, rankdata

from empirisk.losses import Asymmetric
from empirisk.risk import measures
from tolerances import LAST_BITS, SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all
Z = norm.isf(ERROR_PROBABILITY / 2)


def scored(seed, n=70, ties=True):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    score = rng.normal(size=n) + y
    return y, np.round(score, 1 if ties else 12)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_auc_is_the_rank_statistic(seed, ties):
    y, score = scored(seed, ties=ties)
    m, n = np.count_nonzero(y == 1), np.count_nonzero(y == 0)
    found = measures.auc(y, score).value
    # The share of pairs in the right order, ties by half.
    pairs = score[y == 1][:, None] - score[y == 0]
    assert_allclose(found, np.mean((pairs > 0) + 0.5 * (pairs == 0)), rtol=LAST_BITS)
    # The sum of the midranks of the positives, as Wilcoxon has it, and the statistic U.
    ranks = rankdata(score)[y == 1].sum()
    assert_allclose(found, (ranks - m * (m + 1) / 2) / (m * n), rtol=LAST_BITS)
    assert_allclose(
        found, mannwhitneyu(score[y == 1], score[y == 0]).statistic / (m * n), rtol=SUMMED
    )


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_auc_is_the_integral_of_the_true_over_the_false_positive_rate(seed, weighted):
    y, score = scored(seed)
    weight = np.random.default_rng(seed).uniform(size=len(y)) if weighted else None
    curve = measures.roc_curve(y, score, sample_weight=weight)
    area = np.trapezoid(curve.true_positive_rate, curve.false_positive_rate)
    assert_allclose(curve.auc.value, area, rtol=SUMMED)
    # Printed the other way round it is one minus that.
    other = np.trapezoid(curve.false_positive_rate, curve.true_positive_rate)
    assert_allclose(1 - curve.auc.value, other, rtol=SUMMED)
    for rate in (curve.false_positive_rate, curve.true_positive_rate):
        assert (rate[0], rate[-1]) == (0, pytest.approx(1, rel=LAST_BITS))
        assert (np.diff(rate) >= 0).all()


def test_auc_of_gaussian_scores_is_that_of_theory():
    """N(d, 1) against N(0, 1): P(S+ > S-) = Phi(d / sqrt 2)."""
    rng = np.random.default_rng(0)
    for d in (0.0, 0.7, 2.0):
        y = np.repeat([0, 1], 4000)
        found = measures.auc(y, rng.normal(size=8000) + d * y)
        assert abs(found.value - norm.cdf(d / np.sqrt(2))) < Z * found.standard_error


def test_a_guess_has_both_rates_one_minus_t():
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.3
    score = rng.uniform(size=20_000)
    curve = measures.roc_curve(y, score)
    for t in (0.1, 0.5, 0.8):
        at = np.argmax(curve.thresholds < t)
        for rate, n in (
            (curve.true_positive_rate, y.sum()),
            (curve.false_positive_rate, (~y).sum()),
        ):
            assert abs(rate[at] - (1 - t)) < Z * np.sqrt(t * (1 - t) / n) + 1 / n
    assert abs(curve.auc.value - 0.5) < Z * curve.auc.standard_error


def test_an_ideal_classifier_has_area_one():
    y, _ = scored(0)
    curve = measures.roc_curve(y, y)
    assert curve.auc.value == 1
    assert_array_equal(curve.true_positive_rate[1:], 1)


@pytest.mark.parametrize("seed", range(5))
def test_f_is_the_harmonic_mean_of_precision_and_recall(seed):
    rng = np.random.default_rng(seed)
    y, prediction = rng.integers(2, size=(2, 60))
    p, r = measures.precision(y, prediction).value, measures.recall(y, prediction).value
    assert_allclose(measures.f_score(y, prediction).value, 2 / (1 / p + 1 / r), rtol=LAST_BITS)
    for beta in (0.5, 2.0):
        expected = (1 + beta**2) * p * r / (beta**2 * p + r)
        assert_allclose(measures.f_score(y, prediction, beta=beta).value, expected, rtol=LAST_BITS)


def test_the_table_of_the_notes_gives_all_measures():
    """TP 30, FN 10, FP 20, TN 40; theirs has predictions in rows, ours true classes."""
    y, prediction = (
        np.repeat([1, 1, 0, 0], [30, 10, 20, 40]),
        np.repeat([1, 0, 1, 0], [30, 10, 20, 40]),
    )
    assert_array_equal(measures.confusion_matrix(y, prediction), [[40, 20], [10, 30]])
    assert measures.precision(y, prediction).value == 30 / 50
    assert measures.recall(y, prediction).value == 30 / 40
    assert measures.specificity(y, prediction).value == 40 / 60
    assert measures.accuracy(y, prediction).value == 70 / 100
    # The empirical risk under the 0-1 loss is (FN + FP) / n.
    assert 1 - measures.accuracy(y, prediction).value == pytest.approx((10 + 20) / 100, rel=1e-15)


def test_the_bayes_threshold_is_best_for_calibrated_probabilities():
    """With eta uniform the cost at t is a (1-t)^2/2 + b t^2/2, least at t = a/(a+b)."""
    rng = np.random.default_rng(2)
    n, a, b = 40_000, 1.0, 3.0
    eta = rng.uniform(size=n)
    y = (rng.random(n) < eta).astype(int)
    found = measures.best_threshold(y, eta, a=a, b=b)
    assert found.bayes_value == Asymmetric(a, b).threshold == 0.25
    least = a * 0.75**2 / 2 + b * 0.25**2 / 2
    assert abs(found.bayes_risk.value - least) < Z * found.bayes_risk.standard_error
    # The chosen one is no better in truth: its excess is (a+b)/2 (t - 1/4)^2.
    excess = (a + b) / 2 * (found.value - 0.25) ** 2
    assert 0 <= excess < 2 * Z * found.bayes_risk.standard_error
    assert found.risk.value <= found.bayes_risk.value
