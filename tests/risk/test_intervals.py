import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk.risk.intervals import LossTable, interval
from empirisk.runtime.errors import ParameterError

rng = np.random.default_rng(0)


def table(losses, *, weight=None, unit=None, split=None, n_train=90.0, kind="kfold", **rest):
    n = len(losses)
    return LossTable(
        losses=np.asarray(losses, dtype=float),
        weight=np.ones(n) if weight is None else np.asarray(weight, dtype=float),
        unit=np.arange(n) if unit is None else np.asarray(unit),
        split=np.zeros(n, dtype=int) if split is None else np.asarray(split),
        n_train=n_train,
        kind=kind,
        **rest,
    )


def test_per_row_normal_is_the_textbook_interval():
    losses = rng.exponential(size=50)
    found = interval(table(losses, kind="test"), 0.9)
    half = stats.norm.ppf(0.95) * losses.std(ddof=1) / np.sqrt(50)
    assert_allclose(found.ends, (losses.mean() - half, losses.mean() + half), rtol=1e-13)
    assert found.method == "per-row normal"


def test_corrected_t_is_nadeau_and_bengios_formula():
    losses = rng.exponential(size=100)
    split = np.repeat(np.arange(10), 10)
    found = interval(table(losses, split=split, n_train=90), 0.95)
    means = losses.reshape(10, 10).mean(axis=1)
    error = np.sqrt(means.var(ddof=1) * (1 / 10 + 10 / 90))
    half = stats.t.ppf(0.975, 9) * error
    assert_allclose(found.ends, (means.mean() - half, means.mean() + half), rtol=1e-13)
    assert_allclose(found.standard_error, error, rtol=1e-13)


def test_a_group_is_one_observation():
    means = rng.normal(size=20)
    losses = np.repeat(means, 5)
    grouped = table(losses, unit=np.repeat(np.arange(20), 5), kind="test")
    assert_allclose(grouped.standard_error(), means.std(ddof=1) / np.sqrt(20), rtol=1e-12)


def test_repeats_of_a_row_are_one_observation():
    losses = rng.normal(size=30)
    once = table(losses).standard_error()
    twice = table(np.tile(losses, 2), unit=np.tile(np.arange(30), 2)).standard_error()
    assert_allclose(once, twice, rtol=1e-12)


def test_scaling_the_weights_changes_nothing():
    losses, weight = rng.normal(size=30), rng.uniform(0.5, 3, size=30)
    a = table(losses, weight=weight)
    b = table(losses, weight=1e-200 * weight)
    assert_allclose(a.mean(), b.mean(), rtol=1e-12)
    assert_allclose(a.standard_error(), b.standard_error(), rtol=1e-12)


def test_huge_losses_have_a_finite_error():
    losses = rng.uniform(1, 2, size=40)
    huge = table(1e200 * losses, kind="test")
    assert_allclose(huge.standard_error(), 1e200 * table(losses).standard_error(), rtol=1e-12)
    split = np.repeat(np.arange(4), 10)
    ends = interval(table(1e200 * losses, split=split), 0.9).ends
    assert_allclose(ends, 1e200 * np.array(interval(table(losses, split=split), 0.9).ends))


@pytest.mark.parametrize("kind", ["time", "given"])
def test_no_interval_where_none_is_known_to_be_valid(kind):
    losses = table(rng.normal(size=20), split=np.repeat([0, 1], 10), kind=kind)
    found = interval(losses, 0.95)
    assert found.ends is None
    assert found.reason
    assert interval(losses, 0.95, "per_row_normal").ends is not None


def test_equal_losses_say_nothing_of_their_spread():
    found = interval(table(np.zeros(20), kind="test"), 0.95)
    assert found.ends is None
    assert "spread is unknown" in found.reason
    assert interval(table([1.0], kind="test"), 0.95).ends is None


def test_an_interval_stays_in_the_range_of_the_loss():
    losses = table([0, 0, 0, 0, 1], kind="test", bounds=(0.0, 1.0))
    low, high = interval(losses, 0.99).ends
    assert low == 0.0
    assert high <= 1.0


def test_bad_parameters_are_named():
    with pytest.raises(ParameterError, match="level is 95"):
        interval(table([1.0, 2.0]), 95)
    with pytest.raises(ParameterError, match="per_row_normal"):
        interval(table([1.0, 2.0]), 0.95, "bayes")


def test_the_standard_error_is_that_of_the_mean():
    # The spread of 2,000 means of 25 exponentials is 1/5 to 1.6 % (one standard error); 6 of them.
    draws = np.random.default_rng(5).exponential(size=(2000, 25))
    errors = [table(row).standard_error() for row in draws]
    assert_allclose(np.sqrt(np.mean(np.square(errors))), draws.mean(axis=1).std(), rtol=0.1)
