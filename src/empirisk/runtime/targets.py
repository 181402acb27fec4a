"""What is learned from each row: its value or the code of its class, and its weight."""

from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_array, column_or_1d

from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import (
    first_row,
    learner_name,
    refuse_missing_labels,
    refuse_no_rows,
)
from empirisk.runtime.conversion import DOOR, as_array_like, floats, unmasked
from empirisk.runtime.errors import DataError, EmpiriskError


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
    refuse_no_target(estimator, y)
    name = learner_name(estimator)
    target = _labels(y, name) if classifier else _target(y, name, multi_output)
    check_lengths(X, y=target)
    return target, check_weights(sample_weight, len(target))


def refuse_no_target(estimator: Any, y: Any) -> None:
    """Raise a DataError where y is None, in the words that scikit-learn's checks look for."""
    if y is None:
        raise DataError(
            f"{learner_name(estimator)} requires y to be passed, but the target y is None"
        )


def _target(y: Any, name: str, multi_output: bool) -> Floats:
    def convert(y: Any) -> Array:
        if not multi_output:
            y = column_or_1d(y, warn=True)
        return check_array(y, ensure_2d=False, input_name="y", estimator=name, **DOOR)

    return floats(y, "y", name, convert)


def _labels(y: Any, name: str) -> Array:
    if has_columns(y):
        raise DataError(
            f"y should be a 1d array, got an array of shape {np.shape(y)} instead: {name} predicts "
            "one label for each row; fit one for each column, as MultiOutputClassifier of "
            "scikit-learn does"
        )
    y = unmasked(y) if isinstance(y, np.ma.MaskedArray) else as_array_like(y, "y")
    try:
        labels = column_or_1d(plain_integers(y), warn=True)
    except (ValueError, TypeError) as error:
        raise no_labels(y, error) from error
    try:
        refuse_missing_labels(labels, name)
        check_classification_targets(labels)
    except EmpiriskError:
        raise
    except ValueError as error:
        raise no_labels(y, error) from error
    except TypeError as error:
        of_bytes = any(isinstance(label, bytes) for label in labels)
        what = "has labels of bytes" if of_bytes else "mixes labels of several types"
        raise DataError(
            f"y {what} ({error}); {name} needs labels of one type: turn them all into text"
        ) from error
    return labels


def check_lengths(X: Any, **others: Any) -> None:
    """Raise a DataError unless all have as many rows as X; None has as many as one likes.

    Examples
    --------
    >>> check_lengths([[1], [2]], y=[1, 2], groups=None)
    """
    n = _num_samples(X)
    for name, data in others.items():
        if data is not None and _num_samples(data) != n:
            raise DataError(
                f"X has {n} rows and {name} has {_num_samples(data)}, inconsistent numbers of "
                f"samples: give one value of {name} for each row of X"
            )


def one_column(y: Any, what: str) -> Array:
    """Labels or numbers as an array of one dimension, for which a single column will do.

    Examples
    --------
    >>> one_column([["a"], ["b"]], "y")
    array(['a', 'b'], dtype='<U1')
    """
    refuse_no_rows(y, what)
    y = unmasked(y) if isinstance(y, np.ma.MaskedArray) else y
    try:
        return np.asarray(column_or_1d(plain_integers(y)))
    except (ValueError, TypeError) as error:
        raise DataError(f"{what} should have one entry for each row: {error}") from error


def plain_integers(y: Any) -> Any:
    """Integers and truth values of pandas that might be missing, and are not, as those of NumPy.

    scikit-learn makes float64 of them, where integers beyond 2^53 fall together.
    """
    single = hasattr(y, "iloc") and np.shape(y)[1:] == (1,)
    dtype = y.dtypes.iloc[0] if single else getattr(y, "dtype", None)
    kind = getattr(dtype, "numpy_dtype", None)
    if kind is None or kind.kind not in "iub" or np.any(y.isna()):
        return y
    return y.to_numpy(dtype=kind)


def no_labels(y: Any, error: Exception) -> DataError:
    """The error for a target that scikit-learn takes for no labels, and what to do with objects."""
    values = np.asarray(y)
    of_objects = values.dtype == object and values.ndim == 1 and _are_labels(values)
    if not of_objects:
        return DataError(f"y should be a label for each row: {error}")
    kinds = sorted({type(label).__name__ for label in values})
    return DataError(
        "y should be a label for each row: Unknown label type: objects of the type "
        f"{' and '.join(kinds)}; give y.astype(int), y.astype(bool) or y.astype(str)"
    )


def _are_labels(values: Array) -> bool:
    return all(isinstance(label, int | np.integer | np.bool_ | str) for label in values)


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


def coded(labels: Array) -> tuple[Ints, Array]:
    """Codes of the labels, and the sorted labels that the codes stand for.

    Examples
    --------
    >>> coded(np.array([7, 3, 7]))
    (array([1, 0, 1]), array([3, 7]))
    """
    if labels.dtype.kind == "i" and len(labels):
        least, most = int(labels.min()), int(labels.max())
        if most - least < len(labels):  # counted instead of sorted
            places = labels.astype(np.int64) - least
            present = np.bincount(places) > 0
            classes = (np.flatnonzero(present) + least).astype(labels.dtype)
            return (np.cumsum(present) - 1)[places], classes
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), classes


def check_weights(sample_weight: Any, n: int) -> Floats:
    """n weights >= 0, not all 0; None means that all are 1, a number that all are that number.

    Examples
    --------
    >>> check_weights([2, 0, 1], 3)
    array([2., 0., 1.])
    """
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, str | bytes):
        raise DataError(f"sample_weight is {sample_weight!r:.60}; give each row a number >= 0")
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n, sample_weight)
    weight = floats(
        sample_weight,
        "sample_weight",
        "a fit",
        lambda w: check_array(
            w, ensure_2d=False, ensure_min_samples=0, input_name="sample_weight", **DOOR
        ),
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
