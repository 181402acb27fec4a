"""What is no learner, no axis, no point and no number of rows is refused before work begins."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KernelDensity

from empirisk import Ridge, risk
from empirisk.risk import populations
from empirisk.risk.axis import Axis
from empirisk.risk.populations import Points, Regression, StudentT
from empirisk.runtime.errors import ParameterError

SINE = populations.sine()
BANDWIDTH = Axis(("bandwidth",), "simpler", "log")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + RNG.normal(size=40)


def path(values, **given):
    return risk.decompose_path(Ridge(), values, SINE, 9, n_sets=4, random_state=0, **given)


def densities(values, axis=BANDWIDTH, estimator=None):
    estimator = KernelDensity() if estimator is None else estimator
    return risk.decompose_density_path(
        estimator, values, stats.norm(), 9, axis=axis, n_sets=4, random_state=0
    )


def parts(learner=None, **given):
    learner = LinearRegression() if learner is None else learner
    n = None if "X" in given else 9
    return risk.bias_variance(learner, SINE, n, n_sets=4, random_state=0, **given)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        *(
            (lambda n=n: risk.excess_risk(LinearRegression(), SINE, 9, n_large=n), "n_large is")
            for n in (-5, 0, 2.5, "a")
        ),
        (lambda: path(3.0), "values is 3.0"),
        (lambda: path("ab"), "values is 'ab'"),
        (lambda: path([]), "values is empty"),
        (lambda: densities(None), "values is None"),
        (lambda: densities(3.0), "values is 3.0"),
        (lambda: path([1.0], axis="alpha"), "axis is 'alpha'; give an Axis"),
        (lambda: densities([1.0], axis="alpha"), "axis is 'alpha'; give an Axis"),
        (lambda: path([1.0], axis=BANDWIDTH), "axis names 'bandwidth'"),
        (lambda: parts("a"), "no estimator"),
        (lambda: parts(LinearRegression), "is a class"),
        (lambda: risk.excess_risk(LinearRegression, SINE, 9), "is a class"),
        (lambda: densities([1.0], estimator=KernelDensity), "give one that can be fitted"),
        (lambda: densities([1.0], estimator="a"), "give one that can be fitted"),
        *(
            (lambda name=name, given=given: parts(**{name: given}), f"{name} is")
            for name in ("points", "X")
            for given in (3.0, "abc", [1.0, 2.0], [])
        ),
        (lambda: parts(points=[[1.0, 2.0]]), r"points has 2 column\(s\)"),
        (lambda: parts(X=[[1.0, 2.0]]), r"X has 2 column\(s\)"),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


def test_values_may_come_one_by_one():
    assert path(value for value in (1.0, 10.0)).values == (1.0, 10.0)
    assert densities(value for value in (0.1, 1.0)).values == (0.1, 1.0)


def test_all_points_of_a_population_were_not_given():
    points = Points(np.linspace(0, 1, 9)[:, None])
    population = Regression(lambda X: X[:, 0], points)
    found = risk.bias_variance(LinearRegression(), population, 9, n_sets=4, random_state=0)
    assert "all 9 points)" in found.sentence
    assert "2 given points)" in parts(points=[[0.1], [0.2]]).sentence


def test_infinite_noise_is_drawn_and_said_without_warnings():
    population = populations.sine(noise=StudentT(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = risk.decompose_path(Ridge(), [1.0, 9.0], population, 9, n_sets=4, random_state=0)
        words = [label.get_text() for label in found[0].plot().get_yticklabels()]
        assert words == ["noise (infinite)", "squared bias", "variance", "total (infinite)"]
        found[0].plot_pointwise()
        plt.figure()
        found.plot()
    plt.close("all")


def test_rows_left_out_of_a_single_resample_have_no_variance():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = risk.bootstrap_bias_variance(
            LinearRegression(), X, Y, n_resamples=5, random_state=0
        )
    assert np.isfinite(list(found.parts.values())).all()
    judged_once = np.isnan(found.pointwise["variance"])
    assert judged_once.any()
    assert np.isnan(found.pointwise["bias_squared"][judged_once]).all()
