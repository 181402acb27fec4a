"""The doors of learners: scikit-learn's checks, with complaints that name column and row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import column_names, name_columns
from empirisk.runtime.complaints import learner_name
from empirisk.runtime.conversion import dense, door, floats
from empirisk.runtime.targets import check_target, check_weights, coded, refuse_no_target


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What a learner fits: rows of positive weight.

    Attributes
    ----------
    X : float64 array of shape (rows, columns)
    y : float64 array, or int64 codes of the classes
        Of shape (rows,), or (rows, outputs) where the learner takes several.
    sample_weight : float64 array of shape (rows,), all > 0
    classes : array or None
        The sorted labels that the codes stand for; None for regression.
    """

    X: Floats
    y: Array
    sample_weight: Floats
    classes: Array | None


def check_fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    classifier: bool = False,
    multi_output: bool = False,
    allow_nan: bool = False,
    keep_single: bool = False,
    reset: bool = True,
) -> TrainingSet:
    """The door of every `fit`: checks, converts, sets `n_features_in_` and `feature_names_in_`.

    Rows of weight 0 are left out: a class that has only such rows is no class. With `allow_nan`
    NaN stays in X; infinite values are refused all the same. With `keep_single` float32 stays
    float32. Without `reset` the columns must be those that the estimator has seen before.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> learner = LogisticRegression()
    >>> train = check_fit(learner, [[1], [2], [3]], ["no", "yes", "no"], classifier=True)
    >>> train.y, train.classes
    (array([0, 1, 0]), array(['no', 'yes'], dtype='<U3'))
    >>> learner.n_features_in_
    1
    """
    refuse_no_target(estimator, y)
    rows = _rows(estimator, X, reset=reset, allow_nan=allow_nan, keep_single=keep_single)
    target, weight = check_target(
        estimator, y, rows, sample_weight, classifier=classifier, multi_output=multi_output
    )
    kept = weight > 0
    if not kept.all():
        names = column_names(rows)
        rows, target, weight = name_columns(rows[kept], names), target[kept], weight[kept]
    if not classifier:
        return TrainingSet(rows, target, weight, None)
    codes, classes = coded(target)
    return TrainingSet(rows, codes, weight, classes)


def check_rows(
    estimator: Any,
    X: Any,
    sample_weight: Any = None,
    *,
    reset: bool = True,
    finite: bool = True,
    allow_nan: bool = False,
    keep_single: bool = False,
) -> tuple[Floats, Floats]:
    """The door of `fit` without labels: rows of positive weight, and their weights.

    Without `reset` the columns must be those that the estimator has seen before. Without `finite`
    it is left to the caller to look for NaN and infinities, where sums over the rows show them.
    With `allow_nan` NaN stays in X; infinite values are refused all the same. With `keep_single`
    float32 stays float32.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> check_rows(PCA(), [[1, 2], [3, 4], [5, 6]], [1, 0, 2])
    (array([[1., 2.],
           [5., 6.]]), array([1., 2.]))
    """
    rows = _rows(
        estimator, X, reset=reset, finite=finite, allow_nan=allow_nan, keep_single=keep_single
    )
    weight = check_weights(sample_weight, len(rows))
    kept = weight > 0
    if kept.all():
        return rows, weight
    return name_columns(rows[kept], column_names(rows)), weight[kept]


def check_predict(
    estimator: Any, X: Any, *, allow_nan: bool = False, keep_single: bool = False
) -> Floats:
    """The door of every `predict`: the learner is fitted, and X has the columns it was fitted to.

    With `allow_nan` NaN, and NaN alone of what is not finite, may be in X. With `keep_single`
    float32 stays float32.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> check_predict(Ridge().fit([[1, 2], [3, 5]], [1, 2]), [[4, 4]])
    array([[4., 4.]])
    """
    check_is_fitted(estimator)
    return _rows(estimator, X, reset=False, allow_nan=allow_nan, keep_single=keep_single)


def _rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    finite: bool = True,
    allow_nan: bool,
    keep_single: bool,
) -> Floats:
    return floats(
        dense(X, estimator),
        "X",
        learner_name(estimator),
        lambda X: _as_seen(estimator, X, reset, keep_single),
        finite=finite,
        allow_nan=allow_nan,
    )


def _as_seen(estimator: Any, X: Any, reset: bool, keep_single: bool) -> Array:
    """scikit-learn's `validate_data`, and without its 0.1 ms of questions where X is as it should.

    A small prediction would spend a third of its time there.
    """
    width = X.shape[1] if _is_as_wanted(X) else None
    if width and not hasattr(estimator, "feature_names_in_"):
        if reset:
            estimator.n_features_in_ = width
            return X
        if getattr(estimator, "n_features_in_", None) == width:
            return X
    return validate_data(estimator, X, reset=reset, **door(keep_single))


def _is_as_wanted(X: Any) -> bool:
    """Whether X is a float64 matrix with rows that compiled code takes as it is."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.flags.carray  # contiguous, aligned, writable
    )
