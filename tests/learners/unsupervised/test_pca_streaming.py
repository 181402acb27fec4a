"""PCA of rows that come in pieces."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from empirisk import PCA, load, read_blocks, save
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def rows(n=9000, p=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3


@pytest.mark.parametrize("correlation", [False, True])
def test_pieces_of_any_size_give_the_numbers_of_all_rows(correlation):
    X = rows()
    weight = np.random.default_rng(1).integers(0, 3, size=len(X))
    whole = PCA(2, correlation=correlation).fit(X, sample_weight=weight)
    stream = PCA(2, correlation=correlation)
    for part in np.split(np.arange(len(X)), [2, 500, 4096, 8000]):
        stream.partial_fit(X[part], sample_weight=weight[part])
    for name in ("components_", "explained_variance_", "mean_", "scale_", "n_samples_"):
        assert_allclose(getattr(stream, name), getattr(whole, name), rtol=SUMMED, atol=SUMMED)


def test_a_parquet_file_gives_the_bits_of_its_rows(tmp_path):
    X = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet", row_group_size=1000)
    streamed = PCA(3, n_jobs=2).fit_blocks(read_blocks(tmp_path / "rows.parquet"))
    assert list(streamed.feature_names_in_) == ["a", "b", "c", "d"]
    assert_array_equal(streamed.components_, PCA(3).fit(frame).components_)
    assert_array_equal(PCA(3).fit_blocks([X[:10], X[10:]]).components_, streamed.components_)


def test_an_offset_between_pieces_costs_no_digits():
    X = np.round(rows(6000) * 2**20) / 2**20
    stream = PCA()
    for piece in np.array_split(X + 2.0**30, 7):
        stream.partial_fit(piece)
    assert_allclose(stream.explained_variance_, PCA().fit(X).explained_variance_, rtol=SUMMED)


@pytest.mark.parametrize("sizes", [(1.0, 1e200, 1e-200), (1e200, 1.0), (1e-200, 1e-190)])
def test_pieces_of_extreme_sizes_are_joined(sizes):
    X = rows(60)
    stream = PCA(2)
    for size in sizes:
        stream.partial_fit(X * size)
    whole = PCA(2).fit(np.vstack([X * size for size in sizes]))
    assert_allclose(stream.components_, whole.components_, rtol=0, atol=SUMMED)
    assert_allclose(stream.singular_values_, whole.singular_values_, rtol=SUMMED)


@pytest.mark.parametrize("n_components", [3, None, 0.9, "mle"])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_pieces_may_be_smaller_than_the_number_of_components(n_components, size):
    X = rows(40)
    stream = PCA(n_components)
    for start in range(0, 40, size):
        stream.partial_fit(X[start : start + size])
    assert_allclose(stream.components_, PCA(n_components).fit(X).components_, rtol=0, atol=SUMMED)


def test_too_few_rows_are_kept_in_mind(tmp_path):
    X = rows(40)
    stream = PCA(3).fit(X).partial_fit(X[:1])
    with pytest.raises(NotFittedError):
        stream.encode(X)
    assert not hasattr(stream, "explained_variance_")
    save(stream, tmp_path / "pca")
    again = load(tmp_path / "pca").partial_fit(X[1:], sample_weight=np.zeros(39))
    assert not hasattr(again, "components_")
    assert_allclose(
        again.partial_fit(X[1:]).components_, PCA(3).fit(X).components_, rtol=0, atol=SUMMED
    )
    again.partial_fit(X, sample_weight=np.zeros(40))  # copies without number
    assert again.n_samples_ == 40
    with pytest.raises(ParameterError, match="0 to 4"):
        PCA(5).partial_fit(X[:1])  # columns will not become more


def test_pieces_far_from_the_first_cost_no_digits():
    """The mean of all rows is 1e6 of their deviations away from the first row."""
    X = np.random.default_rng(0).normal(size=(4000, 3))
    X[1:] += 1e9
    stream = PCA(svd_solver="covariance_eigh").partial_fit(X[:1])
    for piece in np.array_split(X[1:], 3):
        stream.partial_fit(piece)
    S = np.cov((X - X.mean(axis=0)).T)
    assert_allclose(stream._moments_scatter, S * 3999, rtol=SUMMED)


def test_fit_begins_anew_and_the_first_rows_may_be_few():
    X = rows(50)
    stream = PCA(2).partial_fit(X[:2])
    with pytest.raises(ValueError, match="expecting 4 features"):
        stream.partial_fit(X[:, :3])
    stream.fit(X).partial_fit(X[:30])
    assert_allclose(stream.mean_, X[:30].mean(axis=0), rtol=SUMMED)
    with pytest.raises(DataError, match="used only once"):
        PCA().fit_blocks(iter([X]))
    assert not hasattr(PCA(svd_solver="full"), "partial_fit")


def test_weights_are_those_of_the_rows_and_of_no_others():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert not hasattr(PCA().partial_fit(X, sample_weight=np.zeros(6)), "components_")
    for wrong in ([], [0.0], np.zeros(7)):
        with pytest.raises(DataError, match="a weight for each row"):
            PCA().partial_fit(X, sample_weight=wrong)
