"""Whether a parametric density that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.density.families import Family
from empirisk.runtime.errors import DataError


def check_parametric(density: Any) -> None:
    """Raise a DataError unless the parts of a fitted density belong together."""
    p = getattr(density, "n_features_in_", None)
    _require(type(p) is int and p >= 1, "n_features_in_")
    if density.family == "gaussian":
        density._shrinkages([density.shrinkage])
        _check_gaussian(density, p)
        return
    family = Family.of(density.family, density.fixed)
    columns: Any = getattr(density, "parameters_", None)
    _require(type(columns) is list and len(columns) == p, "parameters_")
    for column in columns:
        _require(type(column) is dict and tuple(column) == family.names, "parameters_")
        sound = all(type(value) is float and np.isfinite(value) for value in column.values())
        _require(sound and column["scale"] > 0, "parameters_")
        shapes = [column[name] for name in family.shapes]
        _require(bool(np.all(family.distribution._argcheck(*shapes))), "parameters_")


def _check_gaussian(density: Any, p: Any) -> None:
    for name in ("mean_", "scale_", "_variances"):
        _require(_is_array(density, name, (p,)), name)
    for name in ("correlation_", "_axes"):
        _require(_is_array(density, name, (p, p)), name)
    _require((density.scale_ > 0).all(), "scale_")
    R, axes = density.correlation_, density._axes
    # Rounding errors of eigenvectors of p columns are far below.
    _require(np.abs(axes.T @ axes - np.eye(p)).max() < 1e-6, "_axes")
    _require(np.abs((axes * density._variances) @ axes.T - R).max() < 1e-6, "correlation_")
    _require((np.diagonal(R) == 1).all() and np.abs(R).max() < 1 + 1e-6, "correlation_")
    _require((density._variances > -1e-6).all(), "_variances")
    found = density._gaussian().shrunk(np.array([float(density.shrinkage)]))
    _require((found > 0).all(), "_variances")


def _is_array(density: Any, name: str, shape: tuple[Any, ...]) -> bool:
    value: Any = getattr(density, name, None)
    floats = isinstance(value, np.ndarray) and value.dtype == np.float64
    return floats and value.shape == shape and bool(np.isfinite(value).all())


def _require(sound: Any, what: str) -> None:
    if not sound:
        raise DataError(
            f"{what} of this density is not what a fit leaves: the file is damaged or was changed; "
            "save the model again"
        )
