"""Class weights in a pruning table: CP has them, and the errors where the loss has them too."""

from typing import Any

import numpy as np

from empirisk.losses import Loss, as_loss
from empirisk.losses.costs import MatrixLoss
from empirisk.runtime.arrays import Array, Floats

UNWEIGHED = (
    "CP has the weights of the classes in it; the errors count rows as they are, and may rise "
    "where CP falls.\nWith loss=Costs(C), C[i][j] the cost of i for j times the weight of j, they "
    "have the weights too."
)


def errors_unlike_cp(model: Any, costs: Floats | None) -> str:
    """What to say where the tree weighs classes and the loss does not; "" otherwise.

    `costs` are those of the loss, if it has some. They are taken to have the weights unless they
    are those of the tree, up to a factor.
    """
    if getattr(model, "class_weight", None) is None:
        return ""
    if costs is None:
        return UNWEIGHED
    own = model.for_classes(model.classes_)._costs(len(model.classes_))
    same = np.allclose(costs * own.max(), own * costs.max(), rtol=1e-9, atol=0)
    return UNWEIGHED if same else ""


def costs_of_loss(loss: Loss | str | None, classes: Array | None) -> Floats | None:
    """The costs of a loss in the order of the classes, or as they are bound to codes already."""
    asked = None if loss is None else as_loss(loss)
    if not isinstance(asked, MatrixLoss):
        return None
    return (asked if classes is None else asked.for_classes(classes)).costs()


def weight_of_rows(model: Any) -> float:
    """The sum of the weights of the training rows, without the factors of their classes."""
    tree = model.tree_
    total = float(tree.weighted_n_node_samples[0])
    if not isinstance(getattr(model, "class_weight", None), dict):
        return total  # "balanced" keeps it
    factors = model.for_classes(model.classes_).class_weight.values()
    return total * float((tree.value[0, 0] / np.array(list(factors))).sum())
