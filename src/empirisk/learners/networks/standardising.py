"""What is subtracted from inputs and targets, and what they are divided by, before a network.

Steps of gradient descent fit numbers of size 1. A network is trained in standard units and answers
in those of the data, so that its predictions do not depend on them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from empirisk.data.scaling import power_of_two
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.parallel import slices

BLOCK = 4096  # rows looked at together
CONSTANT = 1e-12  # a deviation below this share of the size is rounding

How = Literal["each", "common", "picture", "none"]
"""By column; by column with one unit for all; with one centre and one unit for all; not at all."""


@dataclass(frozen=True, eq=False)
class Standard:
    """z_j = (x_j - centre_j) / unit_j."""

    centre: Floats
    unit: Floats

    def apply(self, X: Array) -> Floats:
        """X in standard units."""
        return (X - self.centre) / self.unit


def standard_of(X: Array, weight: Floats, how: How, *, flat_unit: float = 1.0) -> Standard:
    """Weighted means and standard deviations; a constant column is divided by its size.

    By `flat_unit` times its size, to be exact: a target that never changes is given one so small
    that whatever a network gives out is the constant.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> standard_of(X, np.ones(2), "each").apply(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    p = X.shape[1]
    if how == "none":
        return Standard(np.zeros(p), np.ones(p))
    blocks = slices(len(X), BLOCK)
    size = np.max([np.abs(X[rows]).max(axis=0) for rows in blocks], axis=0).astype(float)
    if how != "each":
        size = np.full(p, size.max())
    power = power_of_two(size)  # squares of extreme numbers would overflow or vanish
    share = weight / weight.max()
    share = share / share.sum()
    mean = sum((share[rows] @ (X[rows] / power) for rows in blocks), np.zeros(p))
    if how == "picture":
        mean = np.full(p, mean.mean())
    square = sum((share[rows] @ (X[rows] / power - mean) ** 2 for rows in blocks), np.zeros(p))
    if how != "each":
        square = np.full(p, square.mean())
    deviation = np.sqrt(square)
    flat = deviation <= CONSTANT * (size / power)
    unit = np.maximum(np.where(flat, flat_unit, deviation) * power, np.nextafter(0, 1))
    return Standard(mean * power, unit)


def unit_if_flat(target: Standard) -> float | None:
    """The size of a target that never changed, of which its unit is a `CONSTANT` share; else None.

    Examples
    --------
    >>> y = np.array([[5.0], [5.0]])
    >>> unit_if_flat(standard_of(y, np.ones(2), "common", flat_unit=CONSTANT))
    8.0
    >>> unit_if_flat(standard_of(y, np.ones(2), "common")) is None
    True
    """
    size = float(target.unit[0]) / CONSTANT
    return size if np.frexp(size)[0] == 0.5 else None  # a power of two: no deviation is one
