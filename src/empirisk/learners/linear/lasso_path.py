"""The lasso and the elastic net at all penalties: what is kept, and how it predicts."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from empirisk.charts.coefficient_path import draw_coefficient_path
from empirisk.learners.linear.lasso_problem import Fits, Task
from empirisk.learners.linear.linear_rule import LinearPath
from empirisk.learners.linear.sparse_lines import SparseLines
from empirisk.losses import Loss, Squared
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints

if TYPE_CHECKING:
    from empirisk.learners.linear.sparse_rule import SparseRule

L = TypeVar("L", bound="SparseRule")


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
        Sweeps over the coefficients and walks from one penalty to the next.
    degrees_of_freedom : array of shape (values,)
        Of the fit, the intercept included, mean over outputs: for the lasso the number of
        coefficients that are not zero (Zou, Hastie & Tibshirani 2007).
    """

    learner: "SparseRule"
    dual_gap: Floats
    n_iter: Ints
    _task: Task | None

    def __init__(
        self, learner: "SparseRule", values: Sequence[Any], task: Task, fits: Fits, *, flat: bool
    ) -> None:
        # The degrees of freedom of an elastic net cost a factorisation each, so they wait.
        self.__dict__.update(
            learner=learner,
            values=values,
            coef=fits.coef,
            intercept=fits.intercept,
            dual_gap=fits.gap,
            n_iter=fits.sweeps,
            flat=flat,
            _task=task if task.is_summed or task.terms.l1_ratio < 1 else None,
        )

    def __repr__(self) -> str:
        values, (_, outputs, p) = np.asarray(self.values, dtype=float), self.coef.shape
        return (
            f"<{type(self).__name__} of {self.learner!r}: {len(values)} penalties from "
            f"{values.max():.3g} to {values.min():.3g}, {p} columns, {outputs} output(s)>"
        )

    @cached_property
    def degrees_of_freedom(self) -> Floats:
        return np.array([self._freedom(j) for j in range(len(self.values))])

    def _freedom(self, j: int) -> float:
        if self._task is None or self._task.terms.l1_ratio == 1:
            fitted = float(np.count_nonzero(self.coef[j], axis=1).mean())
        else:
            fitted = self._task.degrees_of_freedom(float(self.values[j]), self.coef[j])
        return fitted + bool(self.learner.fit_intercept)

    def training_risk(self, loss: Loss) -> Floats | None:
        """The mean squared residual at each value, from sums of squares and products.

        None for another loss, or where it must be taken from predictions.
        """
        if self._task is None or not isinstance(loss, Squared):
            return None
        found = self._task.mean_squared_residuals(self.coef)
        return None if found is None else found.mean(axis=1)

    @property
    def norm(self) -> Floats:
        """What the penalty is on: sum_j f_j (r |b_j| + (1 - r) b_j^2 / 2), (values, outputs)."""
        ratio, size = self.learner.l1_ratio, np.abs(self.coef)
        return (ratio * size + (1 - ratio) / 2 * size**2) @ self.learner._factors(size.shape[2])

    def predict_path(self, X: Array, output: Output = "value") -> Floats:
        """Predictions (rows, values), or (rows, values, outputs)."""
        return self._lines.predict(X, flat=self.flat)

    @cached_property
    def _lines(self) -> SparseLines:
        return SparseLines(self.coef, self.intercept)

    def at(self, j: int) -> "SparseRule":
        """The fitted learner at the j-th penalty."""
        learner = clone(self.learner)
        return self.teach(learner.set_params(alpha=self.values[j]), j)

    def teach(self, learner: L, j: int) -> L:
        """Make a learner the fitted one at the j-th penalty."""
        coef, intercept = self.coef[j].copy(), self.intercept[j].copy()
        learner._take(coef, intercept, self._freedom(j), flat=self.flat)
        gap, sweeps = self.dual_gap[j], self.n_iter[j]
        learner.dual_gap_ = gap[0] if len(gap) == 1 else gap.copy()
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
