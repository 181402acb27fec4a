"""Checking input, once: scikit-learn's checks, with complaints that name the column and the row.

What comes out is what compiled code takes: float64, C-contiguous, aligned, writable. An array that
is so already comes out as it is, not copied: nobody may write into it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import check_names, column_names, name_columns
from empirisk.runtime.complaints import (
    explain,
    first_row,
    refuse_dates,
    refuse_infinite,
    refuse_missing_labels,
    refuse_not_finite,
    refuse_query,
)
from empirisk.runtime.errors import DataError

_DOOR: dict[str, Any] = {
    "dtype": np.float64,
    "order": "C",
    "force_writeable": True,
    "ensure_all_finite": False,  # our own check names the column
}


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
    _refuse_no_target(estimator, y)
    rows = _floats(
        dense(X, estimator),
        "X",
        _name(estimator),
        lambda X: _as_seen(estimator, X, reset, _door(keep_single)),
        allow_nan=allow_nan,
    )
    target, weight = check_target(
        estimator, y, rows, sample_weight, classifier=classifier, multi_output=multi_output
    )
    kept = weight > 0
    if not kept.all():
        names = column_names(rows)
        rows, target, weight = name_columns(rows[kept], names), target[kept], weight[kept]
    if not classifier:
        return TrainingSet(rows, target, weight, None)
    return TrainingSet(rows, *_coded(target, weight))


def _coded(labels: Array, weight: Floats) -> tuple[Ints, Floats, Array]:
    """Codes of the labels, the weights, and the sorted labels that the codes stand for."""
    if labels.dtype.kind == "i" and len(labels):
        least, most = int(labels.min()), int(labels.max())
        if most - least < len(labels):  # counted instead of sorted
            places = labels.astype(np.int64) - least
            present = np.bincount(places) > 0
            classes = (np.flatnonzero(present) + least).astype(labels.dtype)
            return (np.cumsum(present) - 1)[places], weight, classes
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), weight, classes


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
    rows = _floats(
        dense(X, estimator),
        "X",
        _name(estimator),
        lambda X: _as_seen(estimator, X, reset, _door(keep_single)),
        finite=finite,
        allow_nan=allow_nan,
    )
    weight = check_weights(sample_weight, len(rows))
    kept = weight > 0
    if kept.all():
        return rows, weight
    return name_columns(rows[kept], column_names(rows)), weight[kept]


def check_target(
    estimator: Any,
    y: Any,
    X: Any,
    sample_weight: Any = None,
    *,
    classifier: bool = False,
    multi_output: bool = False,
) -> tuple[Array, Floats]:
    """Labels or float64 values, and weights, one for each row of X, which is checked already.

    Examples
    --------
    >>> check_target("a tree", ["no", "yes"], [[1], [2]], classifier=True)
    (array(['no', 'yes'], dtype='<U3'), array([1., 1.]))
    """
    _refuse_no_target(estimator, y)
    name = _name(estimator)
    target = _labels(y, name) if classifier else _target(y, name, multi_output)
    check_consistent_length(X, target)
    return target, check_weights(sample_weight, len(target))


def has_columns(y: Any) -> bool:
    """Whether a target has two columns or more; one that is no array is left to `check_target`.

    Examples
    --------
    >>> has_columns([[1.0, 2.0]]), has_columns([[1.0], [2.0]]), has_columns([1.0, 2.0])
    (True, False, False)
    """
    try:
        return np.asarray(y).shape[1:] > (1,)
    except ValueError:  # rows of different lengths
        return False


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
    return _floats(
        dense(X, estimator),
        "X",
        _name(estimator),
        lambda X: _as_seen(estimator, X, False, _door(keep_single)),
        allow_nan=allow_nan,
    )


def numbers(
    X: Any, estimator: Any, *, allow_nan: bool = False, keep_single: bool = False
) -> Floats:
    """X as a C-contiguous, writable float64 array of finite numbers, and of NaN if so allowed.

    With `keep_single` float32 stays float32.

    Examples
    --------
    >>> numbers([[1, 2]], "Ridge")
    array([[1., 2.]])
    >>> numbers([[1, 2], [3, float("nan")]], "Ridge")
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.DataError: column 1 has 1 missing value(s) (NaN), the first in row 1;
    Ridge needs numbers: put an Encoder() before it
    """
    return _floats(
        dense(X, estimator),
        "X",
        _name(estimator),
        lambda X: check_array(X, estimator=estimator, input_name="X", **_door(keep_single)),
        allow_nan=allow_nan,
    )


def dense(X: Any, estimator: Any) -> Any:
    """A sparse matrix or frame in full, where the estimator says that it takes one; else X itself.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn.linear_model import Ridge
    >>> dense(csr_array([[0.0, 2.0]]), Ridge())
    array([[0., 2.]])
    """
    if isinstance(X, np.ndarray | list):
        return X
    frame = getattr(X, "sparse", None)  # pandas has it where all columns are sparse
    in_full = X.toarray if issparse(X) else getattr(frame, "to_dense", None)
    if in_full is None or isinstance(estimator, str):
        return X
    return in_full() if get_tags(estimator).input_tags.sparse else X


def check_weights(sample_weight: Any, n: int) -> Floats:
    """n weights >= 0, not all 0; None means that all are 1, a number that all are that number.

    Examples
    --------
    >>> check_weights([2, 0, 1], 3)
    array([2., 0., 1.])
    """
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, str):
        raise DataError(f"sample_weight is {sample_weight!r:.60}; give each row a number >= 0")
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n, sample_weight)
    weight = _floats(
        sample_weight,
        "sample_weight",
        "a fit",
        lambda w: check_array(w, ensure_2d=False, input_name="sample_weight", **_DOOR),
    )
    if weight.shape != (n,):
        raise DataError(
            f"sample_weight has shape {weight.shape}; wanted {(n,)}, a weight for each row"
        )
    negative = weight < 0
    if negative.any():
        raise DataError(
            f"sample_weight has {negative.sum()} negative value(s), {first_row(negative)}; give "
            "numbers >= 0"
        )
    if not weight.any():
        raise DataError("all values of sample_weight are zero; a fit needs rows of weight > 0")
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise DataError("the sum of sample_weight is too large for float64; scale it down")
    return weight


def _as_seen(estimator: Any, X: Any, reset: bool, door: dict[str, Any]) -> Array:
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
    return validate_data(estimator, X, reset=reset, **door)


def _is_as_wanted(X: Any) -> bool:
    """Whether X is a float64 matrix with rows that compiled code takes as it is."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.flags.carray  # contiguous, aligned, writable
    )


def _door(keep_single: bool) -> dict[str, Any]:
    return {**_DOOR, "dtype": [np.float64, np.float32]} if keep_single else _DOOR


def _floats(
    table: Any,
    subject: str,
    name: str,
    convert: Callable[[Any], Array],
    *,
    allow_nan: bool = False,
    finite: bool = True,
) -> Floats:
    table = _as_array_like(table, subject)
    refuse_dates(table, subject, name)
    check_names(column_names(table) or ())  # pandas lets a name stand twice
    try:
        with np.errstate(over="ignore"):  # what overflows becomes inf, and is named below
            values = convert(table)
    except (ValueError, TypeError, OverflowError) as error:
        explain(table, subject, name, error)
        raise
    # Aligned, since compiled code would be compiled once more for arrays that are not.
    values = np.require(values, None, ["C", "ALIGNED", "WRITEABLE", "ENSUREARRAY"])
    if finite and not allow_nan:
        refuse_not_finite(values, table, subject, name)
    elif allow_nan:
        refuse_infinite(values, table, subject, name)
    return name_columns(values, column_names(table))


def _as_array_like(table: Any, subject: str) -> Any:
    refuse_query(table, subject)
    if isinstance(table, np.ma.MaskedArray):  # scikit-learn would take what is under the mask
        return np.ma.filled(table.astype(np.float64), np.nan)
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "__array__"):
        try:
            import pyarrow
        except ImportError:
            raise DataError(
                f"a {type(table).__name__} can be read with pyarrow only; install it, "
                "or give an array or a data frame"
            ) from None
        return pyarrow.table(table)
    return table


def _target(y: Any, name: str, multi_output: bool) -> Floats:
    def convert(y: Any) -> Array:
        if not multi_output:
            y = column_or_1d(y, warn=True)
        return check_array(y, ensure_2d=False, input_name="y", estimator=name, **_DOOR)

    return _floats(y, "y", name, convert)


def _labels(y: Any, name: str) -> Array:
    if has_columns(y):
        raise DataError(
            f"y should be a 1d array, got an array of shape {np.shape(y)} instead: {name} predicts "
            "one label for each row; fit one for each column, as MultiOutputClassifier of "
            "scikit-learn does"
        )
    labels = column_or_1d(_as_array_like(y, "y"), warn=True)
    refuse_missing_labels(labels, name)
    try:
        check_classification_targets(labels)
    except TypeError as error:
        raise DataError(
            f"y mixes labels of several types ({error}); {name} needs labels of one type: "
            "turn them all into text"
        ) from error
    return labels


def _refuse_no_target(estimator: Any, y: Any) -> None:
    if y is None:
        raise DataError(f"{_name(estimator)} requires y to be passed, but the target y is None")


def _name(estimator: Any) -> str:
    return estimator if isinstance(estimator, str) else type(estimator).__name__
