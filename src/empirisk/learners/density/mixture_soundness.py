"""Whether what a file says is a mixture."""

from typing import Any

import numpy as np

from empirisk.learners.density.covariance_structures import STRUCTURES
from empirisk.learners.density.em_trajectory import EMTrajectory
from empirisk.learners.soundness import check_numbers, is_floats
from empirisk.runtime.errors import DataError
from empirisk.runtime.scalars import is_whole


def check_gaussian_mixture(mixture: Any) -> None:
    """Raise a DataError unless the fitted attributes belong together."""
    if not hasattr(mixture, "weights_") and not hasattr(mixture, "_placed_means"):
        return  # not fitted
    if mixture.covariance_type not in STRUCTURES:
        raise DataError(f"covariance_type is {mixture.covariance_type!r}")
    K, p = check_components(mixture)
    structure = STRUCTURES[mixture.covariance_type]
    check_numbers("means_", getattr(mixture, "means_", None), (K, p))
    check_numbers("_placed_means", getattr(mixture, "_placed_means", None), (K, p))
    for name in ("_unit", "_shift"):
        check_numbers(name, getattr(mixture, name, None), (p,))
    if mixture._unit.min() <= 0:
        raise DataError("_unit has numbers that are not positive")
    shape = structure.shape(K, p)
    check_numbers("_placed_covariances", getattr(mixture, "_placed_covariances", None), shape)
    check_positive(structure.matrices(mixture._placed_covariances, K, p))
    for name in ("covariances_", "precisions_", "precisions_cholesky_"):
        check_shape(name, getattr(mixture, name, None), shape)
    check_way(mixture)


def check_components(mixture: Any) -> tuple[int, int]:
    """The numbers of components and features, of sound weights."""
    p: Any = getattr(mixture, "n_features_in_", None)
    if not is_whole(p, 1):
        raise DataError(f"n_features_in_ is {p!r}; wanted a whole number of 1 or more")
    check_numbers("weights_", getattr(mixture, "weights_", None), (None,))
    shares = mixture.weights_
    if shares.min() < 0 or abs(shares.sum() - 1) > 1e-6:
        raise DataError("weights_ are not numbers >= 0 with sum 1")
    return len(shares), int(p)


def check_positive(matrices: Any) -> None:
    """All are symmetric and positive definite."""
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        raise DataError("a covariance is not positive definite") from None
    if not np.allclose(matrices, np.swapaxes(matrices, 1, 2), rtol=1e-6, atol=0):
        raise DataError("a covariance is not symmetric")


def check_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """An array of numbers, which may be infinite in the units of X."""
    if not is_floats(array, shape):
        raise DataError(f"{name} is not an array of numbers of shape {shape}")


def check_way(mixture: Any) -> None:
    """The likelihoods and the trajectory."""
    check_bounds(mixture)
    if not isinstance(getattr(mixture, "trajectory_", None), EMTrajectory):
        raise DataError("trajectory_ is not a trajectory of EM")


def check_bounds(mixture: Any) -> None:
    """The likelihood at each step."""
    bounds = getattr(mixture, "lower_bounds_", None)
    if not is_floats(bounds, (None,)):
        raise DataError("lower_bounds_ is not a list of numbers")


def check_poisson_mixture(mixture: Any) -> None:
    """Raise a DataError unless the fitted attributes belong together."""
    if not hasattr(mixture, "weights_") and not hasattr(mixture, "rates_"):
        return  # not fitted
    K, p = check_components(mixture)
    check_numbers("rates_", getattr(mixture, "rates_", None), (K, p))
    if mixture.rates_.min() < 0:
        raise DataError("rates_ has negative numbers")
    check_bounds(mixture)
