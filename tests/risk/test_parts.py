"""Parts that no split divides: sums over training rows, and held-out values of linear functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, TimeSeriesSplit

from empirisk import Plan
from empirisk.risk.intervals.refits import paired
from empirisk.risk.plans import parts as module
from empirisk.risk.plans.parts import about_own_means, parts_of
from tolerances import SUMMED

rng = np.random.default_rng(0)
X, y = rng.normal(size=(43, 3)), rng.normal(size=43)

PLANS = {
    "folds": Plan.of(5, X, y, random_state=0),
    "pairs of an odd number": paired(Plan.of(5, X, y, random_state=0))[0],
    "pairs of an even number": paired(Plan.of(4, X, y, random_state=0))[0],
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("rows_at_once", [4, 4096])
def test_training_sums_are_those_of_the_training_rows(plan, rows_at_once, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", rows_at_once)
    n, total = parts_of(plan).training_sums(lambda rows: (len(rows), X[rows].T @ X[rows]))
    assert_array_equal(n, parts_of(plan).trained_on)
    for s in range(plan.n_splits):
        train = plan.train(s)
        assert n[s] == len(train)
        assert_allclose(total[s], X[train].T @ X[train], rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("rows_per_block", [3, 1000])
def test_every_row_gets_the_values_of_the_split_that_holds_it_out(plan, rows_per_block):
    coef, constant = rng.normal(size=(plan.n_splits, 2, 3)), rng.normal(size=(plan.n_splits, 2))
    values = np.full((plan.repeats, 43, 2), np.nan)
    for r, rows, some in parts_of(plan).linear(X, np.ones(3), coef, constant, rows_per_block):
        assert len(rows) <= rows_per_block
        assert np.isnan(values[r, rows]).all()
        values[r, rows] = some
    for s in range(plan.n_splits):
        test = plan.test(s)
        expected = (X[test] - 1) @ coef[s].T + constant[s]
        assert_allclose(values[plan.repeat(s), test], expected, rtol=SUMMED, atol=SUMMED)


def test_unrelated_repeats_other_training_rows_and_many_folds_have_no_parts():
    assert len(parts_of(Plan.of(LeaveOneOut(), X, y)).rows) == 43
    assert parts_of(Plan.of(TimeSeriesSplit(3), X, y)) is None
    many = np.zeros((606, 1))
    assert len(parts_of(Plan.of(KFold(100), many, many[:, 0])).rows) == 100
    assert parts_of(Plan.of(KFold(101), many, many[:, 0])) is None
    unrelated = RepeatedKFold(n_splits=6, n_repeats=3, random_state=0)
    assert parts_of(Plan.of(unrelated, many, many[:, 0])) is None


def test_scatter_about_class_means_from_sums_about_other_centres():
    codes, weight = np.arange(43) % 2, rng.uniform(0.5, 2, size=43)
    centre = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    away = X - centre[codes]
    square = (away * weight[:, None]).T @ away
    first = np.array([weight[codes == k] @ away[codes == k] for k in range(2)])
    total = np.bincount(codes, weight)
    before = np.diagonal(square).copy()
    shift, lost = about_own_means(square[None], first[None], total[None])
    means = [np.average(X[codes == k], axis=0, weights=weight[codes == k]) for k in range(2)]
    assert_allclose(centre + shift[0], means, rtol=SUMMED)
    rest = X - np.array(means)[codes]
    assert_allclose(square, (rest * weight[:, None]).T @ rest, rtol=SUMMED, atol=SUMMED)
    assert_allclose(lost[0], before / np.diagonal(square), rtol=SUMMED)
    assert (lost > 1).all()
