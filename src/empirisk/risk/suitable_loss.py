"""Which loss an estimator is judged by, and complaints where loss, estimator and target clash."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from empirisk.losses import Loss
from empirisk.losses.costs import MatrixLoss
from empirisk.risk.learner import learner_of
from empirisk.risk.measure_names import MEASURES
from empirisk.risk.predictor import name_of
from empirisk.risk.target import codes_of
from empirisk.runtime.errors import DataError, ParameterError

WITHOUT_LABELS = {
    "reconstruction": "an encoder and decoder, such as PCA",
    "density": "a density, such as KernelDensity",
}


def common_loss(estimators: Iterable[Any], y: Any = None) -> Loss | None:
    """The loss at which some of these aim by their parameters; None where none has its own.

    Costs are the same if they are so in the order of the classes of y, however they are written.
    """
    found = [getattr(learner_of(estimator), "own_loss", None) for estimator in estimators]
    own = [loss for loss in found if isinstance(loss, Loss)]
    if any(loss != own[0] for loss in own) and not _same_costs(own, y):
        raise ParameterError("the candidates aim at different costs: say by which loss to judge")
    return own[0] if own else None


def _same_costs(losses: list[Loss], y: Any) -> bool:
    if y is None or not all(isinstance(loss, MatrixLoss) for loss in losses):
        return False
    _, classes = codes_of(y, None, None)
    costs = [loss.for_classes(classes).costs() for loss in losses if isinstance(loss, MatrixLoss)]
    return all(np.array_equal(each, costs[0]) for each in costs)


def refuse_measure(loss: Any) -> None:
    """What is no mean of losses has no loss row by row to choose or to compare by."""
    if isinstance(loss, str) and loss == "accuracy":
        raise ParameterError("the accuracy is 1 minus the risk of a loss: give that, 'zero_one'")
    if isinstance(loss, str) and loss in MEASURES:
        raise ParameterError(
            f"{loss!r} is a measure of many rows together, not the mean of a loss of each, so it "
            "cannot steer a choice or a comparison row by row: give a loss, such as 'log', and "
            "measure the result with risk.measures.evaluate or risk.measures.cross_validate"
        )


def refuse_no_target(y: Any, estimator: Any, loss: Loss) -> None:
    name, kind = name_of(estimator), get_tags(estimator)
    if y is None and kind.target_tags.required:
        raise DataError(f"{name} requires y to be passed, but the target y is None")
    if loss.output not in ("value", "probability"):
        return
    if y is None or _has_no_target(estimator):
        raise DataError(
            f"the loss {loss.name!r} compares predictions with a target y, and "
            f"{'y is None' if y is None else f'{name} predicts none'}: give a classifier or a "
            "regressor, and y"
        )


def refuse_wrong_task(loss: Loss, estimator: Any, classifier: bool) -> None:
    if loss.task in WITHOUT_LABELS and get_tags(estimator).target_tags.required:
        raise ParameterError(
            f"the loss {loss.name!r} is for {WITHOUT_LABELS[loss.task]}, and "
            f"{name_of(estimator)} predicts y: give a loss of predictions"
        )
    task = "classification" if classifier else "regression"
    if loss.task in ("classification", "regression") and loss.task != task:
        what = "predicts no y" if _has_no_target(estimator) else f"is for {task}"
        raise ParameterError(
            f"the loss {loss.name!r} is for {loss.task}, and {name_of(estimator)} {what}"
        )


def _has_no_target(estimator: Any) -> bool:
    return get_tags(estimator).estimator_type in ("clusterer", "density_estimator")
