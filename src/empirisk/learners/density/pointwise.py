"""How far a kernel density may be off at a point: estimates of its bias and variance."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import clone

from empirisk.compiled.densities.local_fits import local_weights
from empirisk.learners.density.bandwidth_matrix import spread_matrix, symmetric_root
from empirisk.learners.density.kernel_sums import KernelSums
from empirisk.learners.density.pair_sums import negligible, rates_of
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.scalars import check_level

CELLS = 2**20  # of a block

if TYPE_CHECKING:
    from empirisk.learners.density.kernel_density import KernelDensity


@dataclass(frozen=True, eq=False)
class PointwiseErrors:
    """The density at some points, and estimates of its bias and variance there.

    Attributes
    ----------
    density : array
    bias : array
        E f_h(x) - f(x) = integral of K(z) (f(x + h z) - f(x)), with a Gaussian kernel density g for
        f whose bandwidth is the best for second derivatives of Gaussian data; K counts by its
        variance. It is an estimate, and as such biased itself: at the sides of a support,
        where g is flat, what comes of a slope of f there is not seen.
    variance : array
        1/n (1/n sum_i K_h(x - x_i)^2 - f_h(x)^2), the variance of a mean of n terms; with a
        support a term is a kernel and its reflections.
    standard_error : array
        Its root.
    """

    density: Floats
    bias: Floats
    variance: Floats

    @property
    def standard_error(self) -> Floats:
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends, for each point alone, of a normal interval of what the density is on average: of
        the density smoothed by the kernel, since the bias is left in."""
        check_level(level)
        half = float(stats.norm.ppf((1 + level) / 2)) * self.standard_error
        return np.maximum(self.density - half, 0.0), self.density + half


def pointwise_errors(density: "KernelDensity", targets: Floats) -> PointwiseErrors:
    """Estimates at the targets."""
    if density._kernel.order > 2:
        raise ParameterError(
            f"the bias of kernel={density.kernel!r} has no second-order term to estimate: take a "
            "kernel of order 2"
        )
    with np.errstate(under="ignore"):
        found = np.exp(density._log_density(targets))
        n = float(density.weights_.sum())
        if density.support is None:
            squares = np.exp(_log_squares(density, targets))
        else:
            squares = _reflected_squares(density, targets, found)
        variance = np.maximum(squares - found**2, 0.0) / n
    return PointwiseErrors(found, _bias(density, targets), variance)


def _log_squares(density: "KernelDensity", targets: Floats) -> Floats:
    """log of 1/n sum_i w_i K_h(x - x_i)^2."""
    kernel, placing, d = density._kernel, density._placing, density.n_features_in_
    sums = KernelSums(
        placing.place(density.rows_), density.weights_, kernel.square.kind,
        kernel.shape(d), placing.size * kernel.square.narrower, density.rtol, density.n_jobs,
    )  # fmt: skip
    constant = 2 * (kernel.log_constant(d) - placing.log_volume)
    return sums.logs(placing.place(targets)) + constant - np.log(density.weights_.sum())


def _reflected_squares(density: "KernelDensity", targets: Floats, found: Floats) -> Floats:
    """1/n sum_i w_i K_i^2, where the kernel K_i of a row is the sum of those of its images.

    With the shares s_i = w_i K_i / (n f) of rows in the density f it is n sum_i s_i^2 / w_i.
    """
    placing, images = density._placing, density._images
    rows, weight = placing.place(images.rows), density.weights_
    pairs = np.arange(len(rows)), images.origin
    owner = csr_array((np.ones(len(rows)), pairs), shape=(len(rows), len(weight)))
    rate, reach = float(rates_of(placing.size)), negligible(weight)
    ratio = np.empty(len(targets))
    for part in slices(len(targets), max(1, CELLS // len(rows))):
        shares = np.empty((part.stop - part.start, len(rows)))
        local_weights(
            placing.place(targets[part]), rows, np.ones(rows.shape[1]), weight[images.origin],
            rate, density._kernel.kind, reach, shares,
        )  # fmt: skip
        ratio[part] = weight.sum() * ((shares @ owner) ** 2 @ (1 / weight))
    return np.where(found > 0, ratio, 0.0) * found**2


def _bias(density: "KernelDensity", targets: Floats) -> Floats:
    """g smoothed by a Gaussian of the kernel's variance, minus g."""
    d, n = density.n_features_in_, float(density.weights_.sum())
    spread = spread_matrix(density.rows_, density.weights_)
    if density.support is not None:
        spread = np.diag(np.diag(spread))
    pilot = spread * (4 / ((d + 6) * n)) ** (1 / (d + 8))
    wide = np.asarray(density.bandwidth_)
    matrix = wide * np.eye(d) if wide.ndim < 2 else wide
    unit = max(float(np.abs(pilot).max()), float(np.abs(matrix).max()))
    square = (pilot / unit) @ (pilot / unit).T
    moment = density._kernel.second_moment(d)
    smoothed = square + moment * (matrix / unit) @ (matrix / unit).T
    root = symmetric_root(smoothed) * unit
    before, after = (_density_at(density, matrix, targets) for matrix in (pilot, root))
    return after - before


def _density_at(density: "KernelDensity", matrix: Any, targets: Floats) -> Floats:
    wide = np.diag(matrix) if density.support is not None else matrix
    model = clone(density).set_params(kernel="gaussian", bandwidth=wide)
    return np.exp(model._keep(density.rows_, density.weights_)._log_density(targets))
