"""The lasso: least squares with a penalty on the sum of absolute coefficients."""

from typing import Any, ClassVar, Literal

from empirisk.learners.linear.sparse_rule import SparseRule


class Lasso(SparseRule):
    """Least squares with an L1 penalty (Tibshirani 1996).

    Minimise sum_i w_i (y_i - intercept - x_i'b)^2 / 2n + alpha sum_j f_j |b_j|, where n is the sum
    of the weights and the intercept is not penalised: scikit-learn's objective. In the form with
    |y - Xb|^2 + 2 lambda |b|_1 it is alpha = lambda / n.

    The signs and the zeros are found by coordinate descent, the coefficients then by solving a
    linear system: they are exact. Where columns depend on one another the descent goes on until
    the duality gap is at most `tol` times the mean square of y (about its mean).

    Complexity axis: `alpha`; `Tuned(Lasso())` chooses it.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; 0 or more.
    fit_intercept : bool, default=True
        Without it the rule passes through the origin.
    max_iter : int, default=1000
        Sweeps over the coefficients.
    tol : float, default=1e-4
        The duality gap, relative to the mean square of y, that must be reached.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit. With more than 2,000 columns the
        start is always zero: the way down from large penalties costs less.
    positive : bool, default=False
        Whether coefficients must be 0 or more.
    penalty_factor : array-like of shape (p,), optional
        The f_j; by default 1. A column of factor 0 is not penalised.

    Attributes
    ----------
    coef_ : array of shape (p,) or (outputs, p)
    intercept_ : float or array of shape (outputs,)
    dual_gap_ : float or array of shape (outputs,)
        By how much at most the objective misses its minimum.
    n_iter_ : int
        Sweeps over the coefficients.
    degrees_of_freedom_ : float
        The number of coefficients that are not zero (mean over outputs), and the intercept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X, y = [[1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [1.0, 3.0, 2.0, 4.0]
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> print(model.coef_, model.intercept_)
    [0.4 0. ] 1.5
    >>> path = Lasso().path(X, y, values=[2.0, 1.0, 0.5])
    >>> print(path.coef[:, 0, 0], path.norm[:, 0])
    [0.  0.  0.4] [0.  0.  0.4]
    """

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        penalty_factor: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.penalty_factor = penalty_factor

    @property
    def _l1_ratio(self) -> float:
        return 1.0
