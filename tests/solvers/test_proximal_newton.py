"""Newton's method with an L1 penalty: exact steps, however ill-conditioned the Hessian."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import LogisticRegression
from empirisk.solvers.proximal_newton import proximal_newton
from tolerances import SOLVED


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("p", [5, 40])
def test_a_quadratic_is_minimised_in_one_step_even_if_it_is_all_but_level(seed, p):
    rng = np.random.default_rng(seed)
    mixed = np.linalg.qr(rng.normal(size=(p, p)))[0]
    H = (mixed * np.logspace(0, -5, p)) @ mixed.T
    H[0] = H[:, 0] = 0.0  # no curvature: zero is best
    target, penalty = 10 * rng.normal(size=p), 10 ** rng.uniform(-6, 0, size=p)
    penalty[1], shift = 0.0, float(np.abs(target).sum() ** 2)

    def function(b):
        way = b - target
        return float(way @ H @ way) / 2 + shift, H @ way

    found = proximal_newton(function, lambda b: H, penalty, rng.normal(size=p))
    assert (found.ending, found.n_iter) == ("converged", 1)
    slope, on = function(found.point)[1], found.point != 0
    assert found.point[0] == 0
    assert_allclose(slope[on], -(penalty * np.sign(found.point))[on], rtol=0, atol=SOLVED)
    assert (np.abs(slope[~on]) <= penalty[~on] + SOLVED).all()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("l1_ratio", [0.01, 1.0])
def test_a_logistic_rule_of_columns_far_from_zero_meets_its_conditions(n_classes, l1_ratio):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 30)) + 5, rng.integers(n_classes, size=500)
    C = 1e6
    rule = LogisticRegression(C=C, l1_ratio=l1_ratio, fit_intercept=False).fit(X, y)  # no warning
    wrong = rule.predict_proba(X) - (y[:, np.newaxis] == np.arange(n_classes))
    slope = wrong.T[-len(rule.coef_) :] @ X + (1 - l1_ratio) / C * rule.coef_
    most = np.full_like(slope, l1_ratio / C)
    on, unit = rule.coef_ != 0, len(X) * 5  # of the sums that cancel in a slope
    assert_allclose(slope[on], -(most * np.sign(rule.coef_))[on], rtol=0, atol=SOLVED * unit)
    assert (np.abs(slope[~on]) <= most[~on] + SOLVED * unit).all()
