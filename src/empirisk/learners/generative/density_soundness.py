"""Whether what was read from a file are densities of classes, and a rule that goes with them."""

from typing import Any

import numpy as np

from empirisk.runtime.errors import DataError

LARGEST_UNIT = 1100
"""Beyond it, powers of two are no numbers of double precision."""


CONSTANTS = ("_offset", "intercept_")
"""Minus infinity for a class of prior probability 0; of two classes their difference."""


def check_arrays(thing: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise a DataError unless attributes are arrays of numbers of these shapes, finite but for
    the constants of functions."""
    for name, shape in shapes.items():
        found: Any = getattr(thing, name, None)
        known = isinstance(found, np.ndarray) and found.dtype == np.float64
        if not known or found.shape != shape:
            raise DataError(f"{name} is not an array of float64 of shape {shape}")
        sound = ~np.isnan(found) if name in CONSTANTS else np.isfinite(found)
        if not sound.all():
            raise DataError(f"{name} has values that are no numbers")


def check_densities(densities: Any) -> None:
    """Raise a DataError unless means, covariances and priors belong together."""
    K, p = densities.mean.shape if np.ndim(densities.mean) == 2 else (0, 0)
    if K < 2 or p == 0:
        raise DataError("mean is not an array with a row for each of several classes")
    check_arrays(densities, {"priors": (K,), "mean": (K, p), "instead": (p,)})
    shape = (p, p) if np.ndim(densities.covariance) == 2 else (K, p, p)
    check_arrays(densities, {"covariance": shape})
    unit = densities.unit
    if not isinstance(unit, np.ndarray) or (unit.dtype, unit.shape) != (np.int64, (p,)):
        raise DataError(f"unit is not an array of int64 of shape {(p,)}")
    if (np.abs(unit) > LARGEST_UNIT).any():
        raise DataError("unit has powers of two beyond those of numbers")
    variances = np.einsum("...jj->...j", densities.covariance)
    if not (np.isfinite(densities.covariance).all() and (variances >= 0).all()):
        raise DataError("covariance has variances below 0, or infinite numbers")
    priors, instead = densities.priors, densities.instead
    if (priors < 0).any() or not abs(priors.sum() - 1) < 1e-6 or (instead < 0).any():
        raise DataError("priors are no shares that sum to 1, or instead is below 0")
    if not isinstance(densities.tol, float) or not 0 <= densities.tol < 1:
        raise DataError("tol is not a number from 0 to below 1")
    if not isinstance(densities.cholesky, bool):
        raise DataError("cholesky is neither True nor False")
