"""Rows between knots condensed to a few: the same least squares, for every degree at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import BasisExpansion, BasisRegression, LinearRegression
from empirisk.learners.linear.bases import BSplines, Steps
from empirisk.learners.linear.piecewise import CONSTANT, CUBIC, Cells
from tolerances import LAST_BITS, SUMMED

DEGREES = [1, 2, 3, 5, 9, 14]
DATA = {
    "even": lambda rng: rng.uniform(size=400),
    "skew": lambda rng: rng.lognormal(sigma=1.5, size=400),
    "at a million": lambda rng: 1e6 + rng.normal(size=400),
    "whole numbers": lambda rng: rng.integers(18, 81, 400).astype(float),
    "mostly zero": lambda rng: np.maximum(rng.normal(size=400) - 1, 0),
    "few rows": lambda rng: rng.uniform(size=24),
}


@pytest.mark.parametrize("basis", ["spline", "natural_spline", "steps"])
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")
def test_all_degrees_are_least_squares_on_all_rows(basis, kind, weighted):
    rng = np.random.default_rng(0)
    x = DATA[kind](rng)[:, None]
    Y = np.column_stack([np.cos(3 * x[:, 0]), rng.normal(size=len(x))])
    weight = rng.choice([0.1, 1.0, 7.0], len(x)) if weighted else np.ones(len(x))
    path = BasisRegression(basis).fit_path(x, Y, weight, DEGREES)
    found = path.predict_path(x)
    for j, degree in enumerate(DEGREES):
        columns = BasisExpansion(basis, degree).fit(x, sample_weight=weight).transform(x)
        twin = LinearRegression().fit(columns, Y, weight)
        # Condition numbers of up to 1e4, where knots come close.
        assert_allclose(found[:, j], twin.predict(columns), rtol=0, atol=1e-09)
        assert path.at(j).rank_ == twin.rank_


def problem(n=60, seed=1):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(-1, 1, n))
    return t, rng.normal(size=(n, 2)), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize(
    ("places", "family"),
    [(CUBIC, BSplines(np.array([-0.4, 0.3]))), (CONSTANT, Steps(np.array([-0.4, 0.3])))],
    ids=["cubic", "constant"],
)
def test_what_is_left_has_the_gram_matrix_of_all_rows(places, family):
    t, y, weight = problem()
    cells = Cells.of(t, y, weight, np.array([0.3, -0.4, 0.3, 0.0]), places)
    assert cells.factor.shape == (4, len(places), len(places))  # of knots that are equal, one
    few = cells.factor @ family.values(cells.nodes.ravel()).T.reshape(*cells.nodes.shape, -1)
    few = few.reshape(-1, family.size) * np.sqrt(cells.weight)
    many = family.values(t).T * np.sqrt(weight)[:, None]
    assert_allclose(few.T @ few, many.T @ many, rtol=0, atol=SUMMED)
    along = many.T @ (y * np.sqrt(weight)[:, None])
    assert_allclose(few.T @ cells.along * np.sqrt(cells.weight), along, rtol=0, atol=SUMMED)


def test_rows_with_the_same_value_are_one():
    t, y, weight = problem(n=6)
    once = Cells.of(t, y, 3 * weight, np.zeros(1), CUBIC)
    thrice = Cells.of(np.repeat(t, 3), np.repeat(y, 3, 0), np.repeat(weight, 3), np.zeros(1), CUBIC)
    assert_allclose(thrice.nodes, once.nodes, rtol=LAST_BITS)
    assert_allclose(
        thrice.factor * np.sqrt(thrice.weight), once.factor * np.sqrt(once.weight), rtol=SUMMED
    )


@pytest.mark.parametrize("width", [1e-15, 1e-12, 1.0])
def test_cells_as_narrow_as_rounding_allows(width):
    t = -0.5 + width * np.linspace(0, 1, 12)
    y = np.linspace(0, 1, 12)[:, None] ** 2
    cells = Cells.of(t, y, np.ones(12), np.zeros(0), CUBIC)
    assert np.isfinite(cells.factor).all()
    assert np.abs(cells.factor).max() < 12  # entries of L are at most 5/3


def test_where_functions_depend_on_others_it_declines():
    t, y, weight = problem(n=5)
    cells = Cells.of(t, y, weight, np.zeros(1), CUBIC)
    assert cells.factorise(BSplines(np.array([0.0, 0.5])), intercept=True) is None


@pytest.mark.parametrize(("low", "high", "unit"), [(1, 11, 1 / 3), (2, 8, 1e150)])
def test_a_cut_at_the_least_value_leaves_rows_of_it_below(low, high, unit):
    X = np.repeat([[low], [low + 1], [low + 2], [high]], [5, 1, 1, 1], axis=0) * unit
    expansion = BasisExpansion("steps", degree=2).fit(X)
    assert expansion.knots_[0][0] == X[0, 0]
    assert (expansion.transform(X[:5]) == 0).all()
    model = BasisRegression("steps", degree=2, fit_intercept=False).fit(X, np.ones(8))
    assert (model.predict(X[:5]) == 0).all()
