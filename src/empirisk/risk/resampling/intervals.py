"""Confidence intervals from bootstrap replicates (Efron & Tibshirani 1993; Davison & Hinkley 1997).

Each is a short function of arrays: replicates (resamples, elements), values (elements,); it returns
the two ends, element by element.
"""

from math import ceil
from typing import Literal
from warnings import warn

import numpy as np
from scipy.special import ndtr, ndtri

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from empirisk.runtime.scalars import check_level

IntervalMethod = Literal["percentile", "basic", "bca", "studentised"]
METHODS: tuple[IntervalMethod, ...] = ("percentile", "basic", "bca", "studentised")
Ends = tuple[Floats, Floats]
WHOLE = 1e-9  # (B + 1) alpha so near to a whole number is one: 10,000 * 0.025 is 250 and a little


def mean_and_spread(values: Floats) -> Ends:
    """Mean and standard deviation (divisor n - 1) of each column, also where squares overflow."""
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    scaled = np.ldexp(values, -exponent)
    spread = scaled.std(axis=0, ddof=1)
    # Equal values have no spread; rounding of their mean would leave some.
    spread[np.ptp(scaled, axis=0) == 0] = 0.0
    return np.ldexp(scaled.mean(axis=0), exponent), np.ldexp(spread, exponent)


def percentile(replicates: Floats, level: float) -> Ends:
    """The quantiles of the replicates."""
    low, high = _tails(replicates, level)
    return order_quantile(replicates, low), order_quantile(replicates, high)


def basic(value: Floats, replicates: Floats, level: float) -> Ends:
    """The quantiles of the errors T* - T, taken off the value: 2 T - T*."""
    low, high = percentile(replicates, level)
    return value - (high - value), value + (value - low)


def bca(value: Floats, replicates: Floats, left_out: Floats, level: float) -> Ends:
    """Percentiles corrected for bias and acceleration (Efron 1987).

    With z0 = ndtri(share of replicates below the value, ties by half), z = ndtri(alpha) and the
    acceleration a = sum d^3 / (6 (sum d^2)^1.5), d the mean of the values that leave out one unit
    minus each of them, the end is the quantile at ndtr(z0 + (z0 + z) / (1 - a (z0 + z))).
    """
    below = (replicates < value).mean(axis=0) + (replicates == value).mean(axis=0) / 2
    if not ((below > 0) & (below < 1)).all():
        raise DataError(
            "all replicates lie on one side of the value, and the correction for bias of the BCa "
            "interval is infinite: take the basic or the studentised interval"
        )
    z0, a = ndtri(below), acceleration(left_out)
    ends = []
    for share in _tails(replicates, level):
        z = z0 + ndtri(share)
        room = 1 - a * z
        with np.errstate(divide="ignore"):
            corrected = ndtr(np.where(room > 0, z0 + z / room, np.sign(z) * np.inf))
        ends.append(order_quantile(replicates, corrected))
    return ends[0], ends[1]


def acceleration(left_out: Floats) -> Floats:
    """How fast the standard error changes with the value, from the jackknife; 0 without spread."""
    scaled = np.ldexp(left_out, -np.frexp(np.abs(left_out).max(axis=0))[1])
    # Where all are equal their mean may be another number, by rounding.
    d = np.where(np.ptp(scaled, axis=0) > 0, scaled.mean(axis=0) - scaled, 0.0)
    largest = np.abs(d).max(axis=0)
    d /= np.where(largest > 0, largest, 1.0)
    squares = np.square(d).sum(axis=0)
    return np.divide(
        (d**3).sum(axis=0), 6 * squares**1.5, out=np.zeros(d.shape[1]), where=squares > 0
    )


def studentised(
    value: Floats, error: Floats, replicates: Floats, errors: Floats, level: float
) -> Ends:
    """value - error t*, with t* the quantiles of (T* - T) / error*, each by its own error.

    A resample without spread has an infinite t*, of the sign of its deviation.
    """
    deviation = replicates - value
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(deviation == 0, 0.0, deviation / errors)
    low, high = _tails(t, level)
    ends = value - error * order_quantile(t, high), value - error * order_quantile(t, low)
    if not np.isfinite(ends).all():
        flat = int((errors == 0).any(axis=1).sum())
        raise DataError(
            f"{flat} of {len(errors)} resamples have no spread, too many for a studentised "
            "interval: take the percentile or the BCa interval"
        )
    return ends


def order_quantile(replicates: Floats, share: Floats | float) -> Floats:
    """The quantiles of B replicates: the (B + 1) share-th smallest, element by element.

    Between two order statistics it goes by normal quantiles (Davison & Hinkley 1997, 5.8), beyond
    the last ones it stays there, with a warning.

    Examples
    --------
    >>> order_quantile(np.arange(1.0, 100.0)[:, None], 0.025).round(3)
    array([2.542])
    """
    B, elements = replicates.shape
    share = np.broadcast_to(np.asarray(share, dtype=float), (elements,))
    place = (B + 1) * share
    near = np.rint(place)
    place = np.where(np.abs(place - near) <= WHOLE * near, near, place)
    if ((place < 1) | (place > B)).any():
        tail = max(float(np.minimum(share, 1 - share).min()), 1e-12)
        warn(
            f"the interval asks for the share {tail:.2g} of the replicates, beyond the last of {B}:"
            f" it ends at that one; take {ceil(1 / tail) - 1:,} resamples",
            EmpiriskWarning,
            stacklevel=4,
        )
    place = np.clip(place, 1, B)
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, B)
    ordered = np.partition(replicates, np.unique([low - 1, high - 1]), axis=0)
    column = np.arange(elements)
    first, last = ordered[low - 1, column], ordered[high - 1, column]
    z_low, z, z_high = (ndtri(each / (B + 1)) for each in (low, place, high))
    part = np.divide(z - z_low, z_high - z_low, out=np.zeros(elements), where=high > low)
    with np.errstate(invalid="ignore"):  # an infinite neighbour that is not asked for
        return np.where(part > 0, first * (1 - part) + last * part, first)


def _tails(replicates: Floats, level: float) -> tuple[float, float]:
    check_level(level)
    tail = (1 - level) / 2
    needed = ceil((1 - WHOLE) / tail) - 1
    if len(replicates) < needed:
        raise ParameterError(
            f"{len(replicates)} resamples are too few for an interval of level {level:g}; take "
            f"n_resamples={needed} or more"
        )
    return tail, 1 - tail
