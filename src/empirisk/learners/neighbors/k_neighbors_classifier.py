"""Classification by the k nearest neighbours."""

from typing import Any

from sklearn.base import ClassifierMixin

from empirisk.learners.neighbors.k_neighbors import KNeighbors
from empirisk.runtime.arrays import Array, Floats


class KNeighborsClassifier(ClassifierMixin, KNeighbors):
    """The share of each class among the k training rows nearest to x,

        P(y = c | x) = sum_i v_i [y_i = c] / sum_i v_i    over the k nearest rows i,

    with v_i = 1, or 1 / distance; predicted is the class with the largest share.

    Complexity axis: `n_neighbors`, larger is simpler; `Tuned(KNeighborsClassifier())` chooses it,
    for all values from one search, and for all folds too unless the distance is learned in each.

    Parameters
    ----------
    n_neighbors : int
        k. Beyond the number of training rows all of them count: the majority.
    weights : {"uniform", "distance"}, function or None
        What a neighbour counts for: the same, as for None; 1 / distance, where rows at distance 0
        alone count if there are some; or what a function makes of an array of distances, all the
        same where that is 0 for all neighbours (scikit-learn's classifier raises an error there).
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
        which the neighbours of the training rows are of their class (neighbourhood components
        analysis); "gower", for tables with categories and missing values: the mean over the
        columns of which both rows have a cell, of differences in parts of the range of a column,
        and of 0 or 1 for equal or different levels; a level that no training row has differs from
        all of theirs.

        By pairs, as `sklearn.metrics.pairwise_distances` has them and by looking at all rows:
        "cosine", "correlation", "braycurtis" (as scikit-learn's neighbours have it,
        sum |x - y| / sum (|x| + |y|), and 0 for rows of zeros), "canberra", "sqeuclidean",
        "seuclidean", "haversine", "nan_euclidean" (cells may be missing), of counts and truth
        values "hamming", "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule";
        or a function of two rows. "precomputed": X has the distances of rows from all training
        rows, to fit a square array; they are held out with the others of their fold.
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
    classes_ : array of shape (n_classes,)
    X_train_, y_train_, weight_train_
        The training rows of positive weight, the codes of their classes, and their weights.
    metric_ : PointMetric, MixedMetric or PairMetric
        What was learned of the distance.
    columns_ : list of CodedColumn
        Of Gower's distance: what the columns are, numbers or categories with their levels.
    n_samples_fit_, effective_metric_, effective_metric_params_, n_features_in_, \
feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Ties: of rows at the same distance the earlier one is nearer (scikit-learn takes any), and of
    classes with the same share the first is predicted. A row of weight w is w copies that stand
    beside it: k counts copies, of the last row only so many as are needed to make k. A weight may
    be a fraction of a copy; weights of another sum than the number of rows ask for another k.

    Distances are those of double precision: seen from a point that is 1e16 times as far away as the
    rows are from each other, all of them are equally far, and the first ones are taken.

    References
    ----------
    T. Cover & P. Hart (1967), Nearest neighbor pattern classification.

    Examples
    --------
    >>> model = KNeighborsClassifier(3).fit([[0], [1], [2], [7], [8]], ["a", "a", "b", "b", "b"])
    >>> model.predict([[0.4], [5]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[0.4]]).round(3)
    array([[0.667, 0.333]])
    """

    classes_: Array

    def predict(self, X: Any) -> Array:
        """The class with the largest share among the neighbours; of ties the first.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (m, p), or None
            None are the training rows, each without itself: leave-one-out.
        """
        codes = self._said(X, "value")[:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """The shares of the classes among the neighbours, in the order of `classes_`.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (m, p), or None
            As of `predict`.
        """
        return self._said(X, "probability")[:, 0]
