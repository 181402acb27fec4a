"""Regression by the k nearest neighbours, and the whole distribution of y given x."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.neighbors.k_neighbors import KNeighbors
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError

REACHED = 1e-12  # of a share, relative: sums of shares that are less short of it reach it


class KNeighborsRegressor(RegressorMixin, KNeighbors):
    """The mean target of the k training rows nearest to x,

        h(x) = sum_i v_i y_i / sum_i v_i    over the k nearest rows i,

    with v_i = 1, or 1 / distance. The same shares give the distribution of y given x:
    P(y <= t | x) = sum_i v_i [y_i <= t] / sum_i v_i.

    Complexity axis: `n_neighbors`, larger is simpler; `Tuned(KNeighborsRegressor())` chooses it,
    for all values from one search, and for all folds too unless the distance is learned in each.

    Parameters
    ----------
    n_neighbors : int
        k. Beyond the number of training rows all of them count: the mean.
    weights : {"uniform", "distance"}, function or None
        What a neighbour counts for: the same, as for None; 1 / distance, where rows at distance 0
        alone count if there are some; or what a function makes of an array of distances, all the
        same where that is 0 for all neighbours.
    algorithm : {"auto", "kd_tree", "ball_tree", "brute"}
        How to search. All ways find the same neighbours; "auto" goes by size and dimension, and by
        how much of a tree the first points look at. "ball_tree" is the kd-tree.
    leaf_size : int
        A leaf of the tree has at most twice as many rows.
    p : float
        The power of metric "minkowski": 1 is "manhattan", 2 "euclidean", infinity "chebyshev".
    metric : str or function
        "minkowski", "euclidean", "manhattan", "chebyshev"; "mahalanobis", by the covariance in
        `metric_params` or that of the training rows; "learned", a linear map of the columns under
        which the training rows are predicted best from their neighbours; "gower", for tables with
        categories and missing values; and "cosine" and others by pairs, or a function of two
        rows: see `KNeighborsClassifier`.
    metric_params : dict, optional
        {"V": covariance} or {"VI": its inverse} of "mahalanobis"; {"w": weights of columns} of
        "minkowski"; further arguments of a distance by pairs.
    standardize : bool, optional
        Whether the columns are first divided by their standard deviations over the training rows.
        None is off, as in scikit-learn, but on among the candidates of `select` and of the command
        line. Nothing changes for "mahalanobis", "learned" and "gower", which do not depend on
        units, for distances by pairs, and where `metric_params` weighs the columns.
    n_jobs : int, optional
        Threads that share the points to predict.

    Attributes
    ----------
    X_train_, y_train_, weight_train_
        The training rows of positive weight, their targets and weights.
    metric_ : PointMetric, MixedMetric or PairMetric
        What was learned of the distance.
    columns_ : list of CodedColumn
        Of Gower's distance: what the columns are, numbers or categories with their levels.
    n_samples_fit_, effective_metric_, effective_metric_params_, n_features_in_, \
feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Ties: of rows at the same distance the earlier one is nearer (scikit-learn takes any). A row of
    weight w is w copies that stand beside it: k counts copies, of the last row only so many as are
    needed to make k. A weight may be a fraction of a copy; weights of another sum than the number
    of rows ask for another k.

    Distances are those of double precision: seen from a point that is 1e16 times as far away as the
    rows are from each other, all of them are equally far, and the first ones are taken.

    References
    ----------
    C. J. Stone (1977), Consistent nonparametric regression.
    K. Weinberger & G. Tesauro (2007), Metric learning for kernel regression.

    Examples
    --------
    >>> model = KNeighborsRegressor(2).fit([[0], [1], [2], [7]], [1.0, 2.0, 6.0, 9.0])
    >>> model.predict([[0.4], [5]])
    array([1.5, 7.5])
    >>> model.predict_cdf([[0.4]], 1.2), model.predict_quantile([[0.4]], 0.9)
    (array([0.5]), array([2.]))
    """

    def predict(self, X: Any) -> Floats:
        """The mean target of the neighbours of each row of X, (m,) or (m, outputs) like y.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (m, p), or None
            None are the training rows, each without itself: leave-one-out.
        """
        return self._said(X, "value")[:, 0]

    def predict_quantile(self, X: Any, q: Any = 0.5) -> Floats:
        """Quantiles of the targets of the neighbours of each row of X.

        Parameters
        ----------
        X : array-like or frame of shape (m, p)
        q : number or sequence of numbers from 0 to 1

        Returns
        -------
        array of shape (m,) for a number, else (m, quantiles)
            Values of y: the least one that has at least this share up to it.
        """
        check_is_fitted(self)
        levels = _numbers(q)
        if levels is None or not ((levels >= 0) & (levels <= 1)).all():
            raise ParameterError(f"q is {q!r:.60}; give numbers from 0 to 1")
        y, total = self._distribution(X)
        found = np.empty((len(y), levels.size))
        for j, level in enumerate(levels.reshape(-1)):
            reached = (total > 0) & (total >= level * (1 - REACHED) * total[:, -1:])
            found[:, j] = np.take_along_axis(y, reached.argmax(axis=1)[:, np.newaxis], 1)[:, 0]
        return found[:, 0] if levels.ndim == 0 else found

    def predict_cdf(self, X: Any, y: Any) -> Floats:
        """P(y <= t | x): the share of neighbours whose target is at most t.

        Parameters
        ----------
        X : array-like or frame of shape (m, p)
        y : number, or sequence of numbers
            The values t.

        Returns
        -------
        array of shape (m,) for a number, else (m, values)
        """
        check_is_fitted(self)
        at = _numbers(y)
        if at is None or np.isnan(at).any():
            raise DataError(f"y is {y!r:.60}; give a number or a sequence of numbers")
        rows, share = self._shares(X)
        target = self._one_target()[rows]
        found = np.empty((len(rows), at.size))
        for j, t in enumerate(at.reshape(-1)):
            found[:, j] = (share * (target <= t)).sum(axis=1) / share.sum(axis=1)
        return found[:, 0] if at.ndim == 0 else found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.metric != "learned"
        return tags

    def _one_target(self) -> Floats:
        y = self.y_train_
        if y.size != len(y):
            raise DataError(
                f"the model was fitted to {y.shape[1]} targets, and this is said of one: fit a "
                "learner for each"
            )
        return y.reshape(-1)

    def _distribution(self, X: Any) -> tuple[Floats, Floats]:
        """The targets of the neighbours in order, and the shares up to each."""
        rows, share = self._shares(X)
        y = self._one_target()[rows]
        order = np.argsort(np.where(share > 0, y, np.inf), axis=1, kind="stable")
        y, share = (np.take_along_axis(part, order, axis=1) for part in (y, share))
        return y, np.cumsum(share, axis=1)


def _numbers(given: Any) -> Floats | None:
    """One number or a sequence of them as an array; None of anything else."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.ndim < 2 else None
