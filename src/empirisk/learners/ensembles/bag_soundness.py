"""Whether what was read from a file is a bag: no member may be asked for columns it lacks."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from empirisk.learners.ensembles.bagged_trees import are_trees
from empirisk.runtime.errors import DataError


def check_bag(bag: Any) -> None:
    """Raise a DataError unless the parts of a fitted bag belong together."""
    members, columns, p = bag.estimators_, bag._columns, bag.n_features_in_
    if type(members) is not list or not members or type(p) is not int or p < 1:
        raise DataError("it has no list of members, or no number of features")
    if columns is not None:
        rows = isinstance(columns, np.ndarray) and columns.dtype == np.int64 and columns.ndim == 2
        if not rows or len(columns) != len(members) or columns.size == 0:
            raise DataError("_columns is not an array with a row of columns for each member")
        if columns.min() < 0 or columns.max() >= p:
            raise DataError(f"_columns has numbers beyond {p} features")
    if not hasattr(bag.estimator_, "get_params"):
        raise DataError("estimator_ is no learner")
    if type(bag._votes) is not bool:
        raise DataError("_votes is neither True nor False")
    width = p if columns is None else columns.shape[1]
    if any(getattr(member, "n_features_in_", None) != width for member in members):
        raise DataError(f"a member has not {width} features")
    if are_trees(bag.estimator_) and not all(are_trees(member) for member in members):
        raise DataError("a member is no tree, and the estimator is one")
    if is_classifier(bag):
        _check_classes(bag)


def _check_classes(bag: Any) -> None:
    K = bag.n_classes_
    if type(K) is not int or np.shape(bag.classes_) != (K,):
        raise DataError("n_classes_ is not the number of classes_")
    for member in bag.estimators_:
        known = np.asarray(member.classes_)
        if known.dtype.kind not in "iu" or known.min() < 0 or known.max() >= K:
            raise DataError(f"a member has classes beyond {K}")
