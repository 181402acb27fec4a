"""Linear discriminant analysis: Gaussian classes that share one covariance."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.encode import FoldDesign
from empirisk.learners.generative.discriminant_path import (
    DiscriminantPath,
    checked_priors,
    checked_shrinkage,
    checked_tol,
)
from empirisk.learners.generative.discriminants import (
    LinearDiscriminants,
    largest,
    log_posterior,
    posterior,
)
from empirisk.learners.generative.held_out import TrainingParts, predict_folds
from empirisk.learners.generative.leave_one_out import predict_left_out
from empirisk.risk.axis import Axis, CannotSubtractError, Freedom, HeldOut, Output, PathMixin
from empirisk.risk.plans import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import column_names
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_fit, check_predict

GRID = tuple(((np.arange(21) / 20) ** 3).tolist())
"""Shrinkage matters by its size relative to the small eigenvalues: most values near 0."""


class LinearDiscriminantAnalysis(PathMixin, ClassifierMixin, BaseEstimator):
    """Bayes' rule for Gaussian classes with means m_k, shares pi_k and one covariance Sigma:
    the largest of

        f_k(x) = log pi_k - m_k' Sigma^-1 m_k / 2 + m_k' Sigma^-1 x.

    Means, shares and covariance are those of maximum likelihood (divisor n), the covariance
    optionally shrunken towards a multiple of the identity:

        Sigma(s) = (1 - s) S + s (trace S / p) I.

    Complexity axis: `shrinkage`; `Tuned(LinearDiscriminantAnalysis())` chooses it.

    Parameters
    ----------
    shrinkage : float between 0 and 1, or None
        s above. None is 0. With 1 the rule is that of the nearest class mean.
    priors : array-like of shape (n_classes,), optional
        The shares pi_k; by default the weighted frequencies of the classes.
    store_covariance : bool
        Keep Sigma(s) as `covariance_`.
    tol : float
        A linear combination of columns of unit variance within classes has no variance if its
        standard deviation is at most tol. Where shrinkage is 0 it is then given the variance
        tol^2, and a warning names the columns: if the class means agree in that direction it has
        no say; if they differ, the classes are perfectly separated and it decides.

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
        Only with `store_covariance`.

    Notes
    -----
    Of equal f_k the first class is taken. At shrinkage 0 predictions do not depend on the units
    of the columns (`feature_scaling = "each"`), at other values all columns must be measured in
    the same unit.

    References
    ----------
    R. A. Fisher (1936), The use of multiple measurements in taxonomic problems.
    J. H. Friedman (1989), Regularized discriminant analysis.

    Examples
    --------
    >>> X = [[-3.0, -1], [-2, 0], [-1, -2], [1, 1], [2, 3], [3, 2]]
    >>> lda = LinearDiscriminantAnalysis().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> lda.predict([[-0.5, 0], [1, 0.5]])
    array(['a', 'b'], dtype='<U1')
    >>> lda.predict_proba([[0, 0.5]]).round(3)
    array([[0.5, 0.5]])
    """

    axis: ClassVar[Axis | None] = Axis(("shrinkage",), larger="simpler", scale="linear")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    takes_fold_design: ClassVar[bool] = True
    freedom: ClassVar[Freedom] = "columns"

    def __init__(
        self,
        shrinkage: float | None = None,
        *,
        priors: ArrayLike | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.store_covariance = store_covariance
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in memory.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        data = check_fit(self, X, y, sample_weight, classifier=True)
        assert data.classes is not None
        blocks = Blocks.of_arrays(data.X, data.y, data.sample_weight)
        return self._fit(blocks, data.classes, column_names(data.X))

    def fit_blocks(self, source: Any) -> Self:
        """Learn from pieces (X, y) or (X, y, sample_weight): the same bits as `fit` on all rows.

        Parameters
        ----------
        source : callable, or iterable that can be gone through again
            Gives the pieces, of any number of rows. It is gone through three times: for the
            classes, for the size of the numbers, for the moments.
        """
        blocks = Blocks.of_pieces(source, self)
        classes = np.unique(np.concatenate([np.unique(block.y) for block in blocks]))
        check_classification_targets(classes)
        names = getattr(self, "feature_names_in_", None)
        return self._fit(blocks.map(partial(_coded, classes)), classes, names)

    def _fit(self, blocks: Blocks, classes: Array, names: Sequence[str] | None) -> Self:
        if len(classes) < 2:
            raise DataError(
                f"y has one class only, {classes.tolist()[0]!r}; LinearDiscriminantAnalysis needs "
                "rows of at least two classes"
            )
        path = DiscriminantPath(self, blocks, [self.shrinkage], len(classes), names)
        return path.write(0, self, classes)

    def axis_values(
        self, X: Floats, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """0 to 1, denser near 0; 0 itself only if there are rows enough to invert a covariance."""
        invertible = n_train - len(np.unique(y)) >= X.shape[1]
        return GRID if invertible else GRID[1:]

    def fit_path(
        self, X: Floats, y: Ints, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> DiscriminantPath:
        """All shrinkages from one eigendecomposition, and one more for shrinkage 0."""
        blocks = Blocks.of_arrays(X, y, sample_weight)
        return DiscriminantPath(self, blocks, values, n_classes, column_names(X))

    def out_of_fold(
        self,
        X: Floats | FoldDesign,
        y: Ints,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """Folds from the class moments of all rows minus those of the fold; leave-one-out from
        one factorisation and a rank-one downdate per row."""
        shrinkages = [checked_shrinkage(value) for value in values]
        if not plan.is_partition:
            raise CannotSubtractError(
                f"the training parts of the plan ({plan.kind}) are not the complements of folds"
            )
        alone = plan.repeats == 1 and plan.n_splits == plan.n
        Z, fold_map = (X.Z, X.fold_map) if isinstance(X, FoldDesign) else (X, None)
        if alone and fold_map is not None:
            raise CannotSubtractError("without each row in turn the encoder is another one")
        parts = TrainingParts.of(
            Rows(Z, y, sample_weight),
            n_classes,
            shrinkages,
            checked_priors(self.priors, n_classes),
            checked_tol(self.tol),
            fold_map,
        )
        if alone:
            return HeldOut(predict_left_out(parts, output, rows_per_block))
        return HeldOut(predict_folds(parts, plan, output, rows_per_block))

    def decision_function(self, X: Any) -> Floats:
        """f_k(x) for each class; with two classes f_1(x) - f_0(x), of shape (n_rows,)."""
        values = self._values(X)[:, :, 0]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        codes = largest(self._values(X))[:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, in the order of `classes_`."""
        return posterior(self._values(X))[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, accurate where these underflow."""
        return log_posterior(self._values(X))[:, 0]

    def _values(self, X: Any) -> Floats:
        X = check_predict(self, X)
        rule = LinearDiscriminants(self.coef_[:, None], self._offset[:, None], self.xbar_)
        with one_blas_thread():
            return rule.values(X)


def _coded(classes: Array, block: Rows) -> Rows:
    return Rows(block.X, np.searchsorted(classes, block.y), block.weight)
