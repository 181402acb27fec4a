"""What the lasso and the elastic net share: penalties on |b_j|, and the whole path of them.

Weights are copies, so with n = sum_i w_i the objective is

    sum_i w_i (y_i - intercept - x_i'b)^2 / 2n + alpha sum_j f_j (r |b_j| + (1 - r) b_j^2 / 2)

with r the `l1_ratio` and f_j the penalty factors. The notes' form, without 1 / 2n and with penalty
lambda (2 d |b|_1 + (1 - d) |b|^2), is that of alpha = lambda / n and r = d.
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from empirisk.data.blocks import Blocks
from empirisk.learners.linear.accepted_parameters import (
    COUNT,
    FLAG,
    GRAM,
    SEED,
    TOLERANCE,
    check_accepted,
    check_alpha,
    one_of,
)
from empirisk.learners.linear.constraint_form import norm_for_penalty, penalty_for_norm
from empirisk.learners.linear.lasso_held_out import lasso_held_out
from empirisk.learners.linear.lasso_path import SparsePath
from empirisk.learners.linear.lasso_problem import Fits, Task, Terms, fit_all
from empirisk.learners.linear.linear_rule import LinearRule, Names, as_columns
from empirisk.risk.axis import Axis, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from empirisk.runtime.sparse_form import sparse_form
from empirisk.runtime.validation import check_fit
from empirisk.solvers.lasso import Stopping

STEPS = 100
LEAST = 1e-3  # the default grid goes down to this part of its largest value, as in scikit-learn
RIDGE_LIKE = 1e-3  # with a smaller l1_ratio no penalty of ordinary size makes all coefficients zero
RANGE = (1e-300, 1e300)

ACCEPTED = {
    "fit_intercept": FLAG,
    "max_iter": COUNT,
    "tol": TOLERANCE,
    "warm_start": FLAG,
    "positive": FLAG,
    "precompute": GRAM,
    "copy_X": FLAG,
    "random_state": SEED,
    "selection": one_of("cyclic", "random"),
}


class SparseRule(LinearRule):
    """A linear rule of which many coefficients are exactly zero."""

    axis: ClassVar[Axis | None] = Axis(("alpha",), larger="simpler", scale="log")
    drops_one_column: ClassVar[bool] = True

    alpha: Any
    l1_ratio: Any
    fit_intercept: bool
    max_iter: Any
    tol: Any
    warm_start: bool
    positive: bool
    penalty_factor: Any
    n_jobs: int | None
    dual_gap_: Any
    n_iter_: int

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse matrix of shape (outputs, p), as in scikit-learn."""
        check_is_fitted(self)
        return sparse_form(np.atleast_2d(self.coef_))

    def path(
        self, X: Any, y: Any, sample_weight: Any = None, *, values: Sequence[float] | None = None
    ) -> SparsePath:
        """The coefficients at many penalties.

        It is the path of this learner, with its settings; scikit-learn's `path` is static, with
        settings of its own, and returns arrays.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,) or (n, outputs)
        sample_weight : array-like of shape (n,), optional
        values : sequence of float, optional
            Penalties; by default those of `axis_values`.

        Returns
        -------
        SparsePath
            With `coef`, `intercept`, `dual_gap`, `norm`, `plot()` and, for one penalty, `at(j)`.
        """
        door = clone(self)  # it notes the columns it sees, which are not those of the fit
        data = check_fit(door, X, y, sample_weight, multi_output=True)
        task = self._task(data.X, data.y, data.sample_weight)
        values = self._grid(task) if values is None else values
        if np.ndim(values) == 0:
            raise ParameterError(f"values is {values!r:.80}; give a list of penalties")
        if len(values) == 0:
            raise ParameterError("values is empty; give penalties, or None for the default ones")
        return self._path(task, values, flat=data.y.ndim == 1)

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """100 log steps from the least alpha at which all is zero to a thousandth of it.

        Where the squared part of the penalty still is large there, as it is when the numbers of y
        are, on to where that is a thousandth of the mean square of the columns.
        """
        return self._grid(self._task(X, y, sample_weight))

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> SparsePath:
        """All penalties, each from where the last one ended."""
        return self._path(self._task(X, y, sample_weight), values, flat=y.ndim == 1)

    def norm_for_penalty(self, X: Any, y: Any, alpha: Any, sample_weight: Any = None) -> Any:
        """The norm of the minimiser at a penalty: the t of its constraint form.

        Minimising the loss plus alpha times the norm P(b) = sum_j f_j (r |b_j| + (1 - r) b_j^2 / 2)
        is minimising the loss among all b with P(b) <= t; r is the `l1_ratio`, 1 for the lasso.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        alpha : float or array-like
            Penalties; the learner's own `alpha` is not used.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float or array
        """
        return norm_for_penalty(self, X, y, alpha, sample_weight)

    def penalty_for_norm(self, X: Any, y: Any, t: float, sample_weight: Any = None) -> float:
        """The multiplier of the constraint P(b) <= t: the alpha whose minimiser has the norm t.

        It is also how fast the least loss falls as t grows, and 0 where the constraint does not
        bind. See `norm_for_penalty` for P.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        t : float
            0 or more; for 0 it is the least alpha at which P(b) is 0.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        return penalty_for_norm(self, X, y, t, sample_weight)

    def out_of_fold(
        self,
        X: Any,
        y: Array,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """All held-out predictions from the Gram matrices of the other folds, added up."""
        alphas = np.array([check_alpha(alpha) for alpha in values])
        return lasso_held_out(self, X, y, sample_weight, plan, values, alphas, rows_per_block)

    def _fit(self, blocks: Blocks, *, flat: bool, names: Names) -> Self:
        task = Task.of(self._terms(blocks.n_columns), blocks, n_jobs=self.n_jobs)
        alphas = np.array([check_alpha(self.alpha)])
        fits = fit_all(task, alphas, self._start(blocks.n_columns, len(task.scales.y)))
        self._warn(fits)
        return SparsePath(self, [self.alpha], task, fits, flat=flat).teach(self, 0)

    def _task(self, X: Any, y: Array, sample_weight: Floats) -> Task:
        blocks = Blocks.of_arrays(X, as_columns(y), sample_weight)
        return Task.of(self._terms(X.shape[1]), blocks, n_jobs=self.n_jobs)

    def _grid(self, task: Task) -> list[float]:
        terms = task.terms._replace(l1_ratio=max(task.terms.l1_ratio, RIDGE_LIKE))
        largest = replace(task, terms=terms).largest_alpha()
        high = float(np.clip(largest or 1.0, RANGE[0] / LEAST, RANGE[1]))
        low = high * LEAST
        if task.terms.l1_ratio < 1:
            ridge = LEAST * task.mean_square() / (1 - task.terms.l1_ratio)
            low = max(min(low, ridge or low), RANGE[0])
        return [float(alpha) for alpha in np.geomspace(high, low, STEPS)]

    def _path(self, task: Task, values: Sequence[Any], *, flat: bool) -> SparsePath:
        fits = fit_all(task, np.array([check_alpha(alpha) for alpha in values]))
        self._warn(fits)
        return SparsePath(self, values, task, fits, flat=flat)

    def _terms(self, p: int) -> Terms:
        """What is minimised, with checked parameters."""
        check_accepted(self, ACCEPTED)
        ratio = self.l1_ratio
        if not (isinstance(ratio, Real) and 0 <= float(ratio) <= 1):
            raise ParameterError(f"l1_ratio is {ratio!r}; it must be a number from 0 to 1")
        stopping = Stopping(float(self.tol), int(self.max_iter))
        intercept, positive = bool(self.fit_intercept), bool(self.positive)
        return Terms(self._factors(p), float(ratio), intercept, positive, stopping)

    def _factors(self, p: int) -> Floats:
        if self.penalty_factor is None:
            return np.ones(p)
        try:
            factors = np.asarray(self.penalty_factor, dtype=float)
        except (TypeError, ValueError):  # words, or lists of different lengths
            factors = np.empty(0)
        if factors.shape != (p,) or not ((factors >= 0) & np.isfinite(factors)).all():
            raise ParameterError(
                f"penalty_factor is {self.penalty_factor!r:.80}; wanted {p} finite numbers >= 0, "
                "one for each column of X"
            )
        return factors

    def _start(self, p: int, outputs: int) -> Floats | None:
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        start = np.reshape(self.coef_, (-1, p)) if self.coef_.shape[-1] == p else np.empty((0, p))
        if len(start) != outputs:
            raise DataError(
                f"warm_start has coefficients of shape {self.coef_.shape} to begin with; wanted "
                f"{outputs} x {p}: fit a fresh learner, or set warm_start=False"
            )
        return np.where(start > 0, start, 0.0) if self.positive else start

    def _warn(self, fits: Fits) -> None:
        if not fits.reached.all():
            gap, tol = float(fits.relative_gap.max()), self.tol
            warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations at a "
                f"duality gap of {gap:.1e} |y|^2 / n, more than tol={tol:g}: raise max_iter, or "
                "alpha",
                ConvergenceWarning,
                stacklevel=4,
            )
