"""The largest of several |t|, where its distribution is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk.risk.intervals.simultaneous import simultaneous_level
from tolerances import SUMMED


def independent(k, units=4000):
    """Parts of k + 1 rivals, of which the last does not vary and the others are orthogonal."""
    parts = np.linalg.qr(np.random.default_rng(0).normal(size=(units, k)))[0]
    return np.column_stack([parts, np.zeros(units)])


@pytest.mark.parametrize("k", [2, 5, 20])
def test_independent_differences_take_sidaks_level(k):
    pairs = [(j, k) for j in range(k)]
    found = simultaneous_level(independent(k), pairs, 0.9)
    # The quantile of 20,000 draws: 1 - level is found to sqrt(0.1 * 0.9 / 20000) / 0.1 = 2.1 %. 4.7
    # of these: error probability 2.4e-6.
    assert_allclose(1 - found, 1 - 0.9 ** (1 / k), rtol=0.1)


def test_differences_that_are_one_cost_nothing():
    one = np.random.default_rng(0).normal(size=(300, 1))
    parts = np.column_stack([one, 2 * one, -one, 0 * one])
    # Five standard errors of a quantile of 20,000 draws: 5 sqrt(0.1 * 0.9 / 20000).
    assert_allclose(
        simultaneous_level(parts, [(0, 3), (1, 3), (2, 3)], 0.9), 0.9, rtol=0, atol=0.01
    )


def test_all_pairs_take_tukeys_level():
    parts = np.linalg.qr(np.random.default_rng(0).normal(size=(400, 4)))[0]
    pairs = [(a, b) for a in range(4) for b in range(a)]
    q = stats.studentized_range.ppf(0.95, 4, 399) / np.sqrt(2)
    expected = 2 * stats.t.sf(q, 399)
    # 1 - level is found to sqrt(0.05 * 0.95 / 20000) / 0.05 = 3 %; five of these.
    assert_allclose(1 - simultaneous_level(parts, pairs, 0.95), expected, rtol=0.15)


def test_scale_and_pairs_without_difference_do_not_matter():
    parts = independent(3, units=50)
    pairs = [(0, 3), (1, 3), (2, 3)]
    found = simultaneous_level(parts, pairs, 0.9)
    assert_allclose(simultaneous_level(1e200 * parts, pairs, 0.9), found, rtol=SUMMED)
    twice = np.column_stack([parts, parts[:, 3]])
    # Other draws: five standard errors, as above.
    assert_allclose(simultaneous_level(twice, [*pairs, (3, 4)], 0.9), found, rtol=0, atol=0.01)
    assert simultaneous_level(parts, [(0, 3), (3, 3)], 0.9) == 0.9
    assert simultaneous_level(parts[:1], pairs, 0.9) == 0.9


def test_differences_that_are_rounding_cost_nothing():
    rng = np.random.default_rng(0)
    one, rest = rng.normal(size=(2, 300))
    parts = np.column_stack([one, one + 1e-15 * rng.normal(size=300), rest])
    # Five standard errors of a quantile of 20,000 draws: 5 sqrt(0.1 * 0.9 / 20000).
    assert_allclose(
        simultaneous_level(parts, [(0, 1), (0, 2), (1, 2)], 0.9), 0.9, rtol=0, atol=0.01
    )
