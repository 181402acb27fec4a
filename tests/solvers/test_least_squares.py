"""Least squares against exact rational arithmetic on the same floating-point data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import rational
from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks, Rows
from empirisk.data.moments import total_moments
from empirisk.runtime.errors import DataError
from empirisk.solvers.dual import row_spectrum
from empirisk.solvers.least_squares import least_squares
from empirisk.solvers.normal_equations import NormalEquations
from empirisk.solvers.orthogonal import independent_columns, triangular_factor
from empirisk.solvers.output_penalties import solve_penalties
from empirisk.solvers.spectrum import spectrum_of_rows, square_range
from tolerances import LAST_BITS, SOLVED, SUMMED

ULP = 2.0**-52  # the exact solution, rounded; a neighbour is let pass
CLOSE = 1e-13  # computed in double precision, well conditioned


def fit(X, y, weight=None, **options):
    weight = np.ones(len(X)) if weight is None else weight
    y = np.array(y, dtype=float).reshape(len(X), -1)
    return least_squares(Blocks.of_arrays(np.array(X, dtype=float), y, weight), **options)


def polynomial(n, degree):
    return np.linspace(0, 1, n)[:, None] ** np.arange(1, degree + 1)


def nearly_dependent(distance):
    X = np.random.default_rng(2).normal(size=(25, 5))
    X[:, 2] = X[:, [0, 1, 3, 4]].sum(1) + distance * X[:, 2]
    return X


HARD = {
    "random": np.random.default_rng(0).normal(size=(25, 4)),
    "offsets 1e9": np.random.default_rng(0).normal(size=(25, 4)) + 1e9,
    "offset 1e14": np.random.default_rng(0).normal(size=(25, 1)) + 1e14,
    "scales 1e-8 to 1e8": np.random.default_rng(0).normal(size=(25, 4)) * [1e-8, 1e8, 1, 1e3],
    "hilbert": 1 / (np.arange(20)[:, None] + np.arange(10) + 1.0),  # condition number 5e10
    "polynomial, degree 5": polynomial(21, 5),
    "polynomial, degree 14": polynomial(21, 14),  # 2e10
    "dependent but for 1e-6": nearly_dependent(1e-6),
    "dependent but for 1e-12": nearly_dependent(1e-12),
}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", HARD)
def test_coefficients_are_the_exact_ones_rounded(name, intercept):
    X, y = HARD[name], np.random.default_rng(1).normal(size=len(HARD[name]))
    solution = fit(X, y, fit_intercept=intercept)
    coef, level = rational.least_squares(X, y, intercept=intercept)
    assert solution.settled
    assert solution.rank == X.shape[1]
    assert_allclose(solution.coef[0], coef, rtol=ULP)
    assert_allclose(solution.intercept[0], level, rtol=ULP)


@pytest.mark.parametrize("name", ["random", "hilbert", "offsets 1e9"])
def test_weights_and_several_outputs_are_as_exact(name):
    rng = np.random.default_rng(3)
    X, Y = HARD[name], rng.normal(size=(len(HARD[name]), 3)) * [1, 1e-5, 1e5]
    weight = rng.uniform(size=len(X)) * 10.0 ** rng.integers(-3, 4, len(X))
    solution = fit(X, Y, weight)
    for k in range(3):
        coef, level = rational.least_squares(X, Y[:, k], weight)
        assert_allclose(solution.coef[k], coef, rtol=ULP)
        assert_allclose(solution.intercept[k], level, rtol=ULP)


@pytest.mark.parametrize("penalty", [1e-20, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", ["random", "hilbert", "scales 1e-8 to 1e8", "offsets 1e9"])
def test_ridge_is_as_exact(name, penalty):
    X, y = HARD[name], np.random.default_rng(4).normal(size=len(HARD[name]))
    solution = fit(X, y, penalty=penalty)
    coef, level = rational.least_squares(X, y, penalty=penalty)
    assert_allclose(solution.coef[0], coef, rtol=ULP)
    assert_allclose(solution.intercept[0], level, rtol=ULP)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "name", ["random", "offsets 1e9", "scales 1e-8 to 1e8", "dependent but for 1e-6"]
)
def test_many_penalties_of_outputs_are_as_exact(name, intercept):
    X, rng = HARD[name], np.random.default_rng(16)
    penalties = 10.0 ** np.arange(-12, 12, 4)
    Y, weight = rng.normal(size=(len(X), len(penalties))), rng.uniform(0.5, 2, len(X))
    solution = fit(X, Y, weight, penalty=penalties, fit_intercept=intercept)
    freedom = []
    for k, penalty in enumerate(penalties):
        coef, level = rational.least_squares(
            X, Y[:, k], weight, penalty=penalty, intercept=intercept
        )
        assert_allclose(solution.coef[k], coef, rtol=ULP)
        assert_allclose(solution.intercept[k], level, rtol=ULP)
        one = fit(X, Y[:, k], weight, penalty=penalty, fit_intercept=intercept)
        freedom.append(one.degrees_of_freedom)
    assert solution.degrees_of_freedom == pytest.approx(np.mean(freedom), rel=SOLVED)


@pytest.mark.parametrize(("name", "well"), [("random", True), ("hilbert", False)])
def test_one_spectrum_serves_many_penalties_where_all_are_well_conditioned(name, well):
    X, penalties = HARD[name], 10.0 ** np.arange(-20, 1, 4)
    blocks = Blocks.of_arrays(X, np.ones((len(X), len(penalties))), np.ones(len(X)))
    equations = NormalEquations.of(total_moments(blocks), X.shape[1], True)
    assert (solve_penalties(blocks, equations, penalties) is not None) == well


@pytest.mark.parametrize("hard", [False, True])
def test_several_blocks_are_as_exact(hard):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS_PER_BLOCK + 100, 2))
    if hard:  # for the orthogonal factorisation
        X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
    y = rng.normal(size=len(X))
    coef, level = rational.least_squares(X, y)
    solution = fit(X, y)
    assert_allclose(solution.coef[0], coef, rtol=ULP)
    assert_allclose(solution.intercept[0], level, rtol=ULP)


@pytest.mark.parametrize("exponent", [-900, -660, 660, 900])
@pytest.mark.parametrize("columns", [slice(None), slice(1)])
@pytest.mark.parametrize("name", ["random", "hilbert"])
def test_powers_of_two_pass_through_to_the_last_bit(name, columns, exponent):
    X, y = HARD[name].copy(), np.random.default_rng(6).normal(size=len(HARD[name]))
    plain = fit(X, y)
    X[:, columns] *= 2.0**exponent
    scaled = fit(X, y)
    unit = np.ones(X.shape[1])
    unit[columns] = 2.0**exponent
    assert_array_equal(scaled.coef * unit, plain.coef)
    assert_array_equal(scaled.intercept, plain.intercept)
    assert_array_equal(fit(HARD[name], y * 2.0**exponent).coef, plain.coef * 2.0**exponent)
    weight = np.full(len(y), 2.0**exponent)
    assert_array_equal(fit(HARD[name], y, weight).coef, plain.coef)


def test_coefficients_beyond_floating_point_are_refused():
    X = np.random.default_rng(7).normal(size=(9, 2))
    with pytest.raises(DataError, match="too large"):
        fit(X * 1e-200, X[:, 0] * 1e200)


DEPENDENT = {
    "a copy": (lambda X: np.column_stack([X, X[:, 1]]), {3: [1]}),
    "a sum": (lambda X: np.column_stack([X[:, 0] + X[:, 1], X]), {2: [0, 1]}),
    "another unit": (lambda X: np.column_stack([X, 1.8 * X[:, 0] + 32]), {3: [0]}),
    "constant": (lambda X: np.column_stack([X[:, :1], np.full(len(X), 0.1), X[:, 1:]]), {1: []}),
    "zero": (lambda X: np.column_stack([X, np.zeros(len(X))]), {3: []}),
    "indicators": (lambda X: np.eye(4)[np.arange(len(X)) % 4], {3: [0, 1, 2]}),
    "three at once": (
        lambda X: np.column_stack([X, X[:, 0], np.ones(len(X)), X[:, 1] - X[:, 2]]),
        {3: [0], 4: [], 5: [1, 2]},
    ),
    "a column 1e8 times as large": (lambda X: np.column_stack([X, 1e8 * X[:, 2]]), {3: [2]}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_columns_are_named_and_the_norm_is_least(name, weighted):
    rng = np.random.default_rng(8)
    build, dependent = DEPENDENT[name]
    # Few binary digits, so that the columns are dependent exactly, not only up to rounding.
    X = build(np.round(rng.normal(size=(12, 3)) * 64) / 64)
    y, weight = rng.normal(size=12), rng.integers(1, 4, 12).astype(float) if weighted else None
    solution = fit(X, y, weight)
    named = {j: parts.tolist() for j, parts in solution.dependent.items()}
    if name == "another unit":  # 1.8 X rounds: named all the same
        assert named == dependent
        assert solution.rank == 3
        return
    assert named == dependent
    assert solution.rank == X.shape[1] - len(dependent)
    assert solution.degrees_of_freedom == solution.rank + 1
    coef, level = rational.least_norm(X, y, weight)
    unit = np.abs(coef).max()
    # The dependent parts are shared out in double precision.
    assert_allclose(solution.coef[0] / unit, coef / unit, rtol=0, atol=CLOSE)
    assert solution.intercept[0] == pytest.approx(level, rel=1e-12)


@pytest.mark.parametrize("n", [60, 3000, 3 * ROWS_PER_BLOCK])
@pytest.mark.parametrize("levels", [3, 20])
def test_rounding_errors_do_not_hide_a_dependence(n, levels):
    rng = np.random.default_rng(n)
    indicators = np.eye(levels)[np.append(np.arange(levels), rng.integers(0, levels, n - levels))]
    standardised = (indicators - indicators.mean(0)) / indicators.std(0)
    for X in (standardised, np.column_stack([rng.normal(size=(n, 3)) + 10, standardised])):
        assert fit(X, rng.normal(size=n)).rank == X.shape[1] - 1
    Z = rng.normal(size=(n, 4)) * [1e-6, 1, 1e6, 3] + [0, 1e4, 0, 0]
    assert fit(np.column_stack([Z, Z @ [1e6, 0.3, -1e-6, 7]]), rng.normal(size=n)).rank == 4


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (5, 5), (6, 9)])
def test_with_fewer_rows_than_coefficients_the_norm_is_least(shape, intercept):
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    solution = fit(X, y, fit_intercept=intercept)
    coef, level = rational.least_norm(X, y, intercept=intercept)
    # (5, 5) without an intercept is a square system, any other one interpolates with room.
    assert_allclose(solution.coef[0], coef, rtol=1e-14, atol=1e-300)
    assert solution.intercept[0] == pytest.approx(level, rel=1e-14, abs=1e-300)
    assert_allclose(X @ solution.coef[0] + solution.intercept[0], y, rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 1e-24])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("digits", [7, 9, 12])
def test_few_nearly_dependent_rows_are_fitted_too(digits, intercept, penalty):
    rng = np.random.default_rng(digits)
    U, V = (np.linalg.qr(rng.normal(size=(q, 20)))[0] for q in (20, 30))
    X, y = (U * np.logspace(0, -digits, 20)) @ V.T, rng.normal(size=20)
    found = fit(X, y, fit_intercept=intercept, penalty=penalty)
    centre, level = intercept * X.mean(0), intercept * y.mean()
    Z = np.vstack([X - centre, np.sqrt(penalty) * np.eye(30)])
    exact = np.linalg.lstsq(Z, np.append(y - level, np.zeros(30)), rcond=1e-14)[0]
    far = 10.0**digits * 1e-14 * np.abs(exact).max()
    assert_allclose(found.coef[0], exact, rtol=0, atol=far)  # condition number times roundings
    left = y - found.intercept - X @ found.coef[0]
    expected, rounding = y - level - (X - centre) @ exact, 1e-15 * np.abs(exact).sum()
    assert_allclose(left, expected, rtol=0, atol=rounding)  # of the coefficients


def test_copies_of_a_row_with_other_targets_get_their_weighted_mean():
    rng = np.random.default_rng(10)
    X, y, weight = rng.normal(size=(4, 6)), rng.normal(size=4), np.array([1.0, 2, 3, 1])
    X[3] = X[0]
    solution = fit(X, y, weight)
    coef, level = rational.least_norm(X, y, weight)
    assert solution.rank == 2
    assert_allclose(solution.coef[0], coef, rtol=CLOSE)
    assert solution.intercept[0] == pytest.approx(level, rel=SUMMED)


@pytest.mark.parametrize("penalty", [1e-12, 0.1, 1e5])
def test_ridge_with_fewer_rows_than_columns(penalty):
    rng = np.random.default_rng(11)
    X, y, weight = rng.normal(size=(5, 8)) + 100, rng.normal(size=5), rng.uniform(1, 2, 5)
    solution = fit(X, y, weight, penalty=penalty)
    coef, level = rational.least_squares(X, y, weight, penalty=penalty)
    assert_allclose(solution.coef[0], coef, rtol=LAST_BITS)
    assert solution.intercept[0] == pytest.approx(level, rel=LAST_BITS)


@pytest.mark.parametrize("penalty", [0.0, 0.3, 40.0])
@pytest.mark.parametrize("shape", [(20, 4), (6, 9)])
def test_degrees_of_freedom_are_the_trace_of_the_hat_matrix(shape, penalty):
    rng = np.random.default_rng(12)
    X, weight = rng.normal(size=shape), rng.uniform(1, 3, shape[0])
    trace = 0.0
    for i in range(shape[0]):
        unit = np.eye(shape[0])[i]
        solution = fit(X, unit, weight, penalty=penalty)
        trace += X[i] @ solution.coef[0] + solution.intercept[0]
    assert solution.degrees_of_freedom == pytest.approx(trace, rel=SUMMED)


def test_the_triangular_factor_does_not_depend_on_the_blocks():
    rng = np.random.default_rng(13)
    X, y, weight = rng.normal(size=(500, 4)), rng.normal(size=(500, 1)), rng.uniform(1, 2, 500)
    whole = Blocks.of_arrays(X, y, weight)
    parts = [Rows(X[i : i + 3], y[i : i + 3], weight[i : i + 3]) for i in range(0, 500, 3)]
    Z = np.column_stack([np.ones(500), X, y]) * np.sqrt(weight)[:, None]
    for blocks in (whole, Blocks(lambda: parts)):
        R = triangular_factor(blocks, np.zeros(4), np.ones(4), intercept=True, with_y=True)
        assert_array_equal(R, np.triu(R))
        assert_allclose(R.T @ R, Z.T @ Z, rtol=SUMMED, atol=SUMMED)


def test_independent_columns_have_their_own_triangular_factor():
    rng = np.random.default_rng(14)
    Z = rng.normal(size=(50, 5))
    Z[:, 3] = Z[:, 0] - 2 * Z[:, 1]
    Z /= np.linalg.norm(Z, axis=0)
    R = np.linalg.qr(Z)[1]
    columns, R = independent_columns(R, np.ones(5), 50)
    assert_array_equal(columns, [0, 1, 2, 4])
    assert_allclose(R.T @ R, (Z.T @ Z)[np.ix_(columns, columns)], rtol=0, atol=SUMMED)


@pytest.mark.parametrize(
    "name", ["random", "scales 1e-8 to 1e8", "offsets 1e9", "polynomial, degree 5"]
)
def test_all_penalties_from_one_spectrum(name):
    X, y = HARD[name], np.random.default_rng(15).normal(size=(len(HARD[name]), 1))
    penalties = 10.0 ** np.arange(-20, 8, 4)
    spectrum = spectrum_of_rows(Rows(X, y, np.ones(len(X))), True, penalties.min())
    coef, level = spectrum.coefficients(penalties)
    freedom = spectrum.degrees_of_freedom(penalties)
    for j, penalty in enumerate(penalties):
        true, true_level = rational.least_squares(X, y[:, 0], penalty=penalty)
        # Condition number of the scaled columns up to 3e3, and rounding differs by processor.
        assert_allclose(coef[j, 0], true, rtol=1e-10)
        assert_allclose(level[j, 0], true_level, rtol=1e-11)
        solution = fit(X, y, penalty=penalty)
        assert freedom[j] + 1 == pytest.approx(solution.degrees_of_freedom, rel=SOLVED)


def test_the_row_spectrum_leaves_rounding_out():
    rng = np.random.default_rng(16)
    Z = rng.normal(size=(6, 10))
    Z[5] = Z[4]
    left, square = row_spectrum(Z, centred=False)
    assert left.shape == (6, 5)
    assert_allclose(left * square @ left.T, Z @ Z.T, rtol=0, atol=SUMMED)
    left, square = row_spectrum(Z - Z.mean(0), centred=True)
    assert len(square) == 4
    assert row_spectrum(np.zeros((3, 4)), centred=True)[0].shape == (3, 0)


def test_the_range_of_squares_encloses_the_singular_values():
    rng = np.random.default_rng(17)
    X, weight = rng.normal(size=(40, 5)) * [1, 10, 100, 1, 1], rng.uniform(1, 2, 40)
    Z = (X - np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    square = np.linalg.svd(Z)[1] ** 2
    total, least = square_range(Rows(X, np.empty((40, 0)), weight), True)
    assert total == pytest.approx(square.sum(), rel=SUMMED)
    assert 1 / least == pytest.approx((1 / square).sum(), rel=SUMMED)
