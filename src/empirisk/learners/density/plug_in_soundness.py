"""Whether a plug-in predictor that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _is_fitted

from empirisk.learners.soundness import require


def check_plug_in(predictor: Any) -> None:
    """Raise a DataError unless the parts of a fitted predictor belong together."""
    p, model = getattr(predictor, "n_features_in_", None), getattr(predictor, "estimator_", None)
    require(type(p) is int and p >= 1, predictor, "n_features_in_")
    require(hasattr(model, "predict") and _is_fitted(model), predictor, "estimator_")
    require(getattr(model, "n_features_in_", p) == p, predictor, "estimator_")
    predictor._check()
    noise = getattr(predictor, "noise_deviation_", None)
    if predictor.__sklearn_tags__().estimator_type == "classifier":
        require(
            hasattr(model, "predict_proba") and hasattr(model, "classes_"), predictor, "estimator_"
        )
        require(noise is None, predictor, "noise_deviation_")
        return
    require(not is_classifier(model), predictor, "estimator_")
    if noise is None:
        require(hasattr(model, "conditional_weights"), predictor, "noise_deviation_")
        return
    require(
        type(noise) is float and noise >= 0 and not np.isnan(noise), predictor, "noise_deviation_"
    )
