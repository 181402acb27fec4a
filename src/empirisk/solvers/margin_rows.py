"""Rows made ready for the minimisation of a penalised margin risk

sum_i v_i phi(y_i (b0 + x_i'b)) + penalty(b),    y_i in {-1, +1}, sum_i v_i = 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.data.scaling import LARGEST_PENALTY, power_of_two
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline

LEAST_PENALTY = 1e-14
"""Of columns of size 1. Below it the penalty is lost in the rounding of the loss."""

ROWS = 4096  # scaled at a time: they stay in the cache, and no second copy of X is made
LARGEST = np.finfo(float).max


@dataclass(frozen=True, eq=False)
class MarginRows:
    """X in units of one power of two, about its mean where there is an intercept.

    Attributes
    ----------
    X : array of shape (n, q)
    share : array of shape (n,)
        The weights, with sum 1.
    total : float
        Their sum before.
    centre : array of shape (p,)
        In the units of the columns as given.
    scale : float
        The unit.
    basis : array of shape (p, q) or None
        With more columns than rows an orthonormal basis of the space of the rows, in which X is
        given: with a penalty on the norm the best b lies in it.
    fit_intercept : bool
    """

    X: Floats
    share: Floats
    total: float
    centre: Floats
    scale: float
    basis: Floats | None
    fit_intercept: bool

    @classmethod
    def of(cls, X: Floats, weight: Floats, *, fit_intercept: bool, rotate: bool) -> "MarginRows":
        """`rotate` allows a change of basis."""
        largest = power_of_two(np.maximum(X.max(), -X.min()))
        total = float(weight.sum())
        share = weight / total
        rows = np.ascontiguousarray(X / largest)
        centre = np.zeros(X.shape[1])
        if fit_intercept:
            centre = share @ rows
            constant = _constant(rows)
            centre[constant] = rows[0, constant]  # else the rounding of the mean looks like data
            rows -= centre
        scale = power_of_two(np.maximum(rows.max(), -rows.min()))
        rows /= scale
        basis = None
        if rotate and X.shape[1] > len(X):
            basis, right = np.linalg.qr(rows.T)
            rows = np.ascontiguousarray(right.T)
        unit = float(largest) * float(scale)
        return cls(rows, share, total, centre * largest, unit, basis, fit_intercept)

    @property
    def n_coefficients(self) -> int:
        """Those of the columns and the intercept."""
        return self.X.shape[1] + self.fit_intercept

    @property
    def finest(self) -> float:
        """The least weight in units of the mean one: what counts must be known so exactly."""
        least = float(np.min(self.share, where=self.share > 0, initial=1.0))
        return min(1.0, max(len(self.share) * least, LEAST_PENALTY))

    def penalty(self, C: float, power: int) -> float:
        """What stands before |b|_1 (power 1) or |b|^2 / 2 (power 2) when the losses have mean 1."""
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            strength = np.float64(1.0) / C / self.total
            for _ in range(power):
                strength /= self.scale
        return float(np.clip(strength, LEAST_PENALTY, LARGEST_PENALTY))

    def raw(self, b: Floats) -> Floats:
        """Coefficients of the columns as given."""
        coef = b if self.basis is None else self.basis @ b
        with np.errstate(over="ignore"):
            return np.clip(coef / self.scale, -LARGEST, LARGEST)

    def scatter(self, weight: Floats) -> Floats:
        """[X, 1]' diag(weight) [X, 1]; without the last row and column if there is no intercept.

        The weights are 0 or more; rows of weight 0 cost nothing.
        """
        q = self.X.shape[1]
        total = np.zeros((q + self.fit_intercept,) * 2)
        used = np.flatnonzero(weight)
        for first in range(0, len(used), ROWS):
            check_deadline()
            part: Any = used[first : first + ROWS]
            if part[-1] - part[0] == len(part) - 1:
                part = slice(part[0], part[-1] + 1)  # a view instead of a copy
            root = np.sqrt(weight[part])
            Z = np.empty((len(root), len(total)))
            np.multiply(self.X[part], root[:, np.newaxis], out=Z[:, :q])
            Z[:, q:] = root[:, np.newaxis]
            total += Z.T @ Z
        return total

    def score(self, b: Floats) -> Floats:
        """b0 + x_i'b, of [b, b0] or b."""
        return self.X @ b[: self.X.shape[1]] + (b[-1] if self.fit_intercept else 0.0)

    def back(self, per_row: Floats) -> Floats:
        """[X, 1]' r, the adjoint of `score`."""
        product = per_row @ self.X
        return np.append(product, per_row.sum()) if self.fit_intercept else product


def _constant(rows: Floats) -> Ints:
    """The columns with one value."""
    maybe = np.flatnonzero(rows[0] == rows[-1])
    return maybe[(rows[:, maybe] == rows[0, maybe]).all(axis=0)]
