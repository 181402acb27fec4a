"""Intervals of coefficients of logistic regression beside a general minimiser and inverses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

from empirisk import LogisticRegression
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def sample(n=200, p=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.5, 2, p) + 1
    B = rng.normal(size=(p, n_classes))
    scores = (X - 1) @ B + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def objective(model, X, y):
    """Written out: sum of log losses and the penalty."""
    own = -model.predict_log_proba(X)[np.arange(len(y)), y]
    return own.sum() + (model.coef_**2).sum() / (2 * model.C)


def profile_twin(X, y, j, t, C):
    """The penalised likelihood with one coefficient held, by a general minimiser."""
    Z = np.column_stack([X, np.ones(len(y))])
    free = [k for k in range(Z.shape[1]) if k != j]

    def value(b):
        full = np.insert(b, j, t)
        loss = np.logaddexp(0, -(2 * y - 1) * (Z @ full)).sum()
        return loss + (full[:-1] ** 2).sum() / (2 * C)

    return minimize(value, np.zeros(len(free)), tol=1e-10).fun


@pytest.mark.parametrize("C", [2.0, 1e12])
@pytest.mark.parametrize("j", [0, 2])
def test_profile_intervals_end_where_the_likelihood_ratio_rejects(C, j):
    X, y = sample(n=60, p=2)
    model = LogisticRegression(C=C).fit(X, y)
    found = model.coefficient_intervals(X, y, level=0.9, method="profile")
    best = objective(model, X, y)
    for end in (found.lower[j], found.upper[j]):
        rise = 2 * (profile_twin(X, y, j, end, C) - best)
        assert_allclose(rise, 2.7055434540954, rtol=1e-6)  # chi-squared; the twin has 1e-8
    assert found.name == ("x0", "x1", "intercept")
    assert "90 % interval" in str(found)


@pytest.mark.parametrize("total", [0.03, 0.1, 1.0, 1e4])
@pytest.mark.parametrize("C", [1.0, 1e3, np.inf])
def test_profile_intervals_end_there_whatever_the_weights_sum_to(C, total):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (0.7 * X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    weight = rng.uniform(0.5, 1.5, size=200)
    weight *= total / weight.sum()
    model = LogisticRegression(C=C).fit(X, y, sample_weight=weight)
    found = model.coefficient_intervals(X, y, weight, method="profile")
    Z, sign = np.column_stack([X, np.ones(200)]), 2 * y - 1

    def per_weight(b):
        loss = weight @ np.logaddexp(0, -sign * (Z @ b)) + b[:-1] @ b[:-1] / (2 * C)
        slope = -Z.T @ (weight * sign * expit(-sign * (Z @ b))) + np.append(b[:-1] / C, 0.0)
        return loss / total, slope / total

    best = per_weight(np.append(model.coef_[0], model.intercept_))[0]
    for j in range(4):
        for end in (found.lower[j], found.upper[j]):

            def held(others, j=j, end=end):
                value, slope = per_weight(np.insert(others, j, end))
                return value, np.delete(slope, j)

            rise = 2 * total * (minimize(held, np.zeros(3), jac=True, tol=1e-11).fun - best)
            assert_allclose(rise, 3.8414588206941254, rtol=1e-6)  # chi-squared; the twin has 1e-8


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_single_coefficient_has_the_profile_interval_of_its_likelihood(C):
    x, y = np.array([[-2.0], [-1.0], [0.5], [1.0], [3.0]]), np.array([0, 1, 0, 1, 1])
    model = LogisticRegression(C=C, fit_intercept=False).fit(x, y)
    found = model.coefficient_intervals(x, y, level=0.9, method="profile")

    def value(b):
        return np.logaddexp(0, -(2 * y - 1) * (x[:, 0] * b)).sum() + b**2 / (2 * C)

    for end in (found.lower[0], found.upper[0]):
        rise = 2 * (value(end) - value(model.coef_[0, 0]))
        assert_allclose(rise, 2.7055434540954, rtol=1e-7)  # ends are found to 1e-9 of z


@pytest.mark.parametrize("seed", range(5))
def test_narrow_profile_intervals_are_those_of_wald(seed):
    X, y = sample(n=60, p=2, seed=seed)
    model = LogisticRegression().fit(10 * X + 20, y)
    wald, profile = (
        model.coefficient_intervals(10 * X + 20, y, level=1e-4, method=method)
        for method in ("wald", "profile")
    )
    ends = [(found.upper - found.estimate) / found.standard_error for found in (wald, profile)]
    assert_allclose(*ends, rtol=1e-3)  # the likelihood is a parabola there, but for its rounding


def test_wald_intervals_of_many_classes_agree_with_the_inverse_hessian():
    X, y = sample(n=300, p=2, n_classes=3)
    model = LogisticRegression(C=np.inf).fit(X, y)
    found = model.coefficient_intervals(X, y)
    P = model.predict_proba(X)
    Z = np.column_stack([X, np.ones(len(y))])
    blocks = [
        [Z.T @ ((P[:, k] * ((k == m) - P[:, m]))[:, None] * Z) for m in range(3)] for k in range(3)
    ]
    covariance = np.linalg.pinv(np.block(blocks), rcond=1e-10)
    assert_allclose(found.standard_error, np.sqrt(np.diag(covariance)), rtol=SUMMED)
    assert found.of_class == (0, 0, 0, 1, 1, 1, 2, 2, 2)


def test_wald_intervals_of_a_ridge_fit_come_from_the_penalised_hessian():
    X, y = sample(n=80, p=3)
    weight = np.linspace(0.5, 3, 80)
    model = LogisticRegression(C=0.3).fit(X, y, sample_weight=weight)
    found = model.coefficient_intervals(X, y, weight)
    share = model.predict_proba(X)[:, 1]
    Z = np.column_stack([X, np.ones(80)])
    H = Z.T @ ((weight * share * (1 - share))[:, None] * Z) + np.diag([1 / 0.3] * 3 + [0])
    assert_allclose(found.standard_error, np.sqrt(np.diag(np.linalg.inv(H))), rtol=SUMMED)
    copies = np.repeat(np.arange(80), 2)
    model = LogisticRegression(C=0.3).fit(X, y, sample_weight=np.full(80, 2.0))
    twice = LogisticRegression(C=0.3).fit(X[copies], y[copies])
    for method in ("wald", "profile"):
        one = model.coefficient_intervals(X, y, np.full(80, 2.0), method=method)
        two = twice.coefficient_intervals(X[copies], y[copies], method=method)
        assert_allclose(one.lower, two.lower, rtol=1e-7)  # ends are found to 1e-9 of z
        assert_allclose(one.upper, two.upper, rtol=1e-7)


def test_intervals_of_other_rows_are_refused():
    X, y = sample()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(DataError, match="standard errors away"):
        model.coefficient_intervals(X, 1 - y)
    with pytest.raises(ParameterError, match="method"):
        model.coefficient_intervals(X, y, method="bootstrap")
    with pytest.raises(ParameterError, match="L1"):
        LogisticRegression(l1_ratio=1).fit(X, y).coefficient_intervals(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["wald", "profile"])
@pytest.mark.parametrize("unit", [[1e200] * 2, [1e-160] * 2, [1e-200, 1e200]], ids=str)
def test_intervals_are_in_the_units_of_the_columns_however_extreme(n_classes, method, unit):
    X, y = sample(n=80, p=2, n_classes=n_classes)
    plain = LogisticRegression(C=np.inf).fit(X, y).coefficient_intervals(X, y, method=method)
    scaled = LogisticRegression(C=np.inf).fit(X * unit, y)
    found = scaled.coefficient_intervals(X * unit, y, method=method)
    raw = np.tile([*unit, 1.0], 1 if n_classes == 2 else n_classes)
    for name in ("estimate", "standard_error", "lower", "upper"):
        # Ends are found to 1e-9 of z, and fits to 1e-10 of the scores.
        assert_allclose(getattr(found, name) * raw, getattr(plain, name), rtol=1e-7, err_msg=name)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e200, 1e-160])
def test_intervals_of_a_penalised_fit_follow_one_unit_of_all_columns(unit):
    X, y = sample(n=80, p=2)
    with np.errstate(over="ignore"):
        C = np.clip(1 / np.square(unit), 1e-300, 1e300)  # all but no penalty, or all penalty
    for method in ("wald", "profile"):
        model = LogisticRegression(C=C).fit(X * unit, y)
        found = model.coefficient_intervals(X * unit, y, method=method)
        assert np.isfinite([found.standard_error, found.lower, found.upper]).all()
        assert (found.lower < found.estimate).all()
        assert (found.estimate < found.upper).all()


def test_factors_of_classes_have_no_intervals():
    X = np.random.default_rng(0).normal(size=(40, 1))
    model = LogisticRegression(class_weight="balanced").fit(X, X[:, 0] > 1)
    with pytest.raises(ParameterError, match="class_weight counts rows"):
        model.coefficient_intervals(X, X[:, 0] > 1)


def test_weights_too_small_for_a_profile_interval_are_named():
    X, y = sample(n=30, p=2)
    weight = np.full(30, 1e-8)
    model = LogisticRegression(C=np.inf).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.coefficient_intervals(X, y, weight).upper).all()
    with pytest.raises(DataError, match="give larger weights"):
        model.coefficient_intervals(X, y, weight, method="profile")
