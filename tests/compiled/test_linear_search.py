"""Where a feature may be cut in a linear tree: the laws of cuts, as Python runs the loop."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk.compiled.trees.linear_search import choose_cuts

HALF = np.uint64(32)


def cuts_of(codes, weight, max_bins, special=-1, leaf=1):
    """The cuts of rows in the order of their codes, and whether they are but some of all."""
    m = len(codes)
    entries = (np.array(codes, np.uint64) << HALF) | np.arange(m, dtype=np.uint64)
    rule = SimpleNamespace(max_bins=max_bins, min_rows_leaf=leaf, min_weight_leaf=0.0)
    cuts = np.full(max_bins, -1)  # Python stops at a place beyond the last
    n, thinned = choose_cuts(
        entries, 0, m, m, np.array([0, m, special]), weight, np.ones(m), 0.0, 0.0, weight.sum(),
        float(m), rule, cuts,
    )  # fmt: skip
    return cuts[:n], bool(thinned)


@pytest.mark.parametrize("leaf", [1, 4])
def test_all_cuts_between_values_are_taken_where_they_are_few(leaf):
    codes = np.sort(np.random.default_rng(0).integers(0, 8, size=30))
    cuts, thinned = cuts_of(codes, np.ones(30), 8, leaf=leaf)
    between = [i for i in range(leaf, 31 - leaf) if codes[i - 1] != codes[min(i, 29)]]
    assert_array_equal(cuts, between)
    assert not thinned


@pytest.mark.parametrize("max_bins", [8, 9, 16])
def test_of_many_cuts_so_many_are_taken_and_the_ends_among_them(max_bins):
    rng = np.random.default_rng(max_bins)
    for _ in range(300):
        m = int(rng.integers(max_bins + 3, 8 * max_bins))
        heavy = np.arange(m) < rng.integers(0, m)  # many steps of weight, then many of number
        weight = np.where(heavy, 1.0, rng.choice([1e-9, 0.1])) * rng.uniform(0.9, 1, size=m)
        special = int(rng.integers(1, m))
        cuts, thinned = cuts_of(np.arange(m), weight[:: rng.choice([1, -1])], max_bins, special)
        assert thinned == (m - 1 > max_bins)
        assert (np.diff(cuts) > 0).all()
        assert {1, special, m - 1} <= set(cuts.tolist())
