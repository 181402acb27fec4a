"""Draws of rows, groups and blocks: as many as asked for, with the right chances, by seed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from empirisk.compiled.resampling import subset_counts, uneven_counts
from empirisk.learners.ensembles.draws import Draws, draws_of
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from empirisk.runtime.streams import spawn

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all
SEEDS = spawn(0, 4000)


def all_counts(draws):
    return np.array([draws.counts(seed) for seed in SEEDS])


@pytest.mark.parametrize(
    "draws",
    [
        Draws(7, 10),
        Draws(7, 5, replace=False),
        Draws(7, 6, weight=np.array([1.0, 2, 0, 4, 1, 1, 1])),
        Draws(7, 6, replace=False, weight=np.array([1.0, 2, 0, 4, 1, 1, 1])),
        Draws(7, 3, replace=False, weight=np.array([0.5, 2, 0, 4, 1, 1, 1])),
        Draws(7, 7 * 17),  # so many that a binomial number is drawn for each row
        Draws(7, 7 * 17, weight=np.array([1.0, 2, 0, 4, 1, 1, 1])),
        Draws(7, 7, block=3),
    ],
)
def test_each_member_draws_as_many_rows_as_asked_for_the_same_ones_each_time(draws):
    counts = all_counts(draws)
    assert counts.dtype == np.int64
    assert (counts.sum(axis=1) == draws.size).all()
    assert_array_equal(counts[:50], [draws.counts(seed) for seed in SEEDS[:50]])
    assert len(np.unique(counts, axis=0)) > 10
    if draws.weight is not None:
        assert (counts[:, draws.weight == 0] == 0).all()


@pytest.mark.parametrize("size", [6, 200])
@pytest.mark.parametrize("weight", [None, np.array([1.5, 0, 3, 0.25, 5])])
def test_with_replacement_a_row_is_drawn_in_proportion_to_its_weight(weight, size):
    chances = np.ones(5) if weight is None else weight
    drawn = all_counts(Draws(5, size, weight=weight)).sum(axis=0)
    positive = chances > 0
    expected = chances[positive] / chances.sum() * drawn.sum()
    assert stats.chisquare(drawn[positive], expected).pvalue > ERROR_PROBABILITY


def test_the_counts_of_a_bootstrap_are_binomial():
    counts = all_counts(Draws(8, 8))[:, 3]  # of one row: its counts in members are independent
    expected = stats.binom.pmf(np.arange(4), 8, 1 / 8)
    observed = np.bincount(np.minimum(counts, 4), minlength=5)
    expected = np.append(expected, 1 - expected.sum()) * len(counts)
    assert stats.chisquare(observed, expected).pvalue > ERROR_PROBABILITY


def test_without_replacement_every_subset_is_as_likely():
    counts = all_counts(Draws(5, 3, replace=False))
    assert set(np.unique(counts)) == {0, 1}
    subsets, times = np.unique(counts, axis=0, return_counts=True)
    assert len(subsets) == 10
    assert stats.chisquare(times).pvalue > ERROR_PROBABILITY


def test_a_weight_of_w_is_w_copies_without_replacement():
    # The counts of 3 from copies (2, 0, 3, 1) against those of 3 from six rows, added up.
    counts = all_counts(Draws(4, 3, replace=False, weight=np.array([2.0, 0, 3, 1])))
    rows = all_counts(Draws(6, 3, replace=False))
    repeated = np.stack([rows[:, :2].sum(1), np.zeros(len(rows)), rows[:, 2:5].sum(1), rows[:, 5]])
    _, times = np.unique(counts, axis=0, return_counts=True)
    _, expected = np.unique(repeated.T, axis=0, return_counts=True)
    assert stats.chi2_contingency([times, expected]).pvalue > ERROR_PROBABILITY


def test_all_copies_without_replacement_are_the_weights_themselves():
    weight = np.array([2.0, 0, 3, 1])
    draws = Draws(4, draws_of(None, 4, weight), replace=False, weight=weight)
    assert_array_equal(draws.member_weight(draws.counts(5)), weight)
    odd = weight / 4
    draws = Draws(4, draws_of(None, 4, odd, replace=False), replace=False, weight=odd)
    assert_array_equal(draws.member_weight(draws.counts(5)), odd)


def test_equal_weights_draw_as_no_weights():
    for replace in (True, False):
        drawn = Draws(9, 6, replace).counts(3)
        assert_array_equal(Draws(9, 6, replace, weight=np.ones(9)).counts(3), drawn)
        assert_array_equal(Draws(9, 6, replace, weight=np.full(9, 0.3)).counts(3), drawn)


@pytest.mark.parametrize("replace", [True, False])
def test_groups_are_in_or_out_as_wholes_and_drawn_alike(replace):
    unit = np.array([0, 1, 1, 1, 2, 2, 3, 1])
    weight = np.array([1.0, 2, 2, 0, 1, 1, 1, 5])
    draws = Draws(8, 2, replace, weight=weight, unit=unit)
    counts = all_counts(draws)
    for group in range(4):
        alive = counts[:, (unit == group) & (weight > 0)]
        assert (alive == alive[:, :1]).all()
    assert (counts[:, weight == 0] == 0).all()
    per_group = counts[:, [0, 1, 4, 6]]
    assert (per_group.sum(axis=1) == 2).all()
    assert stats.chisquare(per_group.sum(axis=0)).pvalue > ERROR_PROBABILITY
    for drawn in counts[:20]:
        out = draws.left_out(drawn)
        assert not set(unit[out]) & set(unit[drawn > 0])
        assert set(unit[out]) | set(unit[drawn > 0]) == {0, 1, 2, 3}
    assert_array_equal(draws.member_weight(counts[0]), counts[0] * weight)


def test_a_group_without_weight_is_never_drawn():
    unit, weight = np.array([0, 0, 1, 2]), np.array([0.0, 0, 1, 2])
    assert draws_of(None, 4, weight, unit=unit) == 2
    assert (all_counts(Draws(4, 2, weight=weight, unit=unit))[:, :2] == 0).all()


def test_moving_blocks_are_runs_that_start_anywhere():
    counts = all_counts(Draws(12, 4, block=4))  # one block of four
    starts = counts.argmax(axis=1)
    for start, drawn in zip(starts, counts, strict=True):
        assert_array_equal(np.flatnonzero(drawn), np.arange(start, start + 4))
    assert stats.chisquare(np.bincount(starts, minlength=9)).pvalue > ERROR_PROBABILITY
    assert starts.max() == 8


def test_the_last_moving_block_is_cut_short_and_blocks_add_up():
    draws = Draws(10, 7, block=3)
    for seed in SEEDS[:200]:
        counts = draws.counts(seed)
        assert counts.sum() == 7
        out = draws.left_out(counts)
        runs = {row // 3 for row in np.flatnonzero(counts)}
        assert_array_equal(out, [row for row in range(10) if row // 3 not in runs])


def test_blocks_without_replacement_are_runs_from_the_first_row_on():
    counts = all_counts(Draws(10, 2, replace=False, block=3))
    assert {tuple(np.flatnonzero(drawn) // 3) for drawn in counts} == {
        (0, 0, 0, 1, 1, 1), (0, 0, 0, 2, 2, 2), (0, 0, 0, 3),
        (1, 1, 1, 2, 2, 2), (1, 1, 1, 3), (2, 2, 2, 3),
    }  # fmt: skip


def test_the_share_of_rows_out_of_bag_is_about_one_over_e():
    n = 100_000
    out = np.mean([(Draws(n, n).counts(seed) == 0).mean() for seed in SEEDS[:10]])
    # The standard deviation of the share is below 1/sqrt(n e^2): 5 of them, P < 1e-6.
    assert_allclose(out, (1 - 1 / n) ** n, rtol=0, atol=5 / np.sqrt(10 * n * np.e**2))


def test_the_compiled_draws_equal_plain_python():
    upto, guide = np.array([0.25, 0.25, 1.0]), np.array([0, 2, 2])
    fast, slow = np.zeros((2, 3), np.int64)
    with np.errstate(over="ignore"):  # NumPy's scalars warn of the wrap-around that is meant
        uneven_counts(5, 8, upto, guide, fast)
        uneven_counts.py_func(5, 8, upto, guide, slow)
        subset_counts(5, 4, np.array([2, 0, 3]), fast)
        subset_counts.py_func(5, 4, np.array([2, 0, 3]), slow)
    assert_array_equal(fast, slow)


def test_how_many_are_drawn():
    odd = np.array([0.5, 1.25, 0.0, 2.0])
    assert draws_of(None, 4, odd) == 3
    assert draws_of(1.0, 4, odd) == 3  # of 3.75
    assert draws_of(0.5, 4, 4 * odd) == 7  # of 15
    assert draws_of(0.5, 4, odd, replace=False) == 1  # of three rows
    assert draws_of(0.01, 4) == 1
    assert draws_of(1.5, 4) == 6
    assert draws_of(0.5, 4, unit=np.array([0, 0, 1, 2])) == 1


def test_a_share_of_small_weights_that_is_hardly_a_row_is_told():
    parts = np.full(100, 0.01)
    with pytest.warns(EmpiriskWarning, match="which sum to 1: each member draws 1 of 100 rows"):
        assert draws_of(0.8, 100, parts) == 1
    for weight in (np.ones(100), 1.001 * np.ones(100), np.arange(100) % 2, None):
        draws_of(0.8, 100, weight)  # a warning would be an error
    assert draws_of(0.01, 100, 1.001 * np.ones(100)) == 1  # as few as were asked for


@pytest.mark.parametrize("max_samples", [0, -1, 0.0, -1.5, np.inf, "all", np.nan, True])
def test_a_wrong_number_is_refused(max_samples):
    with pytest.raises(ParameterError, match="max_samples is"):
        draws_of(max_samples, 10)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="11 were to be drawn without replacement from 10"):
        Draws(10, 11, replace=False)
    with pytest.raises(ParameterError, match="3 were to be drawn without replacement from 2"):
        Draws(4, 3, replace=False, unit=np.array([0, 0, 1, 1]))
    with pytest.raises(ParameterError, match="15 were to be drawn without replacement from 10"):
        Draws(10, draws_of(1.5, 10, replace=False), replace=False)
    with pytest.raises(DataError, match="blocks of consecutive rows"):
        Draws(3, 3, weight=np.array([1.0, 2, 3]), block=2)
    with pytest.raises(DataError, match="which sum to 3e\\+200: divide them by a constant"):
        draws_of(0.5, 3, np.full(3, 1e200))
