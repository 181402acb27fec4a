"""The elastic net: least squares with a penalty between those of the lasso and of ridge."""

from typing import Any, ClassVar, Literal

from empirisk.learners.linear.sparse_rule import SparseRule


class ElasticNet(SparseRule):
    """Least squares with L1 and L2 penalties (Zou & Hastie 2005).

    Minimise sum_i w_i (y_i - intercept - x_i'b)^2 / 2n
    + alpha sum_j f_j (l1_ratio |b_j| + (1 - l1_ratio) b_j^2 / 2), where n is the sum of the weights
    and the intercept is not penalised: scikit-learn's objective. Many texts minimise
    sum_i (y_i - intercept - x_i'b)^2 + lambda pen(b) with
    pen(b) = 2 delta sum_j |b_j| + (1 - delta) sum_j b_j^2. Divided by 2n the two are the same for
    alpha = lambda / n and l1_ratio = delta; for `Ridge`, which does not divide, alpha = lambda.

    Complexity axis: `alpha`; `Tuned(ElasticNet())` chooses it.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; 0 or more.
    l1_ratio : float, default=0.5
        From 0, where all of the penalty is on squares, to 1, the lasso.
    fit_intercept, max_iter, tol, warm_start, positive, penalty_factor, n_jobs
        As in `Lasso`.
    precompute, copy_X, random_state, selection
        Accepted for scikit-learn's sake, as in `Lasso`.

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, dual_gap_, n_iter_
        As in `Lasso`.
    degrees_of_freedom_ : float
        Trace of the hat matrix on the columns whose coefficients are not zero (mean over outputs),
        and the intercept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    H. Zou & T. Hastie (2005), Regularization and variable selection via the elastic net, Journal of
    the Royal Statistical Society B 67.

    Examples
    --------
    >>> X, y = [[1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [1.0, 3.0, 2.0, 4.0]
    >>> model = ElasticNet(alpha=0.5, l1_ratio=0.5).fit(X, y)
    >>> print(model.coef_, model.intercept_)
    [0.5 0. ] 1.25
    """

    # In other units the two parts of the penalty have other proportions.
    feature_scaling: ClassVar[Literal["each", "common"] | None] = None

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        penalty_factor: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
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
