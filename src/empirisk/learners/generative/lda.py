"""Linear discriminant analysis: Gaussian classes that share one covariance."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from empirisk.data.blocks import Blocks, Rows
from empirisk.learners.generative.complete_rows import has_missing
from empirisk.learners.generative.density_soundness import check_arrays
from empirisk.learners.generative.discriminant_path import DiscriminantPath
from empirisk.learners.generative.discriminants import as_written
from empirisk.learners.generative.estimated_covariance import check_alone
from empirisk.learners.generative.gaussian_classifier import GaussianClassifier
from empirisk.learners.generative.leave_one_out import predict_left_out
from empirisk.learners.generative.settings import (
    BY_THE_DATA,
    by_cholesky,
    checked_components,
    checked_flag,
    checked_priors,
    checked_shrinkage,
    checked_tol,
)
from empirisk.learners.generative.tied_held_out import TiedParts, predict_folds
from empirisk.risk.axis import Axis, CannotSubtractError, Freedom, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_predict

GRID = tuple(((np.arange(21) / 20) ** 3).tolist())
"""Shrinkage matters by its size relative to the small eigenvalues: most values near 0."""


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianClassifier
):
    """Bayes' rule for Gaussian classes with means m_k, shares pi_k and one covariance Sigma:
    the largest of

        f_k(x) = log pi_k - m_k' Sigma^-1 m_k / 2 + m_k' Sigma^-1 x.

    Means, shares and covariance are those of maximum likelihood (divisor n), the covariance
    optionally shrunken towards a multiple of the identity:

        Sigma(s) = (1 - s) S + s (trace S / p) I.

    `transform` gives Fisher's coordinates, at most K - 1 for K classes, in which the covariance
    within classes is the identity. There the rule is that of the nearest class mean, by the squared
    distance minus 2 log pi_k.

    Features that are missing (NaN) when it predicts are left out by the marginal densities of the
    others. Training rows must be complete; others are left out, with a warning.

    Complexity axis: `shrinkage`; `Tuned(LinearDiscriminantAnalysis())` chooses it.

    Parameters
    ----------
    solver : {"auto", "cholesky", "eigen", "svd", "lsqr"}
        Without shrinkage S is factored by Cholesky, or by its eigenvectors if so asked or where it
        is nearly singular; with shrinkage by its eigenvectors, which serve every s. The rule is
        the same. "svd" and "lsqr", names of scikit-learn's, are read as "auto".
    shrinkage : float between 0 and 1, "auto", "oas", or None
        s above. None is 0. With 1 and equal priors the rule is that of the nearest class mean. By
        "auto" each class is shrunken as Ledoit & Wolf (2004) say, its columns scaled to unit
        variance, before the classes are pooled; by "oas" the same as Chen and others (2010) say,
        for Gaussian rows.
    priors : array-like of shape (n_classes,), optional
        The shares pi_k; by default the weighted frequencies of the classes.
    n_components : int, optional
        How many coordinates `transform` gives; None gives all.
    store_covariance : bool
        Keep Sigma(s) as `covariance_`; "eigen" and "lsqr" do so anyway, as in scikit-learn.
    tol : float
        A linear combination of columns of unit variance within classes has no variance if its
        standard deviation is at most tol. Where shrinkage is 0 it is then given the variance
        tol^2, and a warning names the columns: if the class means agree in that direction it has
        no say; if they differ, the classes are perfectly separated and it decides.
    covariance_estimator : estimator, optional
        Finds the covariance instead: any object whose `fit(X)` leaves `covariance_`, such as those
        of `sklearn.covariance`. A copy is fitted to the rows of each class, and what they find is
        pooled by the classes' shares of the rows, whatever the `priors` are (scikit-learn pools by
        `priors` where these are given). Not together with `shrinkage`, `unbiased` or the solver
        "svd". If rows have weights, its `fit` must take `sample_weight`; those of scikit-learn
        do not.
    unbiased : bool
        Divide the scatter within classes by n - K instead of n.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    priors_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    xbar_ : array of shape (n_features,)
        sum_k pi_k m_k.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,)
        The functions f_k, up to one linear function common to all; with two classes one row,
        f_1 - f_0.
    covariance_ : array of shape (n_features, n_features)
        Only with `store_covariance` or the solvers "eigen" and "lsqr".
    shrinkage_ : float, or array of shape (n_classes,)
        What was used; by "auto" and "oas" of each class.
    rank_ : int
        In how many directions there is variance within classes; below n_features, the others were
        given the variance tol^2.
    scalings_ : array of shape (n_features, n_coordinates)
        Coordinates are (x - xbar_)' scalings_.
    separability_ : array of shape (n_coordinates,)
        Of each coordinate, the variance between classes over that within, falling.
    explained_variance_ratio_ : array of shape (n_coordinates,)
        Its share of the sum over all coordinates.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Of equal f_k the first class is taken. Coordinates are those of scikit-learn's solver "svd",
    whatever the solver; by its "eigen" they have other origins and units, and with shrinkage the
    variance between classes is shrunken, too. At shrinkage 0 predictions do not depend on the units
    of the columns (`feature_scaling = "each"`), at other values all columns must be measured in
    the same unit.

    References
    ----------
    R. A. Fisher (1936), The use of multiple measurements in taxonomic problems.
    C. R. Rao (1948), The utilization of multiple measurements in problems of biological
    classification.
    J. H. Friedman (1989), Regularized discriminant analysis.

    Examples
    --------
    >>> X = [[-3.0, -1], [-2, 0], [-1, -2], [1, 1], [2, 3], [3, 2]]
    >>> lda = LinearDiscriminantAnalysis().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> lda.predict([[-0.5, 0], [1, 0.5]])
    array(['a', 'b'], dtype='<U1')
    >>> lda.predict_proba([[0, 0.5]]).round(3)
    array([[0.5, 0.5]])
    >>> lda.predict_proba([[1, float("nan")]]).round(3)  # the second feature is not known
    array([[0.002, 0.998]])
    >>> lda.transform(X).shape, lda.separability_.round(2)
    ((6, 1), array([9.38]))
    """

    axis: ClassVar[Axis | None] = Axis(("shrinkage",), larger="simpler", scale="linear")
    freedom: ClassVar[Freedom] = "columns"

    def __init__(
        self,
        solver: str = "auto",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        unbiased: bool = False,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.unbiased = unbiased

    def axis_values(
        self, X: Floats, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """0 to 1, denser near 0; 0 itself only if there are rows enough to invert a covariance."""
        check_alone(self, GRID)
        invertible = n_train - len(np.unique(y)) >= X.shape[1]
        return GRID if invertible else GRID[1:]

    def transform(self, X: Any) -> Floats:
        """Fisher's coordinates of the rows, the one in which classes are farthest apart first.

        Those of a row with missing features (NaN) are NaN.
        """
        X = check_predict(self, X, allow_nan=True)
        with one_blas_thread():
            return (X - self.xbar_) @ self.scalings_

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        super().check_loaded()
        if not hasattr(self, "classes_"):
            return
        K, p = self._densities.mean.shape
        m = 1 if K == 2 else K
        shapes = {"coef_": (m, p), "_offset": (m,), "intercept_": (m,), "xbar_": (p,)}
        coordinates = np.size(getattr(self, "separability_", ()))
        check_arrays(self, {**shapes, "scalings_": (p, coordinates)})

    def _learn(self, blocks: Blocks, classes: Array, names: Sequence[str] | None) -> None:
        self._path(blocks, [self.shrinkage], classes, names).write(0, self)

    def _path(
        self, blocks: Blocks, values: Sequence[Any], classes: Array, names: Sequence[str] | None
    ) -> DiscriminantPath:
        """All shrinkages from one eigendecomposition, and one more for shrinkage 0."""
        return DiscriminantPath(self, blocks, values, classes, names)

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
        one factorisation and a rank-one downdate per row."""
        self._check_unused(n_classes, rows.X.shape[1] if fold_map is None else None)
        if self.covariance_estimator is not None:
            raise CannotSubtractError("the estimator of covariances is fitted to every part anew")
        for value in values:
            if isinstance(value, str) and value in BY_THE_DATA:
                raise CannotSubtractError("every training part finds a shrinkage of its own")
        parts = TiedParts.of(
            rows,
            n_classes,
            priors=checked_priors(self.priors, n_classes),
            tol=checked_tol(self.tol),
            tied=True,
            unbiased=checked_flag(self.unbiased, "unbiased"),
            fold_map=fold_map,
            shrinkages=[checked_shrinkage(value) for value in values],
        )
        if plan.leaves_one_out:
            return HeldOut(predict_left_out(parts, output, rows_per_block))
        return HeldOut(predict_folds(parts, plan, output, rows_per_block))

    def _check_unused(self, n_classes: int, p: int | None) -> None:
        """Settings on which no prediction depends, refused as `fit` does."""
        by_cholesky(self.solver)
        checked_flag(self.store_covariance, "store_covariance")
        most = n_classes - 1
        checked_components(self.n_components, most if p is None else min(most, p))

    @property
    def _n_features_out(self) -> int:
        return self.scalings_.shape[1]

    def _values(self, X: Any) -> Floats:
        X = check_predict(self, X, allow_nan=True)
        rule = as_written(self.coef_, self.intercept_, self._offset, self.xbar_)
        with one_blas_thread():
            if not has_missing(X):
                return rule.values(X)
            incomplete = np.isnan(X).any(axis=1)
            values = np.empty((len(X), *self._offset.shape, 1))
            values[~incomplete] = rule.values(X[~incomplete])
            marginal = self._densities.marginal_values(X[incomplete])
        if len(self._offset) == 1:
            marginal = marginal[:, 1:] - marginal[:, :1]
        values[incomplete, :, 0] = marginal
        return values
