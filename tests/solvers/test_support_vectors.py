"""The linear support vector machine: exact optima, with either penalty, at one strength or many."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize

from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError
from empirisk.solvers import sparse_support_vectors
from empirisk.solvers.dual_coordinate import LEAST_TOLERANCE, DualAscent
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.sparse_support_vectors import SparseSupportVectors
from empirisk.solvers.support_vectors import OPTIMAL, SupportVectors
from tolerances import SUMMED

MACHINES = {"l1": SparseSupportVectors, "l2": SupportVectors}
STRENGTHS = np.geomspace(1.0, 1e-4, 9)


def problem(n, p, seed=0, fit_intercept=True, kind="normal"):
    """Rows ready for the solvers, with weights, and signs of two classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if kind == "integers":
        X = np.round(X)
    if kind == "copies of columns":
        X = X[:, rng.integers(0, p, p)]
    if kind == "copies of rows":
        X = X[rng.integers(0, n, n)]
    sign = np.where(X[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    weight = rng.uniform(0.2, 3, size=n)
    return MarginRows.of(X, weight, fit_intercept=fit_intercept, rotate=False), sign


def objective(rows, sign, strength, penalty, point):
    b, b0 = point[: rows.X.shape[1]], point[-1] if rows.fit_intercept else 0.0
    loss = np.sum(rows.share * np.maximum(0, 1 - sign * (rows.X @ b + b0)))
    return loss + strength * (np.abs(b).sum() if penalty == "l1" else b @ b / 2)


def linear_programme(rows, sign, strength):
    """min of sum v s + strength sum(u + w), y (x'(u - w) + b0) + s >= 1, by HiGHS."""
    n, q = rows.X.shape
    cost = np.concatenate([np.full(2 * q, strength), [0.0], rows.share])
    signed = sign[:, None] * rows.X
    margins = np.hstack([signed, -signed, sign[:, None], np.eye(n)])
    free = (None, None) if rows.fit_intercept else (0, 0)
    bounds = [(0, None)] * (2 * q) + [free] + [(0, None)] * n
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(cost, -margins, -np.ones(n), bounds=bounds, options=tight).fun


KINDS = ["normal", "integers", "copies of columns", "copies of rows"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(60, 3), (200, 12), (25, 60), (30, 400)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_l1_machine_solves_its_linear_programme(kind, shape, fit_intercept):
    rows, sign = problem(*shape, fit_intercept=fit_intercept, kind=kind)
    machine = SparseSupportVectors(rows, sign, 1000)
    for strength in STRENGTHS[::2]:
        arrival = machine.at(strength)
        ours = objective(rows, sign, strength, "l1", arrival.point)
        assert arrival.reason == OPTIMAL
        # The tolerances of HiGHS; sums of a few hundred terms.
        assert_allclose(ours, linear_programme(rows, sign, strength), rtol=1e-8)


@pytest.mark.parametrize("shape", [(60, 3), (25, 60)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_dual_of_the_l1_machine_has_the_same_objective(shape, fit_intercept):
    rows, sign = problem(*shape, fit_intercept=fit_intercept)
    for strength in STRENGTHS:
        machine = SparseSupportVectors(rows, sign, 1000)
        point, a = machine.at(strength).point, machine.face.multiplier
        # max sum v a within 0 <= a <= 1, |sum v a y x_j| <= strength, sum v a y = 0.
        pull = rows.share * sign * a
        assert a.min() >= 0
        assert a.max() <= 1
        assert np.abs(pull @ rows.X).max() <= strength * (1 + SUMMED)
        # Rounding of a sum of shares below 0.1, of either sign.
        assert not fit_intercept or abs(pull.sum()) <= 1e-15
        # Weak duality: any difference is how far either is from the optimum; rounding of sums.
        primal = objective(rows, sign, strength, "l1", point)
        assert_allclose(primal, np.sum(rows.share * a), rtol=SUMMED)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_dual_of_the_l2_machine_has_the_same_objective(fit_intercept):
    rows, sign = problem(60, 3, fit_intercept=fit_intercept)
    for strength in STRENGTHS:
        machine = SupportVectors(rows, sign, 1000)
        point, a = machine.at(strength).point, machine.last.multiplier
        pull = rows.share * sign * a
        # Rounding of a sum of shares below 0.1, of either sign.
        assert not fit_intercept or abs(pull.sum()) <= 1e-15
        dual = np.sum(rows.share * a) - np.sum((pull @ rows.X) ** 2) / 2 / strength
        assert_allclose(objective(rows, sign, strength, "l2", point), dual, rtol=SUMMED)


@pytest.mark.parametrize("penalty", MACHINES)
@pytest.mark.parametrize("strength", STRENGTHS[1::3])
def test_no_generic_solver_finds_anything_lower(penalty, strength):
    rows, sign = problem(60, 3)
    point = MACHINES[penalty](rows, sign, 1000).at(strength).point

    def f(other):
        return objective(rows, sign, strength, penalty, other)

    for start in (np.zeros(4), point):
        found = minimize(f, start, method="Nelder-Mead", options={"maxiter": 600, "xatol": 1e-9})
        assert f(point) <= found.fun * (1 + 1e-12)  # rounding of the sums


@pytest.mark.parametrize("penalty", MACHINES)
@pytest.mark.parametrize("shape", [(60, 3), (400, 10), (30, 300)])
@pytest.mark.parametrize("direction", [1, -1], ids=["weaker", "stronger"])
def test_a_warm_start_changes_nothing(penalty, shape, direction):
    rows, sign = problem(*shape)
    machine = MACHINES[penalty](rows, sign, 1000)
    for strength in STRENGTHS[::direction]:
        warm = machine.at(strength)
        cold = MACHINES[penalty](rows, sign, 1000).at(strength)
        # Both end with the solution of the same linear equations; condition numbers below 1e4.
        assert_allclose(warm.point, cold.point, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("penalty", MACHINES)
def test_between_two_events_of_the_path_no_steps_are_needed(penalty):
    rows, sign = problem(30, 3)
    machine = MACHINES[penalty](rows, sign, 1000)
    assert machine.at(0.01).n_iter > 1
    assert machine.at(0.01 * (1 - 1e-6)).n_iter == 1


@pytest.mark.parametrize("penalty", MACHINES)
def test_every_small_problem_is_solved(penalty):
    # A step that corrects by a bad guess can go round in circles: about 1 problem in 5,000.
    for seed in range(120):
        rng = np.random.default_rng(seed)
        rows, sign = problem(*rng.integers(2, [30, 6]), seed, bool(seed % 2), KINDS[seed % 4])
        machine = MACHINES[penalty](rows, sign, 100)
        for strength in (0.3, 1e-2, 2e-4, 1e-6):
            assert machine.at(strength).converged


@pytest.mark.parametrize("penalty", MACHINES)
@pytest.mark.parametrize("heavy", [1e9, 1e10, 1e12])
def test_a_few_enormous_weights(penalty, heavy):
    # Once no heavy row falls short of the margin, more weight on them changes nothing.
    for seed in range(2, 10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 3))
        sign = np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
        found = []
        for weight in (1e5, heavy):
            weights = np.where(np.arange(200) < 5, weight, 1.0)
            rows = MarginRows.of(X, weights, fit_intercept=True, rotate=False)
            power = 1 if penalty == "l1" else 2
            arrival = MACHINES[penalty](rows, sign, 1000).at(rows.penalty(1.0, power))
            assert arrival.converged
            b = rows.raw(arrival.point[:3])
            found.append(np.append(b, arrival.point[3] - b @ rows.centre))
        margin = sign[:5] * (X[:5] @ found[0][:3] + found[0][3])
        assert (margin > 1 - 1e-6).all()
        # The light rows have shares of 1e-13 of sums that are rounded to 1e-16.
        assert_allclose(found[1], found[0], rtol=1e-3 if heavy == 1e12 else 1e-5)


def test_of_many_columns_those_that_are_needed_join():
    rows, sign = problem(50, 900)
    machine = SparseSupportVectors(rows, sign, 1000)
    assert len(machine.columns) == sparse_support_vectors.FIRST_COLUMNS
    point = machine.at(0.01).point
    assert sparse_support_vectors.FIRST_COLUMNS < len(machine.columns) < 900
    assert_allclose(
        objective(rows, sign, 0.01, "l1", point),
        linear_programme(rows, sign, 0.01),
        rtol=1e-8,  # the tolerances of HiGHS
    )


@pytest.mark.parametrize("penalty", MACHINES)
def test_where_the_penalty_outweighs_everything_all_coefficients_are_zero(penalty):
    rows, sign = problem(40, 5)
    for strength in (1e3, 1e100, 1e300):
        point = MACHINES[penalty](rows, sign, 1000).at(strength).point
        assert np.abs(point[:5]).max() <= (0 if penalty == "l1" else 1 / strength)
        heavier = np.sign(np.sum(rows.share * sign))
        assert_allclose(point[5], heavier, rtol=1e-2)  # the class of the larger weight


@pytest.mark.parametrize("penalty", MACHINES)
@pytest.mark.parametrize("strength", [1e-6, 1e-10, 1e-14])
def test_weak_penalties_of_separable_rows(penalty, strength):
    rows, _ = problem(40, 5)
    sign = np.where(rows.X[:, 0] > 0, 1.0, -1.0)
    arrival = MACHINES[penalty](rows, sign, 1000).at(strength)
    margin = sign * (rows.X @ arrival.point[:5] + arrival.point[5])
    assert_allclose(
        margin.min(), 1.0, rtol=1e-6
    )  # all rows are right, and none farther than needed


@pytest.mark.parametrize("penalty", MACHINES)
def test_too_few_steps_and_the_clock(penalty):
    rows, sign = problem(60, 3)
    arrival = MACHINES[penalty](rows, sign, 2).at(1e-4)
    assert not arrival.converged
    assert "gap" in arrival.reason
    with deadline(0), pytest.raises(DeadlineError):
        MACHINES[penalty](rows, sign, 1000).at(1e-4)


def test_sweeps_end_although_a_row_of_zeros_is_never_beyond_the_margin():
    rows, sign = problem(40, 3, fit_intercept=False)
    rows.X[:2] = 0.0
    ascent = DualAscent(rows, sign, 0.1, None)
    while ascent.run(1000):
        pass
    assert ascent.tolerance < LEAST_TOLERANCE
    exact = SupportVectors(rows, sign, 1000).at(0.1).point
    assert_allclose(ascent.point, exact, rtol=0, atol=1e-6)  # a hundred tolerances of the sweeps
