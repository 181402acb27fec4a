"""Rows drawn from a kernel density: a training row, and a step drawn from the kernel."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.density.kernels import KERNELS
from empirisk.learners.density.support import checked_support
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole

if TYPE_CHECKING:
    from empirisk.learners.density.kernel_density import KernelDensity

AT_ONCE = 4  # draws for each one that is still wanted, where some are refused


def draw_rows(density: "KernelDensity", n: Any, generator: np.random.Generator) -> Floats:
    """n rows; what a step takes out of the support is reflected back into it."""
    check_is_fitted(density)
    if not is_whole(n, 1):
        raise ParameterError(f"n_samples is {n!r}; give a whole number of rows, at least 1")
    if density._kernel.order == 2:
        return _draw(density, density.kernel, int(n), generator)
    found = np.empty((0, density.n_features_in_))
    while len(found) < n:
        drawn = _draw(density, density.kernel[:-1], AT_ONCE * (int(n) - len(found)), generator)
        found = np.concatenate([found, _kept(density, drawn, generator)])
    return found[: int(n)]


def _kept(density: "KernelDensity", drawn: Floats, generator: np.random.Generator) -> Floats:
    """Draws of the kernel of order 2, refused so often that those of order 4 are left.

    (b - u^2/2) is at most b, and (1 - b u^2) at most 1: the sum of kernels of order 4 is at most
    that often the one of order 2.
    """
    lower = clone(density).set_params(kernel=density.kernel[:-1], bandwidth=density.bandwidth_)
    lower._keep(density.rows_, density.weights_)
    d = density.n_features_in_
    higher, plain = density._kernel, KERNELS[density.kernel[:-1]]
    bound = higher.log_constant(d) - plain.log_constant(d)
    bound += float(np.log(higher.shape(d))) if higher.name == "gaussian4" else 0.0
    with np.errstate(invalid="ignore"):
        share = np.exp(density._log_density(drawn) - lower._log_density(drawn) - bound)
    return drawn[generator.random(len(drawn)) < share]


def _draw(density: "KernelDensity", kernel: str, n: int, generator: np.random.Generator) -> Floats:
    d = density.n_features_in_
    ends_of_weight = np.cumsum(density.weights_)
    chosen = np.searchsorted(ends_of_weight, generator.random(n) * ends_of_weight[-1], "right")
    direction = generator.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    step = direction * KERNELS[kernel].radii(d, n, generator)[:, None]
    wide = np.asarray(density.bandwidth_)
    step = step @ wide if wide.ndim == 2 else step * wide
    rows = density.rows_[np.minimum(chosen, len(density.rows_) - 1)] + step
    ends = checked_support(density.support, d)
    return rows if ends is None else _folded(rows, ends)


def _folded(rows: Floats, ends: Floats) -> Floats:
    """Reflected at the sides until they lie between them."""
    rows = rows.copy()
    for j, (low, high) in enumerate(ends):
        if np.isfinite(low) and np.isfinite(high):
            place = np.mod(rows[:, j] - low, 2 * (high - low))
            rows[:, j] = low + np.minimum(place, 2 * (high - low) - place)
        elif np.isfinite(low):
            rows[:, j] = low + np.abs(rows[:, j] - low)
        elif np.isfinite(high):
            rows[:, j] = high - np.abs(high - rows[:, j])
    return rows
