"""Double-double arithmetic against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from empirisk.compiled.centring import centre_rows
from empirisk.compiled.decorator import compiled
from empirisk.compiled.double_double import (
    TILE,
    add_pairs,
    add_products,
    fused_multiply_add,
    residuals,
    scale_pairs,
    transposed_product,
    two_product,
    two_sum,
)

# Far enough from overflow and underflow for sums, products and their errors to be exact.
ordinary = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


def exact(hi, lo):
    return Fraction(float(hi)) + Fraction(float(lo))


@settings(deadline=None)  # the first call compiles
@given(ordinary, ordinary)
def test_sum_and_product_and_their_errors_are_exact(a, b):
    assert exact(*two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert exact(*two_product(a, b)) == Fraction(a) * Fraction(b)


@compiled
def instruction(a, b, c):
    return fused_multiply_add(a, b, c)


@settings(deadline=None)  # the first call compiles
@given(ordinary, ordinary, ordinary)
def test_compiled_multiply_and_add_rounds_once(a, b, c):
    assert instruction(a, b, c) == float(Fraction(a) * Fraction(b) + Fraction(c))


def pairs(rng, *shape):
    hi = rng.normal(size=shape) * 10.0 ** rng.integers(-8, 8, shape)
    return hi, hi * rng.uniform(-1, 1, shape) * 2.0**-54


# Each operation on pairs of 106 bits may lose a few of the last ones.
PAIR = Fraction(2) ** -100


@pytest.mark.parametrize("seed", range(5))
def test_sums_and_products_of_pairs_have_twice_the_digits(seed):
    rng = np.random.default_rng(seed)
    hi, lo = pairs(rng, 20)
    more, factor = pairs(rng, 20), rng.normal(size=20)
    total, scaled = (hi.copy(), lo.copy()), (hi.copy(), lo.copy())
    add_pairs(*total, *more)
    add_products(*scaled, factor, *more)
    for j in range(20):
        a, b, f = exact(hi[j], lo[j]), exact(more[0][j], more[1][j]), Fraction(factor[j])
        assert abs(exact(total[0][j], total[1][j]) - (a + b)) <= PAIR * (abs(a) + abs(b))
        error = abs(exact(scaled[0][j], scaled[1][j]) - (a + f * b))
        assert error <= PAIR * (abs(a) + abs(f * b))


def test_scaled_pairs_have_twice_the_digits():
    rng = np.random.default_rng(0)
    hi, lo = pairs(rng, 2, 7)
    weight = rng.uniform(size=7)
    product = hi.copy(), lo.copy()
    scale_pairs(*product, weight)
    for k in range(2):
        for i in range(7):
            true = exact(hi[k, i], lo[k, i]) * Fraction(weight[i])
            assert abs(exact(product[0][k, i], product[1][k, i]) - true) <= PAIR * abs(true)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (TILE, 3), (2 * TILE + 5, 7), (4, 0)])
def test_residuals_and_transposed_product_are_as_good_as_twice_the_precision(n, p):
    rng = np.random.default_rng(n)
    X, coef, y = rng.normal(size=(n, p)), pairs(rng, 2, p + 1), rng.normal(size=(2, n))
    hi, lo = np.empty((2, n)), np.empty((2, n))
    residuals(X, y, *coef, hi, lo)
    product = np.empty((2, p + 1)), np.empty((2, p + 1))
    transposed_product(X, hi, lo, *product)
    ones = np.column_stack([X, np.ones(n)])
    for k in range(2):
        b = [exact(coef[0][k, j], coef[1][k, j]) for j in range(p + 1)]
        for i in range(n):
            terms = [Fraction(y[k, i])] + [-Fraction(ones[i, j]) * b[j] for j in range(p + 1)]
            assert abs(exact(hi[k, i], lo[k, i]) - sum(terms)) <= PAIR * sum(map(abs, terms))
        for j in range(p + 1):
            terms = [Fraction(ones[i, j]) * exact(hi[k, i], lo[k, i]) for i in range(n)]
            error = abs(exact(product[0][k, j], product[1][k, j]) - sum(terms))
            assert error <= PAIR * sum(map(abs, terms))


def test_compiled_and_plain_loops_give_the_same_bits():
    rng = np.random.default_rng(3)
    X, coef, y = rng.normal(size=(5, 3)), pairs(rng, 1, 4), rng.normal(size=(1, 5))
    results = []
    for residual, transposed in (
        (residuals, transposed_product),
        (residuals.py_func, transposed_product.py_func),
    ):
        hi, lo = np.empty((1, 5)), np.empty((1, 5))
        residual(X, y, *coef, hi, lo)
        product = np.empty((1, 4)), np.empty((1, 4))
        transposed(X, hi, lo, *product)
        results.append(np.concatenate([hi.ravel(), lo.ravel(), *map(np.ravel, product)]))
    assert_array_equal(*results)


def test_centred_rows_are_weighted_differences():
    rng = np.random.default_rng(4)
    X, y, mean, root = (
        rng.normal(size=(6, 2)),
        rng.normal(size=(6, 1)),
        rng.normal(size=3),
        rng.random(6),
    )
    Z = np.empty((6, 3))
    centre_rows(X, y, mean, root, Z)
    assert_array_equal(Z, (np.column_stack([X, y]) - mean) * root[:, None])
