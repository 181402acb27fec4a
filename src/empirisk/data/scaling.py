"""Powers of two that bring extreme columns into the ordinary range of floating-point numbers.

Squares of numbers beyond 1e±154 overflow or vanish. Dividing a column by a power of two changes
no digit of it, so whatever sums squares first divides extreme columns, and only those.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.moments import Moments, total_moments
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError

ORDINARY = (1e-100, 1e100)
"""Sizes whose squares, times any number of rows, are far from overflow and underflow."""

LARGEST_PENALTY = 1e300


class Scales(NamedTuple):
    """What each column of X, each column of y, and the weights were divided by."""

    X: Floats
    y: Floats
    weight: float

    @classmethod
    def ones(cls, p: int, columns: int) -> "Scales":
        """Of p columns of X, and so many columns [X, y], that were not divided."""
        return cls(np.ones(p), np.ones(columns - p), 1.0)

    @property
    def are_ones(self) -> bool:
        return bool((self.X == 1).all() and (self.y == 1).all() and self.weight == 1)

    def raw(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        """Coefficients (..., outputs, p) and intercepts (..., outputs) for the columns as given."""
        with np.errstate(over="ignore"):
            coef = coef / self.X * self.y[:, np.newaxis]
            intercept = intercept * self.y
        if np.isfinite(coef).all() and np.isfinite(intercept).all():
            return coef, intercept
        raise DataError(
            "the coefficients are too large for floating-point numbers: "
            "multiply the columns of X, or divide y, by a large constant"
        )


def power_of_two(size: Floats | float) -> Floats:
    """The power of two next above each size; 1 for size 0.

    Examples
    --------
    >>> power_of_two(np.array([0.0, 0.3, 5.0]))
    array([1. , 0.5, 8. ])
    """
    exponent = np.minimum(np.frexp(size)[1], 1023)
    return np.where(size > 0, np.ldexp(1.0, exponent), 1.0)


def ordinary_moments(
    blocks: Blocks, *, n_jobs: int | None = None
) -> tuple[Moments, Blocks, Scales]:
    """Moments of [X, y], of blocks that were scaled if they had to be, with the scales."""
    with np.errstate(over="ignore", invalid="ignore"):
        moments = total_moments(blocks, n_jobs=n_jobs)
    if have_ordinary_sizes(moments):
        return moments, blocks, Scales.ones(blocks.n_columns, len(moments.mean))
    X, y, weight = (np.max(part, axis=0) for part in zip(*map(_sizes, blocks), strict=True))
    sizes = np.concatenate([X, y, [weight]])
    if _ordinary(sizes[sizes > 0]):  # there was a column of zeros
        return moments, blocks, Scales(np.ones_like(X), np.ones_like(y), 1.0)
    scales = Scales(power_of_two(X), power_of_two(y), float(power_of_two(weight)))
    blocks = blocks.map(partial(_scaled, scales))
    return total_moments(blocks, n_jobs=n_jobs), blocks, scales


def have_ordinary_sizes(moments: Moments) -> bool:
    """Whether neither the columns nor the weights are so large or small that they were scaled."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.hypot(moments.mean, np.sqrt(np.diagonal(moments.scatter) / moments.weight))
    return _ordinary(np.append(size, moments.weight))


def ordinary_rows(rows: Rows, *, each: bool = False) -> tuple[Rows, Scales]:
    """Rows that were scaled if they had to be, each column of X by itself or all by one number."""
    X, y, weight = _sizes(rows)
    X = X if each else np.full_like(X, X.max())
    sizes = np.concatenate([X, y, [weight]])
    if _ordinary(sizes[sizes > 0]):
        return rows, Scales(np.ones_like(X), np.ones_like(y), 1.0)
    scales = Scales(power_of_two(X), power_of_two(y), float(power_of_two(weight)))
    return _scaled(scales, rows), scales


def scaled_penalty(penalty: Any, scale: Any, weight: float) -> Any:
    """The penalty on squared coefficients that has the same effect on scaled columns.

    Beyond the range of floating-point numbers it becomes 0, or a number so large that it stands
    for infinity.
    """
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(penalty / weight / scale / scale, LARGEST_PENALTY)


def _ordinary(size: Floats) -> bool:
    return bool(((size > ORDINARY[0]) & (size < ORDINARY[1])).all())


def _sizes(rows: Rows) -> tuple[Floats, Floats, Floats]:
    """The largest absolute value of each column of X and of y, and of the weights."""
    X, y, weight = (np.maximum(part.max(axis=0), -part.min(axis=0)) for part in rows)
    return X, y, weight


def _scaled(scales: Scales, rows: Rows) -> Rows:
    return Rows(rows.X / scales.X, rows.y / scales.y, rows.weight / scales.weight)
