"""Populations given what makes no sense say so, and asked far away they stay right."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.linear_model import LinearRegression

from empirisk.losses import RegressionLoss
from empirisk.risk import populations
from empirisk.risk.populations import (
    Classification,
    Gaussian,
    GaussianClasses,
    LinearModel,
    Normal,
    Points,
    Regression,
    SampledClasses,
    SampledRegression,
    Uniform,
)
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED


def first(X):
    return np.asarray(X)[:, 0]


def numbers(n, rng):
    X = rng.normal(size=(n, 1))
    return X, X[:, 0]


def labels(n, rng):
    return rng.normal(size=(n, 1)), rng.integers(2, size=n)


def half(X):
    return np.full((len(X), 2), 0.5)


def test_a_joint_sampler_gives_as_many_rows_as_it_was_asked_for():
    def short(sampler):
        return lambda n, rng: sampler(n - 1, rng)

    for population in (
        SampledRegression(short(numbers), first),
        SampledClasses(short(labels), half, [0, 1]),
        SampledRegression(lambda n, rng: (numbers(n, rng)[0], np.zeros(n - 1)), first),
    ):
        with pytest.raises(ParameterError, match=r"asked for 9 rows and gave .* must give n"):
            population.sample(9, 0)
        with pytest.raises(ParameterError, match="rows and gave"):
            population.bayes_risk(random_state=0)
    for sampler in (lambda n, rng: 3, lambda n, rng: np.zeros((n, 1)), lambda n, rng: (1.0, 2.0)):
        with pytest.raises(ParameterError, match=r"the sampler (gave|was asked)"):
            SampledRegression(sampler, first).sample(5, 0)


def test_a_best_prediction_does_not_depend_on_the_rows_beside_it():
    class Kinked(RegressionLoss):
        """Squared below 5, and from there on mistakes upwards cost more."""

        name = "kinked"

        def __call__(self, y, prediction):
            over = np.subtract(prediction, y)
            return np.square(over) * np.where((np.asarray(y) > 5) & (over > 0), 9.0, 1.0)

    population = Regression(lambda X: 10 * X[:, 0], noise=0.5)
    rule = population.bayes_rule(Kinked())
    alone = np.array([rule.predict([[x]])[0] for x in (0.1, 0.9)])
    many = np.vstack([np.full((600, 1), 0.1), [[0.9]]])
    assert_allclose(rule.predict(many)[[0, -1]], alone, rtol=0, atol=1e-7)  # of golden section
    assert_allclose(alone[0], 1, rtol=0, atol=1e-3)  # 501 quantiles stand for the noise
    assert alone[1] < 8.8


def test_a_noise_variance_is_a_function_with_values_above_zero():
    with pytest.raises(ParameterError, match=r"noise_variance is 3.0; give a function of X"):
        SampledRegression(numbers, first, noise_variance=3.0)
    population = SampledRegression(numbers, first, noise_variance=lambda X: first(X) - 9)
    with pytest.raises(ParameterError, match="0 or more"):
        population.bayes_risk(random_state=0)


def test_far_away_the_classes_keep_their_probabilities():
    two = populations.two_gaussians()
    assert_array_equal(two.class_probabilities([[1e17], [-1e17]]), [[0, 1], [1, 0]])
    x = np.linspace(1, 3, 9)
    eta = expit(4 * (x - 2))  # log odds (m1 - m0)(x - 2)/S
    assert_allclose(two.class_probabilities(x[:, None])[:, 1], eta, rtol=SUMMED)
    three = GaussianClasses([[0.0], [1.0], [1e9]], priors=[1, 1, 1])
    assert_allclose(
        three.class_probabilities([[0.25]]), [[expit(0.25), expit(-0.25), 0]], rtol=SUMMED
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert populations.two_gaussians(1e308).bayes_risk().value == 0
        assert populations.two_gaussians(0).bayes_risk().value == 0.5
        same = GaussianClasses([[1.0], [1.0]], priors=[1, 3])
        assert_allclose(same.bayes_risk().value, 0.25, rtol=LAST_BITS)


def test_points_that_cannot_happen_count_for_nothing():
    points = Points([[0.0], [1.0], [2.0]], [1, 1, 0])
    population = Regression(first, points, Normal(lambda X: np.where(first(X) == 2, 1e200, 1.0)))
    assert_allclose(population.bayes_risk().value, 1, rtol=LAST_BITS)
    assert points.X.shape == (2, 1)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("level", 2), ("method", "guess"), ("n_draws", "7"), ("random_state", "x"), ("method", [])],
)
def test_parameters_are_checked_where_a_closed_form_needs_none_of_them(name, wrong):
    population = populations.LinearModel([1.0])
    model = LinearRegression().fit(*population.sample(9, 0))
    for judge in (population.bayes_risk, lambda **given: population.true_risk(model, **given)):
        with pytest.raises(ParameterError, match=f"{name} is"):
            judge(**{name: wrong})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Uniform([0, 0], [1, 1, 1]), "one length"),
        (lambda: Uniform([0, 0, 0], [1, 1]), "one length"),
        (lambda: Uniform([[0.0]], 1), "low has shape"),
        (lambda: Uniform(0, [[1.0]]), "high has shape"),
        (lambda: Uniform(-1e308, 1e308), "apart"),
        (lambda: Gaussian([0, 0], [1, 1, 1]), "2 features"),
        (lambda: Gaussian(0, np.ones((2, 2, 2))), "2 features"),
        (lambda: Points([]), "table with a row"),
        (lambda: Points([1.0, 2.0]), "table with a row"),
        (lambda: Points(np.zeros((0, 2))), "table with a row"),
        (lambda: Classification(lambda X: 5.0), "column for each class"),
        (lambda: Classification(half, classes=3), "list of the labels"),
        (lambda: Classification(half, classes=["a", None]), "sorted order"),
        (lambda: Classification(lambda X: [["a", "b"]]).sample(1), "array of numbers"),
        (lambda: Regression(lambda X: np.full(len(X), "a")).sample(3), "array of numbers"),
        (lambda: Regression(first, noise=lambda X: ["a"] * len(X)).sample(3), "of numbers"),
        (lambda: LinearModel([1.0], features=lambda n, rng: np.ones((n, 2))).sample(3), "1 coef"),
        (
            lambda: LinearModel([1.0, 2.0], features=Points(pd.DataFrame({"a": [1]}))).sample(3),
            "2 coef",
        ),
        (lambda: populations.sine().true_risk(lambda X: np.full(len(X), "a")), "numbers are"),
        (lambda: populations.two_gaussians().class_probabilities([[np.nan]]), "finite"),
        (lambda: populations.two_gaussians().class_probabilities([[np.inf]]), "finite"),
        (lambda: populations.two_gaussians().class_probabilities([[1.0, 2.0]]), "rows of 1"),
        (lambda: populations.two_gaussians().class_probabilities([1.0]), "rows of 1"),
        (lambda: populations.two_gaussians().class_probabilities([["a"]]), "X is"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_a_scale_of_ones_own_takes_lists_of_rows():
    assert_array_equal(Normal(first).variance([[1.0], [2.0]]), [1, 4])
    assert_array_equal(Normal(lambda X: X[:, 0]).scale_at([[1.0], [2.0]]), [1, 2])


@pytest.mark.parametrize(
    "population",
    [
        populations.sine(),
        populations.friedman(),
        populations.polynomial([1, 2]),
        populations.two_gaussians(),
        SampledRegression(numbers, first),
        SampledClasses(labels, half, [0, 1]),
        populations.Bernoulli(first),
    ],
    ids=lambda population: type(population).__name__,
)
def test_populations_go_to_other_processes(population):
    there = pickle.loads(pickle.dumps(population))
    for ours, theirs in zip(population.sample(5, 0), there.sample(5, 0), strict=True):
        assert_array_equal(ours, theirs)
