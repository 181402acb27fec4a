"""An estimator for class codes: what its parameters say by label, said by code."""

from typing import Any

from sklearn.base import clone

from empirisk.risk.axis import PathMixin
from empirisk.runtime.arrays import Array


def for_codes(estimator: Any, labels: Array) -> Any:
    """The same estimator for codes 0..K-1 of these labels.

    A learner of this library knows how; of others, and of the steps of pipelines, dicts of class
    weights are translated.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> for_codes(SVC(class_weight={"no": 1, "yes": 5}), np.array(["no", "yes"]))
    SVC(class_weight={0: 1, 1: 5})
    """
    if isinstance(estimator, PathMixin):
        return estimator.for_classes(labels)
    known = labels.tolist()
    changes = {
        name: {code: value.get(label, 1) for code, label in enumerate(known)}
        for name, value in estimator.get_params(deep=True).items()
        if (name == "class_weight" or name.endswith("__class_weight"))
        and isinstance(value, dict)
        and (value.keys() <= set(known) or set(known) <= value.keys())
    }
    return clone(estimator).set_params(**changes) if changes else estimator
