"""Whether a kernel learner that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.density.bandwidth_matrix import checked_bandwidth
from empirisk.learners.density.support import checked_support, inside
from empirisk.runtime.errors import DataError


def check_loaded_density(density: Any) -> None:
    """Complain of parts of a fitted density that do not go together; one not fitted has none."""
    if not hasattr(density, "rows_"):
        return
    check_rows_of(density)
    try:
        density._check_parameters(density.n_features_in_)
        ends = checked_support(density.support, density.n_features_in_)
    except (ValueError, TypeError):
        _require(density, False, "a parameter")
    _require(density, ends is None or inside(density.rows_, ends).all(), "support")
    _require(density, ends is None or np.ndim(density.bandwidth_) < 2, "bandwidth_")


def check_rows_of(learner: Any) -> None:
    """Rows, weights and bandwidth, which every kernel learner has."""
    rows: Any = learner.rows_
    _require(learner, _is_floats(rows, 2) and rows.size > 0 and np.isfinite(rows).all(), "rows_")
    _require(learner, rows.shape[1] == getattr(learner, "n_features_in_", None), "n_features_in_")
    weight: Any = getattr(learner, "weights_", None)
    sound = _is_floats(weight, 1) and len(weight) == len(rows) and np.isfinite(weight).all()
    _require(learner, sound and (weight > 0).all(), "weights_")
    bandwidth: Any = getattr(learner, "bandwidth_", None)
    number = isinstance(bandwidth, float)
    _require(learner, number or _is_floats(bandwidth, np.ndim(bandwidth)), "bandwidth_")
    try:
        checked_bandwidth(bandwidth, rows.shape[1])
    except ValueError:
        _require(learner, False, "bandwidth_")


def _is_floats(value: Any, dimensions: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == dimensions


def _require(learner: Any, sound: Any, what: str) -> None:
    if not sound:
        raise DataError(
            f"{what} of this {type(learner).__name__} is not what a fit leaves: the file is "
            "damaged or was changed; save the model again"
        )
