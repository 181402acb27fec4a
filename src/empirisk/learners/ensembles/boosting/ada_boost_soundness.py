"""Whether what was read from a file is a boosted ensemble: no member may be asked what it lacks."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from empirisk.learners.ensembles.boosting.weak_learners import are_flat_trees
from empirisk.learners.ensembles.forest_soundness import check_columns
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.errors import DataError


def check_ada_boost(model: Any) -> None:
    """Raise a DataError unless the parts of a fitted ensemble belong together."""
    p, weights = model.n_features_in_, model.estimator_weights_
    T = len(weights) if isinstance(weights, np.ndarray) else 0
    if type(p) is not int or p < 1 or T < 1:
        raise DataError("it has no number of features, or no weights of members")
    check_array("estimator_weights_", weights, np.float64, (T,))
    check_array("estimator_errors_", model.estimator_errors_, np.float64, (T,))
    check_array("_seeds", model._seeds, np.int64, (T,))
    if not np.isfinite(weights).all() or (weights < 0).any() or (model._seeds < 0).any():
        raise DataError("weights or seeds of members are negative, or not finite")
    if is_classifier(model):
        K = model.n_classes_
        if type(K) is not int or K < 1 or np.shape(model.classes_) != (K,):
            raise DataError("n_classes_ is not the number of classes_")
    if not hasattr(model.estimator_, "get_params"):
        raise DataError("estimator_ is no learner")
    if hasattr(model, "trees_"):
        _check_trees(model, T, p)
    else:
        _check_members(model, T, p)


def _check_trees(model: Any, T: int, p: int) -> None:
    trees = model.trees_
    if not isinstance(trees, ForestTrees) or trees.gains.shape != (T, p):
        raise DataError(f"trees_ are not {T} trees of {p} features")
    tree = model.estimator_
    if not are_flat_trees(tree) or is_classifier(tree) != is_classifier(model):
        raise DataError("estimator_ is no tree for this task, and there are trees_")
    check_columns(trees, model.columns_, p)
    K = getattr(model, "n_classes_", 0)
    width = trees.value.shape[1]
    if width != (1 if K in (0, 2) else K):
        raise DataError(f"leaves have {width} values, which is not what is predicted")
    if K:
        labels = model._leaf_labels
        check_array("_leaf_labels", labels, np.int64, (len(trees.weight),))
        if labels.min() < 0 or labels.max() >= K:
            raise DataError(f"_leaf_labels has classes beyond {K}")


def _check_members(model: Any, T: int, p: int) -> None:
    members = model._members
    if type(members) is not list or len(members) != T:
        raise DataError(f"_members is not a list of {T} estimators")
    if any(getattr(member, "n_features_in_", p) != p for member in members):
        raise DataError(f"a member has not {p} features")
