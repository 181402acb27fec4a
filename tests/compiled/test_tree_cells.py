"""Splits by cells of values and classes beside brute force."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.trees import cells
from empirisk.compiled.trees.criteria import GINI, NODE
from empirisk.compiled.trees.layout import FEATURE, OPEN, RULES

MISSING = 6  # the number of codes


@njit(error_model="numpy")
def fill_compiled(small, lines, features, rules, rows, opened, constant, drawn, sums, label, room):
    K = np.uint64(label.max() + 1)
    return cells.fill_next(
        small, lines, features, rules[0], rows, opened[0], constant, drawn, np.int64(0), drawn.size,
        sums, label, K, room,
    )  # fmt: skip


@njit(error_model="numpy")
def search_compiled(room, n_codes, totals, weight, min_weight, bar):
    return cells.search_cells(room, np.uint32(n_codes), totals, weight, min_weight, 1e-12, bar)


@njit(error_model="numpy")
def few_compiled(features, rules, K, m):
    return cells.has_few_cells(features[0], rules[0], np.uint64(K), m)


def table_of(columns, n_codes=MISSING):
    """A table of codes, three other rows first, and the features of it."""
    small = np.pad(np.array(columns, np.uint8), ((0, 0), (3, 0)))
    features, rules = np.zeros(len(columns), FEATURE), np.zeros(1, RULES)
    features["n_codes"], features["place"] = n_codes, np.arange(len(columns))
    features["missing"] = small.max(axis=1) == n_codes
    rules["kind"], rules["min_rows_leaf"] = GINI, 1
    return small, features, rules


def node_of(codes, seed, K, whole=False):
    """Weights and classes of a node, and what `search_cells` is given for a feature of it."""
    rng = np.random.default_rng(seed)
    m = len(codes)
    weight = rng.integers(1, 4, size=m).astype(float) if whole else rng.uniform(0.5, 2, size=m)
    label = rng.integers(0, K, size=m).astype(np.int32)
    totals, room = np.zeros((5, K)), np.zeros((MISSING + 1, K))
    totals[NODE] = np.bincount(label, weight, minlength=K)
    np.add.at(room, (codes, label), weight)
    return weight, label, (room.ravel(), MISSING, totals, weight.sum(), 0.0)


@pytest.mark.parametrize("known", [0, 1, 2])
@pytest.mark.parametrize("by_lines", [False, True], ids=["columns", "lines"])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 6])
@pytest.mark.parametrize(
    ("m", "n_codes", "missing"),
    [(40, MISSING, True), (47, 2, False), (48, 2, False), (48, 2, True), (301, 2, False)],
    ids=["some values", "two, few rows", "two", "two or missing", "two, many rows"],
)
def test_cells_are_the_weights_of_values_and_classes(m, n_codes, missing, p, by_lines, known):
    K = 3  # features of two values are taken together from 16 K rows on
    codes = np.random.default_rng(p).integers(0, n_codes + missing, size=(p, m))
    weight, label, _ = node_of(codes[0], 0, K)
    small, features, rules = table_of(codes, n_codes)
    # `lines` of a table that is so much larger that its rows are far apart, or none
    lines = np.zeros((cells.SPARSE * m + 1 if by_lines else 0, p), np.uint8)
    lines[: small.shape[1]] = small.T[: len(lines)]
    opened, constant = np.zeros(1, OPEN), np.zeros((1, 1), np.uint64)
    opened["start"], opened["end"] = 2, m + 2
    constant[0, 0] = 2**known - 1  # the first features are known to be constant
    rows = np.concatenate([[0, 0], np.arange(3, m + 3)]).astype(np.uint32)
    size = cells.CELLS_PER_ROW * m
    room = np.full(4 * size, np.nan)
    n = fill_compiled(
        small, lines, features, rules, rows, opened, constant, np.arange(p), weight[:, None].copy(),
        label, room,
    )  # fmt: skip
    looked_at = codes[known : known + 4]
    assert n == len(looked_at)
    for slot, column in enumerate(looked_at):
        expected = np.zeros((n_codes + 1, K))
        np.add.at(expected, (column, label), weight)
        found = room[slot * size : slot * size + expected.size]
        assert_allclose(found, expected.ravel(), rtol=1e-13)  # sums of 40 to 301 numbers


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
        weight, label, given = node_of(codes, seed, K, whole)
        worth, code, following, told = search_compiled(*given, -np.inf)
        expected = worths(codes, weight, label, K)
        best = max(expected, key=expected.get)
        assert told == cells.SEARCHED
        assert code == best
        assert following == {1: 2, 2: 4, 4: 5}[best]  # no row has the code 3
        assert_allclose(worth, expected[best], rtol=1e-13)  # sums of 61 numbers
        assert search_compiled(*given, expected[best] + 1e-6)[0] == -np.inf


def test_one_value_and_missing_values_are_told():
    assert search_compiled(*node_of(np.full(50, 3), 0, 3)[2], -np.inf)[3] == cells.CONSTANT
    codes = np.append(np.full(50, 3), MISSING)
    assert search_compiled(*node_of(codes, 0, 3)[2], -np.inf)[3] == cells.NOT_BY_CELLS


@pytest.mark.parametrize("why", [None, "rows", "copies", "category", "table", "many", "criterion"])
def test_what_cells_do_not_know_is_searched_otherwise(why):
    _, features, rules = table_of([[0]])
    if why in ("category", "table"):
        features[why] = 1
    if why == "rows":
        rules["min_rows_leaf"] = 2
    if why == "copies":
        rules["min_copies_leaf"] = 1.5
    if why == "criterion":
        rules["kind"] = GINI + 1
    assert few_compiled(features, rules, 3, 2 if why == "many" else 50) == (why is None)


@pytest.mark.parametrize("light", [0, 3], ids=["left", "right"])
def test_a_side_has_the_least_weight_that_is_asked_for(light):
    codes = np.abs(light - np.repeat([0, 1, 2, 3], [2, 20, 20, 18]))
    weight, label, given = node_of(codes, 0, 3)
    least = weight[codes == light].sum() + 1e-9
    expected = worths(codes, weight, label, 3)
    sides = {c: min(weight[codes <= c].sum(), weight[codes > c].sum()) for c in expected}
    allowed = [c for c in expected if sides[c] >= least]
    assert_array_equal(allowed, [1, 2] if light == 0 else [0, 1])
    assert max(expected, key=expected.get) not in allowed
    assert search_compiled(*given[:-1], least, -np.inf)[1] == max(allowed, key=expected.get)
