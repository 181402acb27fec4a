"""Association of columns of any kind, against SciPy, and the groups that it finds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats.contingency import association

from empirisk import Table
from empirisk.risk import correlated_features
from empirisk.risk.importances.association import (
    associations,
    cramers_v,
    rank_correlation,
    rank_ratio,
)
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


def test_numbers_have_the_rank_correlation_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(5, size=80).astype(float), rng.normal(size=80)
    assert_allclose(rank_correlation(a, b), abs(stats.spearmanr(a, b).statistic), rtol=SUMMED)
    assert rank_correlation(np.ones(4), np.arange(4.0)) == 0


def test_the_rank_ratio_is_the_statistic_of_kruskal_and_wallis():
    rng = np.random.default_rng(1)
    codes, numbers = rng.integers(3, size=60), rng.normal(size=60)
    numbers += codes
    H = stats.kruskal(*(numbers[codes == k] for k in range(3))).statistic
    assert_allclose(rank_ratio(codes, numbers), np.sqrt((H - 2) / 57), rtol=SUMMED)


def test_cramers_v_less_its_bias_is_close_to_that_of_scipy_and_zero_without_association():
    rng = np.random.default_rng(2)
    a = rng.integers(3, size=5000)
    b = np.where(rng.random(5000) < 0.6, a, rng.integers(3, size=5000))
    plain = association(np.histogram2d(a, b, bins=3)[0].astype(int), method="cramer")
    assert_allclose(cramers_v(a, b), plain, rtol=0, atol=0.001)  # the bias is of the order 1/n
    many = [cramers_v(rng.integers(20, size=60), rng.integers(20, size=60)) for _ in range(50)]
    assert np.median(many) < 0.1  # without the correction all are above 0.5


def test_a_mixed_table_with_missing_values_falls_into_its_groups():
    rng = np.random.default_rng(3)
    n = 400
    size = rng.normal(size=n)
    kind = rng.integers(4, size=n)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, size),
            "class": pd.Categorical(np.array(["s", "m", "l"])[np.digitize(size, [-0.5, 0.5])]),
            "kind": pd.Categorical(np.array(list("abcd"))[kind]),
            "code": pd.Categorical(np.array(list("wxyz"))[kind]),
            "flag": rng.random(n) < 0.5,
            "note": [f"note {i}" for i in range(n)],
        }
    )
    found = correlated_features(frame)
    assert list(found.values()) == [["size", "class"], ["kind", "code"], ["flag"], ["note"]]
    table = associations(Table.of(frame))
    assert_allclose(table, table.T, rtol=SUMMED)
    assert_allclose(table.diagonal(), 1, rtol=SUMMED)


def test_in_a_group_every_two_columns_are_associated_that_closely():
    rng = np.random.default_rng(4)
    steps = np.cumsum(rng.normal(size=(300, 8)), axis=1)  # each column is close to the next
    for threshold in (0.3, 0.7, 0.9):
        groups = correlated_features(steps, threshold).values()
        assert sorted(name for group in groups for name in group) == [f"x{j}" for j in range(8)]
        for group in groups:
            places = [int(name[1:]) for name in group]
            within = np.abs(stats.spearmanr(steps).statistic)[np.ix_(places, places)]
            assert within.min() >= threshold
    assert max(map(len, correlated_features(steps, 0.3).values())) > 1


def test_one_column_is_a_group_and_a_strange_threshold_is_refused():
    assert correlated_features({"a": [1.0, 2.0, 3.0]}) == {"a": ["a"]}
    with pytest.raises(ParameterError, match="threshold is 2"):
        correlated_features({"a": [1.0, 2.0]}, 2)
