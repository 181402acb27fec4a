"""Intervals against formulas written out, against other systems, and under what must not matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk.risk.intervals.cautions import has_heavy_tail, hill_index
from empirisk.risk.intervals.interval import METHODS, interval, widening
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED

rng = np.random.default_rng(0)
SHARE = (0.0, 1.0)
POSITIVE = (0.0, np.inf)


def table(losses, *, weight=None, unit=None, split=None, n_train=90.0, kind="kfold", **rest):
    n = len(losses)
    return LossTable(
        losses=np.asarray(losses, dtype=float),
        weight=np.ones(n) if weight is None else np.asarray(weight, dtype=float),
        unit=np.arange(n) if unit is None else np.asarray(unit),
        split=np.arange(n) * 10 // n if split is None else np.asarray(split),
        n_train=n_train,
        kind=kind,
        **rest,
    )


def errors(wrong, n):
    return np.arange(n) < wrong


def test_per_row_normal_is_the_textbook_interval():
    losses = rng.exponential(size=50)
    found = interval(table(losses, kind="test"), 0.9, "per_row_normal")
    half = stats.norm.ppf(0.95) * losses.std(ddof=1) / np.sqrt(50)
    assert_allclose(found.ends, (losses.mean() - half, losses.mean() + half), rtol=LAST_BITS)
    assert found.method == "per-row normal"


def test_corrected_t_is_nadeau_and_bengios_formula():
    losses = rng.exponential(size=100)
    split = np.repeat(np.arange(10), 10)
    found = interval(table(losses, split=split, n_train=90), 0.95, "corrected_t")
    means = losses.reshape(10, 10).mean(axis=1)
    error = np.sqrt(means.var(ddof=1) * (1 / 10 + 10 / 90))
    half = stats.t.ppf(0.975, 9) * error
    assert_allclose(found.ends, (means.mean() - half, means.mean() + half), rtol=LAST_BITS)
    assert_allclose(found.standard_error, error, rtol=LAST_BITS)


@pytest.mark.parametrize(("wrong", "n"), [(0, 1), (1, 1), (0, 30), (3, 30), (15, 30), (30, 30)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_locked_test_set_has_the_exact_interval_of_a_share(wrong, n, level):
    found = interval(table(errors(wrong, n), kind="test", bounds=SHARE), level)
    exact = stats.binomtest(wrong, n).proportion_ci(level, method="exact")
    # Where the search of scipy's brentq stops.
    assert_allclose(found.ends, (exact.low, exact.high), rtol=0, atol=2e-12)
    assert found.method == "Clopper-Pearson"


@pytest.mark.parametrize(("wrong", "n"), [(0, 40), (1, 40), (20, 40), (40, 40)])
def test_cross_validated_mistakes_have_wilsons_interval_of_fewer_rows(wrong, n):
    found = interval(table(errors(wrong, n), bounds=SHARE, degrees_of_freedom=8.0), 0.9)
    fewer = n / (1.25 + 1.5 * 8 / (n - 8))
    # SciPy knows whole numbers only: the quadratic whose roots the ends are, written out.
    p, z = wrong / n, stats.norm.ppf(0.95)
    roots = np.roots([1 + z**2 / fewer, -2 * p - z**2 / fewer, p**2])
    assert_allclose(found.ends, np.sort(roots.real), rtol=1e-7, atol=1e-9)  # a double root
    assert found.method == "widened Wilson"


def test_without_widening_wilson_is_that_of_scipy():
    found = interval(table(errors(7, 50), kind="test", bounds=SHARE), 0.9, "wilson")
    expected = stats.binomtest(7, 50).proportion_ci(0.9, method="wilson")
    assert_allclose(found.ends, (expected.low, expected.high), rtol=SUMMED)


def test_squared_losses_have_an_interval_on_the_log_scale():
    losses = rng.chisquare(1, size=80)
    found = interval(table(losses, bounds=POSITIVE, degrees_of_freedom=6.0), 0.9)
    lam = np.sqrt(1.25 + 2.5 * 6 / 74 + 3.8 * stats.skew(losses) ** 2 / 80)  # k = 3 + 20/25
    T, s = losses.mean(), losses.std(ddof=1)
    half = stats.t.ppf(0.95, 79) * lam * s / (T * np.sqrt(80))
    assert_allclose(found.ends, (T * np.exp(-half), T * np.exp(half)), rtol=SUMMED)
    assert_allclose(found.standard_error, lam * s / np.sqrt(80), rtol=SUMMED)


def test_differences_have_a_symmetric_interval():
    losses = rng.normal(size=80)
    found = interval(table(losses, degrees_of_freedom=6.0), 0.9)
    lam = np.sqrt(1.25 + 2.5 * 6 / 74)
    half = stats.t.ppf(0.95, 79) * lam * losses.std(ddof=1) / np.sqrt(80)
    assert_allclose(found.ends, (losses.mean() - half, losses.mean() + half), rtol=SUMMED)


def test_the_widening_grows_with_the_degrees_of_freedom_up_to_two():
    def lam(df, **rest):
        return widening(table(np.ones(100), degrees_of_freedom=df, **rest))

    assert_allclose(lam(1.0), np.sqrt(1.25 + 2.5 / 99), rtol=SUMMED)
    assert_allclose(lam(1.0, bounds=SHARE), np.sqrt(1.25 + 1.5 / 99), rtol=SUMMED)
    assert_allclose(lam(None), lam(25.0), rtol=SUMMED)  # unknown: df / (n - df) = 1/3
    assert_allclose(lam(1.0, is_best=True), np.sqrt(1.45 + 2.5 / 99), rtol=SUMMED)
    assert_allclose(lam(None, is_best=True), lam(25.0, is_best=True), rtol=SUMMED)
    assert_allclose(
        lam(None, is_best=True, bounds=SHARE), np.sqrt(1.45 + 0.3 + 1.5 / 3), rtol=SUMMED
    )
    assert lam(90.0) == lam(100.0) == lam(500.0) == 2.0
    assert lam(50.0, kind="test") == lam(None, kind="holdout") == 1.0
    freedoms = [1.0, 5.0, 30.0, 60.0]
    assert sorted(map(lam, freedoms)) == list(map(lam, freedoms))


def test_skew_losses_widen_the_interval_of_their_mean():
    losses = rng.exponential(size=60)
    g = stats.skew(losses) / np.sqrt(60)
    once = table(losses, kind="test", bounds=POSITIVE)
    assert_allclose(widening(once), np.sqrt(1 + 4.6 * g**2), rtol=SUMMED)  # k = 3 + 40/25
    many = rng.exponential(size=100)
    wanted = np.sqrt(1 + 3 * stats.skew(many) ** 2 / 100)
    assert_allclose(widening(table(many, kind="test", bounds=POSITIVE)), wanted, rtol=SUMMED)
    for scale in (1e-200, 1e200):
        scaled = table(scale * losses, kind="test", bounds=POSITIVE)
        assert_allclose(widening(scaled), widening(once), rtol=SUMMED)
    # Copies in a group are one unit; as a weight they are that unit, too.
    units = np.repeat(np.arange(60), 3)
    grouped = table(np.repeat(losses, 3), kind="test", bounds=POSITIVE, unit=units)
    assert_allclose(widening(grouped), widening(once), rtol=SUMMED)
    assert widening(table(errors(2, 60), kind="test", bounds=SHARE)) == 1.0
    assert widening(table(np.append(np.zeros(199), 1.0), bounds=POSITIVE)) == 2.0


def test_a_corrected_centre_keeps_the_relative_width():
    losses = rng.chisquare(1, size=80)
    positive = table(losses, bounds=POSITIVE)
    low, high = interval(positive, 0.9).ends
    moved = interval(positive, 0.9, centre=1.5 * losses.mean()).ends
    assert_allclose(moved, (1.5 * low, 1.5 * high), rtol=SUMMED)
    share = table(errors(8, 40), bounds=SHARE)
    other = table(errors(12, 40), bounds=SHARE)
    assert_allclose(interval(share, 0.9, centre=0.3).ends, interval(other, 0.9).ends, rtol=SUMMED)


def test_a_group_is_one_observation():
    means = rng.normal(size=20)
    losses = np.repeat(means, 5)
    grouped = table(losses, unit=np.repeat(np.arange(20), 5), kind="test")
    assert_allclose(grouped.standard_error(), means.std(ddof=1) / np.sqrt(20), rtol=SUMMED)


def test_groups_of_equal_mistakes_count_as_so_many_rows():
    wrong = np.repeat(errors(6, 20), 5)
    for kind in ("test", "grouped"):
        found = interval(
            table(wrong, unit=np.repeat(np.arange(20), 5), kind=kind, bounds=SHARE), 0.9
        )
        alone = interval(table(errors(6, 20), kind=kind, bounds=SHARE), 0.9)
        # Nearly: groups use t, with as many degrees of freedom as they are fewer than rows.
        assert_allclose(found.ends, alone.ends, rtol=0, atol=0.02)
        width = found.ends[1] - found.ends[0]
        assert alone.ends[1] - alone.ends[0] <= width + 1e-12


def test_weighted_mistakes_are_worth_fewer_rows():
    wrong, weight = errors(30, 100), np.where(np.arange(100) % 2, 1.0, 9.0)
    shared = {"bounds": SHARE, "split": np.arange(100) // 2 % 10}  # each fold has as many mistakes
    for kind in ("test", "kfold"):
        plain = interval(table(wrong, kind=kind, **shared), 0.9).ends
        heavy = interval(table(wrong, kind=kind, weight=weight, **shared), 0.9).ends
        # (sum w)^2 / sum w^2 = 61: the width grows by sqrt(100/61) = 1.28, about.
        assert_allclose(np.diff(heavy) / np.diff(plain), 1.28, rtol=0.05)


def test_repeats_of_a_row_are_one_observation():
    losses = rng.normal(size=30)
    once = table(losses).standard_error()
    twice = table(np.tile(losses, 2), unit=np.tile(np.arange(30), 2)).standard_error()
    assert_allclose(once, twice, rtol=SUMMED)


@pytest.mark.parametrize("bounds", [SHARE, POSITIVE, (-np.inf, np.inf)])
@pytest.mark.parametrize("kind", ["test", "kfold"])
def test_what_does_not_matter(bounds, kind):
    losses = rng.integers(0, 2, size=60) if bounds == SHARE else rng.chisquare(1, size=60)
    weight = rng.uniform(0.5, 2, size=60)
    ends = interval(table(losses, weight=weight, kind=kind, bounds=bounds), 0.9).ends
    order = rng.permutation(60)
    permuted = table(losses[order], weight=weight[order], unit=order, kind=kind, bounds=bounds)
    assert_allclose(interval(permuted, 0.9).ends, ends, rtol=SUMMED)
    for factor in (1e-200, 1e200):
        scaled = table(losses, weight=factor * weight, kind=kind, bounds=bounds)
        assert_allclose(interval(scaled, 0.9).ends, ends, rtol=SUMMED)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"wilson", "clopper_pearson"}))
def test_intervals_scale_with_the_losses(scale, method):
    losses = rng.chisquare(1, size=60)
    ends, scaled = (
        interval(table(factor * losses, bounds=POSITIVE), 0.9, method).ends
        for factor in (1.0, scale)
    )
    assert_allclose(scaled, scale * np.array(ends), rtol=SUMMED)


def test_a_single_cost_is_a_share_of_it():
    ends = interval(table(errors(3, 40), kind="test", bounds=SHARE), 0.9).ends
    costly = interval(table(7.0 * errors(3, 40), kind="test", bounds=(0.0, 7.0)), 0.9).ends
    assert_allclose(costly, 7 * np.array(ends), rtol=SUMMED)
    free = interval(table(np.zeros(40), bounds=(0.0, 7.0)), 0.9)
    assert free.ends[0] == 0.0 < free.ends[1] < 7.0


@pytest.mark.parametrize("kind", ["time", "given"])
def test_no_interval_where_none_is_known_to_be_valid(kind):
    losses = table(rng.normal(size=20), split=np.repeat([0, 1], 10), kind=kind)
    found = interval(losses, 0.95)
    assert found.ends is None
    assert found.reason
    assert interval(losses, 0.95, "per_row_normal").ends is not None


def test_losses_in_time_order_get_a_marked_interval_by_name():
    found = interval(table(rng.normal(size=80), kind="time"), 0.95, "rule")
    assert any("time order" in caution for caution in found.cautions)


@pytest.mark.parametrize("method", ["auto", "per_row_normal", "corrected_t"])
def test_equal_losses_say_nothing_of_their_spread(method):
    for losses in (np.zeros(20), np.full(20, 0.1), np.full(20, 1e-200)):
        found = interval(table(losses, kind="kfold", bounds=POSITIVE), 0.95, method)
        assert found.ends is None
        assert "spread is unknown" in found.reason
    assert interval(table([1.0], kind="test"), 0.95).ends is None


def test_two_rows_that_say_nothing_have_no_interval():
    found = interval(table([1.0, 1e-9], kind="test", bounds=POSITIVE), 0.9999)
    assert found.ends is None
    assert "too few" in found.reason


def test_an_interval_stays_in_the_range_of_the_loss():
    losses = table([0, 0, 0, 0, 1], kind="test", bounds=SHARE)
    for method in ("auto", "wilson", "per_row_normal", "log_t", "per_row_t"):
        low, high = interval(losses, 0.99, method).ends
        assert 0 <= low < 0.2 < high <= 1


def test_cautions_name_what_is_not_guaranteed():
    def said(losses, bounds=POSITIVE, **rest):
        return " ".join(interval(table(losses, bounds=bounds, **rest), 0.9).cautions)

    normal = np.random.default_rng(1).normal(size=400) ** 2
    assert said(normal, degrees_of_freedom=3.0) == ""
    assert "with 40 rows the interval is approximate" in said(normal[:40])
    chosen = {"is_best": True, "degrees_of_freedom": None}
    mistakes = (normal > 1).astype(float)
    assert "with 100 rows the interval is approximate" in said(
        mistakes[:100], **chosen, bounds=SHARE
    )
    known = {"is_best": True, "degrees_of_freedom": 3.0}
    assert "approximate" not in said(mistakes[:100], **known, bounds=SHARE)
    assert "approximate" not in said(normal[:100], **chosen)  # 91 to 99 % of trees at 50 to 200
    assert said(mistakes, **chosen, bounds=SHARE) == ""
    assert "400 rows are few for 90 effective parameters" in said(normal, degrees_of_freedom=90.0)
    assert "with 20 groups the" in said(normal, unit=np.arange(400) // 20)
    uneven = np.where(np.arange(400) < 20, 100.0, 1.0)
    assert "with rows worth 28 of equal weight the" in said(normal, weight=uneven)
    assert said(normal, degrees_of_freedom=90.0, kind="test") == ""
    dominated = said(np.random.default_rng(1).standard_cauchy(size=400) ** 2)
    assert "dominate" in dominated
    assert "grows more slowly, where there is one (" in dominated  # it may be the absolute one


def test_an_exact_interval_is_not_called_approximate():
    def said(method="auto", **rest):
        few = table([0, 1, 0, 0, 1, 0, 0, 0], kind="test", bounds=SHARE, **rest)
        return " ".join(interval(few, 0.9, method).cautions)

    assert said() == said("clopper_pearson") == ""
    assert "approximate" in said("wilson")
    assert "approximate" in said(weight=np.array([2.0, 1, 1, 1, 1, 1, 1, 1]))
    assert "approximate" in said(unit=np.arange(8) // 2)


def test_of_given_rows_it_is_only_assumed_that_they_took_no_part():
    losses = [1.0, 2.0, 1.0, 2.0]
    given, held_out = (
        interval(table(losses, kind=kind, bounds=POSITIVE), 0.9).reason
        for kind in ("test", "holdout")
    )
    assert given == f"if {held_out}" == "if the rows took no part in the model"


def test_the_hill_index_is_that_of_the_tail():
    # Pareto tails of index a: Hill's estimate from k of n has standard error a / sqrt(k), k = 317.
    for a in (1.0, 1.5, 3.0):
        found = hill_index(np.random.default_rng(2).pareto(a, size=100_000) + 1)
        assert abs(found - a) < 5 * a / np.sqrt(317)  # fails by chance once in two million
    assert hill_index(np.r_[np.zeros(99), 1.0]) == 0.0
    assert hill_index(np.ones(100)) == np.inf


def test_bad_parameters_are_named():
    with pytest.raises(ParameterError, match="level is 95"):
        interval(table([1.0, 2.0]), 95)
    with pytest.raises(ParameterError, match="per_row_normal"):
        interval(table([1.0, 2.0]), 0.95, "bayes")
    with pytest.raises(ParameterError, match="losses that are 0 or 1"):
        interval(table([1.0, 0.5], kind="test", bounds=SHARE), 0.95, "clopper_pearson")
    with pytest.raises(ParameterError, match="took no part"):
        interval(table([1.0, 0.0], bounds=SHARE), 0.95, "clopper_pearson")


def test_the_standard_error_is_that_of_the_mean():
    draws = np.random.default_rng(5).exponential(size=(2000, 25))
    errors = [table(row).standard_error() for row in draws]
    # The spread of 2,000 means of 25 exponentials is 1/5 to 1.6 % (one standard error); 6 of them.
    assert_allclose(np.sqrt(np.mean(np.square(errors))), draws.mean(axis=1).std(), rtol=0.1)


@pytest.mark.parametrize(
    ("n", "heavy", "light"), [(50, 0.62, 0.01), (75, 0.76, 0.0), (100, 0.99, 0.11)]
)
def test_heavy_tails_are_doubted_from_fifty_rows_on_and_normal_errors_seldom(n, heavy, light):
    draw = np.random.default_rng(n)
    lognormal = [has_heavy_tail((draw.lognormal(size=n) - np.exp(0.5)) ** 2) for _ in range(200)]
    normal = [has_heavy_tail(draw.normal(size=n) ** 2) for _ in range(200)]
    # Shares of 200 samples have a standard deviation of at most 0.035.
    assert np.mean(lognormal) > heavy - 4 * 0.035
    assert np.mean(normal) < light + 3 * 0.035
    assert not has_heavy_tail(draw.standard_cauchy(size=49) ** 2)
