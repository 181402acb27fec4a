"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from empirisk.data.blocks import Blocks, Rows
from empirisk.learners.generative.class_covariances import Point
from empirisk.learners.generative.estimated_covariance import check_alone
from empirisk.learners.generative.gaussian_classifier import GaussianClassifier
from empirisk.learners.generative.quadratic_held_out import UntiedParts, predict_folds
from empirisk.learners.generative.quadratic_path import QuadraticPath
from empirisk.learners.generative.settings import (
    BY_THE_DATA,
    checked_share,
    checked_shrinkage,
)
from empirisk.risk.axis import CannotSubtractError, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


class QuadraticDiscriminantAnalysis(GaussianClassifier):
    """Bayes' rule for Gaussian classes with means m_k, shares pi_k and covariances Sigma_k: the
    largest of

        f_k(x) = log pi_k - log det Sigma_k / 2 - (x - m_k)' Sigma_k^-1 (x - m_k) / 2.

    Means, shares and covariances are those of maximum likelihood: each class for itself, divided
    by its number of rows n_k. There is no complexity axis; `RegularizedDiscriminantAnalysis` has
    one, from a covariance for each class to one for all.

    Features that are missing (NaN) when it predicts are left out by the marginal densities of the
    others. Training rows must be complete; others are left out, with a warning.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        The shares pi_k; by default the weighted frequencies of the classes.
    shrinkage : float between 0 and 1, "auto", "oas", or None
        Sigma_k becomes (1 - s) S_k + s (trace S_k / p) I; None is 0. By "auto" s is that of Ledoit
        & Wolf (2004), by "oas" that of Chen and others (2010), each class with its columns scaled
        to unit variance.
    reg_param : float between 0 and 1
        Sigma_k becomes (1 - reg_param) S_k + reg_param I. The columns must then be measured in
        one unit. Only one of `shrinkage` and `reg_param` can be set.
    solver : {"auto", "cholesky", "eigen", "svd"}
        Covariances are factored by Cholesky, or by their eigenvectors if so asked or where they
        are nearly singular. The rule is the same; "svd", scikit-learn's, is read as "auto".
    unbiased : bool
        Divide the scatter of a class by n_k - 1 instead of n_k.
    store_covariance : bool
        Keep Sigma_k as `covariance_`.
    tol : float
        A linear combination of columns of unit variance in a class has no variance there if its
        standard deviation is at most tol. Without shrinkage it is then given the variance
        tol^2, and a warning names the class and the columns. A column that is constant in a class
        is measured by its deviation within the other classes. With shrinkage the same is done for
        a class whose rows are all the same: its covariance is 0, and stays so.
    covariance_estimator : estimator, optional
        Finds the covariances instead: a copy of it is fitted to the rows of each class. As in
        `LinearDiscriminantAnalysis`; not together with `shrinkage`, `reg_param`, `unbiased` or the
        solver "svd".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    priors_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariance_ : array of shape (n_classes, n_features, n_features)
        Only with `store_covariance`.
    shrinkage_ : array of shape (n_classes,)
        Of each class, by "auto" and "oas" only.
    rank_ : array of shape (n_classes,)
        In how many directions each class has variance; below n_features, the others were given
        the variance tol^2.
    rotations_ : list of n_classes arrays of shape (n_features, n_features)
        Of each class the principal axes, the eigenvectors of Sigma_k, as columns.
    scalings_ : list of n_classes arrays of shape (n_features,)
        The variances along them, falling.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Of equal f_k the first class is taken.

    References
    ----------
    T. Hastie, R. Tibshirani & J. Friedman (2009), The elements of statistical learning, 4.3.

    Examples
    --------
    >>> X = [[-1.0], [-0.5], [0.5], [1.0], [-9.0], [-4.0], [4.0], [9.0]]
    >>> qda = QuadraticDiscriminantAnalysis().fit(X, ["near"] * 4 + ["far"] * 4)
    >>> qda.predict([[0.0], [-3.0], [3.0]])
    array(['near', 'far', 'far'], dtype='<U4')
    >>> qda.predict_proba([[float("nan")]])  # nothing is known of the row
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        *,
        solver: str = "auto",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        unbiased: bool = False,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.unbiased = unbiased
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @property
    def rotations_(self) -> list[Floats]:
        """The principal axes of each class, as columns."""
        check_is_fitted(self)
        return [axes for _, axes in self._densities.principal_axes]

    @property
    def scalings_(self) -> list[Floats]:
        """The variances of each class along its principal axes, falling."""
        check_is_fitted(self)
        return [variances for variances, _ in self._densities.principal_axes]

    @property
    def remedy(self) -> str:
        """What to do about a singular covariance, beside dropping columns."""
        if self.covariance_estimator is not None:
            return "or give an estimator that shrinks"
        return "set shrinkage above 0, or use RegularizedDiscriminantAnalysis"

    def _learn(self, blocks: Blocks, classes: Array, names: Sequence[str] | None) -> None:
        self._path(blocks, (None,), classes, names).write(0, self)

    def _path(
        self, blocks: Blocks, values: Sequence[Any], classes: Array, names: Sequence[str] | None
    ) -> QuadraticPath:
        point, scaled, how = self._target()
        return QuadraticPath(
            self,
            blocks,
            [point],
            values,
            classes,
            names,
            scaled=scaled,
            by_the_data=how,
            estimator=self.covariance_estimator,
        )

    def _target(self) -> tuple[Point, bool, str | None]:
        """How far and towards what covariances are shrunken, and how if that is by the data."""
        check_alone(self, [self.shrinkage, self.reg_param])
        regularised = checked_share(self.reg_param, "reg_param")
        if isinstance(self.shrinkage, str) and self.shrinkage in BY_THE_DATA:
            how, shrinkage = self.shrinkage, 0.0
        else:
            how, shrinkage = None, checked_shrinkage(self.shrinkage)
        if regularised and self.shrinkage:
            raise ParameterError(
                f"shrinkage is {self.shrinkage!r} and reg_param {self.reg_param!r}; set one of "
                "them, towards a multiple of the identity or the identity itself"
            )
        if regularised:
            return Point(1.0, regularised), False, None
        return Point(1.0, shrinkage), True, how

    def _held_out(
        self,
        rows: Rows,
        fold_map: Any,
        plan: Plan,
        values: Sequence[Any],
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """Folds from the class moments of all rows minus those of the fold; leave-one-out from
        one factorisation for each class."""
        point, scaled, how = self._target()
        if self.covariance_estimator is not None:
            raise CannotSubtractError("the estimator of covariances is fitted to every part anew")
        if how is not None:
            raise CannotSubtractError("every training part finds a shrinkage of its own")
        parts = UntiedParts.of_learner(
            self, rows, n_classes, [point], scaled=scaled, fold_map=fold_map
        )
        return HeldOut(predict_folds(parts, plan, output, rows_per_block))
