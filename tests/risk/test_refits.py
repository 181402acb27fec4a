"""Nested cross-validation and conservative Z, against loops written out."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression as Foreign
from sklearn.model_selection import TimeSeriesSplit

from empirisk import PCA, LinearDiscriminantAnalysis, LinearRegression, Plan, risk
from empirisk.risk.intervals import refits
from empirisk.risk.intervals.refits import paired
from empirisk.runtime.errors import ParameterError, PlanError
from empirisk.runtime.streams import spawn
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(63, 3))
y = X @ [1.0, 2.0, 0.0] + rng.normal(size=63)


@pytest.fixture(autouse=True)
def _few_repetitions(monkeypatch):
    monkeypatch.setattr(refits, "REPETITIONS", 2)
    monkeypatch.setattr(refits, "HALVINGS", 3)


def losses_without(out, test, weight):
    model = Foreign().fit(X[~out], y[~out], weight[~out])
    return (y[test] - model.predict(X[test])) ** 2


@pytest.mark.parametrize("folds", [3, 4, 5, 10])
def test_every_two_folds_are_held_out_together_once(folds):
    plan = Plan.of(folds, X, y, random_state=0)
    pairs, partner = paired(plan)
    assert pairs.is_partition
    fold = plan.fold[0]
    held = [tuple(np.unique(fold[pairs.test(s)])) for s in range(pairs.n_splits)]
    alone = [(k,) for k in range(folds)]
    assert sorted(held) == sorted([*alone, *combinations(range(folds), 2)])
    for s, together in enumerate(held):
        assert {*partner[pairs.repeat(s), list(together)]} == {*together}


@pytest.mark.parametrize("folds", [4, 5])
@pytest.mark.parametrize("heaviest", [None, 1.0, 1e20])
def test_nested_cross_validation_is_its_definition(folds, heaviest):
    weight = np.ones(63) if heaviest is None else rng.uniform(0.5, 2, size=63)
    weight[7] *= heaviest or 1.0
    found = risk.nested_cross_validate(
        LinearRegression(), X, y, cv=folds, sample_weight=weight, level=0.9, random_state=5
    )
    squares, inside, outside = [], [], []
    for seed in spawn(5, 2):
        plan = Plan.of(folds, X, y, sample_weight=weight, random_state=seed)
        fold, inner_means, outer_means = plan.fold[0], [], []
        for k in range(folds):
            outer = losses_without(fold == k, fold == k, weight)
            w = weight[fold == k] / weight[fold == k].sum()
            inner, inner_weight = [], []
            for other in set(range(folds)) - {k}:
                test = fold == other
                inner.append(losses_without((fold == k) | test, test, weight))
                inner_weight.append(weight[test])
            inner_means.append(
                np.average(np.concatenate(inner), weights=np.concatenate(inner_weight))
            )
            outer_means.append(w @ outer)
            m = len(w)
            error = m / (m - 1) * np.sum((w * (outer - w @ outer)) ** 2)
            squares.append((inner_means[-1] - outer_means[-1]) ** 2 - error)
        total = np.bincount(fold, weight)
        inside.append(np.average(inner_means, weights=total.sum() - total))
        outside.append(np.average(outer_means, weights=total))
    bias = (1 + (folds - 2) / folds) * (np.mean(inside) - np.mean(outside))
    assert_allclose(found.value, np.mean(inside) - bias, rtol=SUMMED)
    per_row = found.table.standard_error()
    error = np.sqrt(max((folds - 1) / folds * np.mean(squares), 0.0))
    error = min(max(error, per_row), np.sqrt(folds) * per_row)
    assert_allclose(found.standard_error, error, rtol=SUMMED)
    half = stats.norm.ppf(0.95) * error
    assert_allclose(found.interval, (found.value - half, found.value + half), rtol=SUMMED)
    assert "nested" in found.method


def test_conservative_z_is_its_definition():
    found = risk.cross_validate(LinearRegression(), X, y, method="conservative_z", random_state=5)
    seeds, squares = spawn(5, 6), []
    for m in range(3):
        halves = Plan.of(2, X, y, random_state=seeds[2 * m])
        means = []
        for h in range(2):
            rows = halves.test(h)
            plan = Plan.of(5, X[rows], y[rows], random_state=seeds[2 * m + 1])
            losses = []
            for k in range(5):
                out = np.ones(63, dtype=bool)
                out[rows[plan.train(k)]] = False
                losses.append(losses_without(out, rows[plan.test(k)], np.ones(63)))
            means.append(np.concatenate(losses).mean())
        squares.append((means[0] - means[1]) ** 2)
    assert_allclose(found.standard_error, np.sqrt(np.mean(squares) / 2), rtol=SUMMED)
    assert found.value == risk.cross_validate(LinearRegression(), X, y, random_state=5).value


@pytest.mark.parametrize("method", ["nested", "conservative_z"])
def test_fast_and_generic_fits_agree(method):
    a, b = (
        risk.cross_validate(learner, X, y, cv=4, method=method, random_state=0)
        for learner in (LinearRegression(), Foreign())
    )
    assert_allclose(a.interval, b.interval, rtol=SUMMED)


@pytest.mark.parametrize("method", ["nested", "conservative_z"])
def test_refits_scale_with_the_target_and_keep_groups_and_classes(method):
    a, b = (
        risk.cross_validate(LinearRegression(), X, scale * y, method=method, random_state=0)
        for scale in (1.0, 1e75)
    )
    assert_allclose(b.interval, 1e150 * np.array(a.interval), rtol=SUMMED)
    labels = np.where(y > 0, "up", "down")
    found = risk.cross_validate(
        LinearDiscriminantAnalysis(), X, labels,
        groups=np.arange(63) // 3, cv=5, method=method, random_state=0,
    )  # fmt: skip
    assert 0 <= found.interval[0] < found.value < found.interval[1] <= 1


class Hasty(RegressorMixin, BaseEstimator):
    """The mean; of less than 50 rows, a number whose square is none."""

    def fit(self, X, y):
        self.level_ = np.mean(y) if len(y) >= 50 else 1e200
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


@pytest.mark.parametrize("method", ["nested", "conservative_z"])
def test_losses_that_are_infinite_in_smaller_training_parts_give_no_interval(method):
    found = risk.cross_validate(Hasty(), X, y, cv=5, method=method, random_state=0)
    assert found.interval is None
    assert np.isfinite(found.value)
    assert "not finite" in found.reason


def test_plans_that_cannot_be_dealt_anew_are_refused():
    for cv in (TimeSeriesSplit(3), [(np.arange(30), np.arange(30, 63))]):
        with pytest.raises(PlanError, match="folds anew"):
            risk.cross_validate(LinearRegression(), X, y, cv=cv, method="nested")
    with pytest.raises(ParameterError, match="'nested' or 'conservative_z'"):
        risk.cross_validate(LinearRegression(), X, y, method="nest")


@pytest.mark.parametrize("method", ["nested", "conservative_z"])
def test_no_loss_and_too_few_rows_have_no_interval(method):
    labels = X[:, 0] > 0
    apart = np.column_stack([X, 100.0 * labels])
    exact = risk.cross_validate(
        LinearDiscriminantAnalysis(shrinkage=0.5), apart, labels, method=method
    )
    assert (exact.value, exact.interval) == (0.0, None)
    few = risk.cross_validate(LinearRegression(), X[:7, :1], y[:7], cv=2, method=method)
    assert few.interval is None
    assert "few" in few.reason or "3 folds" in few.reason


def test_halves_of_rows_without_labels_are_judged():
    rows = np.random.default_rng(0).normal(size=(200, 4))
    found = risk.cross_validate(PCA(2), rows, None, method="conservative_z", random_state=0)
    assert found.interval[0] < found.value < found.interval[1]
