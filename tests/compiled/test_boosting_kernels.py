"""Loops of histogram boosting against NumPy: histograms, subtraction, exponentials, sorting."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import softmax

from empirisk.compiled.boosting.choosing import cut
from empirisk.compiled.boosting.entering import enter_dithered
from empirisk.compiled.boosting.gradients import (
    LOG,
    derive,
    derive_class,
    derive_classes,
    largest,
)
from empirisk.compiled.boosting.histograms import (
    CHUNK,
    CHUNKED,
    LEAN,
    SUMS,
    WIDE,
    add_rows,
    pack_codes,
    subtract,
)
from empirisk.compiled.boosting.levels import sort_by_steps
from empirisk.compiled.boosting.quantiles import (
    code_values,
    distinct_values,
    sort_numbers,
    spread_bins,
)
from empirisk.compiled.decorator import compiled
from empirisk.compiled.exponential import exponential
from tolerances import LAST_BITS

COUNT_BITS = 20


@compiled
def compiled_add_rows(form, codes, words, first_code, spans, rows, entries, histogram):
    room = np.empty(SUMS + CHUNK, np.int64)
    add_rows(form, np.int64(COUNT_BITS), codes, words, first_code, spans, rows, entries, histogram,
             room)  # fmt: skip


@compiled
def compiled_derive_class(points, weight, gradient, curvature):
    derive_class(points, weight, gradient, curvature)


@compiled
def compiled_exponentials(values, out):
    for i in range(values.size):
        out[i] = exponential(values[i])


@compiled
def compiled_derive(kind, points, y, weight, gradient, curvature):
    derive(kind, points, y, weight, gradient, curvature)


@compiled
def compiled_enter_dithered(gradient, curvature, first, entries):
    enter_dithered(gradient, curvature, 4.0, 0.5, first, entries)


@compiled
def compiled_sort_by_steps(order, n, steps):
    sort_by_steps(order, n, steps)


def entries_of(form, g, h):
    if form == LEAN:
        return (g << COUNT_BITS) + 1
    if form == CHUNKED:
        return (((g << 25) + h) << 13) + 1
    return np.column_stack([g, (h << COUNT_BITS) + 1]).ravel()


@pytest.mark.parametrize("form", [LEAN, CHUNKED, WIDE])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "spans", [[(0, 8)], [(8, 1)], [(6, 2)], [(4, 4)], [(0, 4)], [(0, 8), (8, 1)]], ids=str
)
def test_histograms_are_those_of_bincount(form, spans, whole):
    rng = np.random.default_rng(0)
    n, sizes = 2 * CHUNK + 77, np.array([3, 256, 17, 200, 5, 256, 2, 256, 256])
    first_code = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.array([rng.integers(size, size=n) for size in sizes], np.uint8)
    g, h = rng.integers(-8191, 8192, size=n), rng.integers(8192, size=n)
    g[:9], h[:9] = -8191, 8191
    rows = np.arange(n) if whole else np.sort(rng.permutation(n)[: CHUNK + 5])
    words = 1 if form == LEAN else 2
    entries = entries_of(form, g, h).reshape(n, -1)[rows].ravel()
    histogram = np.full(words * first_code[-1], 99)
    first, end = spans[0][0], sum(spans[-1])
    histogram[words * first_code[first] : words * first_code[end]] = 0
    packed = np.zeros((2, n), np.int64)
    pack_codes(codes, packed)
    compiled_add_rows(form, codes, packed, first_code, np.array(spans), rows.astype(np.uint32),
                      entries, histogram)  # fmt: skip
    for c in range(first, end):
        place = words * first_code[c]
        counts, sums, curvatures = (
            np.bincount(codes[c, rows], weights, minlength=sizes[c]).astype(np.int64)
            for weights in (None, g[rows], h[rows])
        )
        second = histogram[place + (words - 1) * sizes[c] :][: sizes[c]]
        np.testing.assert_array_equal(second & (2**COUNT_BITS - 1), counts)
        if form == LEAN:
            np.testing.assert_array_equal(histogram[place:][: sizes[c]] >> COUNT_BITS, sums)
        else:
            np.testing.assert_array_equal(histogram[place:][: sizes[c]], sums)
            np.testing.assert_array_equal(second >> COUNT_BITS, curvatures)
    outside = np.r_[0 : words * first_code[first], words * first_code[end] : len(histogram)]
    assert (histogram[outside] == 99).all()


@pytest.mark.parametrize("value", [0.0, 0.003, 0.5, 17.25, 8189.9])
def test_numbers_are_rounded_up_as_often_as_is_right(value):
    n = 20_000
    # Powers of two are exact: the scales of `compiled_enter_dithered` give back the value.
    g, h, entries = np.full(n, -value / 4), np.full(n, value * 2), np.empty(n, np.int64)
    compiled_enter_dithered(g, h, 12_345, entries)
    whole, curved = entries >> 38, (entries >> 13) & (2**25 - 1)
    assert (entries & (2**13 - 1) == 1).all()
    for numbers, wanted in ((whole, -value), (curved, value)):
        assert np.abs(numbers - wanted).max() < 1
        # A random walk leaves 5 standard deviations of its end once in 800,000 times.
        part = wanted % 1
        most = 5 * np.sqrt(n * part * (1 - part)) + 1e-4  # and rounding of the sums
        assert np.abs(np.cumsum(numbers - wanted)).max() < most


def test_a_histogram_less_that_of_a_child_is_the_others():
    rng = np.random.default_rng(1)
    parent, child = rng.integers(-(2**60), 2**60, size=(2, 512))
    left = parent.copy()
    subtract(left, child)
    np.testing.assert_array_equal(left + child, parent)


def test_the_exponential_is_exact_to_two_units_in_the_last_place():
    x = np.concatenate([np.linspace(-700, 700, 20_001), [0.0, 1e-300, 900.0, -900.0]])
    out = np.empty_like(x)
    compiled_exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(np.clip(x, -700, 700)), rtol=2 * np.finfo(float).eps)


def test_gradients_and_curvatures_are_derivatives_of_the_loss():
    rng = np.random.default_rng(2)
    f, w = rng.normal(size=50), rng.uniform(1, 2, size=50)
    y = (rng.uniform(size=50) < 0.5) * 1.0
    g, h = np.empty((2, 50))
    compiled_derive(LOG, f, y, w, g, h)
    e = 1e-4
    up, here, down = (np.logaddexp(0, at) - y * at for at in (f + e, f, f - e))
    # Derivatives are at most 1, weights 2: the differences err by 2 e^2 / 6 = 3e-9 and half of it;
    # losses up to 4 are rounded to 4.5e-16, which makes 4 * 2 * 4.5e-16 / e^2 = 4e-7.
    np.testing.assert_allclose(g, w * (up - down) / (2 * e), rtol=0, atol=1e-6)
    np.testing.assert_allclose(h, w * (up - 2 * here + down) / e**2, rtol=0, atol=2e-6)


@pytest.mark.parametrize("size", [30, 3000])  # of the latter, exponentials overflow
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_classes_are_those_of_the_softmax(weighted, size):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5, 3000)) * size
    gradients, most = np.full((5, 3000), 7.0), np.empty((5, 2))
    y = rng.integers(5, size=3000).astype(float)
    weight = rng.uniform(0.5, 2, size=3000) if weighted else np.empty(0)
    derive_classes(scores, y, weight, gradients, most, 100, 2500)
    share = softmax(scores, axis=0)
    here = slice(100, 2500)
    # A share has 1e-14 by its exponentials; less one, it loses up to one rounding.
    np.testing.assert_allclose(
        gradients[:, here], (share - (y == np.arange(5)[:, None]))[:, here], rtol=1e-14, atol=2e-16
    )
    assert (gradients[:, :100] == 7.0).all()
    g, h = np.empty((2, 3000))
    compiled_derive_class(gradients[2], weight, g, h)
    factor = weight if weighted else 1.0
    np.testing.assert_array_equal(g, gradients[2] * factor)
    expected = (2 * share[2] * (1 - share[2]) * factor)[here]
    np.testing.assert_allclose(h[here], expected, rtol=0, atol=LAST_BITS)
    np.testing.assert_array_equal(most[2], [np.abs(g[here]).max(), h[here].max()])


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_number_is_found_in_every_place(sign):
    for n in range(10):
        assert largest(np.zeros(n)) == 0.0
        for place in range(n):
            values = np.linspace(-1, 1, n)
            values[place] = 3.0 * sign
            assert largest(values) == 3.0


@pytest.mark.parametrize("spread", [1.0, 1e-13, 1e300])
def test_numbers_are_sorted_or_it_is_said_that_they_are_not(spread):
    rng = np.random.default_rng(4)
    values = np.concatenate([1.0 + spread * rng.normal(size=5000), [0.0, 5e-324, -1e308]])
    bits = values.copy().view(np.uint64)
    done = sort_numbers(bits, np.empty_like(bits), np.empty((3, 2048), np.int64))
    assert done == (spread != 1e-13)  # all agree in their upper bits there: NumPy must sort them
    if done:
        np.testing.assert_array_equal(bits.view(np.float64), np.sort(values))


def test_codes_are_the_bins_of_values_and_their_ends_are_those_of_the_data():
    rng = np.random.default_rng(5)
    values = rng.normal(size=5000)
    values[rng.uniform(size=5000) < 0.1] = np.nan
    upper = np.full(255, np.inf)
    upper[:9] = np.sort(rng.normal(size=9))
    values[:9] = upper[:9]  # a value at the end of a bin is in it
    low, high, codes = np.full(256, np.inf), np.full(256, -np.inf), np.empty(5000, np.uint8)
    code_values(values, upper, 10, low, high, np.empty(512, np.int64), codes)
    missing = np.isnan(values)
    np.testing.assert_array_equal(codes[~missing], np.searchsorted(upper[:9], values[~missing]))
    assert (codes[missing] == 10).all()
    for b in range(10):
        assert low[b] == values[codes == b].min()
        assert high[b] == values[codes == b].max()


def test_the_ends_of_bins_know_the_last_value():
    values, upper = np.array([1.0, 4.0, 2.0, -1.0, 5.0]), np.full(255, np.inf)
    upper[0] = 3.0
    low, high, codes = np.full(256, np.inf), np.full(256, -np.inf), np.empty(5, np.uint8)
    code_values(values, upper, 2, low, high, np.empty(2, np.int64), codes)
    assert codes.tolist() == [0, 1, 0, 0, 1]
    assert (low[:2].tolist(), high[:2].tolist()) == ([-1.0, 4.0], [2.0, 5.0])


def test_heavy_values_have_bins_nearly_alone_and_the_others_weigh_about_the_same():
    rng = np.random.default_rng(6)
    total = np.ones(10_000)
    total[[30, 5000, 5001]] = 3000.0
    last = np.empty(255, np.int64)
    n_bins = spread_bins(np.arange(10_000.0), total, 255, last)
    assert n_bins <= 255
    bin_of = np.searchsorted(last[:n_bins], np.arange(10_000))
    weight = np.bincount(bin_of, total)
    for heavy in (30, 5000, 5001):
        assert last[bin_of[heavy]] == heavy
        assert (bin_of == bin_of[heavy]).sum() < 20  # less than half a bin of light ones before it
    light = np.delete(weight, bin_of[[30, 5000, 5001]])
    assert light.max() <= 2 * np.median(light)
    assert n_bins >= 240
    few = rng.integers(1, 9, size=40).astype(float)
    assert spread_bins(np.arange(40.0), few, 255, last) == 40
    full = rng.integers(1, 9, size=255).astype(float)
    assert spread_bins(np.arange(255.0), full, 255, last) == 255
    assert spread_bins(np.arange(510.0), np.ones(510), 255, last) == 255
    np.testing.assert_array_equal(last, np.arange(1, 510, 2))  # two equal ones in each
    assert spread_bins(np.arange(300.0), np.ones(300), 255, last) == 255  # two in some, then one


@pytest.mark.parametrize("seed", range(50))
def test_there_are_never_more_bins_than_asked_for(seed):
    rng = np.random.default_rng(seed)
    n, most = 24, int(rng.integers(2, 10))
    last = np.full(n, -1)
    bins = spread_bins(np.arange(n, dtype=float), rng.exponential(size=n) ** 2, most, last)
    assert 1 <= bins <= most
    assert (np.diff(last[:bins]) > 0).all()
    assert last[bins - 1] == n - 1
    assert (last[bins:] == -1).all()


def test_of_two_bins_the_first_ends_where_it_weighs_half():
    total = np.array([3.0, 1, 4, 1, 5, 9, 2, 6])
    last = np.full(8, -1)
    assert spread_bins(np.arange(8.0), total, 2, last) == 2
    assert last[0] == np.argmax(np.cumsum(total) >= total.sum() / 2)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_distinct_values_have_the_weights_of_their_rows(weighted):
    rng = np.random.default_rng(7)
    ordered = np.sort(rng.integers(0, 30, size=200) / 4)
    weight = rng.uniform(0.1, 3, size=200) if weighted else np.empty(0)
    values, total = np.empty((2, 200))
    n = distinct_values(ordered, weight, values, total)
    distinct, place = np.unique(ordered, return_inverse=True)
    np.testing.assert_array_equal(values[:n], distinct)
    sums = np.bincount(place, weight if weighted else None)
    np.testing.assert_allclose(total[:n], sums, rtol=1e-14)  # sums of some ten terms


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 100])
def test_levels_are_sorted_by_their_steps_and_equal_ones_stay_as_they_stand(n):
    rng = np.random.default_rng(n)
    steps = rng.integers(-3, 4, size=120).astype(float)
    levels = rng.permutation(120)[:n]
    for sort in (compiled_sort_by_steps, sort_by_steps):
        order = np.zeros((2, 256), np.int64)
        order[0, :n] = levels
        sort(order, n, steps)
        np.testing.assert_array_equal(
            order[0, :n], levels[np.argsort(steps[levels], kind="stable")]
        )


@pytest.mark.parametrize(
    ("low", "high", "following", "threshold", "code"),
    [
        ([0, 3, 6], [1, 4, 9], 1, 2.0, 0),  # neighbours
        ([0, 3, 8], [1, 4, 9], 2, 4.5, 1),  # the bin that is not in the node lies below
        ([0, 6, 8], [1, 7, 9], 2, 4.5, 0),  # above
        ([0, 3, 8], [1, 7, 9], 2, 2.0, 0),  # half way would be within it
        ([0, 4.5, 8], [1, 7, 9], 2, 2.75, 0),  # where it begins
        ([0, 3, 8], [1, 4.5, 9], 2, 4.5, 1),  # where it ends
        ([0, 3, 8], [1, 4, 9], 3, np.inf, 2),  # missing values alone on the right
        ([1, 1 + 2**-52, 8], [1, 1 + 2**-52, 9], 1, 1.0, 0),  # half way rounds to one of them
        ([1, 1 + 2**-51, 8], [1 + 2**-52, 1 + 2**-51, 9], 1, 1 + 2**-52, 0),
    ],
)
def test_a_threshold_lies_half_way_between_bins_and_never_within_one(
    low, high, following, threshold, code
):
    node, split = SimpleNamespace(), SimpleNamespace(code=0, following=following)
    cut(node, split, 3, np.array(low, float), np.array(high, float))
    assert (node.threshold, node.code) == (threshold, code)
