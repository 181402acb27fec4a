"""Parametric densities at the ends of likelihoods: no maximum, one value, far rows, kinks."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk import ParametricDensity
from empirisk.learners.density.closed_forms import truncated_exponential
from empirisk.learners.density.families import Family
from empirisk.learners.density.maximum_likelihood import fit_family
from empirisk.runtime.errors import ConvergenceWarning, DataError, RankWarning
from tolerances import LAST_BITS, SUMMED


def test_a_family_that_wants_to_be_another_one_is_named():
    x = np.random.default_rng(0).uniform(size=(200, 1))  # lighter tails than any t
    with pytest.warns(ConvergenceWarning, match="df"):
        ParametricDensity("t").fit(x)


@pytest.mark.parametrize("family", ["rayleigh", "maxwell"])
def test_a_value_where_the_density_is_0_at_every_scale_leaves_no_maximum(family):
    with pytest.raises(DataError, match="no maximum"):
        ParametricDensity(family).fit([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize("value", [0.0, 5.0, 1e6])
def test_of_one_value_and_a_fixed_scale_the_mode_is_found(value):
    density = ParametricDensity("logistic", fixed={"scale": 2.0}).fit([[value]] * 10)
    # A density is level at its mode, so that an error of 1e-7 there is one of 1e-14.
    assert_allclose(
        density.score_samples([[value]]), stats.logistic.logpdf(0, scale=2), rtol=SUMMED
    )


def test_directions_that_are_all_the_same_leave_no_end_to_their_concentration():
    with pytest.warns(ConvergenceWarning, match="kappa"):
        ParametricDensity("vonmises").fit([[1.0]] * 10)


def test_warnings_of_scipy_about_where_to_start_are_not_passed_on():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ParametricDensity("beta").fit([[0.2], [0.7]])
    assert said == []


def test_rows_in_a_plane_get_the_floor():
    X = np.random.default_rng(0).normal(size=(30, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    with pytest.warns(RankWarning, match="2 of 3 directions"):
        density = ParametricDensity().fit(X)
    assert np.isfinite(density.score_samples(X)).all()
    with pytest.raises(DataError, match="variance_floor"):
        ParametricDensity(variance_floor=0).fit(X)
    with pytest.warns(RankWarning, match="column 1 has one value only, 3"):
        constant = ParametricDensity().fit(np.column_stack([X[:, 0], np.full(30, 3.0)]))
    assert_allclose(constant.scale_[1], 3 * np.sqrt(1e-9), rtol=SUMMED)


@pytest.mark.parametrize(
    ("name", "at_0", "slope"),
    [("hypsecant", 2 / np.pi, 1), ("laplace", 0.5, 1), ("moyal", (2 * np.pi) ** -0.5, 0.5)],
)
def test_far_rows_have_a_density_that_is_not_0(name, at_0, slope):
    x = getattr(stats, name).rvs(2.0, 3.0, size=50, random_state=0)[:, None]
    found = ParametricDensity(name).fit(x)
    loc, scale = found.parameters_[0].values()
    near = np.linspace(-5.0, 20.0, 9)
    peer = getattr(stats, name).logpdf(near, loc, scale)
    assert_allclose(found.score_samples(near[:, None]), peer, rtol=SUMMED)
    far = loc + scale * np.array([2e3, 1e6])
    wanted = np.log(at_0 / scale) - slope * (far - loc) / scale  # the tail is an exponential one
    assert_allclose(found.score_samples(far[:, None]), wanted, rtol=SUMMED)


def test_an_interval_may_be_wider_than_the_quartiles_say():
    # A circle's density falls steeply at its ends: a start must hold all values.
    x = stats.semicircular.rvs(loc=3, scale=2.5, size=300, random_state=3)
    density = ParametricDensity("semicircular").fit(x[:, None])
    known = stats.semicircular.logpdf(x, *stats.semicircular.fit(x)).mean()
    assert density.score(x[:, None]) >= known - 1e-8


@pytest.mark.parametrize("fixed", [{"scale": 1}, {"loc": 1}])
def test_a_fixed_interval_that_does_not_hold_the_values_is_refused(fixed):
    with pytest.raises(DataError, match="holds all values"):
        ParametricDensity("uniform", fixed=fixed).fit([[0.0], [3.0]])


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("moyal", stats.t(3).rvs(300, random_state=0)),  # scipy's density underflows at the start
        ("anglit", stats.beta(2, 5).rvs(300, random_state=0)),  # a saddle beside an infinity
        ("semicircular", stats.beta(2, 5).rvs(300, random_state=0)),
        ("dgamma", stats.t(3).rvs(300, random_state=0)),  # a pole or a zero at every row
        ("dweibull", stats.t(3).rvs(300, random_state=1)),
    ],
)
def test_kinks_and_infinities_do_not_stop_the_search(name, rows):
    density = ParametricDensity(name).fit(rows[:, None])
    family = getattr(stats, name)
    known = family.logpdf(rows, *family.fit(rows)).mean()
    assert density.score(rows[:, None]) >= known - 1e-7  # where both stop


def test_a_half_line_to_the_left_is_named():
    with pytest.raises(DataError, match=r"\[-inf, 0\]"):
        ParametricDensity("levy_l").fit([[1.0], [2.0], [4.0]])


def test_a_constant_column_is_told_of_and_of_nothing_else():
    # Rounding errors of the mean of one value, of whatever sign, are no variance.
    for n in range(2, 40):
        with pytest.warns(RankWarning), np.errstate(all="raise"):
            density = ParametricDensity().fit(np.full((n, 1), 0.1))
        assert density.scale_ > 0


@pytest.mark.parametrize("copies", [1, 4])
def test_one_value_is_enough_where_it_has_a_most_likely_scale(copies):
    """With a beginning at 0 it tells the scale: of "norm" or "gamma" it would be 0."""
    rows = np.full((copies, 1), 0.5)
    for family, scale in (("expon", 0.5), ("halfnorm", 0.5), ("rayleigh", np.sqrt(0.125))):
        assert_allclose(
            ParametricDensity(family).fit(rows).parameters_[0]["scale"], scale, rtol=SUMMED
        )
    for family in ("norm", "gamma", "lognorm", "uniform", "cauchy"):
        with pytest.raises(DataError, match=rf"one value only, 0.5 \(n_samples={copies}\)"):
            ParametricDensity(family).fit(rows)


@pytest.mark.parametrize("name", ["norm", "laplace", "logistic"])
def test_families_of_the_largest_numbers_go_with_their_unit(name):
    x = np.random.default_rng(0).uniform(-1.7, 1.7, size=100)
    family, weight = Family.of(name, "auto"), np.ones(100)
    known, found = fit_family(family, x, weight, 0), fit_family(family, x * 1e308, weight, 0)
    # Newton's method stops within 1e-10 of the likelihood, 1e-5 of a parameter.
    assert_allclose(found["scale"] / 1e308, known["scale"], rtol=1e-5)
    with pytest.raises(DataError, match="too large for float64"):
        fit_family(Family.of("uniform", "auto"), x * 1e308, weight, 0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_steep_truncated_exponential_is_as_good_as_not_truncated():
    for share in np.random.default_rng(0).uniform(1e-4, 0.02, size=300):
        found = truncated_exponential(np.array([0.0, 1.0]), np.array([1 - share, share]), {})
        # 1/(e^b - 1) is below 1e-21 of 1/b
        assert_allclose(found["b"], 1 / share, rtol=LAST_BITS)


@pytest.mark.parametrize("value", [3.0, 0.0])
def test_one_value_is_no_silent_limit_of_a_family(value):
    rows = np.full((8, 1), value)
    with pytest.warns(ConvergenceWarning, match="goes on rising with a near"):
        ParametricDensity("skewnorm", fixed={"scale": 1.0}).fit(rows)
    for family in ("gamma", "genextreme"):  # whose density has no bound at an end
        with pytest.raises(DataError, match="has no maximum for column 0"):
            ParametricDensity(family, fixed={"scale": 1.0}).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ParametricDensity("norm", fixed={"scale": 1.0}).fit(rows)
    assert found.parameters_ == [{"loc": value, "scale": 1.0}]
