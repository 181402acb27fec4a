"""What a bootstrap refuses, and what it says then."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from empirisk.risk.resampling.bootstrap import bootstrap
from empirisk.risk.resampling.sample import distinct_resamples
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError

X = np.arange(10.0)


def fails_without_zero(rows):
    if 0 not in rows:
        raise ZeroDivisionError("no zero here")
    return rows.mean()


def test_a_function_that_fails_on_some_resamples_is_counted_and_named():
    message = r"zero fails on \d+ of 200 resamples, first .*ZeroDivisionError: no zero here.*omit"
    with pytest.raises(DataError, match=message):
        bootstrap(X, fails_without_zero, n_resamples=200, random_state=0)


def test_failures_can_be_left_out_and_are_then_said():
    found = bootstrap(X, fails_without_zero, n_resamples=200, random_state=0, on_failure="omit")
    assert 40 < found.n_failed < 110  # expected 200 (1 - 1/10)^10 = 70, six standard errors
    assert len(found.replicates) == 200 - found.n_failed
    assert f"without {found.n_failed} on which it failed" in str(found)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_failures(bad):
    def sometimes(rows):
        return rows.mean() if 0 in rows else bad

    with pytest.raises(DataError, match=rf"of 50 resamples.*{bad}"):
        bootstrap(X, sometimes, n_resamples=50, random_state=0)


def test_a_function_that_fails_on_the_data_raises_its_own_error():
    with pytest.raises(KeyError, match="missing"):
        bootstrap(X, lambda rows: {}["missing"])
    with pytest.raises(DataError, match="not finite"):
        bootstrap(X, lambda rows: np.nan)


def test_a_correlation_without_spread_is_undefined():
    data = np.column_stack([np.arange(4.0), [0.0, 0.0, 0.0, 1.0]])
    with pytest.raises(DataError, match=r"correlation fails on \d+ of 99 resamples"):
        bootstrap(data, "correlation", n_resamples=99, random_state=0)
    found = bootstrap(data, "correlation", n_resamples=99, random_state=0, on_failure="omit")
    assert found.n_failed > 0
    with pytest.raises(DataError, match="no BCa interval"):
        found.interval("bca", 0.5)


def test_a_function_must_have_one_shape():
    with pytest.raises(ParameterError, match="shape"):
        bootstrap(X, lambda rows: np.unique(rows), n_resamples=10, random_state=0)


@pytest.mark.parametrize(
    "data, statistic, message",
    [
        ([1.0], "mean", "1 row of positive weight"),
        ([], "mean", "0 rows"),
        ((1.0, 2.0), "mean", "give the numbers as a list"),
        (([1, 2], [1, 2, 3]), "mean", "2 and 3 rows"),
        ([1.0, np.nan, 2.0], "mean", r"column 0 has 1 value\(s\) that are missing"),
        ([1.0, np.inf], "median", "missing or infinite"),
        (["a", "b"], "mean", "needs numbers"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), "mean", "needs numbers"),
        (np.zeros((3, 2, 2)), "mean", "3 dimensions"),
        ((np.zeros((3, 2)), np.zeros(3)), "mean", "several of one"),
        (np.zeros((3, 3)), "correlation", "two columns"),
        (pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]}), "mean", "column 'b' is a"),
        (pd.DataFrame({"a": [1.0, None, 3.0]}), "mean", "column 'a' has 1 value"),
    ],
)
def test_data_that_cannot_be_used(data, statistic, message):
    with pytest.raises(DataError, match=message):
        bootstrap(data, statistic)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"statistic": "average"}, "there is no statistic 'average'"),
        ({"statistic": "quantile:1.5"}, "there is no statistic"),
        ({"statistic": 3}, "there is no statistic 3"),
        ({"n_resamples": 1}, "n_resamples is 1"),
        ({"n_resamples": 10.5}, "n_resamples is 10.5"),
        ({"m": 0}, "m is 0"),
        ({"rate": 0}, "rate is 0"),
        ({"on_failure": "ignore"}, "on_failure is 'ignore'"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_parameters_that_make_no_sense(options, message):
    with pytest.raises(ParameterError, match=message):
        bootstrap(X, **options)


def test_weights_and_groups_are_checked():
    with pytest.raises(DataError, match="10 rows and groups has 3"):
        bootstrap(X, groups=[1, 2, 3])
    with pytest.raises(DataError, match="1 group of positive weight"):
        bootstrap(X, groups=[1] * 10)
    with pytest.raises(DataError, match="negative"):
        bootstrap(X, sample_weight=[-1.0] + [1.0] * 9)


def test_intervals_that_cannot_be_had():
    few = bootstrap(X, n_resamples=38, random_state=0)
    with pytest.raises(ParameterError, match="n_resamples=39"):
        few.interval("percentile")
    assert "interval" not in str(few)
    assert_array_equal(np.isfinite(few.interval("percentile", 0.9)), True)
    with pytest.raises(ParameterError, match="method is 'normal'"):
        few.interval("normal")
    with pytest.raises(ParameterError, match="level is 95"):
        few.interval("percentile", 95)
    with pytest.raises(ParameterError, match="studentised"):
        few.interval("percentile", 0.9, errors="formula")
    fewer = bootstrap(X, m=5, n_resamples=99, random_state=0)
    with pytest.raises(ParameterError, match="m = 5"):
        fewer.interval("bca")
    with pytest.raises(ParameterError, match="m = 2 or more"):
        bootstrap(X, m=1, n_resamples=99, random_state=0).interval("studentised")


def test_an_end_beyond_the_last_replicate_is_said():
    # A statistic with a large bias: nearly all replicates lie above the value.
    found = bootstrap(X, "min", n_resamples=199, m=10, random_state=0)
    assert found.interval("percentile", 0.9)[0] == 0
    skewed = bootstrap(X, lambda rows: -len(np.unique(rows)) + 0.0, n_resamples=199, random_state=0)
    with pytest.raises(DataError, match="one side"):
        skewed.interval("bca", 0.9)
    rng = np.random.default_rng(0)
    long_tail = bootstrap(rng.exponential(size=8) ** 6, n_resamples=99, random_state=0)
    with pytest.warns(EmpiriskWarning, match="beyond the last of 99"):
        long_tail.interval("bca", 0.98)


@pytest.mark.parametrize("errors", ["formel", 1, True, 2.5])
def test_errors_that_make_no_sense(errors):
    with pytest.raises(ParameterError, match="errors is"):
        bootstrap(X, n_resamples=99, random_state=0).interval("studentised", errors=errors)


def test_studentising_needs_spread_and_a_formula():
    with pytest.raises(ParameterError, match="no formula"):
        bootstrap(X, "std", n_resamples=99).interval("studentised", errors="formula")
    with pytest.raises(ParameterError, match="shape"):
        bootstrap(X, n_resamples=99).interval("studentised", errors=lambda rows: [1.0, 2.0])
    rare = bootstrap([0.0] * 9 + [1.0], n_resamples=199, random_state=0)
    with pytest.raises(DataError, match="resamples have no spread"):
        rare.interval("studentised", 0.9)


@pytest.mark.parametrize("n, m", [(0, None), (2.5, None), (3, 0), (-1, 2)])
def test_resamples_are_counted_of_whole_numbers_of_rows(n, m):
    with pytest.raises(ParameterError, match="whole number >= 1"):
        distinct_resamples(n, m)
