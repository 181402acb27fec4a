"""Margin losses: values, derivatives at smooth points and kinks, risks, links."""

import copy
import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import hinge_loss, log_loss

from empirisk.losses import (
    Exponential,
    Hinge,
    Logit,
    MarginLoss,
    Perceptron,
    Square,
    SquaredHinge,
    as_margin_loss,
)
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

LOSSES = [Square(), Perceptron(), Hinge(), SquaredHinge(), Logit(), Exponential()]
KINKS = {"perceptron": 0.0, "hinge": 1.0}
JUMPS_OF_SECOND_DERIVATIVE = {"squared_hinge": 1.0}
HUGE = np.array([-1e300, -1e200, -800.0, -1e-200, 0.0, 1e-200, 800.0, 1e200, 1e300])
losses = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
with_probability = pytest.mark.parametrize(
    "loss", [Square(), SquaredHinge(), Logit(), Exponential()], ids=lambda loss: loss.name
)


@dataclass(frozen=True)
class Steep(MarginLoss):
    """exp(-3 z): a user's own loss. Minimiser log(eta / (1 - eta)) / 6."""

    name: ClassVar[str] = "steep"

    def value(self, margin):
        with np.errstate(over="ignore"):
            return np.exp(-3 * np.asarray(margin))

    def derivative(self, margin):
        return -3 * self.value(margin)


def away_from(points, z, h):
    return np.all([np.abs(z - point) > h for point in points], axis=0)


@losses
def test_derivative_is_the_numeric_one(loss):
    z, h = np.linspace(-4, 4, 401), 1e-5
    z = z[away_from([0.0, 1.0], z, h)]
    numeric = (loss.value(z + h) - loss.value(z - h)) / (2 * h)
    # Truncation h² phi''' / 6 < 2e-9 and rounding 1e-14 / h.
    assert_allclose(loss.derivative(z), numeric, rtol=0, atol=1e-08)


@losses
def test_second_derivative_is_the_numeric_one(loss):
    z, h = np.linspace(-4, 4, 401), 1e-5
    z = z[away_from([0.0, 1.0], z, h)]
    numeric = (loss.derivative(z + h) - loss.derivative(z - h)) / (2 * h)
    assert_allclose(loss.second_derivative(z), numeric, rtol=0, atol=1e-08)  # as above


@losses
@pytest.mark.parametrize("z", [0.0, 1.0])
def test_at_a_kink_the_derivative_is_that_from_the_left(loss, z):
    h = 1e-6
    left = (loss.value(z) - loss.value(z - h)) / h
    right = (loss.value(z + h) - loss.value(z)) / h
    found = loss.derivative(z)
    # One-sided differences err by h phi'' / 2, at most 2e-6.
    assert_allclose(found, left, rtol=0, atol=1e-5)
    assert left - 1e-5 <= found <= right + 1e-5
    has_kink = right - left > 0.5
    assert has_kink == (KINKS.get(loss.name) == z)


@losses
@pytest.mark.parametrize("z", [0.0, 1.0])
def test_where_the_second_derivative_jumps_it_is_that_from_the_left(loss, z):
    before = loss.second_derivative(z - 1e-9)
    # The third derivative is at most as large as the second: 1e-9 of it.
    assert_allclose(loss.second_derivative(z), before, rtol=2e-8)
    jumps = abs(loss.second_derivative(z + 1e-9) - before) > 0.5
    assert jumps == (JUMPS_OF_SECOND_DERIVATIVE.get(loss.name) == z)


@losses
def test_extreme_margins_give_no_nan_and_overflow_only_where_the_value_does(loss):
    values = loss.value(HUGE)
    for found in (values, loss.derivative(HUGE), loss.second_derivative(HUGE)):
        assert not np.isnan(found).any()
    assert (values >= 0).all()
    too_large = {
        "square": np.abs(HUGE) > 1e155,
        "squared_hinge": HUGE < -1e155,
        "exponential": HUGE < -709.8,
    }
    assert_array_equal(np.isinf(values), too_large.get(loss.name, np.zeros(9, bool)))


def test_logit_keeps_its_digits_in_both_tails():
    z = np.array([-50.0, -700.0, 50.0, 700.0])
    expected = np.array([50.0, 700.0, np.exp(-50.0), np.exp(-700.0)]) / np.log(2)
    assert_allclose(Logit().value(z), expected, rtol=1e-14)  # neglects exp(-50) beside 1
    assert_allclose(Logit().derivative(z[2:]), -expected[2:], rtol=1e-14)
    assert_allclose(Logit().second_derivative(z[2:]), expected[2:], rtol=1e-14)


def test_losses_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=100) * 2, rng.choice([-1, 1], size=100)
    p = 1 / (1 + np.exp(-f))
    assert_allclose(Hinge().risk(y, f), hinge_loss(y, f), rtol=LAST_BITS)
    assert_allclose(
        np.log(2) * Logit().risk(y, f), log_loss(y, np.column_stack([1 - p, p])), rtol=SUMMED
    )
    assert_allclose(Square()(y, f), (y - f) ** 2, rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(Exponential()(y, f), np.exp(-y * f), rtol=LAST_BITS)
    assert_array_equal(SquaredHinge()(y, f), Hinge()(y, f) ** 2)
    assert_array_equal(Perceptron()(y, f), np.where(y * f < 0, -y * f, 0))


@losses
def test_weights_are_copies_in_the_empirical_risk(loss):
    rng = np.random.default_rng(1)
    y, f, weight = rng.choice([-1, 1], 20), rng.normal(size=20), rng.integers(0, 4, 20)
    copies = loss.risk(np.repeat(y, weight), np.repeat(f, weight))
    assert_allclose(loss.risk(y, f, weight), copies, rtol=1e-14)  # order of summation


@losses
def test_phi_risk_is_the_expected_loss_over_both_classes(loss):
    rng = np.random.default_rng(2)
    f, eta, p = rng.normal(size=5), rng.uniform(size=5), rng.dirichlet(np.ones(5))
    joint = sum(
        p[i] * eta[i] * loss(1, f[i]) + p[i] * (1 - eta[i]) * loss(-1, f[i]) for i in range(5)
    )
    assert_allclose(loss.phi_risk(f, eta, p), joint, rtol=1e-13)  # order of summation
    # a sample that holds each x as often with each class as its probabilities say
    x, y = np.repeat(np.arange(5), 2), np.tile([1, -1], 5)
    weight = p[x] * np.where(y == 1, eta[x], 1 - eta[x])
    assert_allclose(loss.risk(y, f[x], weight), joint, rtol=LAST_BITS)


def test_what_cannot_happen_costs_nothing():
    loss = Exponential()
    assert loss.conditional_risk(800.0, 1.0) == 0
    assert loss.conditional_risk(-800.0, 0.0) == 0
    assert loss.conditional_risk(800.0, 0.5) == np.inf
    assert loss.phi_risk([800.0, -800.0], [1.0, 0.0]) == 0
    assert loss.risk([1, -1], [800.0, 800.0]) == np.inf
    for each in LOSSES:
        assert not np.isnan(each.conditional_risk(HUGE[:, None], [0.0, 0.3, 1.0])).any()


@losses
def test_no_discriminant_beats_the_minimiser(loss):
    eta = np.linspace(0.02, 0.98, 49)
    best = loss.conditional_risk(loss.minimiser(eta), eta)
    rivals = np.linspace(-5, 5, 2001)[:, None]
    assert (best <= loss.conditional_risk(rivals, eta) + 1e-12).all()  # rounding


@losses
def test_minimiser_by_search_is_as_good_as_by_formula(loss):
    eta = np.array([[0.05, 0.3], [0.5, 0.8]])
    searched = MarginLoss.minimiser(loss, eta)
    formula = loss.minimiser(eta)
    assert searched.shape == formula.shape == (2, 2)
    assert_allclose(
        loss.conditional_risk(searched, eta),
        loss.conditional_risk(formula, eta),
        rtol=0,
        atol=SUMMED,
    )
    assert np.shape(loss.minimiser(0.3)) == np.shape(MarginLoss.minimiser(loss, 0.3)) == ()


def test_a_loss_of_ones_own_finds_its_minimiser_by_search():
    eta = np.array([0.1, 0.5, 0.9])
    # The minimum of a smooth function is found to the root of the rounding error of its value.
    assert_allclose(Steep().minimiser(eta), np.log(eta / (1 - eta)) / 6, rtol=0, atol=1e-07)
    with pytest.raises(NotImplementedError, match="Steep"):
        Steep().second_derivative(0.0)
    assert as_margin_loss(Steep()) == Steep()


@with_probability
def test_probability_is_the_inverse_of_the_minimiser(loss):
    eta = np.linspace(0, 1, 101)
    assert loss.has_probability
    assert_allclose(loss.probability(loss.minimiser(eta)), eta, rtol=0, atol=LAST_BITS)
    p = loss.probability(HUGE)
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) >= 0).all()


@pytest.mark.parametrize("loss", [Hinge(), Perceptron()], ids=lambda loss: loss.name)
def test_losses_that_show_only_the_class_give_no_probability(loss):
    assert not loss.has_probability
    with pytest.raises(ParameterError, match="no probabilities"):
        loss.probability(0.3)


@losses
def test_margin_losses_are_found_by_name_and_are_values(loss):
    assert as_margin_loss(loss.name) == loss
    assert as_margin_loss(loss) is loss
    assert pickle.loads(pickle.dumps(loss)) == loss == copy.deepcopy(loss)
    assert loss.value(0.5).shape == loss.derivative(0.5).shape == ()
    assert loss.value([[0.5, 1.0]]).shape == loss.second_derivative([[0.5, 1.0]]).shape == (1, 2)


@pytest.mark.parametrize("unknown", ["svm", "squared", None, Hinge])
def test_an_unknown_margin_loss_is_answered_with_the_names(unknown):
    with pytest.raises(
        ParameterError, match="square, perceptron, hinge, squared_hinge, logit, exp"
    ):
        as_margin_loss(unknown)


@pytest.mark.parametrize("y", [[0, 1], ["a", "b"], [1.0, np.nan], [True, False], [2, -1]])
def test_classes_other_than_plus_and_minus_one_are_refused(y):
    with pytest.raises(DataError, match=r"-1 and \+1"):
        Hinge()(y, [0.1, 0.2])


@pytest.mark.parametrize("eta", [-0.1, 1.1, np.nan])
def test_eta_outside_the_unit_interval_is_refused(eta):
    for use in (lambda e: Logit().minimiser(e), lambda e: Hinge().conditional_risk(0.0, e)):
        with pytest.raises(DataError, match="eta"):
            use(eta)
