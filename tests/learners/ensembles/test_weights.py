"""Where rows are drawn, a row of weight w and w copies of it are alike in distribution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.neighbors import KNeighborsRegressor

from empirisk import BaggingClassifier, BaggingRegressor
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

ERROR_PROBABILITY = 1e-6  # of each test here; the seeds are fixed, so once for all


class Mean(RegressorMixin, BaseEstimator):
    """The weighted mean, of which hundreds are fitted at once."""

    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def means(X, y, weight, settings, seed, groups=None, B=600):
    """The means of many draws."""
    bag = BaggingRegressor(Mean(), B, random_state=seed, **settings).fit(X, y, weight, groups)
    return [member.mean_ for member in bag.estimators_]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_samples": 0.5},
        {"max_samples": 7},
        {"max_samples": 0.5, "bootstrap": False},
    ],
)
def test_a_weighted_row_is_so_many_copies_in_distribution(settings):
    rng = np.random.default_rng(0)
    X, y = np.zeros((12, 1)), rng.normal(size=12)
    weight = np.array([0, 1, 2, 3, 1, 1, 0, 5, 1, 2, 1, 4])
    copies = np.repeat(np.arange(12), weight)
    weighted = means(X, y, weight, settings, 0)
    repeated = means(X[copies], y[copies], None, settings, 1)
    ignored = means(X, y, None, settings, 2)
    assert stats.ks_2samp(weighted, repeated).pvalue > ERROR_PROBABILITY
    assert stats.ks_2samp(weighted, ignored).pvalue < ERROR_PROBABILITY  # the test can fail


def test_copies_within_groups_are_weights_within_groups():
    X, y = np.zeros((6, 1)), np.arange(6.0) ** 2
    weight, groups = np.array([1, 3, 0, 2, 1, 1]), np.array([0, 0, 0, 1, 1, 2])
    copies = np.repeat(np.arange(6), weight)
    # Groups are drawn alike, so the draws are the same and not only their distribution.
    weighted = means(X, y, weight, {}, 0, groups, B=20)
    assert_allclose(
        weighted, means(X[copies], y[copies], None, {}, 0, groups[copies], B=20), rtol=SUMMED
    )


def test_weights_that_are_no_whole_numbers_are_kept_without_replacement():
    X, y = np.zeros((5, 1)), np.arange(5.0)
    weight = np.array([0.5, 1.0, 0.25, 2.0, 1.0])
    bag = BaggingRegressor(Mean(), 3, bootstrap=False).fit(X, y, weight)
    assert_allclose(bag.predict(X[:1]), np.average(y, weights=weight), rtol=SUMMED)
    with pytest.raises(ParameterError, match="KNeighborsRegressor takes no sample_weight"):
        BaggingRegressor(KNeighborsRegressor(1), bootstrap=False).fit(X, y, weight)


def test_classes_weigh_as_their_rows():
    X, y = np.zeros((4, 1)), np.array(["a", "b", "b", "b"])
    bag = BaggingClassifier(n_estimators=400, random_state=0).fit(X, y, [9, 1, 1, 1])
    # The mean of 400 shares of 12 draws, 9/12 each: sd 0.00625; 5 of them, P < 1e-6.
    assert_allclose(bag.predict_proba(X[:1])[0, 0], 0.75, rtol=0, atol=5 * 0.00625)
