"""Whether what was read from a file is a boosted model: no walk may leave its trees."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from empirisk.learners.ensembles.boosting.boosting_loss import INVERSE_LINKS, OwnLoss
from empirisk.learners.ensembles.forest_soundness import check_columns
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.errors import DataError


def check_boosted(model: Any) -> None:
    """Raise a DataError unless the parts of a fitted model belong together."""
    trees, K = model.trees_.trees, model.n_trees_per_iteration_
    check_columns(trees, model.columns_, model.n_features_in_)
    if model.trees_.per_round != K:
        raise DataError(
            f"n_trees_per_iteration_ is {K!r:.20}, and the trees are not of such rounds"
        )
    if trees.value.shape[1] != 1:
        raise DataError(f"leaves have {trees.value.shape[1]} values, and one is needed")
    check_array("_baseline_prediction", model._baseline_prediction, np.float64, (1, K))
    if model._link is None:
        OwnLoss(model._own_loss)  # complains of what is no loss
    elif model._own_loss is not None:
        raise DataError("_own_loss is there, and _link says what scores mean")
    if model._link is not None and model._link not in INVERSE_LINKS:
        raise DataError(f"_link is {model._link!r:.50}; there are {', '.join(INVERSE_LINKS)}")
    if is_classifier(model):
        _check_classes(model, K)
    for name in ("train_score_", "validation_score_"):
        check_array(name, getattr(model, name), np.float64, (np.size(getattr(model, name)),))


def _check_classes(model: Any, K: int) -> None:
    """One tree in a round goes with two classes, K with K."""
    wanted, link = (2, "logit") if K == 1 else (K, "softmax")
    if not isinstance(model.classes_, np.ndarray) or model.classes_.shape != (wanted,):
        raise DataError(f"classes_ are not an array of {wanted} labels")
    if model._link not in (None, link):
        raise DataError(f"_link is {model._link!r:.50}, which gives no probabilities")
