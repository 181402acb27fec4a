"""Families of functions of one feature on -1..1, to which its training range is scaled.

Each leaves out the constant, which is the intercept's. `values` and `slopes` (the derivatives) have
a row for each function and a column for each point.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import qr

from empirisk.runtime.arrays import Floats

Extrapolation = Literal["continue", "linear", "constant", "error"]


class Family(Protocol):
    """Basis functions of one feature."""

    @property
    def size(self) -> int:
        """How many there are."""

    def values(self, t: Floats) -> Floats: ...

    def slopes(self, t: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class BSplines:
    """Piecewise polynomials of the given degree, smooth at the knots inside (de Boor 1978).

    The B-splines add up to one; the first is left out. So it is in R's `bs`.
    """

    knots: Floats
    degree: int = 3

    @property
    def size(self) -> int:
        return len(self.knots) + self.degree

    @cached_property
    def _functions(self) -> BSpline:
        ends = np.ones(self.degree + 1)
        return BSpline(np.r_[-ends, self.knots, ends], np.eye(self.size + 1)[:, 1:], self.degree)

    def values(self, t: Floats) -> Floats:
        return self._functions(t).T

    def slopes(self, t: Floats) -> Floats:
        return self._functions(t, nu=1).T


@dataclass(frozen=True, eq=False)
class NaturalSplines:
    """Cubic splines whose second derivative is zero at both ends, so that they go on as lines.

    Those combinations of the cubic B-splines that meet both conditions, as in R's `ns`.
    """

    knots: Floats

    @property
    def size(self) -> int:
        return len(self.knots) + 1

    @cached_property
    def _cubic(self) -> BSplines:
        return BSplines(self.knots)

    @cached_property
    def _allowed(self) -> Floats:
        """(size, cubic size): the combinations without curvature at the ends."""
        curvature = self._cubic._functions(np.array([-1.0, 1.0]), nu=2)
        return qr(curvature.T)[0][:, 2:].T

    def values(self, t: Floats) -> Floats:
        return self._allowed @ self._cubic.values(t)

    def slopes(self, t: Floats) -> Floats:
        return self._allowed @ self._cubic.slopes(t)


@dataclass(frozen=True, eq=False)
class Steps:
    """Indicators of the regions between the cuts, lower end excluded; the lowest has none."""

    cuts: Floats

    @property
    def size(self) -> int:
        return len(self.cuts)

    def values(self, t: Floats) -> Floats:
        region = np.searchsorted(self.cuts, t, side="left")
        return (region == np.arange(1, self.size + 1)[:, np.newaxis]).astype(float)

    def slopes(self, t: Floats) -> Floats:
        return np.zeros((self.size, len(t)))


@dataclass(frozen=True)
class Nothing:
    """Of a feature that is constant in training: one column of zeros."""

    size: int = 1

    def values(self, t: Floats) -> Floats:
        return np.zeros((1, len(t)))

    slopes = values


def with_knots(basis: str, knots: Floats, degree: int) -> Family:
    """The splines or steps with these knots or cuts; the degree is that of B-splines."""
    if basis == "steps":
        return Steps(knots)
    return NaturalSplines(knots) if basis == "natural_spline" else BSplines(knots, degree)


def extended(family: Family, t: Floats, beyond: Extrapolation) -> Floats:
    """The values at t, which may lie outside of -1..1.

    Examples
    --------
    >>> square = BSplines(np.array([]), degree=2)
    >>> t = np.array([0.0, 1.0, 2.0])
    >>> extended(square, t, "constant")
    array([[0.5 , 0.  , 0.  ],
           [0.25, 1.  , 1.  ]])
    >>> extended(square, t, "linear")
    array([[ 0.5 ,  0.  , -1.  ],
           [ 0.25,  1.  ,  2.  ]])
    """
    if beyond == "continue":
        return family.values(t)
    inside = np.clip(t, -1.0, 1.0)
    values = family.values(inside)
    outside = np.flatnonzero(t != inside)
    if beyond == "linear" and len(outside):
        distance = t[outside] - inside[outside]
        values[:, outside] += family.slopes(inside[outside]) * distance
    return values
