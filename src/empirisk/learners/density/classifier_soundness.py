"""Whether a plug-in classifier that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.generative.settings import checked_priors
from empirisk.losses.costs import checked_costs
from empirisk.runtime.errors import DataError


def check_classifier(model: Any) -> None:
    """Raise a DataError unless the parts of a fitted classifier belong together."""
    p: Any = getattr(model, "n_features_in_", None)
    labels: Any = getattr(model, "classes_", None)
    _require(type(p) is int and p >= 1, "n_features_in_")
    K = len(labels) if isinstance(labels, np.ndarray) and labels.ndim == 1 else 0
    _require(K >= 2 and len(np.unique(labels)) == K, "classes_")
    for name in ("class_count_", "class_prior_"):
        found: Any = getattr(model, name, None)
        floats = isinstance(found, np.ndarray) and found.dtype == np.float64
        _require(floats and found.shape == (K,), name)
        _require(np.isfinite(found).all() and (found >= 0).all(), name)
    _require(abs(model.class_prior_.sum() - 1) < 1e-9, "class_prior_")
    densities: Any = getattr(model, "densities_", None)
    _require(type(densities) is list and len(densities) == K, "densities_")
    for density in densities:
        sound = hasattr(density, "score_samples") and getattr(density, "n_features_in_", 0) == p
        _require(sound, "densities_")
    checked_priors(model.priors, K)
    checked_costs(model.cost_matrix, labels)


def _require(sound: Any, what: str) -> None:
    if not sound:
        raise DataError(
            f"{what} of this classifier is not what a fit leaves: the file is damaged or was "
            "changed; save the model again"
        )
