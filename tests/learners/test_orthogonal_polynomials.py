"""Polynomials of high degree on raw data, beside the same in 200 digits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import BasisRegression
from empirisk.learners.linear.orthogonal_polynomials import OrthogonalPolynomials
from tolerances import SUMMED

rng = np.random.default_rng(0)
DATA = {
    "spread 1 at a million": 1e6 + rng.normal(size=150),
    "years": np.arange(1900.0, 2021.0),
    "years with copies": np.sort(rng.integers(1900, 2021, 150)).astype(float),
    "lognormal": rng.lognormal(size=150),
    "very skew": rng.lognormal(sigma=1.5, size=400),
    "as many as coefficients": np.arange(21.0),
}
every_kind_of_data = pytest.mark.parametrize("kind", DATA)


def sums(*factors):
    return sum(np.prod(row) for row in zip(*factors, strict=True))


def in_200_digits(x, y, weight, degree, new):
    """Least squares by orthogonal polynomials, with no regard to rounding."""
    with localcontext() as context:
        context.prec = 200
        x, y, weight, new = ([Decimal(v) for v in a.tolist()] for a in (x, y, weight, new))
        before, own = [Decimal(0)] * len(x + new), [Decimal(1)] * len(x + new)
        fitted, last = [Decimal(0)] * len(new), None
        for _ in range(degree + 1):
            rows = own[: len(x)]
            square = sums(weight, rows, rows)
            slope = sums(weight, y, rows) / square
            fitted = [f + slope * p for f, p in zip(fitted, own[len(x) :], strict=True)]
            a, b = sums(weight, x, rows, rows) / square, square / last if last else Decimal(0)
            new_ones = [(t - a) * p - b * q for t, p, q in zip(x + new, own, before, strict=True)]
            before, own, last = own, new_ones, square
        return np.array([float(f) for f in fitted])


@every_kind_of_data
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_degree_20_on_raw_data_keeps_its_digits(kind, weighted):
    x = DATA[kind]
    rng = np.random.default_rng(1)
    y = np.sin(x) + rng.normal(size=len(x))
    weight = rng.uniform(0.1, 3, len(x)) if weighted else np.ones(len(x))
    model = BasisRegression(degree=20).fit(x[:, None], y, weight)
    assert model.rank_ == 20
    new = np.concatenate([x, np.linspace(x.min(), x.max(), 40)])
    exact = in_200_digits(x, y, weight, 20, new)
    found = model.predict(new[:, None])
    # Between outliers the polynomial itself is large, up to 1e12.
    assert_allclose(found, exact, rtol=1e-10, atol=1e-10)


@every_kind_of_data
def test_the_columns_are_far_from_dependent(kind):
    t = DATA[kind]
    t = 2 * (t - t.min()) / np.ptp(t) - 1
    columns = OrthogonalPolynomials.of(t, np.ones(len(t)), 20).values(t)
    assert np.linalg.cond(columns) < 100  # powers: 1e8 and up, on the best of these data


def test_slopes_are_the_derivatives():
    t = np.linspace(-1, 1, 50)
    family = OrthogonalPolynomials.of(t**3, np.ones(50), 6)
    step = 1e-5
    twin = (family.values(t + step) - family.values(t - step)) / (2 * step)
    # Third derivatives of up to 1e5, times step^2 / 6.
    assert_allclose(family.slopes(t), twin, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("distinct", [1, 2, 5])
def test_no_more_of_them_than_distinct_values_allow(distinct):
    t = np.linspace(-1, 1, distinct)[np.arange(40) % distinct]
    assert OrthogonalPolynomials.of(t, np.ones(40), 9).size == distinct - 1


def test_values_that_differ_by_rounding_alone_are_one():
    t = np.array([-1.0, -1.0 + 2e-16, 1.0, 1.0 - 1e-16])
    assert OrthogonalPolynomials.of(t, np.ones(4), 3).size == 1


def test_a_tiny_weight_counts():
    t, weight = np.array([-1.0, 0.5, 1.0]), np.array([1.0, 1e-40, 1.0])
    family = OrthogonalPolynomials.of(t, weight, 2)
    assert family.size == 2
    assert np.isfinite(family.values(t)).all()
    y = np.array([0.0, 5.0, 1.0])
    model = BasisRegression(degree=2).fit(t[:, None], y, weight)
    assert_allclose(model.predict(t[:, None]), y, rtol=0, atol=SUMMED)


def test_the_bits_of_a_row_do_not_depend_on_the_others():
    x = DATA["lognormal"][:, None]
    model = BasisRegression(degree=15).fit(x, np.sin(x[:, 0]))
    columns = model.expansion_.transform(x)
    assert_array_equal(model.expansion_.transform(x[3:5]), columns[3:5])
