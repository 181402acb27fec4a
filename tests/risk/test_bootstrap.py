"""The bootstrap draws from the law it says it does, whichever way a statistic is computed."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from empirisk.data.table import Table
from empirisk.risk.intervals.loss_table import standard_errors
from empirisk.risk.resampling.bootstrap import bootstrap
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all
FUNCTIONS = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
    "std": np.std,
    "variance": np.var,
    "quantile:0.3": lambda x: np.quantile(x, 0.3, method="averaged_inverted_cdf"),
}


def plain(function):
    """The same function of one column, that cannot be recognised and takes no axis."""
    return lambda rows: function(rows)


def exact_law(values, function, m):
    """All values that the statistic can take over all resamples, and their probabilities."""
    found = [function(np.array(each)) for each in product(values, repeat=m)]
    atoms, counts = np.unique(np.round(found, 12), return_counts=True)
    return atoms, counts / len(found)


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize("path", ["named", "two columns", "function"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_replicates_follow_the_law_of_all_resamples(name, path, m):
    values = np.array([0.0, 1.0, 3.0, 7.5])
    data = np.column_stack([values, values]) if path == "two columns" else values
    statistic = plain(FUNCTIONS[name]) if path == "function" else name
    number = 1_500 if path == "function" else 20_000
    found = bootstrap(data, statistic, n_resamples=number, m=m, random_state=1)
    replicates = found.replicates[:, 0] if path == "two columns" else found.replicates
    atoms, probability = exact_law(values, FUNCTIONS[name], m)
    places = np.searchsorted(atoms, np.round(replicates, 12))
    assert_allclose(atoms[places], replicates, rtol=0, atol=1e-11)  # of rounding
    counts = np.bincount(places, minlength=len(atoms))
    assert stats.chisquare(counts, probability * number).pvalue > ERROR_PROBABILITY


@pytest.mark.parametrize("n", [50, 51])
def test_quantiles_drawn_from_their_law_and_from_resamples_agree(n):
    x = np.random.default_rng(0).normal(size=n)
    for name in ("median", "quantile:0.9", "max"):
        law = bootstrap(x, name, n_resamples=5000, random_state=0).replicates
        rows = bootstrap(np.column_stack([x, x]), name, n_resamples=5000, random_state=1)
        assert stats.ks_2samp(law, rows.replicates[:, 0]).pvalue > ERROR_PROBABILITY


def test_the_standard_error_of_a_mean_is_what_theory_says():
    # Exactly s / sqrt(n) (s with divisor n), scaled from m to n rows. Over B replicates its
    # estimate has relative error sqrt(1 / 2B): five of these, error probability 1e-6.
    x = np.random.default_rng(0).gamma(2.0, size=400)
    for m in (None, 40, 900):
        found = bootstrap(x, n_resamples=20_000, m=m, random_state=3)
        assert_allclose(found.standard_error, x.std() / 20, rtol=5 / np.sqrt(40_000))
        assert abs(found.bias) < 5 * x.std() / 20 / np.sqrt(20_000 / max(1, (m or 400) / 400))


def test_the_standard_error_of_a_median_is_that_of_the_law_of_order_statistics():
    # Of odd n: P(median* = x_(i)) = I_{i/n}(k, n+1-k) - I_{(i-1)/n}(k, n+1-k), k = (n+1)/2.
    n, k = 101, 51
    x = np.sort(np.random.default_rng(1).normal(size=n))
    p = np.diff(stats.beta.cdf(np.arange(n + 1) / n, k, n + 1 - k))
    exact = np.sqrt(p @ x**2 - (p @ x) ** 2)
    found = bootstrap(x, "median", n_resamples=50_000, random_state=0).standard_error
    assert_allclose(found, exact, rtol=5 * np.sqrt(1.5 / 50_000))  # kurtosis below 4: 1e-6


@pytest.mark.parametrize("kind", ["plain", "weights", "groups", "both"])
@pytest.mark.parametrize("name", ["mean", "median", "quantile:0.8", "std", "variance"])
def test_named_statistics_are_those_of_the_rows_drawn(name, kind):
    rng = np.random.default_rng(2)
    X, weight = rng.normal(size=(30, 2)), rng.integers(0, 4, size=30)
    options = {}
    if kind in ("weights", "both"):
        options["sample_weight"] = weight
    if kind in ("groups", "both"):
        options["groups"] = rng.integers(0, 9, size=30)

    def by_hand(rows, sample_weight=None):
        if sample_weight is not None:
            rows = rows.repeat(sample_weight.astype(int), axis=0)
        q = {"median": 0.5, "quantile:0.8": 0.8}.get(name)
        if q is not None:
            return np.quantile(rows, q, axis=0, method="averaged_inverted_cdf")
        return {"mean": np.mean, "std": np.std, "variance": np.var}[name](rows, axis=0)

    fast = bootstrap(X, name, n_resamples=60, random_state=0, **options)
    slow = bootstrap(X, by_hand, n_resamples=60, random_state=0, **options)
    assert_allclose(fast.value, slow.value, rtol=SUMMED)
    assert_allclose(fast.replicates, slow.replicates, rtol=1e-10)  # a few roundings
    assert_allclose(fast.jackknife, slow.jackknife, rtol=1e-10)


@pytest.mark.parametrize("groups", [None, np.arange(40) // 3])
def test_the_correlation_is_that_of_the_rows_drawn(groups):
    x, noise = np.random.default_rng(3).normal(size=(2, 40))
    options = {"n_resamples": 60, "random_state": 0, "groups": groups}
    fast = bootstrap((x, x + noise), "correlation", **options)
    slow = bootstrap((x, x + noise), lambda a, b: np.corrcoef(a, b)[0, 1], **options)
    for what in ("value", "replicates", "jackknife", "standard_error"):
        assert_allclose(getattr(fast, what), getattr(slow, what), rtol=SUMMED)


@pytest.mark.parametrize("name", ["mean", "median", "quantile:0.25", "max", "std", "correlation"])
def test_the_jackknife_leaves_out_each_row_in_turn(name):
    x = np.round(np.random.default_rng(4).normal(size=(21, 2)), 1)  # ties
    data = x if name == "correlation" else x[:, 0]
    function = FUNCTIONS.get(name, lambda x: np.quantile(x, 0.25, method="averaged_inverted_cdf"))
    if name == "correlation":
        function = lambda rows: np.corrcoef(rows.T)[0, 1]  # noqa: E731
    found = bootstrap(data, name, n_resamples=10, random_state=0)
    twin = np.array([function(np.delete(data, i, axis=0)) for i in range(21)])
    assert_allclose(found.jackknife, twin, rtol=SUMMED, atol=LAST_BITS)
    error = np.sqrt(20 / 21 * np.sum((twin - twin.mean()) ** 2))
    assert_allclose(found.jackknife_standard_error, error, rtol=SUMMED)


def test_the_jackknife_error_of_a_mean_is_the_textbook_formula():
    x = np.random.default_rng(5).normal(size=30)
    found = bootstrap(x, n_resamples=10, random_state=0).jackknife_standard_error
    assert_allclose(found, x.std(ddof=1) / np.sqrt(30), rtol=SUMMED)


def test_the_error_of_a_mean_of_groups_and_weights_is_the_one_of_every_risk():
    # Theory for the ratio of sums over groups (delta method, U/(U-1)).
    rng = np.random.default_rng(6)
    groups = rng.integers(0, 60, size=300)
    x = rng.normal(size=300) + rng.normal(size=60)[groups]
    weight = rng.uniform(0.5, 2, size=300)
    found = bootstrap(
        x, sample_weight=weight, groups=groups, n_resamples=20_000, random_state=0
    ).standard_error
    theory = standard_errors(x[:, None], weight, groups)[0]
    # 20,000 resamples know it to 1/sqrt(40,000) = 0.5 %, five of these; of 60 groups the delta
    # method leaves terms of 1/60.
    assert_allclose(found, theory, rtol=0.05)
    rows = bootstrap(x, n_resamples=2000, random_state=0).standard_error
    assert found > 1.3 * rows  # rows of a group are alike


def test_the_result_does_not_depend_on_the_number_of_workers():
    X = np.random.default_rng(7).normal(size=(700, 2))
    for data, statistic in ((X, "std"), (X[:, 0], "mean"), (X, plain(np.median))):
        one = bootstrap(data, statistic, n_resamples=400, random_state=5)
        many = bootstrap(data, statistic, n_resamples=400, random_state=5, n_jobs=2)
        assert_array_equal(one.replicates, many.replicates)


def test_resamples_much_larger_than_the_data_are_cut_into_smaller_blocks():
    found = bootstrap(np.arange(4.0), plain(np.mean), m=100_000, n_resamples=30, random_state=0)
    assert len(found.statistic.blocks(30, 100_000)) == 30
    # Means of 100,000 rows deviate by sqrt(1.25 / 100,000) = 0.0035; six of these.
    assert_allclose(found.replicates, 1.5, rtol=0, atol=0.021)


def test_seeds_give_the_same_and_different_draws():
    x = np.arange(20.0)
    for name in ("mean", "median", "std"):
        one = bootstrap(x, name, n_resamples=50, random_state=1).replicates
        assert_array_equal(bootstrap(x, name, n_resamples=50, random_state=1).replicates, one)
        assert (bootstrap(x, name, n_resamples=50, random_state=2).replicates != one).any()
        assert (bootstrap(x, name, n_resamples=50).replicates != one).any()


def test_functions_that_take_an_axis_are_called_once_for_many_resamples():
    calls = []

    def trimmed(x, axis):
        calls.append(x.shape)
        return stats.trim_mean(x, 0.1, axis=axis)

    x = np.random.default_rng(8).normal(size=100)
    many = bootstrap(x, trimmed, n_resamples=500, random_state=0)
    assert len(calls) < 10
    one = bootstrap(x, lambda x: stats.trim_mean(x, 0.1), n_resamples=500, random_state=0)
    assert_allclose(many.replicates, one.replicates, rtol=SUMMED)
    with pytest.raises(ParameterError, match="vectorized=False"):
        bootstrap(x, lambda x, axis: x.mean(), n_resamples=10)


def test_functions_of_numpy_are_recognised():
    X = np.random.default_rng(9).normal(size=(40, 3))
    for function, name in [(np.mean, "mean"), (np.median, "median"), (np.std, "std")]:
        recognised = bootstrap(X, function, n_resamples=20, random_state=0)
        assert recognised.statistic.name == name
        asked = bootstrap(X, function, n_resamples=20, random_state=0, vectorized=True)
        assert asked.statistic.name == function.__name__
        assert_allclose(recognised.replicates, asked.replicates, rtol=SUMMED)


def test_statistics_may_be_vectors_and_matrices():
    X = np.random.default_rng(10).normal(size=(50, 3))
    found = bootstrap(X, lambda rows: np.cov(rows.T), n_resamples=200, random_state=0)
    assert found.value.shape == found.standard_error.shape == found.bias.shape == (3, 3)
    assert found.replicates.shape == (200, 3, 3)
    for method in ("percentile", "basic", "bca"):
        low, high = found.interval(method, 0.9)
        assert low.shape == (3, 3)
        assert (low < high).all()
    alone = bootstrap(X[:, :2], lambda rows: np.cov(rows.T)[0, 1], n_resamples=200, random_state=0)
    assert_allclose(alone.interval("bca", 0.9)[0], found.interval("bca", 0.9)[0][0, 1], rtol=SUMMED)
    assert "2,2 is" in str(found)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, Table.of])
def test_frames_and_tables_are_drawn_by_rows(make):
    columns = {"a": np.arange(12.0), "b": np.arange(12.0) ** 2}
    X = np.column_stack(list(columns.values()))
    frame = make(columns)
    named = bootstrap(frame, "median", n_resamples=50, random_state=0)
    assert named.statistic.names == ("a", "b")
    assert_array_equal(
        named.replicates, bootstrap(X, "median", n_resamples=50, random_state=0).replicates
    )
    seen = []

    def of_frame(rows):
        seen.append(type(rows))
        a = rows["a"].numbers() if isinstance(rows, Table) else rows["a"].to_numpy()
        return a.mean()

    by_function = bootstrap(frame, of_frame, n_resamples=50, random_state=0)
    assert set(seen) == {type(frame)}
    mean = bootstrap(X[:, 0], n_resamples=50, random_state=0)
    assert_allclose(by_function.replicates, mean.replicates, rtol=SUMMED)


def test_a_series_that_is_returned_gives_names():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 5.0]})
    found = bootstrap(frame, lambda rows: rows.mean(), n_resamples=50, random_state=0)
    assert found.statistic.names == ("a", "b")
    assert "\na is 2.333 with" in str(found)
    matrix = bootstrap(frame, lambda rows: rows.cov(), n_resamples=50, random_state=0)
    assert "\n0,1 is 4 with" in str(matrix)


def test_labels_may_be_the_values_of_a_series():
    labels = np.array(["a", "b"])[np.arange(20) % 2]

    def mean_of_a(rows, labels):
        return rows[labels == "a"].mean()

    given = [
        bootstrap((np.arange(20.0), part), mean_of_a, n_resamples=50, random_state=0)
        for part in (labels, pd.Series(labels).values)
    ]
    assert_array_equal(given[0].replicates, given[1].replicates)


def test_arrays_of_a_tuple_are_drawn_together():
    x, Z = np.arange(30.0), np.arange(60.0).reshape(30, 2)
    found = bootstrap((x, Z), lambda x, Z: (x - Z[:, 0] / 2).sum(), n_resamples=20, random_state=0)
    assert (found.replicates == 0).all()


def test_integer_weights_are_copies_in_the_value_and_zero_weights_are_gone():
    x, weight = np.array([1.0, 2.0, 4.0, 9.0]), np.array([2, 0, 1, 3])
    for name in ("mean", "median", "std", "max"):
        weighted = bootstrap(x, name, sample_weight=weight, n_resamples=20, random_state=0)
        assert_allclose(weighted.value, FUNCTIONS[name](x.repeat(weight)), rtol=LAST_BITS)
        assert weighted.n == 3  # of which a resample draws: a weighted row is one observation
        assert 2.0 not in weighted.replicates or name != "max"
    with pytest.raises(ParameterError, match="sample_weight"):
        bootstrap(x, lambda x: x.mean(), sample_weight=weight)


@pytest.mark.parametrize("scale", [2.0**660, 2.0**-660])
@pytest.mark.parametrize("name", ["mean", "median", "std", "correlation"])
def test_powers_of_two_change_nothing_but_the_unit(name, scale):
    X = np.random.default_rng(11).normal(size=(25, 2))
    data = X if name == "correlation" else X[:, 0]
    one = bootstrap(data, name, n_resamples=199, random_state=0)
    other = bootstrap(data * scale, name, n_resamples=199, random_state=0)
    unit = 1.0 if name == "correlation" else scale
    assert_array_equal(other.replicates, one.replicates * unit)
    assert other.standard_error == one.standard_error * unit
    for method in ("percentile", "basic", "bca"):
        expected = np.multiply(one.interval(method, 0.8), unit)
        assert_allclose(other.interval(method, 0.8), expected, rtol=SUMMED)


def test_huge_values_of_both_signs_and_constant_columns():
    X = np.column_stack([[1.5e308, -1.5e308, 1e308, 1.0], [0.1] * 4])
    for name in ("mean", "median"):
        found = bootstrap(X, name, n_resamples=99, random_state=0)
        assert np.isfinite(found.replicates).all()
        assert (found.replicates[:, 1] == 0.1).all()
        assert found.standard_error[1] == 0
        assert np.isfinite(found.standard_error[0])
        low, high = found.interval("bca", 0.9)
        assert low[1] == high[1] == 0.1
    with pytest.raises(DataError, match="not finite"):
        bootstrap(X, "variance", n_resamples=9)


def test_an_outlier_does_not_spoil_the_resamples_that_lack_it():
    x = np.append(np.random.default_rng(12).normal(size=19), 1e12)
    fast = bootstrap(x, "std", n_resamples=200, random_state=0).replicates
    slow = bootstrap(x, plain(np.std), n_resamples=200, random_state=0).replicates
    assert (slow < 10).any()
    assert_allclose(fast, slow, rtol=1e-4)  # 1e12 leaves four digits of the others at the door


def test_read_only_strided_and_fortran_arrays_give_the_same():
    X = np.random.default_rng(13).normal(size=(30, 4))
    expected = bootstrap(X[:, :2].copy(), "std", n_resamples=50, random_state=0).replicates
    frozen = X[:, :2].copy()
    frozen.flags.writeable = False
    for data in (frozen, X[:, :2], np.asfortranarray(X[:, :2]), X[:, :2].tolist()):
        found = bootstrap(data, "std", n_resamples=50, random_state=0).replicates
        assert_array_equal(found, expected)


@pytest.mark.parametrize("groups", [[1.0, np.nan, np.nan, 2.0], ["a", None, "b", "b"]])
def test_rows_without_a_group_are_refused(groups):
    with pytest.raises(DataError, match="row 1 has no group"):
        bootstrap([1.0, 2.0, 3.0, 4.0], np.mean, groups=groups)
