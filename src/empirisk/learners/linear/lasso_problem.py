"""The lasso and the elastic net on given rows: in numbers of ordinary size, solved, and back."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, orth, svdvals
from scipy.linalg.lapack import dtrtri

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.moments import Moments
from empirisk.data.scaling import Scales, ordinary_moments, ordinary_rows
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.parallel import one_blas_thread, slices
from empirisk.solvers.lasso import (
    ENORMOUS,
    Penalty,
    Solutions,
    Stopping,
    gram_path,
    largest_alpha,
    without_penalised,
)
from empirisk.solvers.lasso_columns import columns_path
from empirisk.solvers.normal_equations import NormalEquations
from empirisk.solvers.refinement import ROUNDING

MANY_COLUMNS = 2000
"""Up to here the whole Gram matrix costs less than to look at all columns for each penalty."""
MANY_ROWS = 4  # times as many rows as columns: the same
COLUMNS_AT_ONCE = 128  # transposed together: they stay in the cache
LEAST_LEFT = 1e-6  # of the mean square of y, for ten digits of what a fit leaves of it
DATA_NOISE = 1e-15  # what rounding of the data leaves of a constant column, relative to it


class Sums(NamedTuple):
    """Mean squares and products about the centres: X'WX, X'Wy and y'Wy, divided by the weight."""

    gram: Floats
    right: Floats
    square: Floats
    centre: Floats
    level: Floats

    @classmethod
    def of(cls, moments: Moments, p: int, intercept: bool) -> "Sums":
        """Of the moments of p columns X and further columns y; constant columns count as zero."""
        equations = NormalEquations.of(moments, p, intercept)
        level = equations.level / moments.weight
        square = np.diagonal(moments.scatter)[p:] / moments.weight
        varying = equations.varying()
        gram = equations.gram / moments.weight * np.multiply.outer(varying, varying)
        right = equations.right / moments.weight * varying[:, np.newaxis]
        square = square if intercept else square + level**2
        return cls(
            np.ascontiguousarray(gram),
            np.ascontiguousarray(right.T),
            square,
            equations.centre,
            level * intercept,
        )


class Columns(NamedTuple):
    """The same for many columns: the centred columns as rows, times the roots of the weights."""

    columns: Floats
    y: Floats
    centre: Floats
    level: Floats

    @classmethod
    def of(cls, rows: Rows, intercept: bool) -> "Columns":
        share = rows.weight / rows.weight.sum()
        centre, level = intercept * (share @ rows.X), intercept * (share @ rows.y)
        root = np.sqrt(share)
        columns = np.empty(rows.X.shape[::-1])
        for cut in slices(len(columns), COLUMNS_AT_ONCE):
            some = (rows.X[:, cut].T - centre[cut, np.newaxis]) * root
            square = np.einsum("ji,ji->j", some, some)
            some[square <= DATA_NOISE**2 * (square + centre[cut] ** 2)] = 0.0  # constant
            columns[cut] = some
        y = np.ascontiguousarray(((rows.y - level) * root[:, np.newaxis]).T)
        return cls(columns, y, centre, level)


class Terms(NamedTuple):
    """What is minimised, and when to stop; `factors` has a number for each column."""

    factors: Floats
    l1_ratio: float
    fit_intercept: bool
    positive: bool
    stopping: Stopping


@dataclass(frozen=True, eq=False)
class Task:
    """A problem in ordinary numbers, and how to come back from them."""

    terms: Terms
    data: Sums | Columns
    scales: Scales

    @classmethod
    def of(cls, terms: Terms, blocks: Blocks, *, n_jobs: int | None = None) -> "Task":
        """Of rows; workers share the sums over many of them, and the bits do not depend on that."""
        p = len(terms.factors)
        with one_blas_thread():
            few = blocks.all_rows(at_most=MANY_ROWS * p) if p > MANY_COLUMNS else None
            if few is not None:
                rows, scales = ordinary_rows(few, each=True)
                return cls(terms, Columns.of(rows, terms.fit_intercept), scales)
            moments, _, scales = ordinary_moments(blocks, n_jobs=n_jobs)
            return cls.of_moments(terms, moments, scales)

    @classmethod
    def of_moments(cls, terms: Terms, moments: Moments, scales: Scales) -> "Task":
        return cls(terms, Sums.of(moments, len(terms.factors), terms.fit_intercept), scales)

    @property
    def is_summed(self) -> bool:
        """Whether it is known by sums over the rows, instead of by the rows."""
        return isinstance(self.data, Sums)

    def penalty(self, output: int) -> Penalty:
        """For the columns as they were scaled: b of a column divided by c is c times as large."""
        terms, scale, unit = self.terms, self.scales.X, self.scales.y[output]
        with np.errstate(over="ignore", under="ignore"):
            l1 = np.minimum(terms.factors * terms.l1_ratio / unit / scale, ENORMOUS)
            l2 = np.minimum(terms.factors * (1 - terms.l1_ratio) / scale / scale, ENORMOUS)
        return Penalty(l1, l2, terms.positive)

    def largest_alpha(self) -> float:
        """The least alpha at which all penalised coefficients of all outputs are zero."""
        found = []
        for k in range(len(self.scales.y)):
            penalty = self.penalty(k)
            if isinstance(self.data, Sums):
                data = self.data
                with one_blas_thread():
                    right = without_penalised(
                        data.gram, data.right[k], float(data.square[k]), penalty
                    )
            else:
                right = self.data.columns @ self._without_free_columns(k)
            found.append(largest_alpha(right, penalty))
        return max(found)

    def mean_square(self) -> float:
        """Of all numbers of X about their columns' means, in the unit of X."""
        data = self.data
        if isinstance(data, Sums):
            squares = np.diagonal(data.gram)
        else:
            squares = np.einsum("ji,ji->j", data.columns, data.columns)
        with np.errstate(over="ignore", under="ignore"):
            return min(float(np.mean(squares * self.scales.X * self.scales.X)), ENORMOUS)

    def _without_free_columns(self, output: int) -> Floats:
        """y less its fit on the columns that are free of penalty."""
        assert isinstance(self.data, Columns)
        y, free = self.data.y[output], self.data.columns[self.penalty(output).l1 == 0].T
        return y - free @ np.linalg.lstsq(free, y)[0] if free.shape[1] else y

    def solve(self, alphas: Floats, output: int, start: Floats | None) -> Solutions:
        data, penalty, stopping = self.data, self.penalty(output), self.terms.stopping
        if start is not None:
            start = np.ascontiguousarray(start * self.scales.X / self.scales.y[output])
        with one_blas_thread():
            if isinstance(data, Columns):
                return columns_path(data.columns, data.y[output], alphas, penalty, stopping)
            square = float(data.square[output])
            return gram_path(
                data.gram, data.right[output], square, alphas, penalty, stopping, start
            )

    def mean_squared_residuals(self, coef: Floats) -> Floats | None:
        """(values, outputs) of coefficients of the columns as given, and the best intercepts.

        None where there are no sums, or one residual square is so small that it would be rounding.
        """
        data = self.data
        if not isinstance(data, Sums):
            return None
        found = np.empty(coef.shape[:2])
        with np.errstate(over="ignore"), one_blas_thread():
            for k, unit in enumerate(self.scales.y):
                b = coef[:, k] * self.scales.X / unit
                fitted = b @ data.right[k] * 2 - np.einsum("vi,vi->v", b @ data.gram, b)
                left = data.square[k] - fitted
                if not (left >= LEAST_LEFT * data.square[k]).all():
                    return None
                found[:, k] = left * unit * unit
        return found

    def degrees_of_freedom(self, alpha: float, coef: Floats) -> float:
        """The trace of the hat matrix on the columns in use, mean over outputs (outputs, p).

        With the Gram matrix G of the k columns and their ridge penalties on the diagonal of D, the
        trace of (G + D)^-1 G is k - tr (G + D)^-1 D = k - |U'^-1 D^1/2|^2 where G + D = U'U.
        """
        return float(np.mean([self._trace(alpha, k, used) for k, used in enumerate(coef != 0)]))

    def _trace(self, alpha: float, output: int, used: Bools) -> float:
        active = np.flatnonzero(used)
        ridge = self.penalty(output).ridge(alpha)[active]
        if not ridge.any():
            return float(len(active))
        with one_blas_thread():
            if isinstance(self.data, Sums):
                gram = self.data.gram[np.ix_(active, active)]
            elif len(active) > self.data.columns.shape[1]:
                return _trace_by_rows(self.data.columns[active].T, ridge)
            else:
                gram = self.data.columns[active] @ self.data.columns[active].T
            try:
                factor = cholesky(gram + np.diag(ridge), check_finite=False)
            except LinAlgError:  # the penalty is lost in rounding beside columns that depend
                return _trace_by_rows(_root(gram), ridge)
            inverse, _ = dtrtri(factor)
        return float(len(active) - ((inverse**2).sum(axis=1) * ridge).sum())


def _root(gram: Floats) -> Floats:
    """Z with Z'Z = gram, of columns that are not zero, without what is rounding error."""
    length = np.sqrt(np.diagonal(gram))
    square, vectors = eigh(gram / length / length[:, np.newaxis], check_finite=False)
    square[square <= len(gram) * ROUNDING * square[-1]] = 0.0
    return np.sqrt(square)[:, np.newaxis] * vectors.T * length


def _trace_by_rows(Z: Floats, ridge: Floats) -> float:
    """The same trace for more columns than rows, of which the Gram matrix has no inverse: with the
    singular values s of the columns divided by the roots of their penalties, sum s^2 / (s^2 + 1);
    columns without a penalty fit all that they span."""
    free, own = orth(Z[:, ridge == 0]), Z[:, ridge > 0]
    own = (own - free @ (free.T @ own)) / np.sqrt(ridge[ridge > 0])
    singular = svdvals(own, overwrite_a=True, check_finite=False)
    singular = singular[singular > max(Z.shape) * ROUNDING * singular[0]]  # the rest is noise
    with np.errstate(over="ignore"):
        return free.shape[1] + float((1 - 1 / (np.square(singular) + 1)).sum())


class Fits(NamedTuple):
    """Coefficients (values, outputs, p) and intercepts (values, outputs) for the rows as given.

    The others are (values, outputs) too; `relative_gap` is relative to the mean square of y.
    """

    coef: Floats
    intercept: Floats
    gap: Floats
    relative_gap: Floats
    sweeps: Ints
    reached: Array


def fit_all(task: Task, alphas: Floats, start: Floats | None = None) -> Fits:
    """Solve for all outputs."""
    outputs = len(task.scales.y)
    solved = [task.solve(alphas, k, None if start is None else start[k]) for k in range(outputs)]
    coef, gap, sweeps, reached = (np.stack(part, axis=1) for part in zip(*solved, strict=True))
    square = task.data.square if isinstance(task.data, Sums) else (task.data.y**2).sum(axis=1)
    relative = gap / np.where(square > 0, square, 1.0)
    intercept = task.data.level - coef @ task.data.centre
    coef, intercept = task.scales.raw(coef, intercept)
    with np.errstate(over="ignore"):
        gap = np.minimum(gap * task.scales.y * task.scales.y, ENORMOUS)
    return Fits(coef + 0.0, intercept, gap, relative, sweeps, reached)  # + 0.0: no -0.0
