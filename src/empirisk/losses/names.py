"""Losses by name."""

from empirisk.losses.classification import Log, ZeroOne
from empirisk.losses.costs import Asymmetric, Costs
from empirisk.losses.loss import Loss
from empirisk.losses.regression import Absolute, Quantile, Squared
from empirisk.runtime.errors import ParameterError

NAMED: dict[str, type[Loss]] = {loss.name: loss for loss in (Squared, Absolute, ZeroOne, Log)}
WITH_PARAMETERS = {
    Quantile.name: "Quantile(q)",
    Asymmetric.name: "Asymmetric(a, b)",
    Costs.name: "Costs(matrix)",
}


def default_loss(classifier: bool) -> Loss:
    """The 0-1 loss for a classifier, the squared loss for a regressor."""
    return ZeroOne() if classifier else Squared()


def as_loss(loss: Loss | str) -> Loss:
    """The loss of that name, or the loss itself.

    The names are "squared", "absolute", "zero_one" and "log"; losses with parameters are given
    as such, for instance `Quantile(0.9)`.

    Examples
    --------
    >>> as_loss("squared")
    Squared()
    >>> as_loss(Quantile(0.9))
    Quantile(q=0.9)
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in NAMED:
        return NAMED[loss]()
    if isinstance(loss, str) and loss in WITH_PARAMETERS:
        raise ParameterError(
            f"the {loss} loss has parameters: give empirisk.losses.{WITH_PARAMETERS[loss]}"
        )
    raise ParameterError(
        f"there is no loss {loss!r}; the names are {', '.join(NAMED)}, and losses with parameters "
        f"(in empirisk.losses) are {', '.join(WITH_PARAMETERS.values())}"
    )
