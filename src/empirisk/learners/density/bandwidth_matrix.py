"""What a bandwidth is: a number, a number for each column, or a matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgejsv

from empirisk.data import scaling
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real

LEAST_SPREAD = 1e-8  # of the narrowest direction, relative to the widest
UNEVEN = 1e-8  # of the variance of the narrowest: less, and rounding of the widest is felt there
NOTHING = 1e-150  # of a deviation, whose square is no number beside that of the widest column
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
        inverse, log_volume = inverse_of(matrix / unit)
        log_volume += d * float(np.log(unit))
        return cls(1.0, inverse, log_volume, unit, offset_of(rows) / unit)

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
    sound = (matrix > 0).all() if matrix.ndim == 1 else _is_positive_definite(matrix)
    if not sound:
        raise ParameterError("bandwidth must be symmetric and positive definite, or positive")
    return matrix


def _is_positive_definite(matrix: Floats) -> bool:
    """Whether it is that and symmetric, in units in which its diagonal is 1."""
    diagonal = np.diagonal(matrix)
    if not (diagonal > 0).all():
        return False
    with np.errstate(over="ignore"):
        even = np.clip(matrix / np.sqrt(diagonal) / np.sqrt(diagonal)[:, None], -2.0, 2.0)
    return np.allclose(even, even.T) and bool((np.linalg.eigvalsh((even + even.T) / 2) > 0).all())


def inverse_of(matrix: Floats) -> tuple[Floats, float]:
    """The inverse of a matrix, and the logarithm of its determinant.

    Rows are brought to one size first: pivots are chosen by it, and units of columns far apart
    would choose wrong ones.
    """
    size = scaling.power_of_two(np.abs(matrix).max(axis=1))
    even = matrix / size[:, None]
    log_volume = np.linalg.slogdet(even)[1] + np.log(size).sum()
    return np.linalg.inv(even) / size, float(log_volume)


def numbers_of(values: Sequence[Any]) -> Floats | None:
    """Bandwidths that are numbers, all of them; else None."""
    if any(real(value) is None for value in values):
        return None
    return np.array([checked_bandwidth(value, 1) for value in values])


def spread_matrix(rows: Floats, weight: Floats, *, unbiased: bool = True) -> Floats:
    """The symmetric root of the covariance, with divisor n - 1, or n, the sum of the weights.

    A direction without spread, or with one of less than 1e-8 of the widest where every column has
    its deviation as unit, has that much; rows that are all equal have the identity.
    """
    n = float(weight.sum())
    share = weight / n
    largest = float(np.abs(rows).max(initial=0.0))
    unit = power_of_two(largest)
    placed = rows / unit
    placed = np.where(np.ptp(rows, axis=0) > 0, placed - share @ placed, 0.0)
    second = power_of_two(float(np.abs(placed).max(initial=0.0)))
    placed = placed / second
    covariance = (placed * share[:, None]).T @ placed * (n / (n - 1) if unbiased and n > 1 else 1.0)
    if not covariance.any():
        return np.eye(rows.shape[1])
    return symmetric_root(covariance) * (unit * second)


def symmetric_root(covariance: Floats) -> Floats:
    """The symmetric root of a covariance matrix, with the least spread of `spread_matrix`."""
    values, vectors = np.linalg.eigh(covariance)
    if values[0] > UNEVEN * values[-1]:
        return (vectors * np.sqrt(values)) @ vectors.T
    deviation = np.sqrt(np.diagonal(covariance))
    moves = deviation > NOTHING * deviation.max()
    deviation = np.where(moves, deviation, LEAST_SPREAD * deviation.max())
    correlation = np.where(np.outer(moves, moves), covariance / deviation / deviation[:, None], 0.0)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    roots = np.sqrt(np.maximum(values, LEAST_SPREAD**2 * values[-1]))
    # Jacobi's method is exact for each column, however far apart their units are (Demmel 1992).
    factor = roots[:, None] * vectors.T * deviation
    spread, _, axes, work, _, _ = dgejsv(factor, joba=0, jobu=3, jobv=0, jobr=0, jobt=0, jobp=0)
    return (axes * spread * (work[0] / work[1])) @ axes.T


def offset_of(rows: Floats) -> Floats:
    """A number of each column that is taken from it without rounding: its least or largest one
    where the column is farther from 0 than it is wide (Sterbenz 1974), else 0."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.where(high / 2 <= low, low, 0.0) + np.where(low / 2 >= high, high, 0.0)


def power_of_two(number: float) -> float:
    """The least that is not below a number, or 1 for 0."""
    return float(2.0 ** np.clip(np.ceil(np.log2(number)), -1020, 1020)) if number > 0 else 1.0
