"""Weighted class means and the scatter within classes; they add up and subtract.

For rows x_i of weight w_i and class y_i

    weight_k = sum_{y_i = k} w_i
    mean_k   = sum_{y_i = k} w_i x_i / weight_k
    scatter  = sum_i w_i (x_i - mean_{y_i})(x_i - mean_{y_i})'

The scatter is pooled over the classes, and the update of Chan, Golub & LeVeque (1983) is applied
to each class: an offset that is large against the spread costs no digits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.moments import Moments
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline

MODERATE = 200
"""Squares of numbers between 2^-200 and 2^200, times such weights, are far from overflow."""


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Rows, weight and mean of each class, and the pooled scatter about the class means.

    A class without rows has weight 0 and mean 0. A column that is constant within each class has
    scatter exactly 0.

    Examples
    --------
    >>> X, y = np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 1])
    >>> three = ClassMoments.of(X, y, np.ones(3), n_classes=2)
    >>> three.mean, three.scatter
    (array([[2.],
           [8.]]), array([[2.]]))
    >>> two = three - ClassMoments.of(X[:1], y[:1], np.ones(1), n_classes=2)
    >>> two.mean, two.scatter
    (array([[3.],
           [8.]]), array([[0.]]))
    """

    rows: Ints
    weight: Floats
    mean: Floats
    scatter: Floats

    @classmethod
    def empty(cls, n_classes: int, n_columns: int) -> "ClassMoments":
        """The moments of no rows."""
        return cls(
            np.zeros(n_classes, np.int64),
            np.zeros(n_classes),
            np.zeros((n_classes, n_columns)),
            np.zeros((n_columns, n_columns)),
        )

    @classmethod
    def of(cls, X: Floats, y: Ints, weight: Floats, n_classes: int) -> "ClassMoments":
        """The moments of rows with class codes y and positive weights."""
        order = np.argsort(y, kind="stable")
        centred, weight = X[order], weight[order]
        moments = cls.empty(n_classes, X.shape[1])
        moments.rows[:] = np.bincount(y, minlength=n_classes)
        end = np.cumsum(moments.rows)
        for k in np.flatnonzero(moments.rows):
            own = slice(end[k] - moments.rows[k], end[k])
            moments.weight[k] = weight[own].sum()
            moments.mean[k] = _centre(centred[own], weight[own], moments.weight[k])
        if (weight != 1).any():
            centred *= np.sqrt(weight)[:, None]
        moments.scatter[:] = centred.T @ centred
        return moments

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        weight = self.weight + other.weight
        share = _ratio(other.weight, weight)
        apart = other.mean - self.mean
        spread = apart * np.sqrt(self.weight * share)[:, None]
        return ClassMoments(
            self.rows + other.rows,
            weight,
            self.mean + apart * share[:, None],
            self.scatter + other.scatter + spread.T @ spread,
        )

    def __sub__(self, part: "ClassMoments") -> "ClassMoments":
        """What is left when `part`, one of the summands, is taken away."""
        rows = self.rows - part.rows
        # A difference of weights carries a rounding error; the counts know which classes are gone.
        weight = np.where(rows > 0, np.maximum(self.weight - part.weight, 0.0), 0.0)
        share = _ratio(part.weight, weight)
        apart = self.mean - part.mean
        spread = apart * np.sqrt(self.weight * share)[:, None]
        scatter = self.scatter - part.scatter - spread.T @ spread
        np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
        mean = np.where(rows[:, None] > 0, self.mean + apart * share[:, None], 0.0)
        return ClassMoments(rows, weight, mean, scatter)

    def pooled(self) -> Moments:
        """The moments of all rows, whatever their class."""
        weight = float(self.weight.sum())
        mean = self.weight @ self.mean / weight
        apart = (self.mean - mean) * np.sqrt(self.weight)[:, None]
        return Moments(int(self.rows.sum()), weight, mean, self.scatter + apart.T @ apart)

    def mapped(self, A: Floats, b: Floats) -> "ClassMoments":
        """The moments of X A + b where these are those of X."""
        return ClassMoments(self.rows, self.weight, self.mean @ A + b, A.T @ self.scatter @ A)

    def present(self) -> "ClassMoments":
        """Without the classes that have no rows."""
        kept = self.rows > 0
        return ClassMoments(self.rows[kept], self.weight[kept], self.mean[kept], self.scatter)


def class_moments(blocks: Blocks, n_classes: int, n_columns: int) -> ClassMoments:
    """The moments of all blocks, whose y are class codes, added in order."""
    total = ClassMoments.empty(n_classes, n_columns)
    for block in blocks:
        check_deadline()
        total = total + ClassMoments.of(block.X, block.y, block.weight, n_classes)
    return total


@dataclass(frozen=True, eq=False)
class Units:
    """Powers of two in which columns and weights are measured, so that no square overflows.

    They are 2^0 unless the numbers are huge or tiny; a power of two changes no digit.

    Examples
    --------
    >>> rows = Rows(np.array([[3 * 2.0**700, 1.0]]), np.array([0]), np.ones(1))
    >>> Units.of([rows]).measure(rows).X
    array([[0.75, 1.  ]])
    """

    column: Ints
    weight: int

    @classmethod
    def of(cls, blocks: Iterable[Rows]) -> "Units":
        """From one pass over the rows."""
        column, weight = np.zeros(0), 0.0
        for block in blocks:
            column = np.maximum(column if len(column) else 0.0, np.abs(block.X).max(axis=0))
            weight = max(weight, float(block.weight.max()))
        return cls(_exponent(column), int(_exponent(np.array(weight))))

    def measure(self, rows: Rows) -> Rows:
        """The rows with numbers and weights in these units."""
        X = np.ldexp(rows.X, -self.column) if self.column.any() else rows.X
        weight = np.ldexp(rows.weight, -self.weight) if self.weight else rows.weight
        return Rows(X, rows.y, weight)


def _exponent(largest: Floats) -> Ints:
    exponent = np.frexp(largest)[1].astype(np.int64)
    return np.where(np.abs(exponent) > MODERATE, exponent, 0)


def _centre(X: Floats, weight: Floats, total: float) -> Floats:
    """Subtract the weighted mean from the rows, in place, and return it."""
    # About the first row a constant column is exactly 0, and its mean has no rounding error.
    first = X[0].copy()
    X -= first
    shift = (weight @ X) / total
    X -= shift
    return first + shift


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
