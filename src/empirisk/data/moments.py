"""Weighted means and scatter matrices that add up and subtract.

For rows z_i of weight w_i

    weight  = sum w_i
    mean    = sum w_i z_i / weight
    scatter = sum w_i (z_i - mean)(z_i - mean)'

The scatter is taken about the mean at once, block by block, and blocks are joined by the stable
update of Chan, Golub & LeVeque (1983): an offset that is large against the spread costs no digits.
Only where there is no such offset, the scatter is that about zero less the mean's part.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from empirisk.compiled.centring import centre_rows
from empirisk.data.blocks import Blocks, Rows, compilable
from empirisk.runtime.arrays import Floats

MANY_ROWS, FEW_ROWS = 1024, 64
NEAR_ZERO = 1.0
"""Squared mean over variance up to which sums of squares about zero lose no digit to speak of."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of rows, weight, mean and scatter of some columns.

    Examples
    --------
    >>> left, right = Moments.of(np.array([[1.0], [3.0]])), Moments.of(np.array([[8.0]]))
    >>> both = left + right
    >>> both.mean, both.scatter
    (array([4.]), array([[26.]]))
    >>> (both - right).scatter
    array([[2.]])
    """

    rows: int
    weight: float
    mean: Floats
    scatter: Floats

    @classmethod
    def of(cls, X: Floats, y: Floats | None = None, weight: Floats | None = None) -> "Moments":
        """The moments of the columns [X, y]."""
        n, p = X.shape
        X, y = (compilable(part) for part in (X, np.empty((n, 0)) if y is None else y))
        weight = np.ones(n) if weight is None else weight
        if n >= MANY_ROWS and (weight == 1.0).all():
            found = _without_centring(X, y)
            if found is not None:
                return cls(n, float(n), *found)
        total, root = float(weight.sum()), np.sqrt(weight)
        mean = np.append(weight @ X, weight @ y) / total
        Z = np.empty((n, p + y.shape[1]))
        centre_rows(X, y, mean, root, Z)
        # A second look at the mean: its rounding errors would show in nearly constant columns.
        missed = (root @ Z) / total
        scatter = Z.T @ Z  # NumPy sees the symmetry and does half the work
        scatter -= np.multiply.outer(missed, missed * total)
        return cls(n, total, mean + missed, _not_negative(scatter))

    def of_first(self, p: int) -> "Moments":
        """Those of the first p columns alone."""
        return Moments(self.rows, self.weight, self.mean[:p], self.scatter[:p, :p])

    def mapped(self, A: Floats, b: Floats) -> "Moments":
        """Those of [X A + b, y] where these are the moments of [X, y]."""
        p, q = A.shape
        outputs = len(self.mean) - p
        whole = np.zeros((p + outputs, q + outputs))
        whole[:p, :q] = A
        whole[p:, q:] = np.eye(outputs)
        mean = self.mean @ whole
        mean[:q] += b
        return Moments(self.rows, self.weight, mean, whole.T @ self.scatter @ whole)

    def __add__(self, other: "Moments") -> "Moments":
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        between = np.multiply.outer(apart, apart * (self.weight * (other.weight / weight)))
        return Moments(
            self.rows + other.rows,
            weight,
            self.mean + apart * (other.weight / weight),
            self.scatter + other.scatter + between,
        )

    def __sub__(self, part: "Moments") -> "Moments":
        """What is left when `part`, one of the summands, is taken away; some rows must remain."""
        weight = self.weight - part.weight
        apart = part.mean - self.mean
        between = np.multiply.outer(apart, apart * (part.weight * (self.weight / weight)))
        return Moments(
            self.rows - part.rows,
            weight,
            self.mean - apart * (part.weight / weight),
            _not_negative(self.scatter - part.scatter - between),
        )


def _without_centring(X: Floats, y: Floats) -> tuple[Floats, Floats] | None:
    """Mean and scatter by X'X less the mean's part, which takes no copy of the rows.

    None where a mean is not small against the spread of its column: digits would be lost.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # huge numbers are scaled by the caller
        some = np.hstack([X[:: len(X) // FEW_ROWS], y[:: len(X) // FEW_ROWS]])
        if (some.mean(axis=0) ** 2 > NEAR_ZERO * some.var(axis=0)).any():
            return None
        n, p = X.shape
        scatter = np.empty((p + y.shape[1],) * 2)
        # NumPy sees the symmetry and does half the work; its rows are in the cache for the rest.
        scatter[:p, :p] = X.T @ X
        scatter[:p, p:] = X.T @ y
        scatter[p:, :p] = scatter[:p, p:].T
        scatter[p:, p:] = y.T @ y
        ones = np.ones(n)
        mean = np.append(ones @ X, ones @ y) / n
        sized = mean * np.sqrt(n)
        scatter -= np.multiply.outer(sized, sized)
        if not (mean**2 * n <= NEAR_ZERO * np.diagonal(scatter)).all():
            return None
        return mean, scatter


def total_moments(blocks: Blocks, *, n_jobs: int | None = None) -> Moments:
    """Moments of the columns [X, y] of all blocks, added in order: the same bits for any n_jobs."""
    return reduce(add, blocks.each(_summarise, n_jobs=n_jobs))


def _summarise(rows: Rows) -> Moments:
    return Moments.of(*rows)


def _not_negative(scatter: Floats) -> Floats:
    np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
    return scatter
