"""Class codes and class probabilities: checked, and counted from samples of classes."""

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.weighted import checked_weight
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError

# Wide enough for single precision with a thousand classes, narrow enough that nobody gains from
# probabilities that sum to more than one.
SUM_TOLERANCE = 1e-4


def class_codes(codes: ArrayLike, n_classes: int) -> Ints:
    """Class codes as integers, all within 0..n_classes-1."""
    given = np.asarray(codes)
    if given.dtype.kind == "f" and np.array_equal(given, np.rint(given)):
        given = given.astype(np.int64)
    if given.dtype.kind not in "iub":
        raise DataError(
            f"classes came as {given.dtype}; losses take integer codes 0..K-1, "
            "the positions in numpy.unique(labels)"
        )
    if given.size and (given.min() < 0 or given.max() >= n_classes):
        raise DataError(
            f"class codes run from {given.min()} to {given.max()}; with {n_classes} classes they "
            f"must lie in 0..{n_classes - 1}"
        )
    return given.astype(np.int64, copy=False)


def class_frequencies(
    sample: ArrayLike, sample_weight: ArrayLike | None = None, *, n_classes: int = 0
) -> Floats:
    """The weighted share of each class in samples of class codes, along the last axis.

    Parameters
    ----------
    sample : array-like of int, of shape (draws,) or (..., draws)
        Class codes, for instance draws from a predictive distribution, votes or labels.
    sample_weight : array-like of shape (draws,) or that of sample, optional
        A draw of weight w counts as w draws.
    n_classes : int
        How many classes there are; 0 takes those up to the largest code.

    Returns
    -------
    ndarray of shape (n_classes,) or (..., n_classes)

    Examples
    --------
    >>> class_frequencies([[0, 1, 1, 1], [2, 0, 2, 0]])
    array([[0.25, 0.75, 0.  ],
           [0.5 , 0.  , 0.5 ]])
    """
    shape = np.shape(sample)
    if len(shape) == 0 or shape[-1] == 0:
        raise DataError(f"a sample of shape {shape} has no classes; give at least one code")
    codes = class_codes(sample, n_classes or np.iinfo(np.int64).max)
    n_classes = n_classes or int(codes.max(initial=-1)) + 1
    weight = checked_weight(sample_weight, shape)
    n_samples = codes.size // shape[-1]
    cell = codes.reshape(n_samples, -1) + n_classes * np.arange(n_samples)[:, None]
    counts = np.bincount(cell.ravel(), weight.ravel(), minlength=n_samples * n_classes)
    counts = counts.reshape(*shape[:-1], n_classes)
    return counts / counts.sum(axis=-1, keepdims=True)


def checked_probabilities(probabilities: ArrayLike, n_classes: int | None = None) -> Array:
    """Vectors of class probabilities along the last axis, in the floating type they came in."""
    given = np.asarray(probabilities)
    if given.dtype.kind != "f":
        given = given.astype(float)
    if given.ndim == 0 or given.shape[-1] == 0:
        raise DataError(
            f"class probabilities of shape {given.shape}; the last axis must be the classes"
        )
    if n_classes is not None and given.shape[-1] != n_classes:
        raise DataError(
            f"probabilities of {given.shape[-1]} classes came, the loss is for {n_classes}; "
            "give one column per class"
        )
    # Written so that NaN fails it.
    if not (given.min(initial=0.0) >= -SUM_TOLERANCE):
        raise DataError("class probabilities contain NaN or negative numbers")
    total = np.ravel(given.sum(axis=-1))
    off = ~(np.abs(total - 1) <= SUM_TOLERANCE)
    if off.any():
        raise DataError(
            f"the class probabilities of {off.sum()} rows do not sum to one but, for instance, to "
            f"{total[off][0]:g}; divide each row by its sum"
        )
    return np.maximum(given, 0) if given.min(initial=0.0) < 0 else given
