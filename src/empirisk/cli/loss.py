"""What a mistake costs: the loss that was asked for, and what to know of it."""

from dataclasses import replace

import numpy as np

from empirisk.cli.costs import read_costs
from empirisk.cli.target import Target, label_of, spelled
from empirisk.losses import Absolute, Asymmetric, Loss, Quantile, as_loss, default_loss
from empirisk.losses.costs import MatrixLoss
from empirisk.losses.names import NAMED, spelled_losses
from empirisk.risk.suitable_loss import refuse_measure
from empirisk.runtime.errors import ParameterError

DEAREST = 3  # mistakes whose costs are told


def asked_loss(name: str | None, costs: str | None, target: Target) -> Loss:
    """The loss of `--loss`, the costs in the file of `--costs`, or the default for the task.

    One that names labels knows their codes, or has complained of them.
    """
    if name is not None and costs is not None:
        raise ParameterError("--loss and --costs both say what a mistake costs: give one of them")
    if costs is not None:
        _refuse_other_task("--costs", "classification", target)
        loss: Loss = read_costs(costs, target.classes)
    elif name is not None:
        loss = _named(name, target)
    else:
        loss = default_loss(target.task == "classification")
    return loss.for_classes(target.classes) if target.task == "classification" else loss


def costs_in_words(loss: Loss, target: Target) -> str | None:
    """The dearest mistakes, so that rows taken for columns are noticed."""
    if not isinstance(loss, MatrixLoss):
        return None
    labels = [spelled(label) for label in target.classes]
    costs = loss.costs()
    pairs = sorted(zip(*np.nonzero(costs), strict=True), key=lambda pair: -costs[pair])
    shown = [
        f"{labels[i]!r} where {labels[j]!r} is right costs {costs[i, j]:g}"
        for i, j in pairs[:DEAREST]
    ]
    more = "; other mistakes do not cost more" if len(pairs) > DEAREST else ""
    return f"predicting {', '.join(shown)}{more}"


def limits_of(loss: Loss) -> str | None:
    """What to know of a loss by which the learners are judged but at which they do not aim."""
    if isinstance(loss, Absolute | Quantile):
        return (
            "the learners predict the mean, whatever the loss: it ranks and certifies them, and "
            "only the baseline and PlugInPredictor aim at it"
        )
    if isinstance(loss, MatrixLoss):
        return (
            "the baseline, DecisionTreeClassifier and DensityClassifier aim at the costs; the "
            "other learners predict the most probable class, whatever mistakes cost, and the costs "
            "rank and certify them: to act at their least expected cost, take the probabilities of "
            "`empirisk predict --probabilities`"
        )
    return None


def _named(name: str, target: Target) -> Loss:
    try:
        refuse_measure(name)
        _refuse_unknown(name, target)
        loss = as_loss(name)
    except ParameterError as error:
        raise ParameterError(f"--loss: {error}") from None
    _refuse_other_task(f"--loss {name}", loss.task, target)
    if isinstance(loss, Asymmetric) and loss.positive is not None:
        return replace(loss, positive=label_of(str(loss.positive), target.classes))
    return loss


def _refuse_unknown(name: str, target: Target) -> None:
    if name.partition(":")[0] not in NAMED:
        costs = ", and any costs by --costs FILE" if target.task == "classification" else ""
        raise ParameterError(
            f"there is no loss {name!r}; for {target.task} there are "
            f"{', '.join(spelled_losses(target.task))}{costs}"
        )


def _refuse_other_task(option: str, task: str, target: Target) -> None:
    if task != target.task:
        raise ParameterError(
            f"{option} is for {task}, and the task is {target.task} ({target.why}): give one of "
            f"{', '.join(spelled_losses(target.task))}"
        )
