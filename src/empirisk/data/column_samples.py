"""The values of single columns by class, as a statistic that adds up: equal ones are counted once.

Cells that are missing are left out. A value of weight w is the same as w values.
"""

from dataclasses import dataclass

import numpy as np

from empirisk.runtime.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ColumnSamples:
    """The different values of each column in each class, increasing, and their weights.

    Attributes
    ----------
    values, weight : arrays of shape (cells,)
        Class after class, and in each column after column.
    first : int array of shape (K * p + 1,)
        Where the values of class k and column j begin, at k p + j, and how many there are in all.
    n_classes : int

    Examples
    --------
    >>> X, y = np.array([[1.0], [3.0], [np.nan], [1.0]]), np.array([0, 0, 0, 0])
    >>> some = ColumnSamples.of(X[:2], y[:2], np.ones(2), n_classes=1)
    >>> rest = ColumnSamples.of(X[2:], y[2:], np.ones(2), n_classes=1)
    >>> (some + rest).sample(0, 0)
    (array([1., 3.]), array([2., 1.]))
    """

    values: Floats
    weight: Floats
    first: Ints
    n_classes: int

    @classmethod
    def of(cls, X: Floats, y: Ints, weight: Floats, n_classes: int) -> "ColumnSamples":
        """Of rows with class codes y and positive weights; no cell is infinite."""
        parts = []
        for k in range(n_classes):
            own = y == k
            rows, of_rows = X[own], weight[own]
            for column in rows.T:
                there = ~np.isnan(column)
                parts.append(_counted(column[there], of_rows[there]))
        return cls._of_parts(parts, n_classes)

    @classmethod
    def empty(cls, n_classes: int, n_columns: int) -> "ColumnSamples":
        """Of no rows."""
        return cls(np.empty(0), np.empty(0), np.zeros(n_classes * n_columns + 1, int), n_classes)

    @classmethod
    def _of_parts(cls, parts: list[tuple[Floats, Floats]], n_classes: int) -> "ColumnSamples":
        lengths = [len(values) for values, _ in parts]
        first = np.cumsum([0, *lengths]).astype(np.int64)
        values = np.concatenate([values for values, _ in parts] or [np.empty(0)])
        return cls(values, np.concatenate([w for _, w in parts] or [np.empty(0)]), first, n_classes)

    @property
    def n_columns(self) -> int:
        return (len(self.first) - 1) // self.n_classes

    def sample(self, k: int, j: int) -> tuple[Floats, Floats]:
        """The values of column j in class k, and their weights."""
        at = k * self.n_columns + j
        own = slice(self.first[at], self.first[at + 1])
        return self.values[own], self.weight[own]

    def pooled(self, j: int) -> tuple[Floats, Floats]:
        """The values of column j in all classes."""
        parts = [self.sample(k, j) for k in range(self.n_classes)]
        return _counted(
            np.concatenate([values for values, _ in parts]),
            np.concatenate([weight for _, weight in parts]),
        )

    def __add__(self, other: "ColumnSamples") -> "ColumnSamples":
        parts = []
        for k in range(self.n_classes):
            for j in range(self.n_columns):
                both = zip(self.sample(k, j), other.sample(k, j), strict=True)
                values, weight = (np.concatenate(pair) for pair in both)
                parts.append(_counted(values, weight))
        return ColumnSamples._of_parts(parts, self.n_classes)


def _counted(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Each different value once, with the sum of its weights."""
    found, place = np.unique(values, return_inverse=True)
    return found, np.bincount(place.reshape(-1), weight, len(found)).astype(float)
