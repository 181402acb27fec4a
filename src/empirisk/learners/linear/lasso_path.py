"""The lasso and the elastic net on given rows, at all penalties."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from empirisk.charts.coefficient_path import draw_coefficient_path
from empirisk.data.blocks import Blocks, Rows
from empirisk.data.moments import Moments
from empirisk.data.scaling import Scales, ordinary_moments, ordinary_rows
from empirisk.learners.linear.linear_rule import LinearPath, LinearRule
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.lasso import (
    ENORMOUS,
    Penalty,
    Solutions,
    Stopping,
    columns_path,
    gram_path,
    largest_alpha,
    without_penalised,
)
from empirisk.solvers.normal_equations import NormalEquations

if TYPE_CHECKING:
    from empirisk.learners.linear.sparse_rule import SparseRule

MANY_COLUMNS = 2000
"""Up to here the whole Gram matrix costs less than to look at all columns for each penalty."""
MANY_ROWS = 4  # times as many rows as columns: the same
DATA_NOISE = 1e-15  # what rounding of the data leaves of a constant column, relative to it

L = TypeVar("L", bound=LinearRule)


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
        length = np.sqrt(share @ rows.X**2)
        columns = np.ascontiguousarray(rows.X.T)
        columns = (columns - centre[:, np.newaxis]) * root
        columns[np.sqrt(np.einsum("ji,ji->j", columns, columns)) <= DATA_NOISE * length] = 0.0
        return cls(columns, np.ascontiguousarray(((rows.y - level) * root[:, np.newaxis]).T),
                   centre, level)  # fmt: skip


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
    def of(cls, terms: Terms, blocks: Blocks) -> "Task":
        p = len(terms.factors)
        with one_blas_thread():
            few = blocks.all_rows(at_most=MANY_ROWS * p) if p > MANY_COLUMNS else None
            if few is not None:
                rows, scales = ordinary_rows(few, each=True)
                return cls(terms, Columns.of(rows, terms.fit_intercept), scales)
            moments, _, scales = ordinary_moments(blocks)
            return cls.of_moments(terms, moments, scales)

    @classmethod
    def of_moments(cls, terms: Terms, moments: Moments, scales: Scales) -> "Task":
        return cls(terms, Sums.of(moments, len(terms.factors), terms.fit_intercept), scales)

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


@dataclass(frozen=True, eq=False)
class SparsePath(LinearPath):
    """A lasso or elastic net at all penalties.

    Attributes
    ----------
    values : sequence of float
        The penalties.
    coef : array of shape (values, outputs, p)
    intercept : array of shape (values, outputs)
    dual_gap : array of shape (values, outputs)
        By how much at most each objective misses its minimum.
    n_iter : array of shape (values, outputs)
        Sweeps over the coefficients.
    degrees_of_freedom : array of shape (values,)
        Of the fit, the intercept included, mean over outputs: for the lasso the number of
        coefficients that are not zero (Zou, Hastie & Tibshirani 2007).
    """

    dual_gap: Floats
    n_iter: Ints

    @classmethod
    def of(
        cls, learner: "SparseRule", values: Sequence[Any], task: Task, fits: Fits, *, flat: bool
    ) -> Self:
        freedom = (fits.coef != 0).sum(axis=2).mean(axis=1) + bool(learner.fit_intercept)
        if task.terms.l1_ratio < 1:
            freedom -= _shrunk(task, np.asarray(values, dtype=float), fits.coef)
        return cls(
            learner,
            values,
            fits.coef,
            fits.intercept,
            freedom.astype(float),
            flat,
            fits.gap,
            fits.sweeps,
        )

    @property
    def norm(self) -> Floats:
        """What the penalty is on: sum_j f_j (r |b_j| + (1 - r) b_j^2 / 2), (values, outputs)."""
        learner: Any = self.learner
        ratio, size = learner._l1_ratio, np.abs(self.coef)
        return (ratio * size + (1 - ratio) / 2 * size**2) @ learner._factors(size.shape[2])

    def at(self, j: int) -> LinearRule:
        """The fitted learner at the j-th penalty."""
        return self.teach(super().at(j), j)

    def teach(self, learner: L, j: int) -> L:
        """Make a learner the fitted one at the j-th penalty."""
        coef, intercept = self.coef[j].copy(), self.intercept[j].copy()
        learner._take(coef, intercept, float(self.degrees_of_freedom[j]), flat=self.flat)
        gap, sweeps = self.dual_gap[j], self.n_iter[j]
        learner.dual_gap_ = float(gap[0]) if self.flat else gap.copy()
        learner.n_iter_ = int(sweeps.max())
        return learner

    def plot(self, *, output: int = 0, names: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Coefficients against the penalty, richer to the right.

        Parameters
        ----------
        output : int, default=0
            Which column of y.
        names : sequence of str, optional
            Of the columns of X, for the legend.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        alphas = np.asarray(self.values, dtype=float)
        return draw_coefficient_path(alphas, self.coef[:, output], names=names, ax=ax)


def _shrunk(task: Task, alphas: Floats, coef: Floats) -> Floats:
    """By how much the ridge part of the penalty lowers the trace of the hat matrix.

    With the Gram matrix G of the k active columns, and their ridge penalties on the diagonal of D,
    the trace of (G + D)^-1 G is k - tr (G + D)^-1 D.
    """
    lost = np.zeros(coef.shape[:2])
    for v, k in np.ndindex(lost.shape):
        active = np.flatnonzero(coef[v, k])
        ridge = task.penalty(k).ridge(float(alphas[v]))[active]
        if isinstance(task.data, Sums):
            gram = task.data.gram[np.ix_(active, active)]
        else:
            gram = task.data.columns[active] @ task.data.columns[active].T
        if len(active) and ridge.any():
            with one_blas_thread():
                factor = cho_factor(gram + np.diag(ridge))
                lost[v, k] = np.trace(cho_solve(factor, np.diag(ridge)))
    return lost.mean(axis=1)
