"""Parametric densities: laws of maximum likelihood, and twins in scipy and NumPy."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import NotFittedError

from empirisk import ParametricDensity, Tuned, compare, risk
from empirisk.learners.density.closed_forms import FORMULAS, truncated_exponential
from empirisk.learners.density.families import Family
from empirisk.learners.density.maximum_likelihood import fit_family
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError, RankWarning
from tolerances import LAST_BITS, SUMMED

# Shapes to draw from; every family with a formula is here, and others of each kind of support.
FAMILIES = {
    "beta": (2.0, 3.0),
    "cauchy": (),
    "expon": (),
    "gamma": (0.7,),
    "gumbel_r": (),
    "halfnorm": (),
    "invgauss": (0.5,),
    "johnsonsu": (0.5, 2.0),
    "laplace": (),
    "logistic": (),
    "lognorm": (0.5,),
    "maxwell": (),
    "norm": (),
    "pareto": (3.0,),
    "powerlaw": (2.0,),
    "rayleigh": (),
    "skewnorm": (3.0,),
    "t": (4.0,),
    "truncexpon": (2.0,),
    "uniform": (),
    "vonmises": (2.0,),
    "weibull_min": (1.5,),
}


def draws(name, n=300, seed=0):
    rng = np.random.default_rng(seed)
    return getattr(stats, name).rvs(*FAMILIES[name], size=n, random_state=rng)


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    return rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3)) * [1.0, 50.0, 0.1] + [0, 7, 1]


def test_the_families_with_formulas_are_all_tested():
    assert set(FORMULAS) <= set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_perturbation_of_the_parameters_is_more_likely(name):
    x = draws(name)
    family = Family.of(name, "auto")
    found = fit_family(family, x, np.ones(len(x)), 0)
    best = family.log_density(x, found).mean()
    assert np.isfinite(best)
    rng = np.random.default_rng(1)
    for size in (1e-5, 1e-3, 0.1):
        for _ in range(20):
            moved = {
                n: v if n in dict(family.fixed) else v + size * rng.normal() * max(abs(v), 0.1)
                for n, v in found.items()
            }
            other = family.log_density(x, moved).mean()
            # Where the maximum is smooth a step of 1e-5 costs about 1e-10; rounding is 1e-15.
            assert np.isnan(other) or other <= best + 1e-13


@pytest.mark.parametrize("name", ["beta", "gamma", "gumbel_r", "logistic", "t", "weibull_min"])
def test_the_likelihood_is_at_least_that_of_scipys_fit(name):
    x = draws(name)
    family = Family.of(name, "auto")
    found = fit_family(family, x, np.ones(len(x)), 0)
    fixed = {f"f{parameter}": value for parameter, value in family.fixed}
    scipys = getattr(stats, name).fit(x, **fixed)
    theirs = getattr(stats, name).logpdf(x, *scipys).mean()
    assert family.log_density(x, found).mean() >= theirs - 1e-12  # means of 300 terms, rounded


@pytest.mark.parametrize("name", FAMILIES)
def test_a_weighted_value_is_so_many_copies(name):
    x = draws(name, n=200)
    weight = np.random.default_rng(1).integers(1, 4, size=200)
    one = ParametricDensity(name).fit(x[:, None], sample_weight=weight)
    other = ParametricDensity(name).fit(np.repeat(x, weight)[:, None])
    for parameter, value in one.parameters_[0].items():
        # Sums in another order, 1e-15, over steps of 2e-3 by which the search differentiates.
        assert_allclose(value, other.parameters_[0][parameter], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["cauchy", "gamma", "laplace", "lognorm", "t", "weibull_min"])
@pytest.mark.parametrize("power", [-200, 200])
def test_units_change_the_scale_alone(name, power):
    x = draws(name, n=80)[:, None]
    one = ParametricDensity(name).fit(x)
    other = ParametricDensity(name).fit(x * 2.0**power)
    for parameter, value in one.parameters_[0].items():
        unit = 2.0**power if parameter in ("loc", "scale") else 1.0
        assert_allclose(other.parameters_[0][parameter], value * unit, rtol=SUMMED)
    shift = power * np.log(2.0)
    assert_allclose(other.score_samples(x * 2.0**power), one.score_samples(x) - shift, rtol=SUMMED)


def test_fixed_parameters_stay():
    x = draws("gamma")[:, None]
    density = ParametricDensity("gamma", fixed={"loc": -0.5, "a": 2}).fit(x)
    assert density.parameters_[0]["loc"] == -0.5
    assert density.parameters_[0]["a"] == 2.0
    # With the shape a given the scale is the mean over a.
    assert_allclose(density.parameters_[0]["scale"], (x.mean() + 0.5) / 2, rtol=1e-9)
    assert density.n_parameters_ == 1


def test_columns_are_independent():
    x = np.column_stack([draws("gamma"), draws("gamma", seed=5) * 7])
    density = ParametricDensity("gamma").fit(x)
    alone = [ParametricDensity("gamma").fit(x[:, [j]]) for j in range(2)]
    parts = [each.score_samples(x[:, [j]]) for j, each in enumerate(alone)]
    assert_allclose(density.score_samples(x), parts[0] + parts[1], rtol=SUMMED)


def test_outside_the_support_the_density_is_zero():
    density = ParametricDensity("gamma").fit([[1.0], [2.0], [4.0]])
    assert_array_equal(density.score_samples([[-1.0]]), [-np.inf])
    assert risk.evaluate(density, [[1.0], [-1.0]], None, loss="log_density").value == np.inf


def test_the_gaussian_is_that_of_the_moments(rows):
    weight = np.random.default_rng(0).uniform(0.5, 2, len(rows))
    density = ParametricDensity().fit(rows, sample_weight=weight)
    mean = np.average(rows, axis=0, weights=weight)
    covariance = np.cov(rows.T, aweights=weight, ddof=0)
    assert_allclose(density.mean_, mean, rtol=SUMMED)
    assert_allclose(density.covariance_, covariance, rtol=SUMMED)
    twin = stats.multivariate_normal(mean, covariance)
    # Condition number of the correlations below 1e3.
    assert_allclose(density.score_samples(rows), twin.logpdf(rows), rtol=1e-10)
    assert density.n_parameters_ == 9


def test_shrinkage_goes_from_all_correlations_to_none(rows):
    independent = ParametricDensity(shrinkage=1.0).fit(rows)
    columns = ParametricDensity("norm").fit(rows)
    assert_allclose(independent.score_samples(rows), columns.score_samples(rows), rtol=SUMMED)
    half = ParametricDensity(shrinkage=0.5).fit(rows)
    covariance = np.cov(rows.T, ddof=0)
    covariance = (covariance + np.diag(np.diag(covariance))) / 2
    assert_allclose(half.covariance_, covariance, rtol=SUMMED)
    twin = stats.multivariate_normal(rows.mean(axis=0), covariance)
    assert_allclose(half.score_samples(rows), twin.logpdf(rows), rtol=SUMMED)


def test_tuned_shrinks_where_correlations_are_noise():
    X = np.random.default_rng(0).normal(size=(30, 12))
    tuned = Tuned(ParametricDensity()).fit(X)
    assert tuned.best_value_ > 0.5
    assert tuned.path_.risk[tuned.best_index_] < tuned.path_.risk[0] - 1
    # The training likelihood is largest without shrinkage: that is maximum likelihood.
    assert tuned.path_.training_risk.argmin() == 0


@pytest.mark.parametrize("family", ["gaussian", "gamma", "t"])
def test_drawn_rows_have_the_density(family):
    x = draws("gamma")[:, None]
    density = ParametricDensity(family).fit(x)
    sample = density.sample(4000, random_state=0)
    assert sample.shape == (4000, 1)
    assert_array_equal(sample, density.sample(4000, random_state=0))
    if family == "gaussian":
        law = stats.norm(density.mean_[0], density.scale_[0])
    else:
        law = getattr(stats, family)(*density.parameters_[0].values())
    # One draw, seed fixed: a right sampler fails with probability 1e-6.
    assert stats.kstest(sample[:, 0], law.cdf).pvalue > 1e-6


def test_drawn_gaussian_rows_have_the_covariance(rows):
    density = ParametricDensity(shrinkage=0.3).fit(rows)
    sample = density.sample(20000, random_state=1)
    scale = np.outer(density.scale_, density.scale_)
    # Correlations of 20000 rows have errors of at most 0.007; six of them.
    assert_allclose(np.cov(sample.T) / scale, density.covariance_ / scale, rtol=0, atol=0.045)


def test_rivals_are_compared_by_held_out_likelihood():
    x = np.exp(np.random.default_rng(0).normal(size=(200, 1)))
    rivals = {name: ParametricDensity(name) for name in ("lognorm", "expon", "gaussian")}
    found = compare(rivals, x, None)
    assert found.ranking()[0] == "lognorm"
    gap = found.difference("gaussian", "lognorm")
    assert gap.interval[0] > 0  # a difference of about 0.5 with an error of 0.1
    by_hand = found.risks["gaussian"].losses - found.risks["lognorm"].losses
    assert_allclose(gap.value, by_hand.mean(), rtol=SUMMED)


def test_information_criteria_count_the_parameters(rows):
    density = ParametricDensity().fit(rows)
    likelihood = density.score_samples(rows).sum()
    assert_allclose(density.aic(rows), -2 * likelihood + 18, rtol=SUMMED)
    assert_allclose(density.bic(rows), -2 * likelihood + 9 * np.log(80), rtol=SUMMED)
    assert_allclose(density.score(rows), likelihood / 80, rtol=SUMMED)


@pytest.mark.parametrize("case", ["gamma", "weibull_min"])
def test_a_likelihood_without_a_maximum_is_named(case):
    x = draws("gamma")[:, None]
    with pytest.raises(DataError, match="no maximum"):
        ParametricDensity(case, fixed=None).fit(x)


def test_a_family_that_wants_to_be_another_one_is_named():
    x = np.random.default_rng(0).uniform(size=(200, 1))  # lighter tails than any t
    with pytest.warns(ConvergenceWarning, match="df"):
        ParametricDensity("t").fit(x)


def test_values_outside_of_the_family_are_named():
    with pytest.raises(DataError, match=r"column 0 has the value -1.*gamma"):
        ParametricDensity("gamma").fit([[1.0], [-1.0]])
    with pytest.raises(DataError, match="one value only"):
        ParametricDensity("laplace").fit([[1.0], [1.0]])


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
    ("wrong", "words"),
    [
        ({"family": "gauss"}, "family is 'gauss'"),
        ({"family": "poisson"}, "family is 'poisson'"),
        ({"family": "__loader__"}, "family is"),
        ({"family": "gamma", "fixed": {"floc": 0}}, "fixed has 'floc'"),
        ({"family": "gamma", "fixed": {"scale": 0}}, "fixed has 0 for scale"),
        ({"family": "gamma", "fixed": "loc"}, "fixed is 'loc'"),
        ({"shrinkage": 1.5}, "shrinkage is 1.5"),
        ({"shrinkage": True}, "shrinkage is True"),
        ({"variance_floor": -1}, "variance_floor is -1"),
    ],
)
def test_parameters_are_checked(wrong, words):
    with pytest.raises(ParameterError, match=words):
        ParametricDensity(**wrong).fit([[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]])


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


def test_a_family_that_was_not_fitted_is_no_density():
    found = ParametricDensity().fit([[1.0], [2.0], [4.0]]).set_params(family="gamma")
    for ask in (lambda: found.score_samples([[1.0]]), found.sample):
        with pytest.raises(NotFittedError):
            ask()


def test_another_family_forgets_the_first():
    density = ParametricDensity().fit([[1.0], [2.0]])
    density.set_params(family="expon").fit([[1.0], [2.0]])
    assert not hasattr(density, "mean_")
    assert density.parameters_ == [{"loc": 0.0, "scale": 1.5}]


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
