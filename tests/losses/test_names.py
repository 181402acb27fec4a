"""Losses by name."""

import inspect

import pytest

from empirisk import losses
from empirisk.losses import (
    Absolute,
    Asymmetric,
    Brier,
    Costs,
    Log,
    Quantile,
    Squared,
    ZeroOne,
    as_loss,
    default_loss,
)
from empirisk.losses.names import spelled_losses
from empirisk.runtime.errors import ParameterError


@pytest.mark.parametrize("loss", [Squared(), Absolute(), ZeroOne(), Log(), Brier()], ids=str)
def test_a_loss_is_found_by_its_name(loss):
    assert as_loss(loss.name) == loss
    assert as_loss(loss) is loss


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("quantile:0.9", Quantile(0.9)),
        ("quantile:.05", Quantile(0.05)),
        ("quantile: 1e-3", Quantile(0.001)),
        ("asymmetric:1,4", Asymmetric(1, 4)),
        ("asymmetric:0.5, 2", Asymmetric(0.5, 2)),
        ("asymmetric:1,4,ill", Asymmetric(1, 4, "ill")),
        ("asymmetric:1,4,ill, or not", Asymmetric(1, 4, "ill, or not")),
    ],
)
def test_parameters_stand_behind_a_colon(text, loss):
    assert as_loss(text) == loss
    assert str(as_loss(text)) == str(loss)


def test_a_loss_with_parameters_is_itself():
    for loss in (Quantile(0.2), Asymmetric(1, 2), Costs([[0, 1], [2, 0]])):
        assert as_loss(loss) is loss


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("quantile", "wanted quantile:Q"),
        ("quantile:", "wanted quantile:Q"),
        ("quantile:high", "wanted quantile:Q"),
        ("quantile:0,9", "wanted quantile:Q"),
        ("quantile:1.5", "strictly between 0 and 1"),
        ("quantile:nan", "strictly between 0 and 1"),
        ("asymmetric", "wanted asymmetric:A,B"),
        ("asymmetric:4", "wanted asymmetric:A,B"),
        ("asymmetric:ill,1,4", "wanted asymmetric:A,B"),
        ("asymmetric:-1,4", ">= 0"),
        ("asymmetric:0,0", "one of them positive"),
        ("asymmetric:1," + "9" * 400, "finite"),
        ("squared:2", "wanted squared, without parameters"),
        ("log:", "wanted log, without parameters"),
        ("brier:2", "wanted brier, without parameters"),
    ],
)
def test_parameters_that_make_no_sense_are_answered_with_what_does(text, wanted):
    with pytest.raises(ParameterError, match=wanted):
        as_loss(text)


@pytest.mark.parametrize("unknown", ["mse", "", "Squared", "quantile(0.9)", None, 3, Squared])
def test_an_unknown_loss_is_answered_with_all_there_are(unknown):
    with pytest.raises(ParameterError) as error:
        as_loss(unknown)
    for spelling in (*spelled_losses(), "Costs(matrix)"):
        assert spelling in str(error.value)


def test_every_spelling_belongs_to_one_task_and_gives_a_loss_of_it():
    numbers, classes = spelled_losses("regression"), spelled_losses("classification")
    assert sorted(numbers + classes) == sorted(spelled_losses())
    filled = {"Q": "0.5", "A,B[,POSITIVE]": "1,2"}
    for task, forms in (("regression", numbers), ("classification", classes)):
        for form in forms:
            name, colon, parameters = form.partition(":")
            assert as_loss(name + colon + filled.get(parameters, "")).task == task


def test_defaults():
    assert default_loss(classifier=True) == ZeroOne()
    assert default_loss(classifier=False) == Squared()


def concrete(kind):
    for subclass in kind.__subclasses__():
        yield from concrete(subclass)
        if not inspect.isabstract(subclass) and subclass.__module__.startswith("empirisk.losses"):
            yield subclass.__name__


def test_the_room_shows_every_loss():
    assert sorted(losses.__all__) == losses.__all__
    found = {*concrete(losses.Loss), *concrete(losses.MarginLoss)}
    assert {name for name in found if not name.startswith("_")} <= set(losses.__all__)
    assert {"Squared", "Costs", "Hinge"} <= found


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("squared_error", "squared"),  # scikit-learn's names of learners' losses
        ("absolute_error", "absolute"),
        ("log_loss", "log"),
        ("sqared", "squared"),
        ("quantil:0.9", "quantile:Q"),
    ],
)
def test_a_name_that_is_nearly_one_is_answered_with_it(written, meant):
    with pytest.raises(ParameterError, match=f"no loss '{written}' .did you mean '{meant}'"):
        as_loss(written)


def test_a_name_like_no_other_is_answered_with_all():
    with pytest.raises(ParameterError, match="there is no loss 'xyz'; there are squared, "):
        as_loss("xyz")
