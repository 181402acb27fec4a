"""Whether a parametric density that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.density.families import Family
from empirisk.learners.soundness import is_floats, require


def check_parametric(density: Any) -> None:
    """Raise a DataError unless the parts of a fitted density belong together."""
    p = getattr(density, "n_features_in_", None)
    require(type(p) is int and p >= 1, density, "n_features_in_")
    if density.family == "gaussian":
        density._shrinkages([density.shrinkage])
        _check_gaussian(density, p)
        return
    family = Family.of(density.family, density.fixed)
    columns: Any = getattr(density, "parameters_", None)
    require(type(columns) is list and len(columns) == p, density, "parameters_")
    for column in columns:
        require(type(column) is dict and tuple(column) == family.names, density, "parameters_")
        sound = all(type(value) is float and np.isfinite(value) for value in column.values())
        require(sound and column["scale"] > 0, density, "parameters_")
        shapes = [column[name] for name in family.shapes]
        require(bool(np.all(family.distribution._argcheck(*shapes))), density, "parameters_")


def _check_gaussian(density: Any, p: Any) -> None:
    for name in ("mean_", "scale_", "_variances"):
        require(_is_array(density, name, (p,)), density, name)
    for name in ("correlation_", "_axes"):
        require(_is_array(density, name, (p, p)), density, name)
    require((density.scale_ > 0).all(), density, "scale_")
    R, axes = density.correlation_, density._axes
    # Rounding errors of eigenvectors of p columns are far below.
    require(np.abs(axes.T @ axes - np.eye(p)).max() < 1e-6, density, "_axes")
    require(np.abs((axes * density._variances) @ axes.T - R).max() < 1e-6, density, "correlation_")
    require((np.diagonal(R) == 1).all() and np.abs(R).max() < 1 + 1e-6, density, "correlation_")
    require((density._variances > -1e-6).all(), density, "_variances")
    found = density._gaussian().shrunk(np.array([float(density.shrinkage)]))
    require((found > 0).all(), density, "_variances")


def _is_array(density: Any, name: str, shape: tuple[Any, ...]) -> bool:
    value: Any = getattr(density, name, None)
    return is_floats(value, shape) and bool(np.isfinite(value).all())
