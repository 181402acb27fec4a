"""PCA: its ways to the axes, its numbers beside scikit-learn's, extreme data, errors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA as Peer

from empirisk import PCA, Tuned, load, save
from empirisk.learners.unsupervised.number_of_components import minka_number
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SOLVED, SUMMED

EXACT = ["auto", "full", "covariance_eigh", "gram"]
SHAPES = [(80, 6), (12, 40), (30, 30)]


def rows(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * np.linspace(1, 3, p) + rng.normal(size=(n, 1)) + 5


def slow_axes(X, weight=None):
    """Eigenvectors of the covariance matrix of copies, signs by the largest entry."""
    X = X if weight is None else np.repeat(X, weight, axis=0)
    values, vectors = np.linalg.eigh(np.cov(X.T))
    V = vectors.T[::-1]
    sign = np.array([np.sign(v[np.abs(v).argmax()]) for v in V])
    return values[::-1], V * sign[:, None]


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_way_finds_the_eigenvectors_of_the_covariance(way, shape):
    X = rows(*shape)
    pca = PCA(4, svd_solver=way).fit(X)
    values, V = slow_axes(X)
    # Gaps between eigenvalues of a twentieth of the largest and more, double precision.
    assert_allclose(pca.components_, V[:4], rtol=0, atol=1e-11)
    assert_allclose(pca.explained_variance_, values[:4], rtol=1e-12)
    assert_allclose(pca.explained_variance_ratio_, values[:4] / values.sum(), rtol=1e-12)
    assert_allclose(pca.singular_values_, np.sqrt(values[:4] * (len(X) - 1)), rtol=1e-12)


@pytest.mark.parametrize("way", ["randomized", "arpack"])
@pytest.mark.parametrize("shape", [(300, 60), (60, 300)], ids=str)
def test_the_first_few_of_many_with_a_gap_are_found_by_iteration(way, shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) * 5
    X += rng.normal(size=shape)
    found = PCA(3, svd_solver=way, random_state=0).fit(X)
    exact = PCA(3, svd_solver="full").fit(X)
    assert found.svd_solver_ == way
    # Singular values of noise are a fifth of those of signal: 7 iterations gain 5^-28.
    assert_allclose(found.components_, exact.components_, rtol=0, atol=1e-08)
    assert_allclose(found.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-10)
    assert_allclose(found.noise_variance_, exact.noise_variance_, rtol=1e-8)
    again = PCA(3, svd_solver=way, random_state=0).fit(X)
    assert_array_equal(found.components_, again.components_)


@pytest.mark.parametrize("normalizer", ["QR", "LU", "none"])
def test_random_directions_of_every_normalizer(normalizer):
    X = rows(100, 40) @ np.diag(2.0 ** -np.arange(40))
    how = {"power_iteration_normalizer": normalizer, "iterated_power": 4, "random_state": 1}
    found = PCA(2, svd_solver="randomized", **how).fit(X)
    assert_allclose(found.components_, PCA(2).fit(X).components_, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("n_components", [None, 0, 1, 3, 0.5, 0.9, "mle"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("whiten", [False, True])
def test_all_numbers_are_those_of_scikit_learn(n_components, shape, whiten):
    if n_components == "mle" and shape[0] < shape[1]:
        with pytest.raises(DataError, match="as many rows as columns"):
            PCA("mle").fit(rows(*shape))
        return
    X, new = rows(*shape), rows(7, shape[1], seed=1)
    ours = PCA(n_components, whiten=whiten).fit(X)
    peer = Peer(n_components, whiten=whiten, svd_solver="full").fit(X)
    assert ours.n_components_ == peer.n_components_
    k = min(ours.n_components_, min(shape) - 1 if shape[0] <= shape[1] else 99)  # the last is any
    assert_allclose(ours.components_[:k], peer.components_[:k], rtol=0, atol=SUMMED)
    total = peer.explained_variance_.sum() + peer.noise_variance_
    for name in ("explained_variance_", "explained_variance_ratio_", "noise_variance_"):
        assert_allclose(
            getattr(ours, name), getattr(peer, name), rtol=0, atol=SUMMED * max(total, 1)
        )
    assert_allclose(ours.transform(new)[:, :k], peer.transform(new)[:, :k], rtol=0, atol=SOLVED)
    if shape == (80, 6) and n_components != 0:  # with which scikit-learn decodes nothing
        back = peer.inverse_transform(peer.transform(new))
        assert_allclose(ours.reconstruct(new), back, rtol=0, atol=SUMMED)
    # The model of rows does not know of whitening, which scikit-learn's covariance mixes up.
    plain = Peer(n_components, svd_solver="full").fit(X)
    assert_allclose(
        ours.get_covariance(), plain.get_covariance(), rtol=0, atol=SUMMED * max(total, 1)
    )
    if shape == (80, 6):
        assert_allclose(ours.get_precision(), plain.get_precision(), rtol=0, atol=SUMMED)
        assert_allclose(ours.score_samples(new), plain.score_samples(new), rtol=SUMMED)
        assert_allclose(ours.score(new), plain.score(new), rtol=SUMMED)


def test_minkas_number_is_that_of_scikit_learn_and_has_no_unit():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 8)) * 2 + rng.normal(size=(60, 8))
        wanted = Peer("mle", svd_solver="full").fit(X).n_components_
        assert PCA("mle").fit(X).n_components_ == wanted
        assert PCA("mle").fit(X * 1e-150).n_components_ == wanted
    assert minka_number(np.ones(4), 50.0) >= 1  # equal eigenvalues: no logarithm of zero


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("correlation", [False, True])
def test_weights_are_copies_in_every_number(way, correlation):
    X = rows(25, 5)
    weight = np.random.default_rng(1).integers(0, 4, size=25)
    how = {"svd_solver": way, "correlation": correlation, "whiten": True}
    weighted = PCA(0.9, **how).fit(X, sample_weight=weight)
    copied = PCA(0.9, **how).fit(np.repeat(X, weight, axis=0))
    names = ["components_", "explained_variance_", "explained_variance_ratio_", "mean_", "scale_"]
    for name in [*names, "singular_values_", "noise_variance_", "n_samples_", "n_components_"]:
        assert_allclose(getattr(weighted, name), getattr(copied, name), rtol=SUMMED, atol=SUMMED)
    assert_allclose(weighted.score_samples(X), copied.score_samples(X), rtol=SUMMED)
    assert_allclose(
        slow_axes(X, weight)[1][:2], PCA(2).fit(X, sample_weight=weight).components_, rtol=SUMMED
    )


def test_mle_counts_copies():
    X = rows(40, 5)
    weight = np.random.default_rng(1).integers(0, 4, size=40)
    copied = PCA("mle").fit(np.repeat(X, weight, axis=0))
    assert PCA("mle").fit(X, sample_weight=weight).n_components_ == copied.n_components_


@pytest.mark.parametrize("way", EXACT)
def test_the_axes_of_the_correlation_matrix_are_those_of_standardised_columns(way):
    X = rows(50, 5) * [1, 1e6, 1e-6, 1, 1]
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    pca, plain = PCA(3, correlation=True, svd_solver=way).fit(X), PCA(3).fit(Z)
    assert_allclose(pca.components_, plain.components_, rtol=0, atol=SUMMED)
    assert_allclose(
        pca.explained_variance_, np.linalg.eigvalsh(np.corrcoef(X.T))[::-1][:3], rtol=SUMMED
    )
    assert_allclose(pca.encode(X), plain.encode(Z), rtol=0, atol=SUMMED)
    decoded = (pca.reconstruct(X) - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    assert_allclose(decoded, plain.reconstruct(Z), rtol=0, atol=SOLVED)  # means up to 1e6
    correlations = np.corrcoef(X.T, pca.encode(X).T)[:5, 5:]
    assert_allclose(pca.loadings_, correlations, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize("correlation", [False, True])
def test_extreme_units_change_units_alone(way, power, correlation):
    X = rows(30, 4)
    size = 2.0 ** round(power * np.log2(10))
    one, other = (
        PCA(2, svd_solver=way, correlation=correlation).fit(part) for part in (X, X * size)
    )
    assert_allclose(other.components_, one.components_, rtol=0, atol=SUMMED)
    assert_allclose(other.explained_variance_ratio_, one.explained_variance_ratio_, rtol=SUMMED)
    back = other.reconstruct(X * size) / size
    assert_allclose(back, one.reconstruct(X), rtol=SUMMED, atol=SUMMED)
    unit = 1.0 if correlation else size
    assert_allclose(other.singular_values_ / unit, one.singular_values_, rtol=SUMMED)
    assert_allclose(other.encode(X * size) / unit, one.encode(X), rtol=SOLVED, atol=SUMMED)
    shift = 4 * np.log(size)
    assert_allclose(other.score_samples(X * size), one.score_samples(X) - shift, rtol=SUMMED)
    assert Tuned(PCA(), cv=3).fit(X * size).best_value_ == Tuned(PCA(), cv=3).fit(X).best_value_


@pytest.mark.parametrize("way", [*EXACT, "arpack", "randomized"])
@pytest.mark.parametrize("shape", [(30, 5), (9, 20)], ids=str)
def test_the_axes_of_the_correlation_matrix_do_not_depend_on_the_units_of_columns(way, shape):
    """Of sizes whose squares vanish or overflow, too; a constant column is 0 in any unit."""
    X = rows(*shape)
    X[:, 4] = 0.1
    units = np.resize(2.0 ** np.array([0, -600, 600, -700, 700]), shape[1])
    how = {"correlation": True, "svd_solver": way, "random_state": 0}
    one, other = PCA(3, **how).fit(X), PCA(3, **how).fit(X * units)
    assert_allclose(other.components_, one.components_, rtol=0, atol=SUMMED)
    assert_allclose(other.components_[:, 4], 0, rtol=0, atol=LAST_BITS)
    varying = np.arange(shape[1]) != 4
    assert_allclose((other.scale_ / units)[varying], one.scale_[varying], rtol=SUMMED)
    assert_allclose(other.encode(X * units), one.encode(X), rtol=0, atol=SUMMED)
    assert_allclose(other.reconstruct(X * units) / units, one.reconstruct(X), rtol=SUMMED)


@pytest.mark.parametrize("way", EXACT)
def test_a_large_offset_costs_no_digits(way):
    X = np.round(rows(60, 5) * 2**20) / 2**20  # such that X + offset is exact
    one, other = PCA(3, svd_solver=way).fit(X), PCA(3, svd_solver=way).fit(X + 2.0**30)
    assert_allclose(other.components_, one.components_, rtol=0, atol=SUMMED)
    assert_allclose(other.explained_variance_, one.explained_variance_, rtol=SUMMED)
    # The mean itself is rounded to 1e-7 at 1e9.
    assert_allclose(other.encode(X + 2.0**30), one.encode(X), rtol=0, atol=1e-06)


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("whiten", [False, True])
def test_axes_without_variance_are_orthonormal_and_harmless(way, whiten):
    X = rows(20, 3) @ np.random.default_rng(0).normal(size=(3, 7))
    X = np.column_stack([X, np.full(20, 4.0)])
    pca = PCA(svd_solver=way, whiten=whiten).fit(X)
    assert_allclose(pca.components_ @ pca.components_.T, np.eye(8), rtol=0, atol=SUMMED)
    assert_allclose(pca.explained_variance_[3:], 0, rtol=0, atol=SUMMED)
    assert np.isfinite(pca.encode(X)).all()
    assert_allclose(pca.reconstruct(X), X, rtol=0, atol=SUMMED)
    constant = PCA(2, svd_solver=way).fit(np.full((5, 3), 7.0))
    assert_array_equal(constant.reconstruct(np.full((2, 3), 7.0)), np.full((2, 3), 7.0))
    assert_array_equal(constant.explained_variance_ratio_, 0)


@pytest.mark.parametrize("way", [*EXACT, "arpack", "randomized"])
@pytest.mark.parametrize("correlation", [False, True])
def test_rows_that_are_all_alike_have_no_variance_and_no_nan(way, correlation):
    X = np.full((6, 3), 0.1)
    pca = PCA(2, svd_solver=way, correlation=correlation, random_state=0).fit(X)
    assert_allclose(pca.components_ @ pca.components_.T, np.eye(2), rtol=0, atol=LAST_BITS)
    assert_allclose(pca.reconstruct(X), X, rtol=SUMMED)
    assert_array_equal(pca.score_samples([[0.1, 0.1, 0.1], [0.1, 0.1, 0.2]]), [np.inf, -np.inf])
    assert np.isfinite(pca.get_precision()).all()


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("k", [3, 5, 6])
def test_a_density_without_variance_in_a_direction_is_infinite_or_zero(way, k):
    X = np.column_stack([rows(20, 5), np.full(20, 4.0)])
    pca, off = PCA(k, svd_solver=way).fit(X), X + [0, 0, 0, 0, 0, 1.0]
    if k == 3:  # the noise of the model is in every direction
        assert (pca.score_samples(off) < pca.score_samples(X)).all()
        return
    assert_array_equal(pca.score_samples(X), np.inf)
    assert_array_equal(pca.score_samples(off), -np.inf)
    both = np.vstack([X, off])
    assert pca.score(both) == -np.inf
    assert pca.score(both, sample_weight=np.repeat([1, 0], 20)) == np.inf


def test_small_singular_values_keep_their_digits():
    """Squared they would drown: 1e-7 of the largest is 1e-14 in the covariance matrix."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(np.column_stack([np.ones(40), rng.normal(size=(40, 3))]))[0][:, 1:]
    V = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    sizes = np.array([1.0, 1e-4, 1e-7])
    pca = PCA().fit((U * sizes) @ V.T)
    assert pca.svd_solver_ == "full"
    assert_allclose(pca.singular_values_, sizes, rtol=1e-8)  # 1e-16 of the largest


@pytest.mark.parametrize("way", EXACT)
def test_the_same_bits_for_every_n_jobs(way):
    X = rows(70_000, 3) if way != "gram" else rows(20, 12_000)  # several shares of work each
    one, two = (PCA(3, svd_solver=way, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.explained_variance_, two.explained_variance_)


def test_signs_do_not_depend_on_the_sign_of_rows():
    X = rows(30, 4) - 5
    assert_allclose(PCA().fit(X).components_, PCA().fit(-X).components_, rtol=0, atol=SUMMED)
    V = PCA().fit(X).components_
    assert (V[np.arange(4), np.abs(V).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("way", EXACT)
def test_signs_do_not_depend_on_rounding_errors(way):
    """Both axes of two standardised columns have entries of one size."""
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(30, 2))
        pca = PCA(correlation=True, svd_solver=way).fit(X)
        assert (pca.components_[:, 0] > 0).all()


def test_frames_go_in_and_out():
    X = pd.DataFrame(rows(20, 3), columns=["a", "b", "c"])
    pca = PCA(2).set_output(transform="pandas").fit(X)
    out = pca.transform(X)
    assert list(out.columns) == ["pca0", "pca1"]
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1"]
    assert_array_equal(out.to_numpy(), PCA(2).fit_transform(X))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_saved_pca_is_the_same(tmp_path, streamed):
    X = rows(30, 4)
    pca = PCA(2, whiten=True)
    pca = pca.partial_fit(X) if streamed else pca.fit(X)
    save(pca, tmp_path / "pca")
    again = load(tmp_path / "pca")
    assert_array_equal(again.encode(X), pca.encode(X))
    assert_array_equal(again.losses_of_rows(X, "entries"), pca.losses_of_rows(X, "entries"))
    tuned = Tuned(PCA(), cv=3).fit(X)
    save(tuned, tmp_path / "tuned")
    assert_array_equal(load(tmp_path / "tuned").reconstruct(X), tuned.reconstruct(X))
    if streamed:
        more = rows(9, 4, seed=1)
        assert_array_equal(again.partial_fit(more).components_, pca.partial_fit(more).components_)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_components": 5}, "0 to 4"),
        ({"n_components": -1}, "0 to 4"),
        ({"n_components": 1.5}, "share"),
        ({"n_components": "three"}, "share"),
        ({"n_components": True}, "share"),
        ({"n_components": 0.5, "svd_solver": "arpack"}, "first few"),
        ({"n_components": 4, "svd_solver": "arpack"}, "1 to 3"),
        ({"svd_solver": "fast"}, "choose one of"),
        ({"n_oversamples": -1}, "n_oversamples"),
        ({"n_oversamples": None}, "n_oversamples"),
        ({"iterated_power": 1.5}, "iterated_power"),
        ({"tol": "auto"}, "tol"),
        ({"power_iteration_normalizer": "lu"}, "choose"),
        ({"whiten": "no"}, "whiten is 'no'; give True or False"),
        ({"correlation": "yes"}, "correlation is 'yes'; give True or False"),
    ],
)
def test_parameters_that_make_no_sense_are_named(how, words):
    with pytest.raises(ParameterError, match=words):
        PCA(**how).fit(rows(10, 4))


def test_data_that_make_no_sense_are_named():
    with pytest.raises(DataError, match="1 sample"):
        PCA().fit([[1.0, 2.0]])
    with pytest.raises(DataError, match="sum to the number of rows"):
        PCA().fit(rows(5, 2), sample_weight=np.full(5, 0.1))
    frame = pd.DataFrame(rows(5000, 2), columns=["a", "b"])
    frame.loc[4500, "b"] = np.nan
    with pytest.raises(DataError, match="'b' has 1 missing"):
        PCA().fit(frame)
    with pytest.raises(DataError, match="3 coordinates"):
        PCA(2).fit(rows(10, 4)).decode(np.zeros((1, 3)))
