"""Mean and quantiles of weighted samples, along the last axis.

A value of weight w counts as w copies of itself; a value of weight 0 is not there.
"""

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError

# Cumulative weights this near to a quantile's level, as a share of the total, are on it: levels
# and non-integer weights carry rounding errors (0.55 * 100 > 55), true differences are larger.
TIED = 1e-12


def weighted_mean(sample: Array, weight: Array) -> Array:
    """The mean: finite whenever the values are, and exactly c where all values are c."""
    sample = np.where(weight > 0, sample, 0.0)
    # A power of two scales without rounding, and sums of scaled values cannot overflow.
    exponent = np.frexp(np.abs(sample).max(axis=-1, keepdims=True))[1]
    scaled = np.ldexp(sample, -exponent)
    total = weight.sum(axis=-1, keepdims=True)
    mean = (weight * scaled).sum(axis=-1, keepdims=True) / total
    # What rounding has left in the deviations from the mean is added to it.
    with np.errstate(invalid="ignore"):
        correction = (weight * (scaled - mean)).sum(axis=-1, keepdims=True) / total
    mean = np.where(np.isfinite(mean), mean + correction, mean)
    return np.ldexp(mean, exponent)[..., 0][()]


def weighted_quantile(sample: Array, weight: Array, q: float) -> Array:
    """The middle of the interval of q-quantiles.

    Every a with P(Y < a) <= q <= P(Y <= a) is a q-quantile. That is one value of the sample, or
    all points between two neighbours: then their midpoint. (NumPy's "averaged_inverted_cdf".)
    """
    order = np.argsort(sample, axis=-1, kind="stable")
    sample = np.take_along_axis(sample, order, axis=-1)
    cumulative = np.cumsum(np.take_along_axis(weight, order, axis=-1), axis=-1)
    total = cumulative[..., -1:]
    at_least = np.maximum((q - TIED) * total, np.nextafter(0, 1))
    low = (cumulative < at_least).sum(axis=-1, keepdims=True)
    beyond = (cumulative > (q + TIED) * total) | (cumulative == total)
    high = np.argmax(beyond, axis=-1, keepdims=True)
    return midpoint(
        np.take_along_axis(sample, low, axis=-1), np.take_along_axis(sample, high, axis=-1)
    )[..., 0][()]


def midpoint(low: Array, high: Array) -> Array:
    """(low + high) / 2, without overflow and exact where both are equal."""
    return np.where(low == high, low, 0.5 * low + 0.5 * high)


def checked_sample(sample: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """A sample of finite numbers, and its weights in the same shape."""
    values = np.asarray(sample, dtype=float)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise DataError(
            f"a sample of shape {values.shape} has no values; give at least one along the last axis"
        )
    if not np.isfinite(values).all():
        raise DataError("the sample contains NaN or infinity; give finite numbers")
    return values, checked_weight(sample_weight, values.shape)


def checked_weight(sample_weight: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """Weights of that shape, scaled by a power of two so that each row's largest is about 1."""
    if sample_weight is None:
        return np.ones(shape)
    weight = np.asarray(sample_weight, dtype=float)
    if weight.ndim == 0 or weight.shape != shape[-weight.ndim :]:
        raise DataError(
            f"weights of shape {weight.shape} do not fit a sample of shape {shape}; give one "
            "weight per value, or one per value along the last axis"
        )
    weight = np.broadcast_to(weight, shape)
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise DataError("weights contain NaN, infinity or negative numbers; give weights >= 0")
    largest = weight.max(axis=-1, keepdims=True)
    if not (largest > 0).all():
        raise DataError("all weights are zero; give a sample at least one positive weight")
    return np.ldexp(weight, -np.frexp(largest)[1])
