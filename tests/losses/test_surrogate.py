"""The numeric checks of surrogates and of classification-calibration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.losses import Hinge, calibration, is_surrogate
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

NAMES = ["square", "perceptron", "hinge", "squared_hinge", "logit", "exponential"]


def entropy(p):
    return -(p * np.log2(p) + (1 - p) * np.log2(1 - p))


# H(eta) in closed form
LEAST = {
    "square": lambda p: 4 * p * (1 - p),
    "squared_hinge": lambda p: 4 * p * (1 - p),
    "perceptron": lambda p: 0 * p,
    "hinge": lambda p: 1 - np.abs(2 * p - 1),
    "logit": entropy,
    "exponential": lambda p: 2 * np.sqrt(p * (1 - p)),
}


@pytest.mark.parametrize("name", NAMES)
def test_infima_are_those_in_closed_form(name):
    eta = np.array([0.001, 0.1, 0.3, 0.499, 0.501, 0.6, 0.9, 0.99999])
    found = calibration(name, eta)
    # A minimum is found to rounding; the closed forms lose about as much.
    assert_allclose(found.least, LEAST[name](eta), rtol=1e-10, atol=1e-14)
    assert_allclose(found.least_wrong, 0.0 if name == "perceptron" else 1.0, rtol=1e-12)
    assert_allclose(found.gap, found.least_wrong - found.least, rtol=SUMMED)
    assert_array_equal(found.eta, eta)


@pytest.mark.parametrize("name", NAMES)
def test_certain_classes_are_checked_too(name):
    found = calibration(name, [0.0, 1.0])
    assert_array_equal(found.least, 0.0)  # an infimum at infinity for logit and exponential
    assert_array_equal(found.least_wrong, 0.0 if name == "perceptron" else 1.0)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_the_margin_and_of_the_loss_does_not_matter(scale):
    assert calibration(lambda z: np.maximum(0, 1 - scale * z)).is_calibrated
    assert calibration(lambda z: scale * np.logaddexp(0, -z)).is_calibrated
    assert not calibration(lambda z: scale * np.maximum(0, -z)).is_calibrated


@pytest.mark.parametrize(
    "phi, calibrated",
    [
        (lambda z: np.maximum(0, np.maximum(1 - z, -2 * z)), True),  # a kink, but not at 0
        (lambda z: np.maximum(0, np.maximum(1 - 2 * z, 1 - z / 2)), False),  # a kink at 0
        (lambda z: np.maximum(0, 1 + z), False),  # rewards the wrong sign
        (lambda z: 1 + 0 * z, False),
        (lambda z: np.abs(1 - z), True),
        (lambda z: np.maximum(0, 1 - z) ** 3, True),
        (lambda z: np.exp(-z) + z**2, True),
    ],
)
def test_functions_of_ones_own(phi, calibrated):
    assert calibration(phi).is_calibrated == calibrated


def test_a_function_that_fails_far_out_is_judged_where_it_works():
    def careless_logit(z):
        return np.log((np.exp(z) + 1) / np.exp(z))  # NaN beyond 709, infinite below -709

    found = calibration(careless_logit, [0.3, 0.9])
    assert_allclose(found.least, entropy(np.array([0.3, 0.9])) * np.log(2), rtol=SUMMED)
    assert found.is_calibrated


def test_eta_one_half_is_left_out():
    assert_array_equal(calibration(Hinge(), [0.4, 0.5, 0.6]).eta, [0.4, 0.6])
    with pytest.raises(DataError, match="1/2"):
        calibration("hinge", 0.5)
    with pytest.raises(DataError, match="eta"):
        calibration("hinge", 1.5)
    with pytest.raises(ParameterError, match="margin loss"):
        calibration("svm")


@pytest.mark.parametrize("name", NAMES)
def test_all_but_the_perceptron_are_surrogates(name):
    assert is_surrogate(name) == (name != "perceptron")


@pytest.mark.parametrize(
    "phi, surrogate",
    [
        (lambda z: np.logaddexp(0, -z), False),  # not divided by log 2: below 1 just left of 0
        (lambda z: 2 / (1 + np.exp(np.clip(z, -700, 700))), False),  # bounds, but is not convex
        (lambda z: 1 - z, False),  # negative
        (lambda z: np.abs(1 - z), True),
        (lambda z: np.maximum(0, 1 - 5 * z), True),
    ],
)
def test_a_surrogate_is_convex_and_bounds_the_zero_one_loss(phi, surrogate):
    assert is_surrogate(phi) == surrogate
