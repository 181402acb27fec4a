"""Densities in the engine: judged without labels, by rows held out, infinite losses included."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold
from sklearn.neighbors import KernelDensity as PeerKernelDensity

from empirisk import (
    KernelDensity,
    KMeans,
    ParametricDensity,
    PoissonMixture,
    Tuned,
    compare,
    risk,
    select,
)
from empirisk.learners.density.density_estimator import DensityMixin
from empirisk.risk.axis import Axis
from empirisk.risk.without_labels import FittedPath
from empirisk.runtime.validation import check_predict, check_rows
from tolerances import SUMMED


class Normal(DensityMixin, BaseEstimator):
    """N(mean, spread^2) of one column; zero further than `reach` spreads from the mean."""

    axis: ClassVar = Axis(("spread",), larger="simpler", scale="log")

    def __init__(self, spread=1.0, reach=np.inf):
        self.spread = spread
        self.reach = reach

    def fit(self, X, y=None, sample_weight=None):
        rows, weight = check_rows(self, X, sample_weight)
        self.mean_ = np.average(rows[:, 0], weights=weight)
        return self

    def score_samples(self, X):
        place = (check_predict(self, X)[:, 0] - self.mean_) / self.spread
        found = stats.norm.logpdf(place) - np.log(self.spread)
        return np.where(np.abs(place) > self.reach, -np.inf, found)

    def axis_values(self, X, y, sample_weight, *, n_train):
        return [0.5, 1.0, 2.0]

    def fit_path(self, X, y, sample_weight, values, *, n_classes=0):
        fits = [clone(self).set_params(spread=value) for value in values]
        return FittedPath([fit.fit(X, sample_weight=sample_weight) for fit in fits])


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(2.0, 1.0, size=(80, 1))


def test_the_held_out_risk_is_minus_the_held_out_log_likelihood(rows):
    cv = KFold(4, shuffle=True, random_state=0)
    by_hand = np.concatenate(
        [-Normal().fit(rows[train]).score_samples(rows[test]) for train, test in cv.split(rows)]
    )
    found = Normal().density_risk(rows, cv=cv)
    assert_allclose(found.value, by_hand.mean(), rtol=1e-12)  # sums in another order
    assert found.loss == "log_density"
    low, high = found.interval
    assert low < found.value < high


def test_a_foreign_density_is_judged_alike(rows):
    found = risk.cross_validate(PeerKernelDensity(), rows, None, cv=4, loss="log_density")
    assert np.isfinite(found.value)
    model = PeerKernelDensity().fit(rows[:40])
    on_new = risk.evaluate(model, rows[40:], None, loss="log_density")
    assert_allclose(on_new.value, -model.score(rows[40:]) / 40, rtol=SUMMED)


def test_tuned_chooses_by_the_held_out_likelihood(rows):
    tuned = Tuned(Normal(), cv=5).fit(rows)
    assert tuned.best_value_ == 1.0
    assert tuned.risk_.loss == "log_density"
    assert_array_equal(tuned.score_samples(rows), tuned.best_estimator_.score_samples(rows))
    path = Normal().density_path(rows, cv=5)
    assert_allclose(path.risk, tuned.path_.risk, rtol=SUMMED)
    generic = Tuned(Normal(), axis=Axis(("spread",), "simpler", "log"), values=[0.5, 1, 2], cv=5)
    assert_allclose(generic.fit(rows).path_.risk, path.risk, rtol=SUMMED)


def test_a_negative_risk_has_its_interval(rows):
    tight = Normal(spread=1e-3).density_risk(rows * 1e-3)
    low, high = tight.interval
    assert low < tight.value < high < 0


def test_densities_of_zero_are_infinite_losses_and_never_nan(rows):
    cut = Normal(reach=1.0)
    found = cut.density_risk(rows, cv=5)
    assert found.value == np.inf
    assert found.interval is None
    assert found.standard_error is None
    assert "not finite" in found.reason
    assert "inf" in str(found)
    on_new = risk.evaluate(cut.fit(rows), rows, None, loss="log_density")
    assert on_new.value == np.inf
    assert on_new.interval is None
    tuned = Tuned(cut, values=[0.1, 1.0, 10.0], cv=5).fit(rows)
    assert tuned.best_value_ == 10.0
    assert not np.isnan(tuned.path_.risk).any()
    assert np.isfinite(tuned.risk_.value)
    with pytest.raises(ValueError, match="infinite at every value"):
        Tuned(cut, values=[0.1, 0.2], cv=5).fit(rows)
    tuned.path_.plot()


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (KernelDensity(kernel="tophat"), [1.0, 3.0]),
        (ParametricDensity("uniform"), [1.0, 3.0]),
        (PoissonMixture(), [0.0, 0.0]),
        (KMeans(1), [1.0, 3.0]),
    ],
    ids=str,
)
def test_an_impossible_row_of_weight_zero_counts_nothing(model, values):
    few = np.array(values)[:, np.newaxis]
    fitted, more, weight = model.fit(few), np.vstack([few, [[1e200]]]), [1.0, 2.0, 0.0]
    alone = fitted.score(few, sample_weight=[1.0, 2.0])
    assert np.isfinite(alone)
    assert fitted.score(more, sample_weight=weight) == alone
    if hasattr(fitted, "icl"):
        for criterion in (fitted.aic, fitted.bic, fitted.icl):
            assert criterion(more, sample_weight=weight) == criterion(few, sample_weight=[1.0, 2.0])


def test_rivals_of_infinite_risk_come_last(rows):
    found = compare({"all": Normal(), "cut": Normal(reach=1.0)}, rows, None, cv=5)
    assert found.risks["cut"].value == np.inf
    assert np.isfinite(found.risks["all"].value)


def test_densities_are_selected_without_a_baseline(rows):
    found = select({"one": Normal(), "cut": Normal(reach=9.0)}, rows, None, cv=4, random_state=0)
    assert found.name in ("one", "cut")
    assert found.value == 1.0
    assert np.isfinite(found.training_risk)


def test_an_infinite_density_is_refused(rows):
    class Spike(Normal):
        def score_samples(self, X):
            return np.full(len(X), np.inf)

    with pytest.raises(ValueError, match="NaN or infinity"):
        risk.evaluate(Spike().fit(rows), rows, None, loss="log_density")


def test_other_losses_are_refused_clearly(rows):
    with pytest.raises(ValueError, match="log_density"):
        Normal().fit(rows).losses_of_rows(rows, "reconstruction")
    with pytest.raises(ValueError, match="predicts none"):
        risk.cross_validate(Normal(), rows, rows[:, 0], loss="squared")
    with pytest.raises(ValueError, match="is for classification, and Normal predicts no y"):
        risk.cross_validate(Normal(), rows, None, loss="zero_one")
