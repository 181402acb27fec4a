"""From blocks to coefficients: the bits of a fit in memory, wherever the blocks come from."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

from data.block_sources import blocks_of_all_sources, mixed
from empirisk import LinearDiscriminantAnalysis, LinearRegression, Ridge
from empirisk.data.encode import Encoder
from empirisk.data.read_blocks import read_blocks
from empirisk.data.table import Table
from empirisk.data.table_blocks import TableBlocks
from empirisk.runtime.errors import DataError

TARGETS = ["price", "sold"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return blocks_of_all_sources(tmp_path_factory.mktemp("sources"))


def assert_same_encoder(left, right):
    assert left._features == right._features
    assert_array_equal(left._map[0], right._map[0])
    assert_array_equal(left._map[1], right._map[1])
    for public in ("n_features_in_", "feature_names_in_", "dropped_"):
        assert_array_equal(getattr(left, public), getattr(right, public))
    assert_array_equal(left.get_feature_names_out(), right.get_feature_names_out())


@pytest.mark.parametrize("source", ["memory", "parquet", "files", "query", "database"])
@pytest.mark.parametrize(
    ("learner", "target"),
    [(LinearRegression(), "price"), (Ridge(3.0), "price"), (LinearDiscriminantAnalysis(), "sold")],
    ids=["least squares", "ridge", "lda"],
)
def test_a_fit_from_blocks_has_the_bits_of_a_fit_in_memory(learner, target, source, sources):
    table, blocks = Table.of(mixed()), sources[source]
    y = table[target].numbers() if target == "price" else table[target].values()
    whole = make_pipeline(Encoder(), learner).fit(table.drop(TARGETS), y)

    encoder = Encoder().fit_blocks(blocks.drop(TARGETS))
    assert_same_encoder(encoder, whole[0])

    def pieces():
        for block in blocks:
            y = block[target].numbers() if target == "price" else block[target].values()
            yield encoder.transform(block), y

    assert_array_equal(pieces_of(encoder, blocks), whole[0].transform(table))
    model = type(learner)(**learner.get_params()).fit_blocks(pieces)
    assert_array_equal(model.coef_, whole[1].coef_)
    assert_array_equal(model.intercept_, whole[1].intercept_)


def pieces_of(encoder, blocks):
    return np.concatenate([encoder.transform(block) for block in blocks])


@pytest.mark.parametrize("size", [1000, 4096, 5000, 20_000])
def test_an_encoder_has_the_same_bits_from_pieces_of_any_size(size):
    table = Table.of(mixed()).drop(TARGETS)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(table)) * (np.arange(len(table)) % 3 > 0)
    whole = Encoder().fit(table, sample_weight=weight)
    parts = [slice(a, a + size) for a in range(0, len(table), size)]
    pieces = [(table.rows(part), weight[part]) for part in parts]
    pieces.insert(1, (table.rows(slice(0, 7)), np.zeros(7)))
    assert_same_encoder(Encoder().fit_blocks(pieces), whole)
    assert_same_encoder(Encoder().fit_blocks(lambda: iter(pieces)), whole)
    assert_same_encoder(
        Encoder().fit_blocks(TableBlocks.of(table, rows_per_block=size)), Encoder().fit(table)
    )


@pytest.mark.parametrize("power", [-200, 0, 200])
def test_a_mean_over_many_blocks_is_that_of_all_rows(power):
    values = np.random.default_rng(0).normal(3, 1, 9000)
    (number,) = Encoder().fit({"x": values * 10.0**power})._features
    # Means of three blocks put together: a few roundings.
    assert number.origin / 10.0**power == pytest.approx(values.mean(), rel=1e-14)


@pytest.mark.parametrize("value", [3.7, -1e200, 1e-200, 0.1])
def test_a_constant_column_is_constant_over_many_blocks(value):
    encoder = Encoder().fit({"x": np.full(13_000, value), "z": np.arange(13_000)})
    assert not encoder.transform({"x": np.full(13_000, value), "z": np.arange(13_000)})[:, 0].any()
    # A unit as large as the value, not as large as the rounding of its mean.
    assert abs(encoder.transform({"x": [2 * value], "z": [0]})[0, 0]) <= 2


def test_pieces_that_do_not_belong_together_are_refused():
    table = Table.of({"c": ["a", "b"] * 9, "x": range(18)})
    other = Table.of({"c": ["a", "d"] * 9, "x": range(18)})
    text = Table.of({"c": [f"w{i}" for i in range(18)], "x": range(18)})
    floats = Table.of({"c": ["a", "b"] * 9, "x": np.arange(18.0)})
    for pieces, message in [
        (iter([table]), "only once"),
        ([], "no rows of weight > 0"),
        ([table.rows(slice(0))], "no rows of weight > 0"),
        ([(table, np.zeros(18))], "no rows of weight > 0"),
        ([table, other], "'c' has other levels or another type"),
        ([table, floats], "'x' has other levels or another type"),
        ([table, text], "columns .*'c': 'text'.* where the first has .*'c': 'category'"),
        ([table, table.select(["x", "c"])], "a piece has the columns"),
        ([table, table.to_pandas()], "given a DataFrame as a piece"),
        ([(table, np.ones(5))], r"sample_weight has shape \(5,\)"),
        ([table.select(["x"]), table.rows(slice(0, 3)).drop(["c"])], None),
    ]:
        if message is None:
            Encoder().fit_blocks(pieces)
            continue
        with pytest.raises(DataError, match=message):
            Encoder().fit_blocks(pieces)


def test_an_infinite_number_is_named_by_its_row():
    x = np.arange(9000.0)
    x[8888] = np.inf
    with pytest.raises(DataError, match=r"'x' has infinite values.* row 8888"):
        Encoder().fit_blocks(TableBlocks.of(Table.of({"x": x}), rows_per_block=1000))


def test_no_rows_are_no_fit(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "x.parquet")
    blocks = read_blocks(tmp_path / "x.parquet")
    assert list(blocks) == []
    with pytest.raises(DataError, match="no rows"):
        Encoder().fit_blocks(blocks)
    with pytest.raises(DataError, match="no rows"):
        Ridge().fit_blocks(lambda: ((np.ones((1, 1)), block["x"].numbers()) for block in blocks))
