"""Whether a kernel learner that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.density.bandwidth_matrix import checked_bandwidth
from empirisk.learners.density.support import checked_support, inside
from empirisk.learners.soundness import has_state, is_floats, require


def check_loaded_density(density: Any) -> None:
    """Complain of parts of a fitted density that do not go together; one not fitted has none."""
    if not has_state(density):
        return
    check_rows_of(density)
    try:
        density._check_parameters(density.n_features_in_)
        ends = checked_support(density.support, density.n_features_in_)
    except (ValueError, TypeError):
        require(False, density, "a parameter")
    require(ends is None or inside(density.rows_, ends).all(), density, "support")
    require(ends is None or np.ndim(density.bandwidth_) < 2, density, "bandwidth_")


def check_rows_of(learner: Any) -> None:
    """Rows, weights and bandwidth, which every kernel learner has."""
    rows: Any = learner.rows_
    require(
        is_floats(rows, (None, None)) and rows.size > 0 and np.isfinite(rows).all(),
        learner,
        "rows_",
    )
    require(rows.shape[1] == getattr(learner, "n_features_in_", None), learner, "n_features_in_")
    weight: Any = getattr(learner, "weights_", None)
    sound = is_floats(weight, (len(rows),)) and np.isfinite(weight).all()
    require(sound and (weight > 0).all(), learner, "weights_")
    bandwidth: Any = getattr(learner, "bandwidth_", None)
    number = isinstance(bandwidth, float)
    require(number or is_floats(bandwidth, (None,) * np.ndim(bandwidth)), learner, "bandwidth_")
    try:
        checked_bandwidth(bandwidth, rows.shape[1])
    except ValueError:
        require(False, learner, "bandwidth_")
