"""Logistic regression, of two classes and of more."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone

from empirisk.data.blocks import Rows
from empirisk.learners.class_weights import ClassWeightMixin
from empirisk.learners.generative.discriminants import log_posterior, posterior
from empirisk.learners.linear.accepted_parameters import check_accepted
from empirisk.learners.linear.coefficient_intervals import (
    CoefficientIntervals,
    coefficient_intervals,
)
from empirisk.learners.linear.linear_classifier import LinearClassifier
from empirisk.learners.linear.logistic_grid import grid_of_C
from empirisk.learners.linear.logistic_parameters import ACCEPTED, SAME
from empirisk.learners.linear.logistic_path import LogisticPath
from empirisk.learners.linear.logistic_penalty import checked_C, effective_ratio
from empirisk.risk.axis import Axis, Freedom, PathMixin
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import column_names
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.validation import TrainingSet, check_fit, check_predict


class LogisticRegression(ClassWeightMixin, PathMixin, LinearClassifier):
    """Classes with log-odds that are linear in x: minimise over coefficients b and intercepts

        sum_i w_i log-loss_i + (1/C) ((1 - l1_ratio) |b|^2 / 2 + l1_ratio |b|_1).

    Two classes have one score f(x) = intercept + x'b and P(1 | x) = 1 / (1 + exp(-f(x))); more
    classes have a score each and P(k | x) = exp f_k / sum_l exp f_l. The intercept is not
    penalised. The objective, parameters and attributes are scikit-learn's.

    Complexity axis: `C`; `Tuned(LogisticRegression())` chooses it.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}, default="deprecated"
        As in scikit-learn deprecated, and with the same effect: "l1" is `l1_ratio=1`, "l2"
        `l1_ratio=0`, "elasticnet" the `l1_ratio` given, None `C=np.inf`.
    C : float, default=1.0
        The inverse of the penalty. `np.inf` is maximum likelihood. That has no solution where a
        linear rule separates the classes: a `SeparationWarning` says so, and `separation_` has
        the direction.
    l1_ratio : float between 0 and 1, default=0.0
        0 is the L2 penalty (ridge), 1 the L1 penalty (lasso).
    dual, intercept_scaling, verbose
        Accepted for scikit-learn's sake; the result is the exact minimiser whatever they are.
    tol : float, default=1e-10
        A fit ends when the Newton decrement, the length of the next step in the metric of the
        Hessian, is at most tol times the root of the objective: about the relative error of the
        scores. For the solver "gradient", the largest partial derivative of the mean objective;
        for "stochastic", the relative change of the objective in an epoch.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
        Factors of the weights of the rows of each class, above 0 (scikit-learn takes 0, too);
        "balanced" makes all classes weigh the same.
    random_state : int, RandomState, Generator or None
        The order of rows of the solver "stochastic".
    solver : str, default="auto"
        "auto": Newton's method, with Hessians when they pay; from 300 coefficients on L-BFGS goes
        first, and from 6,000 on alone; coordinate descent within Newton steps where l1_ratio > 0.
        "newton": a Hessian at each step (iteratively reweighted least squares). "limited-memory":
        L-BFGS, none. "coordinate": "auto", for an L1 penalty. "gradient" and "stochastic" keep the
        way they took in `solution_`. scikit-learn's "lbfgs", "liblinear", "newton-cg",
        "newton-cholesky", "sag" and "saga" are read as "auto": the problem is the same, and so is
        its solution. Only "liblinear" has another there: it penalises the intercept too, times
        `intercept_scaling`. Here the intercept is never penalised.
    max_iter : int, default=1000
        Iterations, or epochs.
    warm_start : bool, default=False
        Begin at the last fit's solution. The ways of "gradient" and "stochastic" begin at the
        shares of the classes all the same.
    n_jobs : int, optional
        Threads over rows; the result has the same bits for any number.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (1, p) and (1,), or (n_classes, p) and (n_classes,)
    n_iter_ : array of shape (1,)
    separation_ : Separation or None
        Of a fit without penalty: the direction in which the likelihood grows for ever.
    solution_ : Descent
        With the solvers "gradient" and "stochastic": their trajectory.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    tol and max_iter are stricter than scikit-learn's 1e-4 and 100: solutions are exact, so that
    a path with warm starts equals single fits. One unit for all columns does not change the
    predictions of a tuned rule (`feature_scaling = "common"`).

    References
    ----------
    J. Berkson (1944), Application of the logistic function to bio-assay.
    J. Friedman, T. Hastie & R. Tibshirani (2010), Regularization paths for generalized linear
    models via coordinate descent.

    Examples
    --------
    >>> X = [[-3.0, -1], [-2, 0], [1, -2], [-1, 1], [2, 3], [3, 2]]
    >>> model = LogisticRegression().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[-0.5, 0], [1, 0.5]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[0, 0.5]]).round(3)
    array([[0.432, 0.568]])
    """

    axis: ClassVar[Axis | None] = Axis(("C",), larger="richer", scale="log")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    freedom: ClassVar[Freedom] = "columns"
    has_influence: ClassVar[bool] = True

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-10,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 1000,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to predict.
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        check_accepted(self, ACCEPTED)
        rows, data = self._rows(X, y, sample_weight)
        assert data.classes is not None
        start = self._last_solution(data.classes) if self.warm_start else None
        names = column_names(data.X)
        path = LogisticPath(self, rows, [self.C], len(data.classes), names, start, data.classes)
        return path.write(0, self, data.classes)

    def axis_values(
        self, X: Floats, y: Ints, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """50 log steps, from all but constant probabilities to all but no penalty."""
        check_accepted(self, ACCEPTED)
        if self.penalty is None:  # whatever C is
            return (checked_C(self.C),)
        weight = self._class_weighted(y, sample_weight, np.arange(y.max() + 1))
        present, codes = np.unique(y, return_inverse=True)  # others are held out, all their rows
        ratio = effective_ratio(self)
        return grid_of_C(Rows(X, codes, weight), len(present), bool(self.fit_intercept), ratio)

    def fit_path(
        self, X: Floats, y: Ints, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> LogisticPath:
        """All values of C, each from the solution of the last one; by the solvers "gradient" and
        "stochastic" each by itself."""
        check_accepted(self, ACCEPTED)
        weight = self._class_weighted(y, sample_weight, np.arange(n_classes))
        return LogisticPath(self, Rows(X, y, weight), values, n_classes, column_names(X))

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, in the order of `classes_`."""
        return posterior(self._values(X))[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, accurate where these underflow."""
        with np.errstate(over="ignore"):  # differences of scores may be beyond all numbers
            logarithms = log_posterior(self._values(X))[:, 0]
        return np.maximum(logarithms, np.finfo(float).min)

    def coefficient_intervals(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        level: float = 0.95,
        method: Literal["wald", "profile"] = "wald",
    ) -> CoefficientIntervals:
        """Standard errors and confidence intervals of coefficients and intercepts.

        Parameters
        ----------
        X, y, sample_weight
            The rows that it was fitted to: a model keeps none. A row of weight w counts as w copies
            of it, so that weights make the intervals shorter unless they sum to the number of rows.
        level : float
            The share of data sets of which the interval is to hold the true coefficient.
        method : {"wald", "profile"}
            "wald": estimate -+ z standard errors, these from the inverse Hessian of the
            objective. "profile": the values that a likelihood-ratio test does not reject, for
            which the others are fitted anew; better with few rows, or near separation.

        Returns
        -------
        CoefficientIntervals

        Notes
        -----
        With an L2 penalty Hessian and likelihood are those of the penalised objective: the
        intervals of a Gaussian prior with variance C. With an L1 penalty there are none, nor with
        `class_weight`, whose factors are no copies of rows.
        """
        check_predict(self, X)
        if self.class_weight is not None:
            raise ParameterError(
                "class_weight counts rows of some classes for more than they are, and standard "
                "errors from such counts are too small: fit with class_weight=None"
            )
        rows, data = self._rows(X, y, sample_weight, again=True)
        assert data.classes is not None
        names = getattr(self, "feature_names_in_", None)
        return coefficient_intervals(self, rows, data.classes, names, level, method)

    @property
    def _smooth_solver(self) -> str:
        return "auto" if self.solver in (*SAME, "coordinate") else self.solver

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, again: bool = False
    ) -> tuple[Rows, TrainingSet]:
        """What is fitted: rows of positive weight, with the factors of the classes."""
        door = clone(self) if again else self  # the door notes the columns it sees
        data = check_fit(door, X, y, sample_weight, classifier=True)
        assert data.classes is not None
        refuse_one_class(data.classes, "LogisticRegression")
        if again and not np.array_equal(data.classes, self.classes_):
            raise DataError("y has other classes than the rows that the model was fitted to")
        weight = self._class_weighted(data.y, data.sample_weight, data.classes)
        return Rows(data.X, data.y, weight), data

    def _last_solution(self, classes: Array) -> Any:
        """From a problem to the last solution in its coordinates; None if there is none."""
        same = hasattr(self, "coef_") and np.array_equal(self.classes_, classes)
        if not same or self.coef_.shape[1] != self.n_features_in_:
            return None
        coef, intercept = self._dense_coef, self.intercept_
        return lambda problem: problem.theta(coef, intercept + coef @ problem.raw_centre)
