"""Polynomials of one feature that are orthogonal on the training rows.

With <f, g> the weighted mean of f g over the rows, P_0 = 1 and

    c_k P_k+1(t) = (t - a_k) P_k(t) - b_k P_k-1(t),   a_k = <t P_k, P_k>,  b_k = <t P_k, P_k-1>,

where c_k makes <P_k+1, P_k+1> = 1 (Forsythe 1957; so in R's `poly`). The same steps give the values
at the training rows and anywhere else, so that rounding is all the same in both: least squares on
them keeps its digits at degrees and for data where powers, or the Legendre polynomials of the
range, have lost all of theirs.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from empirisk.runtime.arrays import Floats

ROUNDING = 1e-14
"""Relative to the last polynomial: what is not larger on any row is zero."""


@dataclass(frozen=True, eq=False)
class OrthogonalPolynomials:
    """P_1 ... P_size from the numbers a, b and c, the three rows of `steps`.

    Examples
    --------
    >>> polynomials = OrthogonalPolynomials.of(np.array([-1.0, 0.0, 1.0]), np.ones(3), 2)
    >>> polynomials.values(np.array([-1.0, 0.0, 1.0, 2.0])).round(4)
    array([[-1.2247,  0.    ,  1.2247,  2.4495],
           [ 0.7071, -1.4142,  0.7071,  7.0711]])
    """

    steps: Floats

    @classmethod
    def of(cls, t: Floats, weight: Floats, degree: int) -> Self:
        """Up to the degree, or to one less than there are distinct values."""
        share = weight / weight.max()
        share /= share.sum()
        steps = np.zeros((3, largest_power(t, degree)))
        before, own = np.zeros(len(t)), np.ones(len(t))
        for k in range(steps.shape[1]):
            a = share @ (t * own * own)
            b = share @ ((t - a) * own * before)
            new = (t - a) * own - b * before
            c = np.sqrt(share @ (new * new))
            if not (c > 0 and np.abs(new).max() > ROUNDING * np.abs(own).max()):
                return cls(steps[:, :k])
            steps[:, k] = a, b, c
            before, own = own, new / c
        return cls(steps)

    @property
    def size(self) -> int:
        return self.steps.shape[1]

    def values(self, t: Floats) -> Floats:
        found = np.empty((self.size, len(t)))
        before, own = np.zeros(len(t)), np.ones(len(t))
        for new, (a, b, c) in zip(found, self.steps.T, strict=True):
            new[:] = ((t - a) * own - b * before) / c
            before, own = own, new
        return found

    def slopes(self, t: Floats) -> Floats:
        found = np.empty((self.size, len(t)))
        before, own = np.zeros(len(t)), np.zeros(len(t))
        below = np.concatenate([np.ones((1, len(t))), self.values(t)[:-1]])
        for new, value, (a, b, c) in zip(found, below, self.steps.T, strict=True):
            new[:] = (value + (t - a) * own - b * before) / c
            before, own = own, new
        return found


def largest_power(t: Floats, degree: int) -> int:
    """The degree, or one less than there are distinct values: higher powers depend on lower ones.

    Most often the first rows tell that there are enough.
    """
    if len(np.unique(t[: 4 * degree + 100])) > degree:
        return degree
    return min(degree, len(np.unique(t)) - 1)
