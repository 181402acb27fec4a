"""Thresholds as text: as short as they can be while they are true of the data.

Where a and b are the values on either side of a threshold, every t with a <= t < b makes
`x <= t` true of the same rows. So a threshold is written with few digits, and with more only where
fewer would move it past a value.
"""

from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np

from empirisk.data.column import whole_and_part
from empirisk.runtime.arrays import Floats

PLAIN = (1e-4, 1e16)  # numbers of this size are written without an exponent
MOST_DIGITS = 17  # tell all float64 apart
INTEGERS = 2.0**64  # numbers up to here are compared with integers
STEPS = (  # of times of day: the unit that is shown, and how many a day has
    ("m", 24),
    ("m", 24 * 60),
    ("s", 86_400),
    ("ms", 86_400_000),
    ("us", 86_400_000_000),
    ("ns", 86_400_000_000_000),
)


def neighbours(threshold: float, values: Floats | None) -> tuple[float, float]:
    """The values on either side of a threshold, of sorted ones; without any, itself and the next.

    Examples
    --------
    >>> neighbours(2.5, np.array([1.0, 2.0, 3.0]))
    (2.0, 3.0)
    """
    if values is None or not len(values):
        return threshold, float(np.nextafter(threshold, np.inf))
    above = int(np.searchsorted(values, threshold, side="right"))
    low = float(values[above - 1]) if above else -np.inf
    return low, float(values[above]) if above < len(values) else np.inf


def number(value: float, digits: int) -> str:
    """A number with some significant digits, none of them a zero at the end.

    Examples
    --------
    >>> number(0.25, 4), number(123456.7, 4), number(1.5e200, 4), number(-0.0, 4)
    ('0.25', '123457', '1.5e+200', '0')
    """
    text = f"{value + 0.0:.{digits}g}"
    if "e" not in text or not PLAIN[0] <= abs(value) < PLAIN[1]:
        return text
    decimals = max(0, digits - 1 - int(text.split("e")[1]))
    return f"{value:.{decimals}f}"


def in_full(value: Any) -> str:
    """An integer or a float with all the digits that tell it from others.

    Examples
    --------
    >>> in_full(2**60 + 1), in_full(1.7), in_full(2.0**60)
    ('1152921504606846977', '1.7', '1152921504606846976')
    """
    if isinstance(value, int | np.integer) or not float(value).is_integer():
        return str(value)
    return f"{value:.0f}" if abs(float(value)) < INTEGERS else str(value)


def number_between(value: float, low: float, high: float, digits: int) -> str:
    """A number with at least so many digits, itself or another with low < number < high.

    Examples
    --------
    >>> number_between(20230101.5, 20230101.0, 20230102.0, 6)
    '20230101.5'
    >>> number_between(80.40000000000001, 80.3, 80.5, 6)
    '80.4'
    """
    for n in range(digits, MOST_DIGITS):
        text = number(value, n)
        if low < float(text) < high or float(text) == value:
            return text
    return number(value, MOST_DIGITS)


def date_between(value: float, low: float, high: float, calendar: str) -> str:
    """A date near a number of days since 1970-01-01 that parts the times of two such numbers.

    All times whose number is up to low are up to the date, and those from high are after it. A day
    without a time may be read as its first or its last moment: it is written where both are true.

    Examples
    --------
    >>> date_between(18275.5, 18275.0, 18276.0, "local")
    '2020-01-14'
    >>> date_between(18275.9, 18275.6, 18276.2, "local")
    '2020-01-14 22:00'
    """
    first, last = np.ceil(low), np.floor(high) - 1
    if first <= last and calendar == "local":
        return str(np.datetime64(int(min(max(np.floor(value), first), last)), "D"))
    return _parting(value, low, high) + ("Z" if calendar == "UTC" else "")


def date_of(value: float, calendar: str) -> str:
    """A number of days since 1970-01-01 as a date, with a time unless it is midnight.

    Of the times with this number it is one with the fewest digits.

    Examples
    --------
    >>> date_of(18275.0, "local"), date_of(18275.25, "UTC")
    ('2020-01-14', '2020-01-14 06:00Z')
    """
    if value == np.floor(value) and calendar == "local":
        return str(np.datetime64(int(value), "D"))
    for unit, per_day in STEPS:
        count = _nearest(value, per_day)
        text = _spelled(count, unit, per_day)
        if whole_and_part(count, per_day) == value:
            break
    return text + ("Z" if calendar == "UTC" else "")


def _parting(value: float, low: float, high: float) -> str:
    """A day and a time in the largest steps that stay between, so that no time beside is equal.

    Where float64 has no number between, the last nanosecond whose number is not above low.
    """
    for unit, per_day in STEPS:
        nearest = _nearest(value, per_day)
        for count in (nearest, nearest - 1):
            if low < whole_and_part(count, per_day) < high:
                return _spelled(count, unit, per_day)
    near = range(nearest - per_day, nearest + per_day)
    beyond = bisect_right(near, low, key=lambda count: whole_and_part(count, per_day))
    return _spelled(near[beyond - 1], unit, per_day)


def _nearest(value: float, per_day: int) -> int:
    return round(Fraction(value) * per_day)


def _spelled(count: int, unit: Any, per_day: int) -> str:
    day, rest = divmod(count, per_day)
    time: Any = np.datetime64(60 * rest if per_day == 24 else rest, unit)
    return f"{np.datetime64(day, 'D')} {str(time).partition('T')[2]}"
