"""The lasso: least squares with a penalty on the sum of absolute coefficients."""

from typing import Any, ClassVar, Literal

from empirisk.learners.linear.sparse_rule import SparseRule


class Lasso(SparseRule):
    """Least squares with an L1 penalty (Tibshirani 1996).

    Minimise sum_i w_i (y_i - intercept - x_i'b)^2 / 2n + alpha sum_j f_j |b_j|, where n is the sum
    of the weights and the intercept is not penalised: scikit-learn's objective. Many texts minimise
    sum_i (y_i - intercept - x_i'b)^2 + lambda pen(b) with pen(b) = 2 sum_j |b_j|. Divided by 2n the
    two are the same for alpha = lambda / n: with more rows the same alpha is a larger lambda.

    The minimiser moves along straight lines between penalties at which its support changes. These
    are followed from large penalties down to `alpha`, or through all of a path, so that the
    coefficients are exact and their duality gap is of the size of rounding errors. With more than
    2,000 columns and few rows, the columns are screened by strong rules, and those left out are
    checked by the optimality conditions.

    Complexity axis: `alpha`; `Tuned(Lasso())` chooses it.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; 0 or more.
    fit_intercept : bool, default=True
        Without it the rule passes through the origin.
    max_iter : int, default=1000
        Sweeps over the coefficients and walks from one penalty to the next, for each penalty.
    tol : float, default=1e-4
        The duality gap, relative to the mean square of y (about its mean), at which coefficients
        will do that are not exact after `max_iter`, and at which to stop where more than 4,096
        columns are in use: these are found by coordinate descent.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit. With more than 2,000 columns the
        start is always zero: the way down from large penalties costs less.
    positive : bool, default=False
        Whether coefficients must be 0 or more.
    precompute, copy_X, random_state, selection
        Accepted for scikit-learn's sake; the result is the exact minimiser whatever they are, and
        X is never overwritten.
    penalty_factor : array-like of shape (p,), optional
        The f_j; by default 1. A column of factor 0 is not penalised.
    n_jobs : int, optional
        Threads for sums over the rows and for the folds of a cross-validation; the results do not
        depend on it.

    Attributes
    ----------
    coef_ : array of shape (p,) or (outputs, p)
    intercept_ : float or array of shape (outputs,)
    sparse_coef_ : scipy.sparse.csr_matrix of shape (1, p) or (outputs, p)
        The same coefficients.
    dual_gap_ : float or array of shape (outputs,)
        By how much at most the objective misses its minimum.
    n_iter_ : int
        Sweeps and walks.
    degrees_of_freedom_ : float
        The number of coefficients that are not zero (mean over outputs), and the intercept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    R. Tibshirani (1996), Regression shrinkage and selection via the lasso, Journal of the Royal
    Statistical Society B 58.
    B. Efron, T. Hastie, I. Johnstone & R. Tibshirani (2004), Least angle regression, Annals of
    Statistics 32.
    R. Tibshirani et al. (2012), Strong rules for discarding predictors in lasso-type problems,
    Journal of the Royal Statistical Society B 74.

    Examples
    --------
    >>> X, y = [[1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [1.0, 3.0, 2.0, 4.0]
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> print(model.coef_, model.intercept_)
    [0.4 0. ] 1.5
    >>> path = Lasso().path(X, y, values=[2.0, 1.0, 0.5])
    >>> print(path.coef[:, 0, 0], path.norm[:, 0])
    [0.  0.  0.4] [0.  0.  0.4]

    The same fit as a constraint: the loss is least among all b with |b|_1 <= t, and `alpha` is the
    multiplier.

    >>> t = Lasso().norm_for_penalty(X, y, 0.5)
    >>> print(round(t, 12), round(Lasso().penalty_for_norm(X, y, t), 12))
    0.4 0.5
    """

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        penalty_factor: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.penalty_factor = penalty_factor
        self.n_jobs = n_jobs
