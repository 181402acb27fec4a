"""Whether a plug-in classifier that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.generative.settings import checked_priors
from empirisk.learners.soundness import is_floats, require
from empirisk.losses.costs import checked_costs


def check_classifier(model: Any) -> None:
    """Raise a DataError unless the parts of a fitted classifier belong together."""
    p: Any = getattr(model, "n_features_in_", None)
    labels: Any = getattr(model, "classes_", None)
    require(type(p) is int and p >= 1, model, "n_features_in_")
    K = len(labels) if isinstance(labels, np.ndarray) and labels.ndim == 1 else 0
    require(K >= 2 and len(np.unique(labels)) == K, model, "classes_")
    for name in ("class_count_", "class_prior_"):
        found: Any = getattr(model, name, None)
        require(is_floats(found, (K,)), model, name)
        require(np.isfinite(found).all() and (found >= 0).all(), model, name)
    require(abs(model.class_prior_.sum() - 1) < 1e-9, model, "class_prior_")
    densities: Any = getattr(model, "densities_", None)
    require(type(densities) is list and len(densities) == K, model, "densities_")
    for density in densities:
        sound = hasattr(density, "score_samples") and getattr(density, "n_features_in_", 0) == p
        require(sound, model, "densities_")
    checked_priors(model.priors, K)
    checked_costs(model.cost_matrix, labels)
    costs: Any = getattr(model, "_costs", "missing")
    sound = costs is None or (is_floats(costs, (K, K)) and np.isfinite(costs).all())
    require(sound, model, "_costs")
