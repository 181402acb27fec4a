"""Componentwise least squares: a weak learner that is a line in one column, the best of them.

To a target u it fits, of all lines a + b x_j, the one with the least sum_i w_i (u_i - a - b x_ij)^2
(Buehlmann & Yu 2003; Buehlmann 2006). Boosting it selects columns one by one and shrinks their
coefficients.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from empirisk.compiled.boosting.columns import boost_columns
from empirisk.data.blocks import Rows
from empirisk.data.scaling import ordinary_rows, power_of_two
from empirisk.learners.ensembles.boosting.forward_stagewise import Additive
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread

EPS = float(np.finfo(float).eps)
CONSTANT = 16 * EPS  # what is left of a constant column about its mean, relative to its size
ALL_AT_ONCE = 2048  # columns up to which all products are found in one go; else as they are needed
AHEAD = 8  # columns whose products are found together: one pass over the rows serves them all
NO_COLUMN = -1


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of X about their means, times the roots of the weights, with length 1.

    A column that is constant is zero. `mean` and `length` are in the units of X, which extreme
    columns were divided by (`scale`) so that no square overflows.
    """

    Z: Floats
    mean: Floats
    length: Floats
    scale: Floats
    root: Floats

    @classmethod
    def of(cls, X: Floats, weight: Floats, *, centred: bool) -> "Columns":
        rows, scales = ordinary_rows(Rows(X, np.zeros((len(X), 1)), weight), each=True)
        share = rows.weight / rows.weight.sum()
        mean = np.zeros(X.shape[1])
        if centred:
            mean = share @ rows.X
            mean += share @ (rows.X - mean)  # what rounding has left
        root = np.sqrt(share)
        Z = (rows.X - mean) * root[:, None]
        length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
        size = np.abs(rows.X).max(axis=0)
        length = np.where(length > CONSTANT * size, length, 0.0)
        Z = np.divide(Z, length, out=np.zeros_like(Z), where=length > 0)
        return cls(Z, mean, length, scales.X, root)

    def correlations(self, target: Floats) -> Floats:
        """Z'u for targets u of the rows, each times the root of its weight."""
        return (self.root * target) @ self.Z

    def slopes(self, selected: Ints, steps: Floats) -> Floats:
        """Steps along columns of length 1 as slopes in the units of X."""
        return steps / self.length[selected] / self.scale[selected]

    def offsets(self, selected: Ints, steps: Floats) -> Floats:
        """What the steps add to the intercept."""
        return -steps / self.length[selected] * self.mean[selected]


class ColumnRounds:
    """Fits the best line in one column.

    Parameters
    ----------
    X : float64 array of shape (n, p)
    centred : bool
        Whether lines have an intercept; without it they pass through the origin.
    """

    def __init__(self, X: Floats, *, centred: bool) -> None:
        self.X, self.centred = X, centred
        self._kept: tuple[Floats, Columns] | None = None

    def columns(self, weight: Floats) -> Columns:
        """The columns for these weights; the last ones are kept.

        Threads ask for those of several classes at once: what one returns is its own.
        """
        kept = self._kept
        if kept is None or kept[0] is not weight:
            self._kept = kept = weight, Columns.of(self.X, weight, centred=self.centred)
        return kept[1]

    def fit(
        self, target: Floats, weight: Floats, seed: int
    ) -> tuple[tuple[int, float, float], Floats]:
        """(column, intercept, slope) of the best line, and the line at the rows."""
        columns = self.columns(weight)
        unit = float(power_of_two(np.abs(target).max()))
        u = target / unit
        middle = float(columns.root**2 @ u) if self.centred else 0.0
        correlation = columns.correlations(u - middle)
        j = int(np.abs(correlation).argmax())
        if correlation[j] == 0.0:
            return (NO_COLUMN, unit * middle, 0.0), np.full(len(u), unit * middle)
        at, step = np.array([j]), correlation[j : j + 1]
        line = middle + step[0] * (columns.Z[:, j] / columns.root)
        offset = middle + float(columns.offsets(at, step)[0])
        return (j, unit * offset, unit * float(columns.slopes(at, step)[0])), unit * line

    def stages(self, members: list[tuple[int, float, float]], weights: Floats) -> "StagedColumns":
        selected, offsets, slopes = zip(*members, strict=True)
        return StagedColumns(
            np.array(selected, dtype=np.int64),
            np.array(offsets),
            np.array(slopes),
            weights,
            self.X.shape[1],
        )


@dataclass(frozen=True, eq=False)
class StagedColumns:
    """The lines of all rounds and what each counts in the sum.

    Attributes
    ----------
    selected : int64 array of shape (members,)
        The column of each; -1 where it is a constant.
    offsets, slopes, weights : float64 arrays of shape (members,)
        A member is offset + slope x_j, and counts as often as its weight.
    n_columns : int
        Of X.
    """

    selected: Ints
    offsets: Floats
    slopes: Floats
    weights: Floats
    n_columns: int

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, are lines in columns."""
        n = len(self.selected)
        check_array("selected", self.selected, np.int64, (n,))
        for name in ("offsets", "slopes", "weights"):
            check_array(name, getattr(self, name), np.float64, (n,))
            if not np.isfinite(getattr(self, name)).all():
                raise DataError(f"{name} are not finite")
        if n and not -1 <= self.selected.min() <= self.selected.max() < self.n_columns:
            raise DataError(f"selected has columns beyond {self.n_columns}")

    def coefficients(self, rounds: Sequence[int], columns: int) -> tuple[Floats, Floats]:
        """(rounds, columns, p) and (rounds, columns): of the sum after these rounds, in order."""
        found = [(coef.copy(), intercept.copy()) for coef, intercept in self._sums(rounds, columns)]
        return np.array([coef for coef, _ in found]), np.array([cut for _, cut in found])

    def _sums(self, rounds: Sequence[int], columns: int) -> Iterator[tuple[Floats, Floats]]:
        """Coefficients and intercepts after each of these rounds, overwritten by the next."""
        coef, intercept, done = np.zeros((columns, self.n_columns)), np.zeros(columns), 0
        for t in rounds:
            part = slice(done * columns, t * columns)
            k, j = np.arange(part.start, part.stop) % columns, self.selected[part]
            steps = self.weights[part] * self.slopes[part]
            np.add.at(coef, (k[j >= 0], j[j >= 0]), steps[j >= 0])
            np.add.at(intercept, k, self.weights[part] * self.offsets[part])
            done = t
            yield coef, intercept

    def staged(
        self, X: Floats, start: Floats, rounds: Sequence[int], n_jobs: int | None
    ) -> Iterator[Floats]:
        """As `Stages` has it."""
        for coef, intercept in self._sums(rounds, len(start)):
            with one_blas_thread():
                f = X @ coef.T
            yield f + (start + intercept)

    def first(self, rounds: int, columns: int) -> "StagedColumns":
        part = slice(rounds * columns)
        return StagedColumns(
            self.selected[part],
            self.offsets[part],
            self.slopes[part],
            self.weights[part],
            self.n_columns,
        )


class ColumnBoosting:
    """L2-boosting by columns, all rounds from the products of the columns.

    As `forward_stagewise` with `ColumnRounds` and the squared loss, but for rounding. Products of
    up to 2,048 columns are found at once; of more, those of a column when it is first selected,
    together with those of the next best.

    Parameters
    ----------
    columns : Columns
    residual : float64 array of shape (n,)
        What is left of y at the start.
    rate : float
    """

    def __init__(self, columns: Columns, residual: Floats, rate: float, rounds: int) -> None:
        self.columns, self.rate = columns, rate
        p = columns.Z.shape[1]
        self._place = np.full(p, -1)
        self._gram = np.zeros((0, p))
        self.unit = float(power_of_two(np.abs(residual).max()))
        scaled = columns.root * (residual / self.unit)
        self.variance = float(scaled @ scaled)
        with one_blas_thread():
            correlation = scaled @ columns.Z
            if p <= ALL_AT_ONCE:
                self._gram, self._place = columns.Z.T @ columns.Z, np.arange(p)
            self.selected, self.steps = self._boosted(correlation, rounds)

    def _boosted(self, correlation: Floats, rounds: int) -> tuple[Ints, Floats]:
        selected, steps = np.zeros(rounds, np.int64), np.zeros(rounds)
        least, t = EPS * float(np.sqrt(self.variance)), 0
        while True:
            check_deadline()
            t, ending = boost_columns(
                self._gram, self._place, correlation, self.rate, least, selected, steps, t
            )
            if ending != 1:
                return selected[:t], steps[:t]
            self._find_products(np.abs(correlation))

    def _find_products(self, size: Floats) -> None:
        """Of the best column, which is wanted now, and of those that are likely to be next."""
        size[self._place >= 0] = -1.0
        ahead = np.argpartition(size, -AHEAD)[-AHEAD:]
        used = int(self._place.max()) + 1
        if used + AHEAD > len(self._gram):
            longer = np.zeros((max(4 * AHEAD, 2 * used), self._gram.shape[1]))
            longer[:used] = self._gram[:used]
            self._gram = longer
        np.dot(self.columns.Z[:, ahead].T, self.columns.Z, out=self._gram[used : used + AHEAD])
        self._place[ahead] = np.arange(used, used + AHEAD)

    def additive(self) -> Additive:
        """The members and the mean squared residual after each round."""
        selected, steps = self.selected, self.steps
        n, h = len(selected), steps / self.rate * self.unit
        columns = self.columns
        stages = StagedColumns(
            selected,
            columns.offsets(selected, h),
            columns.slopes(selected, h),
            np.full(n, self.rate),
            columns.Z.shape[1],
        )
        with np.errstate(over="ignore"):
            return Additive(stages, self.mean_squares[1:] * self.unit * self.unit)

    @cached_property
    def mean_squares(self) -> Floats:
        """The mean squared residual, in squares of `unit`, after 0, 1, ... rounds.

        A round that goes from a residual with correlation c by rate c takes away
        (2 - rate) rate c^2.
        """
        lost = (2.0 / self.rate - 1.0) * self.steps**2
        return np.maximum(self.variance - np.concatenate([[0.0], np.cumsum(lost)]), 0.0)

    def products(self) -> tuple[Floats, Ints]:
        """Of the columns that were selected, in the order in which they first were, and the
        number of each round's column in that order."""
        first = np.unique(self.selected, return_index=True)[1]
        order = self.selected[np.sort(first)]
        number = np.empty(len(self._place), np.int64)
        number[order] = np.arange(len(order))
        gram = np.ascontiguousarray(self._gram[self._place[order]][:, order])
        return gram, number[self.selected]
