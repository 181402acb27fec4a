"""Parametric densities: laws of maximum likelihood, and twins in scipy and NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import NotFittedError

from empirisk import ParametricDensity, Tuned, compare, risk
from empirisk.learners.density.closed_forms import FORMULAS
from empirisk.learners.density.families import Family
from empirisk.learners.density.maximum_likelihood import fit_family
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

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


def test_values_outside_of_the_family_are_named():
    with pytest.raises(DataError, match=r"column 0 has the value -1.*gamma"):
        ParametricDensity("gamma").fit([[1.0], [-1.0]])
    with pytest.raises(DataError, match="one value only"):
        ParametricDensity("laplace").fit([[1.0], [1.0]])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"family": "gauss"}, "family is 'gauss'"),
        ({"family": "poisson"}, "family is 'poisson'"),
        ({"family": "__loader__"}, "family is"),
        ({"family": "gamma", "fixed": {"floc": 0}}, "fixed has 'floc'"),
        ({"family": "gamma", "fixed": {"scale": 0}}, "fixed has 0 for scale"),
        ({"family": "gamma", "fixed": "loc"}, "fixed is 'loc'"),
        ({"fixed": {"loc": 0}}, "of 'gaussian' all parameters are found"),
        ({"fixed": "loc"}, "fixed is 'loc'; of 'gaussian' all"),
        ({"shrinkage": 1.5}, "shrinkage is 1.5"),
        ({"shrinkage": True}, "shrinkage is True"),
        ({"variance_floor": -1}, "variance_floor is -1"),
    ],
)
def test_parameters_are_checked(wrong, words):
    with pytest.raises(ParameterError, match=words):
        ParametricDensity(**wrong).fit([[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]])


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
