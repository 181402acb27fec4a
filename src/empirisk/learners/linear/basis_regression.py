"""Least squares on basis functions of the features."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.fitted_curve import draw_fitted_curve
from empirisk.data.blocks import Rows
from empirisk.learners.linear.accepted_parameters import FLAG, check_accepted
from empirisk.learners.linear.bases import Extrapolation
from empirisk.learners.linear.basis_expansion import BasisExpansion
from empirisk.learners.linear.basis_held_out import held_out
from empirisk.learners.linear.basis_parameters import Basis, check_basis, check_degree
from empirisk.learners.linear.basis_path import BasisPath, fit_degrees
from empirisk.learners.linear.linear_rule import as_columns
from empirisk.learners.linear.polynomial_terms import number_of_terms
from empirisk.learners.linear.rule_soundness import check_rule
from empirisk.learners.soundness import has_state, require
from empirisk.risk.axis import Axis, Freedom, HeldOut, Output, PathMixin
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_fit, check_predict

LARGEST = 15  # of the default grid
MOST_FUNCTIONS = 1000  # of the default grid beyond degree 1, and
MOST_NUMBERS = 5 * 10**7  # of a design: 400 MB


class BasisRegression(PathMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Least squares on basis functions b_j: minimise sum_i w_i (y_i - c_0 - sum_j c_j b_j(x_i))^2.

    The same as `LinearRegression` behind a `BasisExpansion`, which describes the bases. The
    functions of the training rows are orthogonalised, so that high degrees do no harm to the
    digits: degree 20 on years, or on skew data, has 10 of them and more. Where functions depend on
    others on the training rows, or there are fewer rows than functions, the coefficients of least
    norm are returned, with a `RankWarning` that names them.

    Complexity axis: `degree`; `Tuned(BasisRegression())` chooses it. All degrees of a polynomial,
    and all numbers of callables, come from one factorisation of all rows, less those of each fold:
    the functions of a lower degree are the first ones of a higher. Splines and steps of each
    degree have knots of their own, at the quantiles of each training part. Of one feature, all
    degrees still come from one factorisation of a training part, cut at the knots of them all; of
    several features each degree is factorised by itself.

    Parameters
    ----------
    basis : {"polynomial", "spline", "natural_spline", "steps"} or list of callables
    degree : int, optional
        What it counts depends on the basis; by default 3, or all of the callables.
    interactions : bool, default=True
        Without them a polynomial has no products of features.
    extrapolation : {"continue", "linear", "constant", "error"}, optional
        Outside of the training range; by default polynomials continue, splines and steps are
        constant, natural splines are straight lines.
    fit_intercept : bool, default=True
        Without it there is no constant: for callables that have one among them. What the named
        bases span without a constant depends on the training rows.

    Attributes
    ----------
    expansion_ : BasisExpansion
        The basis functions, fitted.
    coef_ : array of shape (functions,) or (outputs, functions)
        Of the functions as `expansion_` gives and names them.
    intercept_ : float or array of shape (outputs,)
    rank_ : int
        Number of functions that do not depend on others on the training rows.
    degrees_of_freedom_ : float
        Trace of the hat matrix: the rank, plus 1 for the intercept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    T. Hastie, R. Tibshirani & J. Friedman (2009), The elements of statistical learning, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> year = np.arange(1990.0, 2000.0)[:, np.newaxis]
    >>> y = (year[:, 0] - 1995) ** 3 / 10
    >>> model = BasisRegression("polynomial", degree=3).fit(year, y)
    >>> model.predict([[1994.0], [2001.0]]).round(6)
    array([-0.1, 21.6])
    >>> from empirisk import Tuned
    >>> Tuned(BasisRegression(), values=[1, 2, 3], cv=5).fit(year, y).best_value_
    3
    """

    axis: ClassVar[Axis | None] = Axis(("degree",), larger="richer", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    freedom: ClassVar[Freedom] = "path"

    expansion_: BasisExpansion
    coef_: Floats
    intercept_: Any

    def __init__(
        self,
        basis: Basis = "polynomial",
        degree: int | None = None,
        *,
        interactions: bool = True,
        extrapolation: Extrapolation | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.basis = basis
        self.degree = degree
        self.interactions = interactions
        self.extrapolation = extrapolation
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,) or (n, outputs)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        data = check_fit(self, X, y, sample_weight, multi_output=True)
        path = self.fit_path(data.X, data.y, data.sample_weight, [self.degree])
        return path.put_into(self, 0)

    def predict(self, X: Any) -> Floats:
        """Predictions of shape (m,) or (m, outputs).

        Parameters
        ----------
        X : array-like of shape (m, p)
        """
        rows = check_predict(self, X)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            prediction = self.expansion_.expand(rows) @ self.coef_.T + self.intercept_
        if np.isfinite(prediction).all():
            return prediction
        raise DataError(
            "the prediction of a row is too large for floating-point numbers, so far does it lie "
            "outside of the training range: leave it out, or set extrapolation='constant'"
        )

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        if has_state(self):
            basis: Any = getattr(self, "expansion_", None)
            require(isinstance(basis, BasisExpansion), self, "expansion_")
            require(self.n_features_in_ == basis.n_features_in_, self, "n_features_in_")
            check_rule(self, basis.n_output_features_)

    def expansion(self, degree: int | None) -> BasisExpansion:
        """The basis of that degree, not fitted."""
        return BasisExpansion(
            self.basis,
            degree,
            interactions=self.interactions,
            extrapolation=self.extrapolation,
        )

    def axis_values(self, X: Any, y: Array, sample_weight: Floats, *, n_train: int) -> range:
        """1 to 15 as far as there are two training rows for each function; or all callables.

        Of many features, a degree also ends it that makes more than 1,000 functions, or a design
        of more than 400 MB: such degrees must be asked for.
        """
        check_accepted(self, {"interactions": FLAG})
        check_basis(self.basis, self.extrapolation)
        if not isinstance(self.basis, str):
            return range(1, len(self.basis) + 1)
        products = self.basis == "polynomial" and bool(self.interactions)
        most = min(n_train // 2, MOST_FUNCTIONS, MOST_NUMBERS // n_train)
        features, largest = X.shape[1], 1
        while largest < LARGEST and number_of_terms(features, largest + 1, products) <= most:
            largest += 1
        return range(1, largest + 1)

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> BasisPath:
        """All degrees from one factorisation; splines of several features one by one."""
        degrees = self._degrees(values)
        rows, names = Rows(X, as_columns(y), sample_weight), column_names(X)
        with one_blas_thread():
            return fit_degrees(self, rows, degrees, values, flat=y.ndim == 1, names=names)

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
        """Polynomials and callables: all held-out predictions from one factorisation."""
        degrees = self._degrees(values)
        return held_out(
            self, X, y, sample_weight, plan, degrees, values, rows_per_block=rows_per_block
        )

    def _degrees(self, values: Sequence[Any]) -> list[int]:
        """The degrees, checked as all other parameters are."""
        check_accepted(self, {"fit_intercept": FLAG})
        check_basis(self.basis, self.extrapolation)
        return [check_degree(value, self.basis) for value in values]

    def plot(self, X: Any = None, y: Any = None, ax: Any = None) -> Any:
        """Draw the fitted curve of one feature over its training range, with data if given."""
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise DataError("one of X and y was given: give both, to be drawn as points, or none")
        if self.n_features_in_ != 1:
            raise DataError(
                f"a curve has one feature, and this model has {self.n_features_in_}: draw it for "
                "models of one"
            )
        expansion = self.expansion_
        x = np.linspace(expansion.low_[0], expansion.high_[0], 500)
        points = None
        if X is not None:
            points = check_predict(self, X)[:, 0], as_columns(np.asarray(y, dtype=float))
            x = np.linspace(min(x[0], points[0].min()), max(x[-1], points[0].max()), 500)
        with one_blas_thread():
            curve = as_columns(expansion.expand(x[:, np.newaxis]) @ self.coef_.T + self.intercept_)
        label = str(getattr(self, "feature_names_in_", ["x"])[0])
        return draw_fitted_curve(x, curve, points, label=label, ax=ax)
