import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array

from empirisk import Table
from empirisk.risk.plans.dealing import copies_of_rows, deal, hold_out, join_units


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=80),
    st.integers(2, 4),
    st.integers(0, 5),
)
def test_every_stratum_is_spread_evenly(strata, folds, seed):
    strata = np.array(strata)
    fold = deal(len(strata), folds, strata=strata, rng=np.random.default_rng(seed))
    for h in np.unique(strata):
        counts = np.bincount(fold[strata == h], minlength=folds)
        assert counts.max() - counts.min() <= 1
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_dealing_is_random_without_favour():
    # 4 rows, 2 folds: each of the 6 partitions into labelled halves is equally likely.
    seen: dict[tuple, int] = {}
    draws = 1200
    for seed in range(draws):
        fold = tuple(deal(4, 2, rng=np.random.default_rng(seed)))
        seen[fold] = seen.get(fold, 0) + 1
    assert len(seen) == 6
    chi2 = sum((count - draws / 6) ** 2 / (draws / 6) for count in seen.values())
    assert chi2 < 25.7  # the 1e-4 quantile of chi-square with 5 degrees of freedom; seeds fixed


def test_large_units_are_balanced():
    units = np.repeat(np.arange(6), [50, 30, 20, 10, 10, 10])
    fold = deal(len(units), 3, units=units, rng=np.random.default_rng(0))
    assert sorted(np.bincount(fold)) == [40, 40, 50]


def test_rows_are_copies_exactly_when_they_are_equal():
    X = np.random.default_rng(0).integers(0, 3, size=(400, 4)).astype(float)
    codes = copies_of_rows(X)
    equal = (X[:, None] == X[None]).all(axis=2)
    np.testing.assert_array_equal(codes[:, None] == codes[None], equal)


def test_sparse_rows_are_copies_alike_and_are_not_made_dense():
    X = np.random.default_rng(0).integers(-1, 2, size=(300, 4)).astype(float)
    stored = coo_array(X)
    twice = np.append(stored.data / 2, stored.data / 2), tuple(np.tile(stored.coords, 2))
    explicit = csr_array(X)
    explicit.data[::5] = -0.0
    for sparse in (csc_array(X), coo_array(twice, shape=X.shape), explicit):
        codes, wanted = copies_of_rows(sparse), copies_of_rows(sparse.toarray())
        np.testing.assert_array_equal(codes[:, None] == codes, wanted[:, None] == wanted)
    wide = csr_array(([1.0, 1.0, 2.0], ([0, 2, 3], [10**9, 10**9, 10**9])), shape=(4, 10**10))
    codes = copies_of_rows(wide)
    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 3


def test_rows_of_a_frame_are_copies_whatever_its_columns_are_called():
    words, lists = ["a", "b", "a", None], [[1], [2], [1], [1]]
    frame = pd.DataFrame({"u": words, "v": lists, "w": words}).set_axis(["u", "v", "u"], axis=1)
    table = Table.of({"u": words, "v": [1.0, 2.0, 1.0, 1.0]}, {"u": "category"})
    for X in (frame, table):
        codes = copies_of_rows(X)
        assert codes[0] == codes[2]
        assert len(set(codes.tolist())) == 3


def test_rows_are_copies_alike_whether_words_are_levels_or_texts():
    rng = np.random.default_rng(1)
    words = rng.choice(["b", "a", "c d", None], size=(200, 2))
    frame = pd.DataFrame(words, columns=["u", "v"])
    levels = Table.of(frame, {"u": "category", "v": "category"})
    codes, wanted = copies_of_rows(levels), copies_of_rows(frame)
    np.testing.assert_array_equal(codes[:, None] == codes, wanted[:, None] == wanted)


def test_joined_units_are_the_connected_components():
    a = np.array([0, 0, 1, 2, 3])
    b = np.array([0, 1, 1, 2, 3])
    joined = join_units(a, b)
    assert joined[0] == joined[1] == joined[2]
    assert len({joined[0], joined[3], joined[4]}) == 3


@given(st.lists(st.integers(1, 9), min_size=2, max_size=12), st.floats(0.01, 0.99))
def test_whole_units_are_held_out_and_both_parts_have_some(sizes, share):
    units = np.repeat(np.arange(len(sizes)), sizes)
    held = hold_out(len(units), share, units=units, rng=np.random.default_rng(0))
    assert 0 < held.sum() < len(units)
    assert all(len(set(held[units == u])) == 1 for u in range(len(sizes)))
    assert abs(held.sum() - share * len(units)) <= max(sizes)


@given(st.lists(st.integers(0, 2), min_size=5, max_size=60), st.floats(0.1, 0.9))
def test_each_stratum_gives_its_share(strata, share):
    strata = np.array(strata)
    held = hold_out(len(strata), share, strata=strata, rng=np.random.default_rng(1))
    for h in np.unique(strata):
        assert abs(held[strata == h].sum() - share * (strata == h).sum()) <= 1


def test_rows_with_copies_are_held_out_as_often_as_others():
    units = np.concatenate([np.arange(700), 700 + np.repeat(np.arange(100), 3)])
    strata = np.arange(1000) % 2
    held = np.mean(
        [
            hold_out(1000, 0.25, units=units, strata=strata, rng=np.random.default_rng(s))
            for s in range(400)
        ],
        axis=0,
    )
    # Mean of 400 draws: standard errors 0.0011 (copies) and 0.0005; 5 of them, and the whole units.
    assert abs(held[700:].mean() - 0.25) < 0.006
    assert abs(held[:700].mean() - 0.25) < 0.003
