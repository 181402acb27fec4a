"""Losses of numbers: values, derivatives, and Bayes rules that no other action beats."""

import copy
import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, mean_squared_error

from empirisk.losses import Absolute, Quantile, RegressionLoss, Squared
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED

LOSSES = [Squared(), Absolute(), Quantile(0.1), Quantile(0.5), Quantile(0.8)]
REFERENCES = [
    mean_squared_error,
    mean_absolute_error,
    *(lambda y, h, q=q: mean_pinball_loss(y, h, alpha=q) for q in (0.1, 0.5, 0.8)),
]


@dataclass(frozen=True)
class Linex(RegressionLoss):
    """exp(c r) - c r - 1, r = y - prediction: a user's own loss, convex and not symmetric."""

    c: float
    name: ClassVar[str] = "linex"

    def __call__(self, y, prediction):
        r = self.c * (np.asarray(y) - prediction)
        return np.expm1(r) - r


@pytest.mark.parametrize("loss, reference", list(zip(LOSSES, REFERENCES, strict=True)))
def test_mean_loss_agrees_with_scikit_learn(loss, reference):
    rng = np.random.default_rng(0)
    y, prediction = rng.normal(size=(2, 200))
    assert_allclose(loss(y, prediction).mean(), reference(y, prediction), rtol=1e-14)  # summation


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_derivative_is_the_numeric_one(loss):
    rng = np.random.default_rng(1)
    y, prediction = rng.normal(size=(2, 100))
    h = 1e-6
    clear = np.abs(y - prediction) > h
    numeric = (loss(y, prediction + h) - loss(y, prediction - h)) / (2 * h)
    # Piecewise linear or quadratic: no truncation, rounding 1e-16 / h.
    assert_allclose(loss.derivative(y, prediction)[clear], numeric[clear], rtol=0, atol=1e-08)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_at_a_kink_the_derivative_is_the_subgradient_nearest_to_zero(loss):
    y, h = np.array([-2.0, 0.0, 3.0]), 1e-6
    left = (loss(y, y) - loss(y, y - h)) / h
    right = (loss(y, y + h) - loss(y, y)) / h
    at_kink = loss.derivative(y, y)
    assert ((left <= at_kink) & (at_kink <= right)).all()
    assert_array_equal(at_kink, 0.0)


def test_the_median_loss_is_half_the_absolute_one():
    y, prediction = np.random.default_rng(2).normal(size=(2, 50))
    assert_array_equal(2 * Quantile(0.5)(y, prediction), Absolute()(y, prediction))


@given(
    hnp.arrays(float, st.integers(1, 8), elements=st.integers(-30, 30)),
    st.integers(0, 2**31),
    st.sampled_from(LOSSES),
)
@settings(max_examples=100, deadline=None)
def test_no_action_beats_the_bayes_action(y, seed, loss):
    weight = np.random.default_rng(seed).uniform(size=len(y))
    weight /= weight.sum()
    action = loss.bayes_action(y, weight)
    rivals = np.concatenate([np.linspace(-31, 31, 249), y])
    risks = loss(y, rivals[:, None]) @ weight
    mean_loss = loss(y, action) @ weight
    assert mean_loss <= risks.min() + 1e-12  # rounding of sums of losses up to 3,600
    assert_allclose(loss.bayes_risk(y, weight), mean_loss, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("c", [0.5, -1.0, 2.0])
def test_a_loss_of_ones_own_finds_its_bayes_action_by_search(c):
    rng = np.random.default_rng(3)
    sample, weight = rng.normal(size=(4, 30)), rng.uniform(size=(4, 30))
    known = np.log((weight * np.exp(c * sample)).sum(1) / weight.sum(1)) / c
    # The minimum of a smooth function is found to the root of the rounding error of its value.
    assert_allclose(Linex(c).bayes_action(sample, weight), known, rtol=0, atol=1e-07)
    assert_allclose(Linex(c).best_constant(sample[0], weight[0]), known[0], rtol=0, atol=1e-7)
    assert Linex(c).best_constant([2.0, 2.0, 7.0], [1, 1, 0]) == 2
    with pytest.raises(NotImplementedError, match="Linex"):
        Linex(c).derivative(0.0, 1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_search_and_formula_agree(loss):
    sample = np.random.default_rng(4).normal(
        size=(3, 17)
    )  # no level times 17 is whole: one quantile
    by_search = RegressionLoss.bayes_action(loss, sample)
    assert_allclose(by_search, loss.bayes_action(sample), rtol=0, atol=1e-07)  # as above


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_predictions_for_many_values_broadcast(loss):
    rng = np.random.default_rng(5)
    y, predictions = rng.normal(size=6), rng.normal(size=(6, 4))
    together = loss(y[:, None], predictions)
    apart = np.column_stack([loss(y, predictions[:, j]) for j in range(4)])
    assert_array_equal(together, apart)
    assert loss(1.0, 2.0).shape == ()


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_unsigned_and_boolean_values_are_numbers(loss):
    y, prediction = np.array([0, 200], np.uint8), np.array([255, 1], np.uint8)
    assert_array_equal(loss(y, prediction), loss(y.astype(float), prediction.astype(float)))
    assert_array_equal(loss(y > 0, prediction), loss([0.0, 1.0], prediction.astype(float)))


def test_squared_loss_is_infinite_only_where_the_square_is_too_large():
    loss = Squared()
    assert_allclose(
        loss([1e150, -1e150, 1e-150], [0, 1e150, 0]), [1e300, 4e300, 1e-300], rtol=SUMMED
    )
    assert_array_equal(loss(1e200, 0.0), np.inf)
    assert loss.bayes_risk([1e200, -1e200]) == np.inf
    assert loss.bayes_risk([1e200, 1e200]) == 0
    assert_allclose(loss.bayes_action([1e200, 3e200]), 2e200, rtol=LAST_BITS)
    assert Absolute().bayes_risk([1e200, -1e200]) == 1e200


@pytest.mark.parametrize("q", [0, 1, -0.1, 1.5, np.nan])
def test_levels_outside_the_unit_interval_are_refused(q):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        Quantile(q)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_losses_are_values(loss):
    assert pickle.loads(pickle.dumps(loss)) == loss == copy.deepcopy(loss)
    assert hash(loss) == hash(copy.copy(loss))
    assert loss.bounds == (0, np.inf)
    assert loss.for_classes(["a", "b"]) is loss


def test_losses_name_themselves_with_their_parameters():
    assert [str(loss) for loss in LOSSES[:3]] == ["squared", "absolute", "quantile(0.1)"]
    assert Quantile(0.1) != Quantile(0.2)
