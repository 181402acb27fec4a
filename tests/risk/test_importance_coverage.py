"""How often the intervals of importances cover; each bound is passed by chance in 1 of 1000 seeds.

A share of 0.95 of B samples has the standard error sqrt(0.95 * 0.05 / B); 3.1 of them are allowed.
"""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from empirisk.risk import importance
from empirisk.risk.importances.error import of_swapped_rows
from empirisk.risk.importances.permuting import draw_donors
from empirisk.risk.intervals.loss_table import LossTable


def least(samples):
    return 0.95 - 3.1 * np.sqrt(0.95 * 0.05 / samples)


def table_of(unit):
    n = len(unit)
    return LossTable(np.zeros(n), np.ones(n), unit, np.zeros(n, np.int64), np.inf, "test")


def covered(n, repeats, samples, loss, truth, draw=np.random.Generator.standard_normal, copies=1):
    """The share of samples of n units whose interval has the true importance of x inside.

    loss(x, z, own) is that of rows with the feature x, the rest z, and the feature taken, `own`.
    """
    rng, inside = np.random.default_rng(0), 0
    unit = np.repeat(np.arange(n), copies)
    for _ in range(samples):
        x, z = draw(rng, n)[unit], rng.standard_normal(n * copies)
        all_donors = np.array([draw_donors(np.ones(len(unit)), unit, rng) for _ in range(repeats)])
        rises = np.array([loss(x, z, x[donors]) - loss(x, z, x) for donors in all_donors])
        found = of_swapped_rows(rises, all_donors, table_of(unit), (-np.inf, np.inf), 0.95)
        inside += found.ends[0] <= truth <= found.ends[1]
    return inside / samples


def squared(x, z, taken):
    """y = x + z is predicted by x: the importance is 2."""
    return (x + z - taken) ** 2


def zero_one(x, z, taken):
    """The sign of x + z is predicted by that of x: it is wrong in 1/4, and in 1/2 without x."""
    return ((x + z > 0) != (taken > 0)).astype(float)


@pytest.mark.parametrize("repeats", [1, 5])
def test_intervals_cover_the_importance_for_a_linear_rule(repeats):
    assert covered(60, repeats, 400, squared, 2.0) > least(400)


def test_intervals_cover_the_importance_for_a_rule_of_classes():
    assert covered(60, 5, 400, zero_one, 0.25) > least(400)


def test_groups_of_rows_are_the_units_that_are_covered():
    """Rows of a group have the same x; as if independent they cover about 0.85."""
    assert covered(60, 3, 300, squared, 2.0, copies=4) > least(300)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 100, 400])
def test_intervals_cover_at_several_sizes(n):
    assert covered(n, 5, 2000, squared, 2.0) > least(2000)
    assert covered(n, 30, 1000, squared, 2.0) > least(1000)
    assert covered(n, 5, 2000, zero_one, 0.25) > least(2000)


@pytest.mark.slow
def test_intervals_of_a_skew_feature_cover_with_enough_rows():
    def draw(rng, n):
        return rng.exponential(size=n) - 1

    assert covered(200, 5, 2000, squared, 2.0, draw) > least(2000)


def sample(seed, n, b):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(b)))
    return X, X @ b + rng.normal(size=n), rng


def risk_of(X, y, b):
    """The true risk of least squares for y = X b + noise of variance 1, and its coefficients."""
    constant, *coef = np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y)[0]
    return 1 + constant**2 + np.square(coef - b).sum(), np.array(coef)


@pytest.mark.slow
def test_out_of_fold_covers_the_importance_for_the_model_of_all_rows():
    b, inside = np.array([1.0, 0.3]), []
    for seed in range(250):
        X, y, _ = sample(seed, 60, b)
        truth = 2 * b * risk_of(X, y, b)[1]  # 2 Cov(x_j, y) times the coefficient
        found = importance(LinearRegression(), X, y, how="out_of_fold", cv=5, random_state=seed)
        inside.append((found.interval[:, 0] <= truth) & (truth <= found.interval[:, 1]))
    assert (np.mean(inside, axis=0) > least(250)).all()


@pytest.mark.slow
def test_retraining_covers_what_the_model_of_all_rows_loses():
    b, inside = np.array([1.0, 0.3]), []
    for seed in range(120):
        X, y, rng = sample(seed, 60, b)
        risk, truth = risk_of(X, y, b)[0], np.zeros(2)
        for j in range(2):
            for _ in range(30):
                Z = X.copy()
                Z[:, j] = rng.permutation(Z[:, j])
                truth[j] += (risk_of(Z, y, b)[0] - risk) / 30
        found = importance(
            LinearRegression(), X, y, how="retrain", cv=5, n_repeats=3, random_state=seed
        )
        inside.append((found.interval[:, 0] <= truth) & (truth <= found.interval[:, 1]))
    assert (np.mean(inside, axis=0) > least(120)).all()
