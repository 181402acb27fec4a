"""Losses by name, and those with parameters by name and numbers: "quantile:0.9"."""

from difflib import get_close_matches

from empirisk.losses.classification import Brier, Log, ZeroOne
from empirisk.losses.costs import Asymmetric
from empirisk.losses.density import LogDensity
from empirisk.losses.loss import Loss
from empirisk.losses.reconstruction import HeldOutEntries, Reconstruction
from empirisk.losses.regression import Absolute, Quantile, Squared
from empirisk.runtime.errors import ParameterError

LOSSES: tuple[type[Loss], ...] = (Squared, Absolute, Quantile, ZeroOne, Log, Brier, Asymmetric)
WITHOUT_LABELS: tuple[type[Loss], ...] = (Reconstruction, HeldOutEntries, LogDensity)
NAMED = {loss.name: loss for loss in (*LOSSES, *WITHOUT_LABELS)}
ALIKE = 0.5  # so that scikit-learn's log_loss and squared_error lead to log and squared
FORMS = {Quantile.name: "quantile:Q", Asymmetric.name: "asymmetric:A,B[,POSITIVE]"}


def default_loss(classifier: bool) -> Loss:
    """The 0-1 loss for a classifier, the squared loss for a regressor.

    Examples
    --------
    >>> default_loss(True).name, default_loss(False).name
    ('zero_one', 'squared')
    """
    return ZeroOne() if classifier else Squared()


def as_loss(loss: Loss | str) -> Loss:
    """The loss that a text spells, or the loss itself.

    Losses without parameters are their names: "squared", "absolute", "zero_one", "log" and "brier".
    Parameters stand behind a colon: "quantile:0.9" is `Quantile(0.9)`, "asymmetric:1,4" is
    `Asymmetric(1, 4)`, which takes 4 for a false negative where a false positive costs 1, and
    "asymmetric:1,4,ill" says that the label "ill" is the positive one. A matrix of costs is given
    as such, `Costs(matrix)`. For learners without labels there are "reconstruction", "entries" and
    "log_density".

    Examples
    --------
    >>> as_loss("squared")
    Squared()
    >>> as_loss("quantile:0.9")
    Quantile(q=0.9)
    >>> as_loss("asymmetric:1,4,ill")
    Asymmetric(a=1, b=4, positive='ill')
    >>> as_loss(Quantile(0.9))
    Quantile(q=0.9)
    """
    if isinstance(loss, Loss):
        return loss
    name, colon, rest = loss.partition(":") if isinstance(loss, str) else ("", "", "")
    if name not in NAMED:
        near = get_close_matches(name, [known.name for known in LOSSES], 1, ALIKE)
        hint = f" (did you mean {FORMS.get(near[0], near[0])!r}?)" if near else ""
        raise ParameterError(
            f"there is no loss {loss!r}{hint}; there are {', '.join(spelled_losses())}, and "
            "losses.Costs(matrix) for any matrix of costs"
        )
    parameters = rest.split(",", 2) if colon else []  # the third is a label: it may hold a comma
    found = _with_parameters(name, [word.strip() for word in parameters])
    if found is None:
        wanted = FORMS.get(name, f"{name}, without parameters")
        raise ParameterError(f"the loss {loss!r} is not understood; wanted {wanted}")
    return found


def spelled_losses(task: str | None = None) -> list[str]:
    """How losses are spelled, all of them or those for a task.

    Examples
    --------
    >>> spelled_losses("regression")
    ['squared', 'absolute', 'quantile:Q']
    """
    fit = [loss.name for loss in LOSSES if task in (None, loss.task)]
    return [FORMS.get(name, name) for name in fit]


def _with_parameters(name: str, words: list[str]) -> Loss | None:
    """The loss with these parameters, None if they are too few, too many or no numbers."""
    numbers = [number for word in words[:2] if (number := _number(word)) is not None]
    if len(numbers) < min(len(words), 2):
        return None
    if name == Quantile.name:
        return Quantile(numbers[0]) if len(words) == 1 else None
    if name == Asymmetric.name:
        return Asymmetric(*numbers, *words[2:]) if len(words) >= 2 else None
    return NAMED[name]() if not words else None


def _number(word: str) -> float | None:
    """A number as it is written: 4 is whole, and shown as 4 rather than as 4.0."""
    try:
        number = float(word)
    except ValueError:
        return None
    return int(number) if word.isdecimal() and number < 2**53 else number
