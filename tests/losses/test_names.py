"""Losses by name."""

import inspect

import pytest

from empirisk import losses
from empirisk.losses import Absolute, Log, Quantile, Squared, ZeroOne, as_loss, default_loss
from empirisk.runtime.errors import ParameterError


@pytest.mark.parametrize("loss", [Squared(), Absolute(), ZeroOne(), Log()], ids=str)
def test_a_loss_is_found_by_its_name(loss):
    assert as_loss(loss.name) == loss
    assert as_loss(loss) is loss


def test_a_loss_with_parameters_is_given_as_itself():
    assert as_loss(Quantile(0.2)) == Quantile(0.2)
    for name, form in [("quantile", "Quantile"), ("asymmetric", "Asymmetric"), ("costs", "Costs")]:
        with pytest.raises(ParameterError, match=form):
            as_loss(name)


@pytest.mark.parametrize("unknown", ["mse", "", None, 3, Squared])
def test_an_unknown_loss_is_answered_with_the_names(unknown):
    with pytest.raises(ParameterError, match="squared, absolute, zero_one, log"):
        as_loss(unknown)


def test_defaults():
    assert default_loss(classifier=True) == ZeroOne()
    assert default_loss(classifier=False) == Squared()


def concrete(kind):
    for subclass in kind.__subclasses__():
        yield from concrete(subclass)
        if not inspect.isabstract(subclass) and subclass.__module__.startswith("empirisk."):
            yield subclass.__name__


def test_the_room_shows_every_loss():
    assert sorted(losses.__all__) == losses.__all__
    found = {*concrete(losses.Loss), *concrete(losses.MarginLoss)}
    assert {name for name in found if not name.startswith("_")} <= set(losses.__all__)
    assert {"Squared", "Costs", "Hinge"} <= found
