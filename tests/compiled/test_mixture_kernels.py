"""The steps of EM for Gaussian mixtures beside naive lines, compiled and not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, ward
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from empirisk.compiled.mixtures import gaussian, missing, tiles
from empirisk.compiled.mixtures.ward import ward_merges
from empirisk.compiled.team import SYNC_SIZE
from empirisk.learners.density.covariance_structures import inverse_roots
from empirisk.learners.density.mixture_starts import numbered, ward_cut
from tolerances import LAST_BITS, SUMMED

LANES, WIDTH = tiles.LANES, tiles.WIDTH
NEAR = {"rtol": 1e-11, "atol": 1e-12}  # sums of a hundred terms of size 1 in another order


def ways(kernel):
    """Compiled, and the Python original."""
    return [kernel, kernel.py_func]


def sync():
    return np.zeros(SYNC_SIZE, np.int64)


class Case:
    """Rows, weights and components, and what naive lines make of them."""

    def __init__(self, n, p, K, seed=0):
        rng = np.random.default_rng(seed)
        self.n, self.p, self.K = n, p, K
        self.X, self.weight = rng.normal(size=(n, p)), rng.uniform(0.5, 2, size=n)
        self.means, self.shares = rng.normal(size=(K, p)), rng.dirichlet(np.ones(K))
        roots = rng.normal(size=(K, p, p)) * 0.3 + np.eye(p)
        self.covariances = roots @ np.swapaxes(roots, 1, 2)
        self.first = np.array([0, 1, -(-n // LANES)], np.int64)

    @property
    def joint(self):
        densities = [
            multivariate_normal(m, S).logpdf(self.X).reshape(-1)
            for m, S in zip(self.means, self.covariances, strict=True)
        ]
        return np.log(self.shares) + np.array(densities).T

    def tiled(self, way=0):
        filled = np.empty((-(-self.n // LANES), self.p, LANES))
        kernel = ways(tiles.fill_tiles)[way]
        kernel(sync(), self.first, self.X, np.ones(self.p), np.zeros(self.p), filled)
        weight = np.zeros((len(filled), LANES))
        weight.reshape(-1)[: self.n] = self.weight
        return filled, weight

    def factors(self):
        wide = -(-self.p // tiles.STEP) * tiles.STEP
        roots = np.zeros((self.K, wide, wide))
        roots[:, : self.p, : self.p] = inverse_roots(self.covariances)
        size = np.log(np.einsum("kjj->kj", roots)[:, : self.p]).sum(axis=1)
        return roots, np.log(self.shares) + size - self.p / 2 * np.log(2 * np.pi)

    def moments(self):
        posterior = np.exp(self.joint - logsumexp(self.joint, axis=1, keepdims=True))
        share = posterior * self.weight[:, None]
        gaps = self.X[:, None] - self.means
        return (
            share.sum(axis=0),
            np.einsum("ik,ikj->kj", share, gaps),
            np.einsum("ik,ikj,ikl->kjl", share, gaps, gaps),
            self.weight @ logsumexp(self.joint, axis=1),
        )


@pytest.mark.parametrize("way", [0, 1])
def test_rows_stand_side_by_side_in_tiles(way):
    case = Case(70, 3, 1)
    case.X[2, 1] = np.nan
    case.X[3] = [1e200, -1e200, 1e139]  # the squares of the first two would overflow
    unit, shift = np.array([0.5, 2.0, 1.0]), np.array([0.1, 0.2, 0.3])
    filled = np.full((2, 3, LANES), np.nan)
    ways(tiles.fill_tiles)[way](sync(), case.first, case.X, unit, shift, filled)
    rows = np.swapaxes(filled, 1, 2).reshape(-1, 3)
    known = np.clip(np.nan_to_num(case.X * unit - shift), -tiles.FAR, tiles.FAR)
    assert_array_equal(rows[:70], known)
    assert (rows[70:] == 0).all()


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(("n", "p", "K"), [(70, 3, 2), (100, 1, 3), (65, 5, 1), (70, 4, 2)])
def test_one_pass_gives_the_likelihood_and_all_moments(way, n, p, K):
    case = Case(n, p, K)
    filled, weight = case.tiled()
    roots, constants = case.factors()
    sums, found = np.empty((2, K, p + 1, WIDTH)), np.empty(2)
    products = np.empty((2, K, p, roots.shape[1], WIDTH))
    ways(gaussian.full_step)[way](
        sync(), case.first, filled, weight, case.means, roots, constants, sums, products, found,
    )  # fmt: skip
    expected = case.moments()
    moments = sums.sum(axis=(0, 3))
    assert_allclose(moments[:, -1], expected[0], **NEAR)
    assert_allclose(moments[:, :-1], expected[1], **NEAR)
    lower = np.tril(products.sum(axis=(0, 4))[:, :, :p])
    assert_allclose(lower, np.tril(expected[2]), **NEAR)
    assert_allclose(found.sum(), expected[3], **NEAR)


@pytest.mark.parametrize("way", [0, 1])
def test_components_may_be_far_apart(way):
    """Their densities differ by factors that are no doubles."""
    case = Case(70, 2, 3)
    case.means *= 60.0
    assert np.ptp(case.joint, axis=1).min() > 1000
    filled, weight = case.tiled()
    sums, found, products = np.empty((2, 3, 3, WIDTH)), np.empty(2), np.empty((2, 3, 2, 4, WIDTH))
    ways(gaussian.full_step)[way](
        sync(), case.first, filled, weight, case.means, *case.factors(), sums, products, found,
    )  # fmt: skip
    expected = case.moments()
    assert_allclose(sums.sum(axis=(0, 3))[:, -1], expected[0], rtol=SUMMED, atol=SUMMED)
    assert_allclose(found.sum(), expected[3], rtol=SUMMED)


def test_a_matrix_that_rounding_made_singular_has_a_root():
    root = np.zeros((2, 2))
    missing.ordered_cholesky(np.ones((2, 2)), np.array([1, 0]), root)
    assert_array_equal(root[:, 0], 1.0)
    assert 0 < root[1, 1] < 1e-100


@pytest.mark.parametrize("way", [0, 1])
def test_independent_features_need_no_matrices(way):
    case = Case(70, 3, 2)
    case.covariances = case.covariances * np.eye(3)
    filled, weight = case.tiled()
    roots, constants = case.factors()
    roots = np.ascontiguousarray(np.einsum("kjj->kj", roots)[:, :3])
    sums, found = np.empty((2, 2, 4, WIDTH)), np.empty(2)
    squares = np.empty((2, 2, 3, WIDTH))
    ways(gaussian.diagonal_step)[way](
        sync(), case.first, filled, weight, case.means, roots, constants, sums, squares, found,
    )  # fmt: skip
    expected = case.moments()
    moments = sums.sum(axis=(0, 3))
    assert_allclose(moments[:, -1], expected[0], **NEAR)
    assert_allclose(moments[:, :-1], expected[1], **NEAR)
    assert_allclose(squares.sum(axis=(0, 3)), np.einsum("kjj->kj", expected[2]), **NEAR)
    assert_allclose(found.sum(), expected[3], **NEAR)


@pytest.mark.parametrize("way", [0, 1])
def test_joint_densities_of_new_rows(way):
    case = Case(70, 3, 2)
    joint = np.empty((70, 2))
    kernel = ways(gaussian.joint_densities)[way]
    kernel(sync(), case.first, case.tiled()[0], case.means, *case.factors(), joint)
    assert_allclose(joint, case.joint, **NEAR)


def conditional_moments(x, mean, covariance):
    """E u, E uu' and the log density of what is observed, of u = x - mean, by the textbook."""
    m, o = np.isnan(x), ~np.isnan(x)
    u, spread = x - mean, np.zeros((len(x), len(x)))
    if m.any():
        regression = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
        u[m] = regression @ u[o]
        spread[np.ix_(m, m)] = covariance[np.ix_(m, m)] - regression @ covariance[np.ix_(o, m)]
    density = 0.0
    if o.any():
        density = multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(x[o])
    return u, np.outer(u, u) + spread, density


@pytest.mark.parametrize("way", [0, 1])
def test_missing_values_have_their_conditional_moments(way):
    case = Case(12, 3, 2)
    Z = case.X.copy()
    Z[:5, 1], Z[5:9, [0, 2]], Z[9:11] = np.nan, np.nan, np.nan
    patterns, first = np.array([0, 5, 9, 11, 12], np.int64), np.array([0, 2, 4], np.int64)
    mass, sums = np.empty((2, 2)), np.empty((2, 2, 3))
    products, found = np.empty((2, 2, 3, 3)), np.empty(2)
    logs = np.log(case.shares)
    ways(missing.missing_step)[way](
        sync(), first, patterns, Z, case.weight, case.means, case.covariances, logs, mass, sums,
        products, found,
    )  # fmt: skip
    table = [
        [conditional_moments(x, m, S) for m, S in zip(case.means, case.covariances, strict=True)]
        for x in Z
    ]
    joint = logs + np.array([[moments[2] for moments in row] for row in table])
    share = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) * case.weight[:, None]
    for b, block in enumerate((slice(9), slice(9, 12))):
        assert_allclose(mass[b], share[block].sum(axis=0), **NEAR)
        likelihood = case.weight[block] @ logsumexp(joint[block], axis=1)
        assert_allclose(found[b], likelihood, **NEAR)
    for k in range(2):
        first_moment = sum(w * row[k][0] for w, row in zip(share[:, k], table, strict=True))
        second = sum(w * row[k][1] for w, row in zip(share[:, k], table, strict=True))
        assert_allclose(sums.sum(axis=0)[k], first_moment, **NEAR)
        assert_allclose(np.tril(products.sum(axis=0)[k]), np.tril(second), **NEAR)
    out = np.empty((12, 2))
    ways(missing.missing_densities)[way](
        sync(), first, patterns, Z, case.means, case.covariances, logs, out
    )
    assert_allclose(out, joint, **NEAR)


def test_posteriors_of_components_that_are_far_apart_are_numbers():
    joint = np.array([-3000.0, -1000.0, -1000.0 - np.log(3), -5000.0])
    assert missing.posterior_row(joint) == pytest.approx(-1000 + np.log(4 / 3), rel=LAST_BITS)
    assert_allclose(joint, [0, 0.75, 0.25, 0], **NEAR)


@pytest.mark.parametrize("way", [0, 1])
def test_ward_merges_as_scipy_does(way):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    merged, into, height = np.empty(39, np.int64), np.empty(39, np.int64), np.empty(39)
    ways(ward_merges)[way](X.copy(), np.ones(40), merged, into, height)
    # SciPy's heights are distances d with d^2 / 2 the growth of the sum of squares
    assert_allclose(np.sort(height), ward(X)[:, 2] ** 2 / 2, rtol=1e-10)
    for K in (1, 2, 5, 40):
        theirs = numbered(fcluster(ward(X), K, criterion="maxclust"))
        assert (ward_cut(X, np.ones(40), K) == theirs).all()


def test_a_weighted_point_is_so_many_copies_in_a_hierarchy():
    rng = np.random.default_rng(2)
    X, weight = rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    copies = np.repeat(np.arange(30), weight)
    labels = ward_cut(X, weight.astype(float), 4)
    assert (ward_cut(X[copies], np.ones(len(copies)), 4) == labels[copies]).all()
