"""Kernel classification: the shares of the classes among near rows."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from empirisk.learners.neighbors.kernel_smoother import KernelSmoother
from empirisk.learners.soundness import require
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.validation import check_fit, check_predict


class KernelClassifier(ClassifierMixin, KernelSmoother):
    """P(k | x) = sum over rows of class k of w_i K((x - x_i)/h) / sum over all rows of it.

    It is Bayes' rule with a kernel density for each class, all of one bandwidth, and the shares of
    the classes as priors: the rule of Nadaraya and Watson for the indicators of the classes.

    Complexity axis: `bandwidth`; `Tuned(KernelClassifier())` chooses it, leave-one-out and folds
    for all bandwidths from one pass over the pairs of rows.

    Parameters
    ----------
    bandwidth : number, array, or {"scott", "silverman", "loo"}
        As in `KernelRegressor`; "loo" has the least squared error of probabilities of rows left
        out, among the bandwidths given there.
    kernel : str
        As in `KernelDensity`, of order 2.
    scale : {"columns", None}
        Whether columns are divided by their standard deviations (divisor n), or taken as they are.
        A bandwidth by name is in standard deviations either way.
    n_jobs : int or None
        Threads. No bit depends on it.

    Attributes
    ----------
    classes_ : array
    bandwidth_ : float or array
        In the units of X: a number, one for each column, or a matrix.
    rows_, y_train_, weights_ : arrays
        The training rows of positive weight; y_train_ are codes, places in `classes_`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where no row is within reach of a kernel of bounded support, the shares are those of the nearest
    rows, ties included. Of classes with equal probabilities the first is predicted.

    References
    ----------
    D. Hand (1982), Kernel discriminant analysis.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["no", "no", "yes", "yes"]
    >>> model = KernelClassifier(bandwidth=1.0, scale=None).fit(X, y)
    >>> model.predict([[0.5], [9.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.predict_proba([[2.0]]).round(3)
    array([[0.835, 0.165]])
    """

    def __init__(
        self,
        bandwidth: Any = "scott",
        *,
        kernel: str = "gaussian",
        scale: str | None = "columns",
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.scale = scale
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows, and find the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        train = check_fit(self, X, y, sample_weight, classifier=True)
        assert train.classes is not None
        refuse_one_class(train.classes, "KernelClassifier")
        self._keep(train.X, train.y, train.sample_weight, len(train.classes))
        self.classes_ = train.classes
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The share of each class near each row."""
        fits = self._fits(check_predict(self, X)).fits
        return self._answer(fits, "probability")[:, 0]

    def predict(self, X: Any) -> Array:
        """The class with the largest share."""
        found = self.predict_proba(X).argmax(axis=1)
        return self.classes_[found]

    def standard_errors(self, X: Any) -> Floats:
        """sqrt(p (1 - p) sum_i w_i l_i^2) of each probability p = sum_i w_i l_i [y_i = k].

        The bias is left out, and so is that p itself is an estimate: where all near rows have one
        class it is 0.
        """
        found = self._fits(check_predict(self, X), with_norms=True)
        p = self._answer(found.fits, "probability")[:, 0]
        return np.sqrt(p * (1 - p)) * np.sqrt(found.norms)

    def _targets(self, y: Array, n_classes: int) -> Floats:
        return np.ascontiguousarray(np.eye(n_classes)[y])

    def _answer(self, fits: Floats, output: Output) -> Array:
        if output == "value":
            return fits.argmax(axis=2)
        return np.clip(fits / fits.sum(axis=2, keepdims=True), 0.0, 1.0)

    def _with_targets(self, y: Array, n_classes: int) -> Self:
        self.y_train_ = y
        self.classes_ = np.arange(n_classes)
        return self

    def _check_loaded_targets(self) -> None:
        y: Any = getattr(self, "y_train_", None)
        classes: Any = getattr(self, "classes_", None)
        sound = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) >= 2
        require(sound and len(np.unique(classes)) == len(classes), self, "classes_")
        codes = isinstance(y, np.ndarray) and y.dtype == np.int64 and y.shape == (len(self.rows_),)
        require(codes and y.min() >= 0 and y.max() < len(classes), self, "y_train_")
