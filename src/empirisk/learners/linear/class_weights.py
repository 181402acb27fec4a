"""Weights of rows by their class."""

from typing import Any

import numpy as np

from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.solvers.steps import is_number


def class_weighted(
    class_weight: Any, y: Ints, weight: Floats, n_classes: int, classes: Array | None
) -> Floats:
    """The weights of the rows times those of their classes.

    "balanced" gives each class the same sum. A dict is of labels; `classes` are those that the
    codes y stand for, None if they are not known.
    """
    if class_weight is None:
        return weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(y, weight, minlength=n_classes)
        return weight * (weight.sum() / n_classes / total)[y]
    if not isinstance(class_weight, dict):
        raise ParameterError(
            f'class_weight is {class_weight!r}; it must be None, "balanced" or a dict of labels'
        )
    if classes is None:
        raise ParameterError(
            "class_weight is a dict of labels, and a path of models is fitted to class codes; "
            'give class_weight="balanced", or the weights of the rows as sample_weight'
        )
    labels = classes.tolist()
    strange = [label for label in class_weight if label not in labels]
    if strange:
        raise ParameterError(f"class_weight names {strange[0]!r}; the classes are {labels}")
    factor = [class_weight.get(label, 1.0) for label in labels]
    if not all(is_number(value) and value > 0 for value in factor):
        raise ParameterError(f"class_weight has the values {factor}; they must be above 0")
    return weight * np.array(factor, dtype=float)[y]
