"""Linear least squares."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.linalg import svdvals

from empirisk.data.blocks import Blocks
from empirisk.learners.linear.accepted_parameters import FLAG, TOLERANCE, check_accepted
from empirisk.learners.linear.held_out import held_out
from empirisk.learners.linear.linear_rule import (
    LinearPath,
    LinearRule,
    Names,
    as_columns,
    warn_of,
)
from empirisk.learners.linear.nonnegative import nonnegative_least_squares, refuse_to_subtract
from empirisk.risk.axis import Freedom, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.least_squares import Solution, least_squares

ACCEPTED = {"fit_intercept": FLAG, "copy_X": FLAG, "tol": TOLERANCE, "positive": FLAG}


class LinearRegression(LinearRule):
    """Least squares: minimise sum_i w_i (y_i - intercept - x_i'b)^2.

    The coefficients are those of the data as given, correct to the last digit or so even for
    designs that are close to singular: they are refined with residuals of twice the usual
    precision (Björck 1987). Where columns depend on others, or there are fewer rows than
    coefficients, the solution of least norm |b| is returned, with a `RankWarning` that names the
    columns. There is no complexity axis; `Ridge` has one.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Without it the rule passes through the origin.
    copy_X, tol
        Accepted for scikit-learn's sake; the result is the exact minimiser whatever they are, and
        X is never overwritten.
    n_jobs : int, optional
        Threads over blocks of rows; the result has the same bits for any number.
    positive : bool, default=False
        Whether coefficients must be 0 or more. The intercept may have either sign. Where several
        minimisers are left, one of them is returned.

    Attributes
    ----------
    coef_ : array of shape (p,) or (outputs, p)
    intercept_ : float or array of shape (outputs,)
    rank_ : int
        Rank of the (centred) design, whatever the units of its columns; not with `positive=True`.
        scikit-learn's does not count singular values below `tol` times the largest.
    singular_ : array of shape (min(n, p),)
        Singular values of the (centred) design, its rows times the roots of their weights, largest
        first; after `fit` or `fit_blocks`, not with `positive=True`. They are found when asked for,
        from the triangle with p rows that the fit leaves. Errors are about 1e-16 times the largest,
        as in scikit-learn; where the columns, brought to one length, have a condition number k up
        to 1e4, their sums of squares did for the fit, and an error of about 1e-16 k^2 relative to
        each comes on top, which is at most 1e-8.
    degrees_of_freedom_ : float
        Trace of the hat matrix: the rank, plus 1 for the intercept. With `positive=True` the
        number of coefficients that are not zero (mean over outputs), plus 1.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Å. Björck (1987), Stability analysis of the method of seminormal equations for linear least
    squares problems, Linear Algebra and its Applications 88/89.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 4.0]
    >>> model = LinearRegression().fit(X, y)
    >>> print(model.coef_, model.intercept_)
    [0.8] 0.5
    >>> model.predict([[5.0]])
    array([4.5])
    >>> print(LinearRegression(positive=True).fit(X, [3.0, 2.0, 1.0, 1.0]).coef_)
    [0.]
    """

    _factor: Floats

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    # One for each column is asked of a plan-wide rung alone, which `positive=True` has not.
    freedom: ClassVar[Freedom] = "columns"

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> LinearPath:
        """The one fit there is, as a path of one value."""
        solution = self._solve(Blocks.of_arrays(X, as_columns(y), sample_weight))
        warn_of(solution, self, column_names(X))
        return LinearPath(
            self,
            values,
            solution.coef[np.newaxis],
            solution.intercept[np.newaxis],
            np.array([solution.degrees_of_freedom]),
            flat=y.ndim == 1,
        )

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
        """All held-out predictions from one factorisation, or from moments less each fold's."""
        check_accepted(self, ACCEPTED)
        if self.positive:
            refuse_to_subtract()
        return held_out(
            self, X, y, sample_weight, plan, values, alphas=None, rows_per_block=rows_per_block
        )

    def _solve(self, blocks: Blocks) -> Solution:
        check_accepted(self, ACCEPTED)
        solve = nonnegative_least_squares if self.positive else least_squares
        return solve(blocks, fit_intercept=bool(self.fit_intercept), n_jobs=self.n_jobs)

    @cached_property
    def singular_(self) -> Floats:
        if not hasattr(self, "_factor"):
            raise AttributeError("singular_ is known after fit, and not with positive=True")
        with one_blas_thread():
            few = self._factor.ndim == 1
            return self._factor if few else svdvals(self._factor, check_finite=False)

    def _fit(self, blocks: Blocks, *, flat: bool, names: Names) -> Self:
        solution = self._solve(blocks)
        warn_of(solution, self, names)
        self._take(solution.coef, solution.intercept, solution.degrees_of_freedom, flat=flat)
        if solution.factor is not None:
            self._factor = solution.factor
        return self

    def _take(
        self, coef: Floats, intercept: Floats, degrees_of_freedom: float, *, flat: bool
    ) -> Self:
        for of_last_fit in ("rank_", "singular_", "_factor"):
            self.__dict__.pop(of_last_fit, None)
        if not self.positive:
            self.rank_ = round(degrees_of_freedom) - bool(self.fit_intercept)
        return super()._take(coef, intercept, degrees_of_freedom, flat=flat)
