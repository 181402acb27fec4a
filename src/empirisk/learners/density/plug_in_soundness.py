"""Whether a plug-in predictor that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _is_fitted

from empirisk.runtime.errors import DataError


def check_plug_in(predictor: Any) -> None:
    """Raise a DataError unless the parts of a fitted predictor belong together."""
    p, model = getattr(predictor, "n_features_in_", None), getattr(predictor, "estimator_", None)
    _require(type(p) is int and p >= 1, "n_features_in_")
    _require(hasattr(model, "predict") and _is_fitted(model), "estimator_")
    _require(getattr(model, "n_features_in_", p) == p, "estimator_")
    predictor._check()
    noise = getattr(predictor, "noise_deviation_", None)
    if predictor.__sklearn_tags__().estimator_type == "classifier":
        _require(hasattr(model, "predict_proba") and hasattr(model, "classes_"), "estimator_")
        _require(noise is None, "noise_deviation_")
        return
    _require(not is_classifier(model), "estimator_")
    if noise is None:
        _require(hasattr(model, "conditional_weights"), "noise_deviation_")
        return
    _require(type(noise) is float and noise >= 0 and not np.isnan(noise), "noise_deviation_")


def _require(sound: Any, what: str) -> None:
    if not sound:
        raise DataError(
            f"{what} of this predictor is not what a fit leaves: the file is damaged or was "
            "changed; save the model again"
        )
