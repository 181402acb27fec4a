"""What a bandwidth is: a number, a number for each column, or a matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real

LEAST_SPREAD = 1e-8  # of the narrowest direction, relative to the widest
HUGE = 2.0**330


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """The matrix B of K(B^-1 (x - x_i)) / |B|: `size` times the identity, or a matrix.

    `unit` is a power of two that rows are divided by before everything else, so that their squares
    stay finite; `inverse` is of the matrix in that unit. `centre` is taken from rows before they
    are multiplied by a matrix, whose rounding errors would be those of numbers far from 0. `ends`
    are the least and the largest number of rows that stay as they are.
    """

    size: float
    inverse: Floats | None
    log_volume: float
    unit: float
    centre: Floats | float = 0.0
    ends: tuple[float, float] | None = None

    @classmethod
    def of(cls, bandwidth: Any, rows: Floats) -> "Bandwidth":
        d = rows.shape[1]
        if isinstance(bandwidth, float):
            ends = float(rows.min()), float(rows.max())
            largest = max(ends[1], -ends[0])
            fine = 1 / HUGE < bandwidth < HUGE and largest < HUGE
            unit = 1.0 if fine else power_of_two(max(largest, bandwidth))
            size = max(bandwidth / unit, 1e-140)
            log_volume = d * float(np.log(bandwidth))
            return cls(size, None, log_volume, unit, ends=ends if fine else None)
        matrix = np.diag(bandwidth) if bandwidth.ndim == 1 else bandwidth
        unit = power_of_two(float(np.abs(matrix).max()))
        _, log_volume = np.linalg.slogdet(matrix / unit)
        inverse = np.linalg.inv(matrix / unit)
        log_volume += d * np.log(unit)
        return cls(1.0, inverse, float(log_volume), unit, offset_of(rows) / unit)

    def place(self, rows: Floats) -> Floats:
        """Rows such that distances are those of the kernel, in units of `size`."""
        if self.inverse is None:
            return rows if self.unit == 1.0 else rows / self.unit
        with np.errstate(over="ignore"):
            near = np.clip(rows / self.unit - self.centre, -1e140, 1e140)
            found = near @ self.inverse.T
        return np.ascontiguousarray(np.clip(found, -1e140, 1e140))


def checked_bandwidth(bandwidth: Any, d: int) -> float | Floats:
    """A positive number, positive numbers for the columns, or a positive definite matrix."""
    number = real(bandwidth)
    if number is not None:
        if not 0 < number < np.inf:
            raise ParameterError(f"bandwidth is {bandwidth!r}; give a positive, finite number")
        return number
    try:
        matrix = np.array(bandwidth, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if isinstance(bandwidth, str) or matrix.shape not in ((d,), (d, d)):
        raise ParameterError(
            f"bandwidth is {bandwidth!r:.60}; give a positive number, {d} of them (one for each "
            f"column), a matrix of shape {(d, d)}, or the name of a rule"
        )
    if not np.isfinite(matrix).all():
        raise ParameterError("bandwidth has values that are not finite")
    values = matrix if matrix.ndim == 1 else np.linalg.eigvalsh((matrix + matrix.T) / 2)
    if not (values > 0).all() or (matrix.ndim == 2 and not np.allclose(matrix, matrix.T)):
        raise ParameterError("bandwidth must be symmetric and positive definite, or positive")
    return matrix


def numbers_of(values: Sequence[Any]) -> Floats | None:
    """Bandwidths that are numbers, all of them; else None."""
    if any(real(value) is None for value in values):
        return None
    return np.array([checked_bandwidth(value, 1) for value in values])


def spread_matrix(rows: Floats, weight: Floats, *, unbiased: bool = True) -> Floats:
    """The symmetric root of the covariance, with divisor n - 1, or n, the sum of the weights.

    A direction without spread, or with one of less than 1e-8 of the widest, has that much; rows
    that are all equal have the identity.
    """
    n = float(weight.sum())
    share = weight / n
    largest = float(np.abs(rows).max(initial=0.0))
    unit = power_of_two(largest)
    placed = rows / unit
    placed = placed - share @ placed
    second = power_of_two(float(np.abs(placed).max(initial=0.0)))
    placed = placed / second
    covariance = (placed * share[:, None]).T @ placed * (n / (n - 1) if unbiased and n > 1 else 1.0)
    values, vectors = np.linalg.eigh(covariance)
    if not values[-1] > 0:
        return np.eye(rows.shape[1])
    roots = np.sqrt(np.maximum(values, LEAST_SPREAD**2 * values[-1]))
    return (vectors * roots) @ vectors.T * (unit * second)


def offset_of(rows: Floats) -> Floats:
    """A number of each column that is taken from it without rounding: its least or largest one
    where the column is farther from 0 than it is wide (Sterbenz 1974), else 0."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.where(high / 2 <= low, low, 0.0) + np.where(low / 2 >= high, high, 0.0)


def power_of_two(number: float) -> float:
    """The least that is not below a number, or 1 for 0."""
    return float(2.0 ** np.clip(np.ceil(np.log2(number)), -1020, 1020)) if number > 0 else 1.0
