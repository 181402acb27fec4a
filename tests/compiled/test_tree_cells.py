"""Splits by cells of values and classes beside brute force."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.trees import cells
from empirisk.compiled.trees.criteria import GINI, NODE
from empirisk.compiled.trees.layout import FEATURE, RULES

MISSING = 6  # the number of codes


@njit(error_model="numpy")
def search_compiled(small, features, rules, rows, start, m, sums, label, totals, weight, bar, room):
    return cells.search_cells(
        small, features[0], rules[0], rows, start, m, sums, label, totals, weight, 1e-12, bar, room
    )


def node_of(codes, seed, K, whole=False):
    """Rows 3.. of a table of codes, with weights and classes; and what `search_cells` is given."""
    rng = np.random.default_rng(seed)
    m = len(codes)
    small = np.vstack([rng.integers(0, 6, size=m + 3), np.append([0, 0, 0], codes)])
    weight = rng.integers(1, 4, size=m).astype(float) if whole else rng.uniform(0.5, 2, size=m)
    label = rng.integers(0, K, size=m).astype(np.int32)
    features, rules, totals = np.zeros(1, FEATURE), np.zeros(1, RULES), np.zeros((5, K))
    features["n_codes"], features["place"] = MISSING, 1
    rules["kind"], rules["min_rows_leaf"] = GINI, 1
    totals[NODE] = np.bincount(label, weight, minlength=K)
    rows = np.concatenate([[9, 9], np.arange(3, m + 3)]).astype(np.uint32)
    return (
        small.astype(np.uint8), features, rules, rows, 2, m, weight[:, None].copy(), label, totals,
        weight.sum(), -np.inf, np.empty(2 * K * (MISSING + 1)),
    )  # fmt: skip


def worths(codes, weight, label, K):
    """By the last code on the left: sum_k W_k^2 / W of both sides."""
    value = {}
    for cut in np.unique(codes)[:-1]:
        sides = [np.bincount(label[s], weight[s], minlength=K) for s in (codes <= cut, codes > cut)]
        value[int(cut)] = sum((side**2).sum() / side.sum() for side in sides)
    return value


@pytest.mark.parametrize("whole", [False, True], ids=["weights", "counts"])
@pytest.mark.parametrize("m", [42, 61])
@pytest.mark.parametrize("K", [3, 4, 5])
def test_the_best_split_is_that_of_all(K, m, whole):
    for seed in range(5):
        codes = np.random.default_rng(seed).choice([1, 2, 4, 5], size=m)
        given = node_of(codes, seed, K, whole)
        worth, code, following, told = search_compiled(*given)
        expected = worths(codes, given[6][:, 0], given[7], K)
        best = max(expected, key=expected.get)
        assert told == cells.SEARCHED
        assert code == best
        assert following == {1: 2, 2: 4, 4: 5}[best]  # no row has the code 3
        assert_allclose(worth, expected[best], rtol=1e-13)  # sums of 61 numbers
        assert search_compiled(*given[:10], expected[best] + 1e-6, given[11])[0] == -np.inf


def test_one_value_is_told():
    given = node_of(np.full(50, 3), 0, 3)
    assert search_compiled(*given)[3] == cells.CONSTANT


@pytest.mark.parametrize("why", ["missing", "rows", "copies", "category", "many", "criterion"])
def test_what_cells_do_not_know_is_searched_otherwise(why):
    codes = np.random.default_rng(1).integers(0, MISSING + (why == "missing"), size=50)
    given = node_of(codes[: 3 if why == "many" else 50], 1, 3)
    if why == "rows":
        given[2]["min_rows_leaf"] = 2
    if why == "copies":
        given[2]["min_copies_leaf"] = 1.5
    if why == "category":
        given[1]["category"] = 1
    if why == "criterion":
        given[2]["kind"] = GINI + 1
    assert search_compiled(*given)[3] == cells.NOT_SEARCHED


def test_a_side_has_the_least_weight_that_is_asked_for():
    codes = np.repeat([0, 1, 2, 3], [2, 20, 20, 18])
    given = node_of(codes, 2, 3)
    weight, label = given[6][:, 0], given[7]
    given[2]["min_weight_leaf"] = least = weight[codes == 0].sum() + 1e-9
    expected = worths(codes, weight, label, 3)
    sides = {c: min(weight[codes <= c].sum(), weight[codes > c].sum()) for c in expected}
    allowed = [c for c in expected if sides[c] >= least]
    assert_array_equal(allowed, [1, 2])
    assert search_compiled(*given)[1] == max(allowed, key=expected.get)
