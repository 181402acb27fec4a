"""Ridge regression: least squares with a penalty on the squared norm of the coefficients."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.scaling import ordinary_rows, scaled_penalty
from empirisk.learners.linear.accepted_parameters import (
    FLAG,
    ITERATIONS,
    SEED,
    TOLERANCE,
    check_accepted,
    check_alpha,
    one_of,
)
from empirisk.learners.linear.held_out import held_out, mean_rise
from empirisk.learners.linear.linear_rule import LinearPath, LinearRule, as_columns
from empirisk.learners.linear.nonnegative import (
    nonnegative_least_squares,
    nonnegative_path,
    refuse_to_subtract,
)
from empirisk.risk.axis import Axis, CannotSubtractError, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.least_squares import Solution, least_squares
from empirisk.solvers.spectrum import spectrum_of_rows, square_range

STEPS = 100
SHRUNK = 1e3  # at both ends of the default grid the coefficients are within 0.1 % of the limit
RANGE = (1e-300, 1e300)
TOO_CLOSE = 1e10
"""Condition number from which on each penalty is solved by itself, with refinement."""

ACCEPTED = {
    "fit_intercept": FLAG,
    "copy_X": FLAG,
    "max_iter": ITERATIONS,
    "tol": TOLERANCE,
    "solver": one_of("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
    "positive": FLAG,
    "random_state": SEED,
}


class Ridge(LinearRule):
    """Least squares with an L2 penalty (Hoerl & Kennard 1970).

    Minimise sum_i w_i (y_i - intercept - x_i'b)^2 + alpha |b|^2; the intercept is not penalised.
    `alpha=0` is least squares; where that has several solutions, the one of least norm, to which
    ridge tends as alpha tends to 0.

    Complexity axis: `alpha`; `Tuned(Ridge())` chooses it, one for all targets.

    Parameters
    ----------
    alpha : float or array of shape (outputs,), default=1.0
        The penalty, 0 or more; or one for each target. `Tuned` and `select`, which try one penalty
        for all targets, refuse a learner that has one for each; `risk.cross_validate` judges it.
    fit_intercept : bool, default=True
        Without it the rule passes through the origin.
    copy_X, max_iter, tol, solver, random_state
        Accepted for scikit-learn's sake; the result is the exact minimiser whatever they are, and
        X is never overwritten.
    positive : bool, default=False
        Whether coefficients must be 0 or more. The intercept may have either sign.

    Attributes
    ----------
    coef_ : array of shape (p,) or (outputs, p)
    intercept_ : float or array of shape (outputs,)
    degrees_of_freedom_ : float
        Trace of the hat matrix, the intercept included; with `positive=True` of that on the columns
        whose coefficients are not zero. Where it differs between outputs, their mean.
    n_iter_ : int
        1: nothing is iterated until a tolerance is met.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    A. Hoerl & R. Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems,
    Technometrics 12.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 4.0]
    >>> model = Ridge(alpha=5.0).fit(X, y)
    >>> print(model.coef_, model.intercept_, model.degrees_of_freedom_)
    [0.4] 1.5 1.5
    >>> both = Ridge(alpha=[5.0, 0.0]).fit(X, [[1.0, 1.0], [3.0, 3.0], [2.0, 2.0], [4.0, 4.0]])
    >>> print(both.coef_.T, both.intercept_, both.degrees_of_freedom_)
    [[0.4 0.8]] [1.5 0.5] 1.75
    """

    axis: ClassVar[Axis | None] = Axis(("alpha",), larger="simpler", scale="log")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    has_influence: ClassVar[bool] = True
    drops_one_column: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """100 log steps, from coefficients all but zero to all but those of least squares."""
        check_accepted(self, ACCEPTED)
        if not is_one(self.alpha):
            raise ParameterError(
                f"alpha is {self.alpha!r:.60}, a penalty for each target, and along the axis all "
                "targets share one: give Ridge() to choose that one, or judge these penalties as "
                "they are by risk.cross_validate"
            )
        with one_blas_thread():
            rows, scales = ordinary_rows(Rows(X, np.zeros((len(X), 0)), sample_weight))
            largest, smallest = square_range(rows, bool(self.fit_intercept))
        with np.errstate(over="ignore", under="ignore"):
            unit = scales.X[0] ** 2 * scales.weight
            high = np.clip(SHRUNK * largest * unit, RANGE[0] * SHRUNK, RANGE[1])
            low = np.clip(smallest / SHRUNK * unit, RANGE[0], high / SHRUNK)
        return [float(alpha) for alpha in np.geomspace(high, low, STEPS)]

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> LinearPath:
        """All penalties from one factorisation, or with `positive=True` from one Gram matrix."""
        check_accepted(self, ACCEPTED)
        given, flat = Rows(X, as_columns(y), sample_weight), y.ndim == 1
        if not all(map(is_one, values)):
            return self._solved_path(given, values, flat)
        alphas = np.array([check_alpha(alpha) for alpha in values])
        has_intercept = bool(self.fit_intercept)
        if self.positive:
            blocks = Blocks.of_arrays(*given)
            path = nonnegative_path(blocks, alphas, fit_intercept=has_intercept)
            return LinearPath(self, values, *path[:3], flat=flat)
        with one_blas_thread():
            rows, scales = ordinary_rows(given)
            penalties = scaled_penalty(alphas, scales.X[0], scales.weight)
            spectrum = spectrum_of_rows(rows, has_intercept, float(penalties.min()))
            coef, intercept = spectrum.coefficients(penalties)
        rise = mean_rise(spectrum, penalties, rows, scales)
        coef, intercept = scales.raw(coef, intercept)
        freedom = spectrum.degrees_of_freedom(penalties) + has_intercept
        for j in range(len(alphas)):
            if spectrum.condition(penalties[j]) > TOO_CLOSE:
                single = Ridge(alphas[j], fit_intercept=has_intercept)
                solution = single._solve(Blocks.of_arrays(*given))
                coef[j], intercept[j] = solution.coef, solution.intercept
                freedom[j] = solution.degrees_of_freedom
        return LinearPath(self, values, coef, intercept, freedom, flat=flat, rise=rise)

    def _solved_path(self, given: Rows, values: Sequence[Any], flat: bool) -> LinearPath:
        """A path that has a penalty for each target somewhere: each value is solved by itself."""
        found = [
            clone(self).set_params(alpha=value)._solve(Blocks.of_arrays(*given)) for value in values
        ]
        return LinearPath(
            self,
            values,
            np.array([solution.coef for solution in found]),
            np.array([solution.intercept for solution in found]),
            np.array([solution.degrees_of_freedom for solution in found]),
            flat=flat,
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
        if not all(map(is_one, values)):
            raise CannotSubtractError("each target has a penalty of its own")
        alphas = np.array([check_alpha(alpha) for alpha in values])
        return held_out(
            self, X, y, sample_weight, plan, values, alphas=alphas, rows_per_block=rows_per_block
        )

    def _solve(self, blocks: Blocks) -> Solution:
        check_accepted(self, ACCEPTED)
        solve = nonnegative_least_squares if self.positive else least_squares
        return solve(blocks, penalty=self._penalty(blocks), fit_intercept=bool(self.fit_intercept))

    def _penalty(self, blocks: Blocks) -> float | Floats:
        """The penalty, or that of each target."""
        if is_one(self.alpha):
            return check_alpha(self.alpha)
        outputs = next(iter(blocks)).y.shape[1]
        penalties = np.array([check_alpha(alpha) for alpha in np.ravel(self.alpha).tolist()])
        if len(penalties) not in (1, outputs):
            raise ParameterError(
                f"alpha has {len(penalties)} penalties and y {outputs} target(s): give one "
                "number, or one for each target"
            )
        return np.broadcast_to(penalties, outputs)

    def _take(
        self, coef: Floats, intercept: Floats, degrees_of_freedom: float, *, flat: bool
    ) -> Self:
        self.n_iter_ = 1
        return super()._take(coef, intercept, degrees_of_freedom, flat=flat)


def is_one(alpha: Any) -> bool:
    """Whether alpha is one penalty, and not one for each target."""
    return np.ndim(alpha) == 0
