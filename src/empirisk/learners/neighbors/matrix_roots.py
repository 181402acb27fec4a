"""Roots of the matrices of a Mahalanobis distance: (x - z)' M (x - z) = |xA - zA|^2, A A' = M."""

from typing import Any

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread

DEFICIENT = 1e-12  # of an eigenvalue, relative to the largest: nothing but rounding is left


def root_of(M: Floats, exponent: float) -> Floats:
    """A with A A' = M or its inverse, without directions in which M is zero but for rounding."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh((M + M.T) / 2)
    kept = values > DEFICIENT * max(values.max(initial=0.0), 0.0)
    if not kept.any():
        return np.zeros((len(M), 1))
    return np.ascontiguousarray(vectors[:, kept] * values[kept] ** exponent)


def root_of_given(name: str, given: Any, p: int) -> Floats:
    """A for `metric_params` of p columns: V, whose inverse is M, or VI, which is M itself."""
    M = as_numbers(name, given)
    if M.shape != (p, p) or not np.isfinite(M).all():
        raise _not_symmetric(name, M, p)
    size, correlation = _correlation(M)
    if not np.allclose(correlation, correlation.T):
        raise _not_symmetric(name, M, p)
    least = float(np.linalg.eigvalsh(correlation).min())
    if least < -1e-9 or (name == "V" and least <= 0):
        raise ParameterError(
            f"metric_params[{name!r}] is not positive definite (in units in which its diagonal is "
            f"1 the least eigenvalue is {least:.3g}): such a matrix is no covariance, and gives no "
            "distance"
        )
    if name == "V":
        return root_of(correlation, -0.5) / size[:, None]
    return root_of(correlation, 0.5) * size[:, None]


def as_numbers(name: str, given: Any) -> Floats:
    """What `metric_params` has, as an array."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"metric_params[{name!r}] is {given!r:.40}; give numbers") from None


def _correlation(M: Floats) -> tuple[Floats, Floats]:
    """The roots of the diagonal, and M in units of these.

    What of M is nothing but rounding does not depend on the units of the columns then.
    """
    size = np.sqrt(np.abs(np.diagonal(M)))
    size = np.where(size > 0, size, 1.0)
    with np.errstate(over="ignore"):
        found = M / size / size[:, None]
    return size, np.clip(found, -2.0, 2.0)  # no covariance is beyond 1: how far does not matter


def _not_symmetric(name: str, M: Floats, p: int) -> ParameterError:
    return ParameterError(
        f"metric_params[{name!r}] has shape {M.shape}; give a symmetric matrix of shape {(p, p)}"
    )
