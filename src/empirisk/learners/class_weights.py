"""Weights of rows by their class."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number


class ClassWeightMixin(BaseEstimator):
    """The parameter `class_weight`: None, "balanced" or a dict of labels.

    A path is fitted to class codes, so the engine asks `for_classes` first.
    """

    class_weight: Any

    def for_classes(self, labels: Array) -> Self:
        """The same learner for codes 0..K-1 of these labels: a dict of labels becomes one of codes.

        It has all codes, so that none is missed where a training part lacks a class.
        """
        if not isinstance(self.class_weight, dict):
            return self
        factors = class_factors(self.class_weight, labels)
        return clone(self).set_params(class_weight=dict(enumerate(factors.tolist())))

    def _class_weighted(self, y: Ints, weight: Floats, classes: Array) -> Floats:
        """The weights of the rows times those of their classes; y are codes of `classes`.

        "balanced" gives each class that has rows the same sum.
        """
        if self.class_weight is None:
            return weight
        with np.errstate(over="ignore"):
            if isinstance(self.class_weight, str) and self.class_weight == "balanced":
                total = np.bincount(y, weight, minlength=len(classes))
                weight = weight * (weight.sum() / np.count_nonzero(total) / total[y])
            else:
                weight = weight * class_factors(self.class_weight, classes)[y]
            if np.isfinite(weight.sum()):
                return weight
        raise DataError("weights times class_weight are too large for float64; scale them down")


def class_factors(class_weight: Any, classes: Array) -> Floats:
    """The factor of each class by a dict of labels; a class that it does not name has 1.

    As in scikit-learn a dict may name further classes if it names all of these.

    Examples
    --------
    >>> class_factors({"b": 3.0}, np.array(["a", "b"]))
    array([1., 3.])
    """
    if not isinstance(class_weight, dict):
        raise ParameterError(
            f'class_weight is {class_weight!r}; it must be None, "balanced" or a dict of labels'
        )
    labels = classes.tolist()
    strange = [label for label in class_weight if label not in labels]
    if strange and not all(label in class_weight for label in labels):
        raise ParameterError(f"class_weight names {strange[0]!r}; the classes are {labels}")
    factors = [class_weight.get(label, 1.0) for label in labels]
    if not all(is_number(value) and value > 0 for value in factors):
        raise ParameterError(f"class_weight has the values {factors}; they must be above 0")
    return np.array(factors, dtype=float)
