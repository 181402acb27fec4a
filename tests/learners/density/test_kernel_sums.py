"""Fast sums of kernels beside sums by the definition: within the tolerance, wherever the target."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from empirisk.compiled.densities import leaf_sums, leaves, line_boxes, local_fits, pair_sums
from empirisk.compiled.densities.kernels import EXPONENTIAL, GAUSSIAN
from empirisk.compiled.densities.line_boxes import BINS
from empirisk.learners.density.kernel_sums import KernelSums
from empirisk.learners.density.leaf_sums import LeafSums
from empirisk.learners.density.line_sums import ROWS_OF_BIN, LineSums
from tolerances import LAST_BITS, SUMMED

RNG = np.random.default_rng(0)


def known_logs(X, weight, h, T, kind=GAUSSIAN):
    u = np.linalg.norm(T[:, None] - X, axis=2) / h
    return logsumexp(-(u**2) / 2 if kind == GAUSSIAN else -u, b=weight, axis=1)


@pytest.mark.parametrize("tolerance", [0.0, 1e-10, 1e-5, 1e-2])
@pytest.mark.parametrize("h", [0.003, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_on_a_line_are_within_the_tolerance(tolerance, h, weighted):
    x = np.concatenate([RNG.normal(size=700), [9.0, 9.5]])[:, None]  # two far from all others
    weight = RNG.gamma(0.3, size=len(x)) + 1e-6 if weighted else np.ones(len(x))
    T = np.linspace(-8, 14, 400)[:, None]
    sums = KernelSums(x, weight if weighted else None, GAUSSIAN, 0.0, h, tolerance)
    known = known_logs(x, weight, h, T)
    # Rounding of exponents, which are up to 1e7 here, comes on top.
    allowed = tolerance + 1e-13 + 1e-15 * np.abs(known)
    assert (np.abs(np.expm1(sums.logs(T) - known)) <= allowed).all()


@pytest.mark.parametrize("kind", [GAUSSIAN, EXPONENTIAL])
@pytest.mark.parametrize("tolerance", [0.0, 1e-5, 1e-2])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_sums_over_leaves_are_within_the_tolerance(kind, tolerance, d):
    X = np.concatenate([RNG.normal(size=(900, d)), 8 + 0.01 * RNG.normal(size=(3, d))])
    weight = RNG.uniform(0.2, 2, size=len(X))
    T = 3 * RNG.normal(size=(300, d))
    for h in (0.05, 0.5, 5.0):
        sums = KernelSums(X, weight, kind, 0.0, h, tolerance)
        known = known_logs(X, weight, h, T, kind)
        allowed = tolerance + 1e-12 + 1e-15 * np.abs(known)
        assert (np.abs(np.expm1(sums.logs(T) - known)) <= allowed).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_may_be_counted_in_bins(weighted):
    x = RNG.normal(size=40000)
    weight = RNG.uniform(0.5, 2, size=40000) if weighted else None
    line = LineSums(x, weight, 0.3, 1e-5)
    assert len(x) > ROWS_OF_BIN * BINS * len(line.mass)
    t = np.linspace(x.min() - 0.9, x.max() + 0.9, 200)
    known = known_logs(x[:, None], np.ones(40000) if weight is None else weight, 0.3, t[:, None])
    # The relative error that LineSums was allowed.
    assert (np.abs(np.expm1(np.log(line.sums(t)) - known)) <= 1e-5).all()
    moments = line._moments(len(line.mass), None)
    by_bins = line._moments_by_bins(len(line.mass))
    # The cubics are off by 1e-7 of the mass of a box.
    assert_allclose(by_bins, moments, rtol=0, atol=1e-06 * line.mass.max())


def test_targets_may_be_anywhere():
    x = RNG.normal(size=(500, 1))
    T = np.array([[-1e3], [40.0], [1e100], [-1e5]] + [[0.0]] * 100)
    found = KernelSums(x, None, GAUSSIAN, 0.0, 0.1, 1e-5).logs(T)
    assert_allclose(found[:4], known_logs(x, np.ones(500), 0.1, T[:4]), rtol=SUMMED)


@pytest.mark.parametrize("d", [1, 3])
def test_the_same_bits_for_every_number_of_threads(d):
    X, T = RNG.normal(size=(70000 if d == 1 else 2000, d)), RNG.normal(size=(1500, d))
    for tolerance in (0.0, 1e-5):
        one, two = (KernelSums(X, None, GAUSSIAN, 0.0, 0.2, tolerance, n).logs(T) for n in (1, 3))
        assert_array_equal(one, two)


def test_boxes_are_used_where_they_should_be():
    x = RNG.normal(size=1000)
    assert LineSums.pays(1000, (-3.0, 3.0), 0.1, 1000)
    assert not LineSums.pays(1000, (-3.0, 3.0), 0.1, 10)
    assert not LineSums.pays(1000, (-3.0, 1e9), 0.1, 1000)
    line = LineSums(x, None, 0.1, 1e-5)
    assert line.coefficients is not None
    assert np.isfinite(line.sums(np.linspace(x.min(), x.max(), 500))).all()
    assert LineSums(x, None, 0.1, 1e-14).coefficients is None


def test_compiled_sums_are_those_of_their_originals():
    X = RNG.normal(size=(40, 2))
    order, ends = np.empty(40, np.int64), np.empty(40, np.int64)
    plain_order, plain_ends = np.empty(40, np.int64), np.empty(40, np.int64)
    n = leaves.cut_into_leaves(X, 5, order, ends)
    assert leaves.cut_into_leaves.py_func(X, 5, plain_order, plain_ends) == n
    assert_array_equal(order, plain_order)
    assert_array_equal(np.sort(order), np.arange(40))
    assert np.diff(ends[:n], prepend=0).max() <= 5
    sums = LeafSums(X, np.ones(40), GAUSSIAN, 0.0, 4.0, 1e-3)
    found, plain = np.empty(40), np.empty(40)
    arguments = (
        X, np.array([20, 40]), sums.columns, sums.ends, sums.lows, sums.highs, sums.weight,
        GAUSSIAN, 0.0, 4.0, 1e-3, 0, 2,
    )  # fmt: skip
    leaf_sums.group_sums(*arguments, found)
    leaf_sums.group_sums.py_func(*arguments, plain)
    # exp of a rounded exponent of 100 or so: its rounding times the exponent
    assert_allclose(found, plain, rtol=1e-12, atol=1e-13)


def test_compiled_boxes_are_those_of_their_originals():
    x, t = RNG.normal(size=50), np.linspace(-2, 2, 30)
    found = []
    for way in (lambda f: f, lambda f: f.py_func):
        moments, mass = np.zeros((60, line_boxes.TERMS)), np.empty(60)
        way(line_boxes.add_moments)(x, np.ones(50), -3.0, 0.1, 0.5, moments)
        way(line_boxes.finish_moments)(moments, mass)
        reaches = np.empty(60 + 2 * 40, np.int64)
        way(line_boxes.box_reaches)(mass, 50.0, 1e-6, 0.2, 40, reaches)
        first, order = np.empty(len(reaches) + 3, np.int64), np.empty(30, np.int64)
        way(line_boxes.targets_of_boxes)(t, -3.0, 0.1, 40, first, order)
        sums = np.full(30, np.nan)
        way(line_boxes.box_sums)(
            t, order, first, -3.0, 0.1, 0.5, moments, mass, reaches, 0, len(reaches), sums
        )
        found.append(sums)
    assert_allclose(found[0], found[1], rtol=LAST_BITS)
    known = known_logs(x[:, None], np.ones(50), 0.5, t[:, None])
    assert_allclose(np.log(found[0]), known, rtol=0, atol=1e-6)  # the share that may be left out


@pytest.mark.parametrize("kind", range(8))
def test_compiled_pairs_are_those_of_their_originals(kind):
    X, y = RNG.normal(size=(25, 2)), RNG.normal(size=(25, 1))
    fold, weight = np.arange(25) % 5, RNG.uniform(0.5, 2, size=25)
    rates = np.array([0.1, 1.0, 30.0])
    sums, nearest = np.empty((2, 25, 3)), np.empty((2, 25))
    fits, norms, leverages = np.empty((2, 25, 3, 1)), np.empty((2, 25, 3)), np.empty((2, 25, 3))
    factors = np.ones((5, 2))
    for k, way in enumerate((lambda f: f, lambda f: f.py_func)):
        way(pair_sums.pair_sums)(
            X, fold, X, fold, weight, rates, kind, 0.0, 45.0, sums[k], nearest[k]
        )
        way(local_fits.local_fits)(
            X, fold, X, fold, factors, weight, y, rates, kind, 45.0, 1, fits[k], norms[k],
            leverages[k],
        )  # fmt: skip
    for pair in (sums, nearest, fits, norms, leverages):
        assert_allclose(pair[0], pair[1], rtol=SUMMED)
