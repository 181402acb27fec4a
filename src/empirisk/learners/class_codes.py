"""Class codes: those of labels, and an estimator for them instead of labels."""

from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.risk.axis import PathMixin
from empirisk.runtime.arrays import Array, Bools, Ints


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


def codes_among(labels: Array, classes: Array) -> tuple[Ints, Bools]:
    """The places of labels among sorted classes, and which labels are none of them.

    Examples
    --------
    >>> import numpy as np
    >>> codes_among(np.array(["b", "a", "z"]), np.array(["a", "b"]))
    (array([1, 0, 1]), array([False, False,  True]))
    """
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return codes, classes[codes] != labels
