"""Weighted class means and the scatter within classes; they add up and subtract.

For rows x_i of weight w_i and class y_i

    weight_k  = sum_{y_i = k} w_i
    mean_k    = sum_{y_i = k} w_i x_i / weight_k
    scatter_k = sum_{y_i = k} w_i (x_i - mean_k)(x_i - mean_k)'

The scatter is kept for each class, or, where all share one covariance, pooled over the classes.
The update of Chan, Golub & LeVeque (1983) is applied to each class: an offset that is large against
the spread costs no digits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from empirisk.compiled.class_rows import centre_by_class
from empirisk.data.blocks import Blocks, Rows, compilable
from empirisk.data.column_moments import MODERATE, extreme_exponent
from empirisk.data.moments import Moments
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Rows, weight and mean of each class, and the scatter about the class means.

    The scatter has the shape (K, p, p), or (p, p) where it is pooled over the classes. A class
    without rows has weight 0 and mean 0. A column that is constant within each class has scatter
    exactly 0.

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
    def empty(cls, n_classes: int, n_columns: int, *, tied: bool = True) -> "ClassMoments":
        """The moments of no rows."""
        shape = (n_columns, n_columns) if tied else (n_classes, n_columns, n_columns)
        return cls(
            np.zeros(n_classes, np.int64),
            np.zeros(n_classes),
            np.zeros((n_classes, n_columns)),
            np.zeros(shape),
        )

    @classmethod
    def of(
        cls, X: Floats, y: Ints, weight: Floats, n_classes: int, *, tied: bool = True
    ) -> "ClassMoments":
        """The moments of rows with class codes y and positive weights."""
        moments = cls.empty(n_classes, X.shape[1], tied=tied)
        moments.rows[:] = np.bincount(y, minlength=n_classes)
        moments.weight[:] = np.bincount(y, weight, n_classes)
        end = np.cumsum(moments.rows)
        begin = end - moments.rows
        centred = np.empty(X.shape)
        X, y, weight = (compilable(part) for part in (X, y, weight))
        centre_by_class(X, y, weight, np.sqrt(weight), moments.weight, begin, moments.mean, centred)
        # NumPy sees the symmetry of a product Z'Z and does half the work.
        if tied:
            np.dot(centred.T, centred, out=moments.scatter)
        else:
            for k in np.flatnonzero(moments.rows):
                own = centred[begin[k] : end[k]]
                np.dot(own.T, own, out=moments.scatter[k])
        return moments

    @property
    def tied(self) -> bool:
        """Whether the scatter is pooled over the classes."""
        return self.scatter.ndim == 2

    @property
    def within(self) -> Floats:
        """The scatter within classes, pooled over them."""
        return self.scatter if self.tied else self.scatter.sum(axis=0)

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        weight = self.weight + other.weight
        share = _ratio(other.weight, weight)
        apart = other.mean - self.mean
        spread = apart * np.sqrt(self.weight * share)[:, None]
        return ClassMoments(
            self.rows + other.rows,
            weight,
            self.mean + apart * share[:, None],
            self.scatter + other.scatter + self._products(spread),
        )

    def __sub__(self, part: "ClassMoments") -> "ClassMoments":
        """What is left when `part`, one of the summands, is taken away."""
        rows = self.rows - part.rows
        # A difference of weights carries a rounding error; the counts know which classes are gone.
        weight = np.where(rows > 0, np.maximum(self.weight - part.weight, 0.0), 0.0)
        share = _ratio(part.weight, weight)
        apart = self.mean - part.mean
        spread = apart * np.sqrt(self.weight * share)[:, None]
        scatter = self.scatter - part.scatter - self._products(spread)
        if not self.tied:
            scatter[rows == 0] = 0.0
        diagonal = np.einsum("...jj->...j", scatter)
        np.maximum(diagonal, 0.0, out=diagonal)
        mean = np.where(rows[:, None] > 0, self.mean + apart * share[:, None], 0.0)
        return ClassMoments(rows, weight, mean, scatter)

    def _products(self, spread: Floats) -> Floats:
        """s_k s_k' of each class, or their sum."""
        return spread.T @ spread if self.tied else spread[:, :, None] * spread[:, None, :]

    def pooled(self) -> Moments:
        """The moments of all rows, whatever their class."""
        weight = float(self.weight.sum())
        mean = self.weight @ self.mean / weight
        apart = (self.mean - mean) * np.sqrt(self.weight)[:, None]
        return Moments(int(self.rows.sum()), weight, mean, self.within + apart.T @ apart)

    def mapped(self, A: Floats, b: Floats) -> "ClassMoments":
        """The moments of X A + b where these are those of X."""
        return ClassMoments(self.rows, self.weight, self.mean @ A + b, A.T @ self.scatter @ A)

    def present(self) -> "ClassMoments":
        """Without the classes that have no rows."""
        kept = self.rows > 0
        scatter = self.scatter if self.tied else self.scatter[kept]
        return ClassMoments(self.rows[kept], self.weight[kept], self.mean[kept], scatter)


def class_moments(
    blocks: Blocks, n_classes: int, n_columns: int, *, tied: bool = True
) -> ClassMoments:
    """The moments of all blocks, whose y are class codes, added in order."""
    total = ClassMoments.empty(n_classes, n_columns, tied=tied)
    for block in blocks:
        check_deadline()
        total = total + ClassMoments.of(block.X, block.y, block.weight, n_classes, tied=tied)
    return total


def measured_moments(
    blocks: Blocks, n_classes: int, *, tied: bool = True
) -> tuple[ClassMoments, "Units"]:
    """The moments of all blocks, of columns and weights in the units that are returned with them.

    Ordinary numbers are gone through once: that no square overflowed is seen from the moments.
    """
    p = blocks.n_columns
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        moments = class_moments(blocks, n_classes, p, tied=tied)
    if _are_ordinary(moments):
        return moments, Units(np.zeros(p, np.int64), 0)
    units = Units.of(blocks)
    if units.column.any() or units.weight:
        moments = class_moments(blocks.map(units.measure), n_classes, p, tied=tied)
    return moments, units


def _are_ordinary(moments: ClassMoments) -> bool:
    """Whether columns and weights are so far from the limits that their units are 1."""
    weight = moments.weight[moments.rows > 0]
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.diagonal(moments.within) / weight.sum()
        size = np.append(np.sqrt(variance + np.square(moments.mean).max(axis=0)), weight)
    least, most = np.ldexp(1.0, -MODERATE // 2), np.ldexp(1.0, MODERATE // 2)
    return bool(((size > least) & (size < most)).all())


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
        return cls(extreme_exponent(column), int(extreme_exponent(np.array(weight))))

    def measure(self, rows: Rows) -> Rows:
        """The rows with numbers and weights in these units."""
        X = np.ldexp(rows.X, -self.column) if self.column.any() else rows.X
        weight = np.ldexp(rows.weight, -self.weight) if self.weight else rows.weight
        return Rows(X, rows.y, weight)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
