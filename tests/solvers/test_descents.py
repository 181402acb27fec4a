"""Solvers on functions with known minima: they arrive, say why they stopped, and stay finite."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError, ParameterError
from empirisk.solvers import (
    Backtracking,
    Decaying,
    Descent,
    coordinate_descent,
    gradient_descent,
    newton,
    random_starts,
    stochastic_gradient,
)

H = np.array([[3.0, 1.0], [1.0, 2.0]])
TARGET = np.array([1.0, -2.0])


def bowl(b):
    return float((b - TARGET) @ H @ (b - TARGET) / 2)


def bowl_gradient(b):
    return H @ (b - TARGET)


def rosenbrock(b):
    return float((1 - b[0]) ** 2 + 100 * (b[1] - b[0] ** 2) ** 2)


def rosenbrock_gradient(b):
    curve = b[1] - b[0] ** 2
    return np.array([-2 * (1 - b[0]) - 400 * b[0] * curve, 200 * curve])


def rosenbrock_hessian(b):
    return np.array([[2 - 400 * (b[1] - 3 * b[0] ** 2), -400 * b[0]], [-400 * b[0], 200.0]])


@pytest.mark.parametrize(
    "step", [0.2, Decaying(0.5, 50.0, 0.6), "backtracking", Backtracking(10.0)]
)
def test_gradient_descent_finds_the_bottom_of_a_bowl(step):
    way = gradient_descent(bowl, bowl_gradient, [5.0, 5.0], step=step, tol=1e-9, max_iter=5000)
    assert way.converged
    # The gradient is at most 1e-9 and the least curvature is 1.38.
    assert_allclose(way.minimiser, TARGET, rtol=0, atol=1e-08)
    assert way.objective == bowl(way.minimiser)
    assert way.gradient_norm == np.abs(bowl_gradient(way.minimiser)).max() <= 1e-9


def test_the_trajectory_is_that_of_the_formula():
    way = gradient_descent(
        bowl, bowl_gradient, [5.0, 5.0], step=Decaying(0.3, 4.0, 0.9), max_iter=20
    )
    b = np.array([5.0, 5.0])
    for t in range(21):
        assert_array_equal(way.points[t], b)
        assert way.objectives[t] == bowl(b)
        b = b - 0.3 / (1 + t / 4.0) ** 0.9 * bowl_gradient(b)
    assert_array_equal(way.steps, np.arange(21))
    assert "max_iter = 20" in way.reason
    assert not way.converged


def test_backtracking_goes_down_at_every_step():
    way = gradient_descent(rosenbrock, rosenbrock_gradient, [-1.2, 1.0], max_iter=200)
    assert (np.diff(way.objectives) < 0).all()
    way = newton(rosenbrock, rosenbrock_gradient, rosenbrock_hessian, [-1.2, 1.0])
    assert (np.diff(way.objectives) <= 0).all()


def test_long_trajectories_keep_few_points_at_equal_distances():
    way = gradient_descent(bowl, bowl_gradient, [5.0, 5.0], step=1e-4, max_iter=3000)
    assert len(way.points) <= 258
    assert way.steps[0] == 0
    assert way.steps[-1] == way.n_iter == 3000
    assert len(np.unique(np.diff(way.steps[:-1]))) == 1
    assert_array_equal(way.points[-1], way.minimiser)


def test_steps_that_are_too_long_end_at_the_last_finite_point():
    way = gradient_descent(bowl, bowl_gradient, [5.0, 5.0], step=10.0, max_iter=10_000)
    assert not way.converged
    assert "shorter steps" in way.reason
    assert np.isfinite(way.minimiser).all()
    assert np.isfinite(way.objectives).all()


def test_an_objective_with_a_large_minimum_is_followed_to_its_rounding_error():
    ways = [
        gradient_descent(lambda b: bowl(b) + 5, bowl_gradient, [5.0, 5.0], tol=0.0),
        newton(lambda b: bowl(b) + 5, bowl_gradient, lambda b: H + 0.1, [5.0, 5.0], tol=0.0),
    ]
    for way in ways:
        assert way.converged
        assert "rounding" in way.reason
        # The root of the rounding of the objective, 1e-14, over curvatures above 1.
        assert_allclose(way.minimiser, TARGET, rtol=0, atol=1e-06)


@pytest.mark.parametrize("name", ["gradient", "newton"])
@pytest.mark.parametrize("power", [1, 2])
def test_an_objective_without_a_minimum_is_not_said_to_have_arrived(name, power):
    way = {
        "gradient": lambda J, slope: gradient_descent(J, slope, [1.0, 0.5], max_iter=5000),
        "newton": lambda J, slope: newton(
            J, slope, lambda b: -2 * np.eye(2) * (power - 1), [1.0, 0.5], max_iter=5000
        ),
    }[name](lambda b: -float((b**power).sum()), lambda b: -power * b ** (power - 1))
    assert not way.converged, way.reason


def test_a_flat_objective_is_gone_down_whatever_its_units():
    """At b = 1 a step of length 1 lowers it by 4e-18 of itself, which cannot be seen."""
    flat = 1e-18
    way = gradient_descent(
        lambda b: flat * (b[0] - 1e10) ** 2, lambda b: 2 * flat * (b - 1e10), [1.0], tol=1e-15
    )
    assert way.converged
    assert "derivative" in way.reason
    assert_allclose(way.minimiser, 1e10, rtol=0, atol=500)  # tol over the curvature, 2e-18


@pytest.mark.parametrize("size", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_least_squares_of_large_numbers_are_followed_to_their_rounding_error(size, noise):
    """The squares are of differences of large numbers: they are less exact than their sum."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 3)) * size
        y = X @ rng.normal(size=3) + noise * rng.normal(size=20)

        def risk(b, X=X, y=y):
            return float(((X @ b - y) ** 2).mean())

        def slope(b, X=X, y=y):
            return X.T @ (X @ b - y) / 10

        ways = [
            gradient_descent(risk, slope, np.zeros(3), tol=0.0, max_iter=50_000),
            newton(risk, slope, lambda b, X=X: X.T @ X / 10, np.zeros(3), tol=0.0),
        ]
        assert all(way.converged for way in ways), [way.reason for way in ways]


def test_newton_solves_a_quadratic_in_one_step():
    way = newton(bowl, bowl_gradient, lambda b: H, [50.0, -70.0])
    assert way.n_iter == 1
    assert_allclose(way.minimiser, TARGET, rtol=1e-13)  # condition number 2.6


def test_newton_walks_through_a_curved_valley():
    way = newton(rosenbrock, rosenbrock_gradient, rosenbrock_hessian, [-1.2, 1.0])
    assert way.converged
    assert way.n_iter < 30
    assert_allclose(way.minimiser, [1.0, 1.0], rtol=1e-7)  # tol 1e-8 over the least curvature, 0.4


def test_newton_leaves_saddle_points():
    def saddle(b):
        return float(b[0] ** 2 - b[1] ** 2 + b[1] ** 4 / 2)

    way = newton(
        saddle,
        lambda b: np.array([2 * b[0], -2 * b[1] + 2 * b[1] ** 3]),
        lambda b: np.diag([2.0, -2 + 6 * b[1] ** 2]),
        [1.0, 0.1],
    )
    assert_allclose(way.minimiser, [0.0, 1.0], rtol=0, atol=1e-08)  # tol over curvature 4


def test_newton_does_with_a_singular_hessian():
    way = newton(
        lambda b: float((b.sum() - 2) ** 2),
        lambda b: np.full(2, 2 * (b.sum() - 2)),
        lambda b: np.full((2, 2), 2.0),
        [0.0, 0.0],
    )
    assert way.converged
    assert_allclose(way.minimiser, [1.0, 1.0], rtol=1e-8)  # the least norm, by symmetry


def regression(n=200):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    y = X @ [2.0, -1.0] + rng.normal(size=n)
    return X, y, np.linalg.lstsq(X, y, rcond=None)[0]


def two_valleys(b):
    return float((b[0] ** 2 - 1) ** 2 + 0.3 * b[0])


def test_of_several_starts_the_lowest_objective_is_kept():
    def solve(start):
        return gradient_descent(
            two_valleys, lambda b: 4 * b * (b**2 - 1) + 0.3, start, step=0.01, max_iter=5000
        )

    results = [
        random_starts(solve, lambda g: g.uniform(-2, 2, 1), n_starts=8, random_state=0, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    best = results[0]
    assert best.objective == best.starts.min() < best.starts.max()
    assert best.minimiser[0] < 0
    assert_array_equal(results[0].starts, results[1].starts)


def all_solvers():
    def eye(b):
        return np.eye(len(b))

    return {
        "gradient": lambda f, g, start: gradient_descent(f, g, start),
        "newton": lambda f, g, start: newton(f, g, eye, start),
        "coordinates": lambda f, g, start: coordinate_descent(f, start),
        "stochastic": lambda f, g, start: stochastic_gradient(
            lambda b, rows: g(b), start, 5, objective=f, max_epochs=10
        ),
    }


@pytest.mark.parametrize("name", all_solvers())
def test_every_solver_returns_a_descent_and_draws_it(name):
    way = all_solvers()[name](bowl, bowl_gradient, [3.0, 3.0])
    assert isinstance(way, Descent)
    assert way.objective <= way.objectives[0]
    assert way.reason in str(way)
    ax = way.plot()
    assert way.reason == ax.get_title()
    assert len(ax.lines) == 1


@pytest.mark.parametrize("name", all_solvers())
def test_every_solver_refuses_a_bad_start(name):
    solve = all_solvers()[name]
    for start in ([np.nan, 0.0], [[1.0, 2.0]], []):
        with pytest.raises(ParameterError, match="start"):
            solve(bowl, bowl_gradient, start)
    with pytest.raises(ParameterError, match="not finite at the start"):
        solve(lambda b: np.nan, bowl_gradient, [1.0, 2.0])


@pytest.mark.parametrize("name", all_solvers())
def test_every_solver_looks_at_the_clock(name):
    with deadline(0), pytest.raises(DeadlineError):
        all_solvers()[name](bowl, bowl_gradient, [1.0, 2.0])


@pytest.mark.parametrize("name", ["gradient", "newton"])
def test_a_wrong_gradient_is_noticed(name):
    way = all_solvers()[name](bowl, lambda b: -bowl_gradient(b), [3.0, 3.0])
    assert not way.converged
    assert "gradient" in way.reason
    way = all_solvers()[name](bowl, lambda b: np.full(2, np.nan), [3.0, 3.0])
    assert "gradient is not finite" in way.reason
    with pytest.raises(ParameterError, match="shape"):
        all_solvers()[name](bowl, lambda b: np.zeros(3), [3.0, 3.0])


def test_wrong_settings_are_refused():
    for step in (0.0, -1.0, "armijo", np.nan, True, None):
        with pytest.raises(ParameterError, match="step"):
            gradient_descent(bowl, bowl_gradient, [0.0, 0.0], step=step)
    for kind, parameter in [(Decaying, "eta"), (Decaying, "t0"), (Decaying, "a")]:
        with pytest.raises(ParameterError, match=parameter):
            kind(**{parameter: -1.0})
    for parameter in ("initial", "shrink", "decrease"):
        with pytest.raises(ParameterError, match=parameter):
            Backtracking(**{parameter: -1.0})
    with pytest.raises(ParameterError, match="max_iter"):
        newton(bowl, bowl_gradient, lambda b: H, [0.0, 0.0], max_iter=-1)
    with pytest.raises(ParameterError, match="tol"):
        newton(bowl, bowl_gradient, lambda b: H, [0.0, 0.0], tol=-1)
    with pytest.raises(ParameterError, match="Hessian has shape"):
        newton(bowl, bowl_gradient, lambda b: np.eye(3), [0.0, 0.0])
    with pytest.raises(ParameterError, match="line search"):
        stochastic_gradient(lambda b, rows: b, [0.0], 5, step="backtracking")
    with pytest.raises(ParameterError, match="batch_size"):
        stochastic_gradient(lambda b, rows: b, [0.0], 5, batch_size=0)
    with pytest.raises(ParameterError, match="starts is empty"):
        random_starts(lambda start: None, [])
    with pytest.raises(ParameterError, match="n_starts"):
        random_starts(lambda start: None, lambda g: [0.0], n_starts=0)


@pytest.mark.parametrize(
    "solve",
    [
        lambda f: gradient_descent(f, bowl_gradient, [0.0, 0.0]),
        lambda f: newton(f, bowl_gradient, lambda b: H, [0.0, 0.0]),
        lambda f: coordinate_descent(f, [0.0, 0.0]),
        lambda f: stochastic_gradient(
            lambda b, rows: bowl_gradient(b), [0.0, 0.0], 2, objective=f, max_epochs=3
        ),
    ],
    ids=["gradient", "newton", "coordinates", "stochastic"],
)
def test_an_objective_is_a_function_to_a_number(solve):
    number = solve(bowl)
    for shape in ((1,), (1, 1), ()):
        way = solve(lambda b, shape=shape: np.reshape(bowl(b), shape))
        assert_array_equal(way.minimiser, number.minimiser)
        assert way.objective == number.objective
    for wrong in (lambda b: b, lambda b: None, lambda b: "low", lambda b: 1j, lambda b: []):
        with pytest.raises(ParameterError, match=r"the objective returned .* one real number"):
            solve(wrong)
    with pytest.raises(ParameterError, match="objective is 7; it must be a function"):
        solve(7)


def test_functions_that_are_missing_are_named():
    for objective, gradient, name in ((None, bowl_gradient, "objective"), (bowl, None, "gradient")):
        with pytest.raises(ParameterError, match=f"{name} is None"):
            gradient_descent(objective, gradient, [0.0, 0.0])
        with pytest.raises(ParameterError, match=f"{name} is None"):
            newton(objective, gradient, lambda b: H, [0.0, 0.0])
    with pytest.raises(ParameterError, match="hessian is None"):
        newton(bowl, bowl_gradient, None, [0.0, 0.0])
    with pytest.raises(ParameterError, match="objective is None"):
        coordinate_descent(None, [0.0, 0.0])
