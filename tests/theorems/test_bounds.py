"""Bounds hold with their stated probability, whatever the distribution (A3 and beyond).

Each statistical test fails with probability 1e-6 or less; the seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from empirisk import LinearDiscriminantAnalysis
from empirisk.risk import bounds
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.interval import Interval
from empirisk.risk.intervals.loss_table import LossTable

LEVEL = 0.9


def estimate(losses):
    n = len(losses)
    table = LossTable(
        losses=np.asarray(losses, dtype=float),
        weight=np.ones(n),
        unit=np.arange(n),
        split=np.zeros(n, dtype=int),
        n_train=np.inf,
        kind="test",
        bounds=(0.0, 1.0),
    )
    # No interval is wanted here: the bounds read the table.
    found = Interval(table.mean(), None, None, "none", "")
    return RiskEstimate.of(
        table, loss="zero_one", estimates="this model", fingerprint="x", found=found
    )


def most_failures(trials, probability=1 - LEVEL):
    """More failures have probability 1e-6 where each has at most the given probability."""
    return stats.binom.isf(1e-6, trials, probability)


DISTRIBUTIONS = {
    "fair coin": (lambda rng, n: rng.random(n) < 0.5, 0.5),
    "rare mistakes": (lambda rng, n: rng.random(n) < 0.02, 0.02),
    "skew": (lambda rng, n: rng.beta(0.2, 1.8, n), 0.1),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize(
    "bound", [bounds.hoeffding, bounds.chernoff, bounds.empirical_bernstein, bounds.clopper_pearson]
)
@pytest.mark.parametrize("sides", ["upper", "both"])
def test_the_bound_holds_at_its_level(bound, name, sides):
    draw, risk = DISTRIBUTIONS[name]
    if bound is bounds.clopper_pearson and name == "skew":
        name, (draw, risk) = "fair coin", DISTRIBUTIONS["fair coin"]
    rng = np.random.default_rng(0)
    trials, failures = 200, 0
    for _ in range(trials):
        low, high = bound(estimate(draw(rng, 40)), level=LEVEL, sides=sides).interval
        failures += not low <= risk <= high
    assert failures <= most_failures(trials)


@pytest.mark.parametrize("even", [True, False], ids=["even", "uneven"])
@pytest.mark.parametrize("bound", [bounds.hoeffding, bounds.chernoff, bounds.empirical_bernstein])
def test_of_groups_the_bound_holds_where_that_of_their_rows_does_not(bound, even):
    """All rows of a group have one loss, 1 with probability 0.5."""
    if bound is bounds.chernoff and not even:
        pytest.skip("it is for units of equal weight")
    rng = np.random.default_rng(0)
    trials, by_groups, by_rows = 150, 0, 0
    size = np.full(30, 100) if even else np.tile([20, 40, 200], 10)
    group = np.repeat(np.arange(30), size)
    for _ in range(trials):
        plain = estimate((rng.random(30) < 0.5)[group])
        grouped = replace(plain, table=replace(plain.table, unit=group))
        by_groups += bound(grouped, level=LEVEL).interval[1] < 0.5
        by_rows += bound(plain, level=LEVEL).interval[1] < 0.5
    assert by_groups <= most_failures(trials)
    assert by_rows > most_failures(trials)


def test_the_sharpest_bound_fails_about_as_often_as_it_may():
    # Clopper-Pearson at p = 0.5, n = 41: of the failures allowed, most happen.
    upper = [bounds.clopper_pearson(estimate(np.arange(41) < k), level=LEVEL) for k in range(42)]
    fails = np.array([found.interval[1] < 0.5 for found in upper])
    probability = stats.binom.pmf(np.arange(42), 41, 0.5)[fails].sum()
    assert 0.05 < probability <= 1 - LEVEL


def test_the_union_bound_holds_for_the_best_of_many_and_one_alone_does_not():
    # A3: P(max_h R(h) - R_n(h) > t) <= sum over h.
    rng = np.random.default_rng(1)
    M, n, trials, risk = 60, 50, 300, 0.5
    union_fails = alone_fails = 0
    for _ in range(trials):
        losses = rng.random((n, M)) < risk
        best = estimate(losses[:, losses.mean(axis=0).argmin()])
        union_fails += bounds.union(best, among=M, level=LEVEL).interval[1] < risk
        alone_fails += bounds.hoeffding(best, level=LEVEL).interval[1] < risk
    assert union_fails <= most_failures(trials)
    assert alone_fails > most_failures(trials)


def test_the_mean_of_folds_obeys_the_bound_of_one_fold():
    """Even where the folds are as dependent as can be: all of them the same rows."""
    rng = np.random.default_rng(2)
    trials, failures, n = 300, 0, 30
    for _ in range(trials):
        rows = rng.random(n) < 0.3
        table = LossTable(
            losses=np.tile(rows, 4).astype(float),
            weight=np.ones(4 * n),
            unit=np.arange(4 * n),
            split=np.repeat(np.arange(4), n),
            n_train=90.0,
            kind="kfold",
            bounds=(0.0, 1.0),
        )
        found = replace(estimate(rows), table=table, estimates="the procedure at this n")
        failures += bounds.hoeffding(found, level=LEVEL).interval[1] < 0.3
    assert 0 < failures <= most_failures(trials)


class Threshold(ClassifierMixin, BaseEstimator):
    """The best threshold on one feature for the training rows: VC dimension 1."""

    classes_ = np.array([0, 1])
    n_features_in_ = 1

    def fit(self, X, y):
        order = np.argsort(X[:, 0])
        wrong = np.cumsum(np.append(0, np.where(y[order] == 1, 1, -1)))
        cut = wrong.argmin()
        x = X[order, 0]
        self.cut = -np.inf if cut == 0 else x[cut - 1]
        return self

    def predict(self, X):
        return (X[:, 0] > self.cut).astype(int)


def test_the_training_error_of_the_minimiser_is_too_good_and_the_vc_bound_is_not():
    """y is a coin: the best threshold seems to do better than 1/2, and no rule can."""
    rng = np.random.default_rng(3)
    training, failures, trials = [], 0, 200
    for _ in range(trials):
        X, y = rng.normal(size=(60, 1)), rng.integers(0, 2, 60)
        found = bounds.vc(Threshold().fit(X, y), X, y, dimension=1, level=LEVEL)
        training.append(found.value)
        failures += found.interval[1] < 0.5
    margin = stats.norm.isf(1e-6) * np.std(training) / np.sqrt(trials)
    assert np.mean(training) + margin < 0.5
    assert failures <= most_failures(trials)


def test_the_margin_bound_holds():
    rng = np.random.default_rng(4)
    trials, failures = 60, 0
    for _ in range(trials):
        y = rng.integers(0, 2, 300)
        X = rng.normal(size=(300, 3)) + 2.0 * np.where(y, 1, -1)[:, None] * [1, 0, 0]
        model = LinearDiscriminantAnalysis().fit(X, y)
        w, b = model.coef_[0], model.intercept_[0]
        size = np.linalg.norm(w)
        truth = np.mean([stats.norm.cdf(-(s * b + 2.0 * w[0]) / size) for s in (-1, 1)])
        found = bounds.rademacher(model, X, y, level=LEVEL, n_draws=100, random_state=0)
        failures += found.interval[1] < truth
    assert failures <= most_failures(trials)
