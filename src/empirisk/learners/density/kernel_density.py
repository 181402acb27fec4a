"""Kernel density estimation: a bump on every row."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.densities import draw_density, draw_density_contours
from empirisk.learners.density.bandwidth_matrix import Bandwidth, checked_bandwidth
from empirisk.learners.density.bandwidth_of_rule import (
    RULES,
    bandwidth_grid,
    bandwidth_of_rule,
    rounding_step,
)
from empirisk.learners.density.density_estimator import DensityMixin, weighted_sum
from empirisk.learners.density.drawing_rows import draw_rows
from empirisk.learners.density.kept_rows import KeptRowsMixin
from empirisk.learners.density.kernel_path import KernelDensityPath, held_out_densities
from empirisk.learners.density.kernel_soundness import check_loaded_density
from empirisk.learners.density.kernel_sums import KernelSums
from empirisk.learners.density.kernels import Kernel, kernel_of, reach_of
from empirisk.learners.density.pointwise import PointwiseErrors, pointwise_errors
from empirisk.learners.density.support import (
    Images,
    checked_support,
    inside,
    reflected,
    refuse_outside,
    widest_bandwidth,
)
from empirisk.risk.axis import Axis, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import shown_names
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_number
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_predict, check_rows

EUCLIDEAN = ("euclidean", "l2", "minkowski")


class KernelDensity(KeptRowsMixin, DensityMixin, BaseEstimator):
    """The mean of kernels K at the rows: f(x) = 1/n sum_i w_i K((x - x_i) / h) / h^d, n = sum w_i.

    h trades bias for variance: E f(x) - f(x) is about h^2/2 m f''(x), m the variance of K, and the
    variance about R(K) f(x) / (n h^d), R(K) the integral of K^2; the best h is of order
    n^(-1/(d+4)).

    Complexity axis: `bandwidth`; `Tuned(KernelDensity())` chooses it by the likelihood of rows held
    out, of rounded numbers among those that are no narrower than their steps. Copies of a row that
    fall into different folds speak for narrow bandwidths: give such rows weights, or `groups`. The
    risk says so where the narrowest one that was tried is chosen.

    Parameters
    ----------
    bandwidth : number, array of shape (d,) or (d, d), or str
        h; one for each column; or a symmetric, positive definite matrix B in place of h, for
        K(B^-1 (x - x_i)) / |B| (in books H = B B'). By name, scaled by the data:

        "scott", "silverman"
            n^(-1/(d+4)), or (4 / ((d + 2) n))^(1/(d+4)), times the root of the covariance, as in
            `scipy.stats.gaussian_kde`; on a line times the standard deviation. scikit-learn's have
            the first factor alone, which suits rows of variance 1: for those give that number.
        "sheather-jones"
            Plug-in, on a line.
        "ucv"
            Unbiased, or least-squares, cross-validation. Equal rows speak for spikes: on a line
            no bandwidth is narrower than the steps of rounded numbers, and a `ConvergenceWarning`
            says where the narrowest one that was tried is the best. On a line it may be any wide
            one; R's `bw.ucv` looks no further than 1.144 n^(-1/5) standard deviations, which is
            less than the best one of about half of all Gaussian samples.
        "cv"
            The likelihood of rows left out one by one, at all bandwidths from one pass; equal rows
            are left out together.

        For several columns the last two choose a multiple of the root of the covariance. For other
        kernels than the Gaussian the rules but "cv" give the bandwidth that smoothes as much.
    algorithm, breadth_first, leaf_size
        As in scikit-learn, where they are about the tree; here without effect.
    kernel : str
        "gaussian", "tophat", "epanechnikov", "exponential", "linear" (or "triangle"), "cosine",
        "biweight", "triweight", functions of the distance alone that are 0 beyond h but for the
        Gaussian and the exponential (scikit-learn's "cosine" does not integrate to one of an even
        number of features); and of order 4, "gaussian4" and "epanechnikov4", whose bias
        is of order h^4. These are negative in places: where the sum of kernels is, the density is
        0, and what is left integrates to more than one, most where rows lie alone: of one feature
        to 1.07 and 1.12, of three to 1.19 and 1.38.
    metric : {"euclidean", "l2", "minkowski"}
        Three names of one distance. With others, kernels of scikit-learn do not integrate to one.
    metric_params : None or {"p": 2}
        The power of "minkowski".
    atol, rtol : float
        How far a density may be from the sum: sums are within rtol of themselves, guaranteed, and
        exact up to rounding where rtol is 0. Of kernels of order 4 it is the share of the sum of
        their absolute values. atol, which would allow more, is not made use of.
    support : None, (low, high), or one of these for each column
        Where the density lives, None for no end: kernels are reflected at its sides. The bandwidth
        is then a number, or one for each column.
    n_jobs : int or None
        Threads. No bit depends on it.

    Attributes
    ----------
    bandwidth_ : float or array
        Number, numbers or matrix.
    rows_, weights_ : arrays
        The training rows of positive weight, and their weights.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    E. Parzen (1962), On estimation of a probability density function and mode.
    M. Wand and M. Jones (1995), Kernel Smoothing.
    S. Sheather and M. Jones (1991), A reliable data-based bandwidth selection method.

    Examples
    --------
    >>> X = [[-1.0], [0.0], [2.0]]
    >>> density = KernelDensity(bandwidth=0.5).fit(X)
    >>> np.exp(density.score_samples([[0.0], [1.0]])).round(4)
    array([0.302 , 0.0721])
    >>> KernelDensity(bandwidth="silverman").fit(X).bandwidth_
    1.298...
    """

    axis: ClassVar[Axis | None] = Axis(("bandwidth",), larger="simpler", scale="log")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    has_doubts: ClassVar[bool] = True

    def __init__(
        self,
        *,
        bandwidth: Any = 1.0,
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: Any = None,
        support: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.support = support
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows, and find the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        rows, weight = check_rows(self, X, sample_weight)
        return self._keep(rows.copy(), weight.copy())  # a user may write into the data afterwards

    def score_samples(self, X: Any) -> Floats:
        """log f(x) of each row; minus infinity where f is 0."""
        return self._log_density(check_predict(self, X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The log likelihood of the rows, a sum as in scikit-learn."""
        logs = self.score_samples(X)
        return weighted_sum(logs, check_weights(sample_weight, len(logs)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Rows drawn from the density, of shape (n_samples, d)."""
        return draw_rows(self, n_samples, generator(spawn(random_state, 1)[0]))

    def pointwise_errors(self, X: Any) -> PointwiseErrors:
        """Estimates of bias and variance of the density at each row: see `PointwiseErrors`."""
        return pointwise_errors(self, check_predict(self, X))

    def axis_values(
        self, X: Floats, y: Any, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """50 bandwidths in equal ratios, around what Gaussian data would have, none narrower than
        the steps of rounded numbers, nor too wide for the support."""
        kernel, least = kernel_of(self.kernel), rounding_step(X, np.ones(len(X)))
        most = widest_bandwidth(self.support, X.shape[1], reach_of(kernel))
        return bandwidth_grid(kernel, X, sample_weight, n_train, least, most)

    def fit_path(
        self, X: Floats, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> KernelDensityPath:
        """All bandwidths, of the same rows."""
        return KernelDensityPath(self, X, sample_weight, values)

    def out_of_fold(
        self,
        X: Floats,
        y: Any,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int = 0,
        output: Output = "density",
        rows_per_block: int = 1,
    ) -> HeldOut:
        """All folds and bandwidths from one pass over the pairs of rows."""
        return held_out_densities(self, X, sample_weight, plan, values, rows_per_block)

    def plot(self, ax: Any = None, *, names: Sequence[str] | None = None) -> Any:
        """The density of one column as a curve, that of two as contours; rows beside.

        `names` are those of the columns; None are those of the frame that it was fitted to.
        """
        check_is_fitted(self)
        p = self.n_features_in_
        if p > 2:
            raise ParameterError(f"a density of {p} columns has no picture: fit it to one or two")
        names = shown_names(self, p) if names is None else names
        if p == 1:
            return draw_density(self._log_density, self.rows_[:, 0], names=names, ax=ax)
        return draw_density_contours(self._log_density, self.rows_, names=names, ax=ax)

    def check_loaded(self) -> None:
        """Complain of parts that no fit leaves; asked after reading a model file."""
        check_loaded_density(self)

    def _keep(self, rows: Floats, weight: Floats) -> Self:
        ends = self._check_parameters(rows.shape[1])
        if ends is not None:
            refuse_outside(rows, ends)
        self._forget()
        self.n_features_in_ = rows.shape[1]
        self.bandwidth_ = self._bandwidth(rows, weight)
        self.rows_, self.weights_ = rows, weight
        return self

    def _bandwidth(self, rows: Floats, weight: Floats) -> float | Floats:
        if isinstance(self.bandwidth, str):
            diagonal = self.support is not None
            return bandwidth_of_rule(
                self.bandwidth, self._kernel, rows, weight, self.n_jobs, diagonal=diagonal
            )
        found = checked_bandwidth(self.bandwidth, rows.shape[1])
        if self.support is not None and np.ndim(found) == 2:
            raise ParameterError(
                "with a support the bandwidth is a number, or one for each column, not a matrix"
            )
        return found

    def _check_parameters(self, d: int) -> Floats | None:
        """The ends of the support; complains of parameters that make no sense."""
        kernel_of(self.kernel)
        if not isinstance(self.metric, str) or self.metric not in EUCLIDEAN:
            raise ParameterError(
                f"metric is {self.metric!r:.60}; give 'euclidean', for which kernels are densities"
            )
        if self.metric_params and dict(self.metric_params) != {"p": 2}:
            raise ParameterError(
                f"metric_params is {self.metric_params!r:.60}; give None: the distance is Euclidean"
            )
        for name in ("atol", "rtol"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 0):
                raise ParameterError(f"{name} is {value!r}; give a number >= 0")
        if isinstance(self.bandwidth, str) and self.bandwidth not in RULES:
            raise ParameterError(
                f"bandwidth is {self.bandwidth!r}; give a number or one of {', '.join(RULES)}"
            )
        return checked_support(self.support, d)

    @property
    def _kernel(self) -> Kernel:
        return kernel_of(self.kernel)

    @cached_property
    def _images(self) -> Images:
        """The rows, with their mirror images where there is a support."""
        ends = checked_support(self.support, self.n_features_in_)
        if ends is None:
            return Images(self.rows_, slice(None))
        wide = np.broadcast_to(np.asarray(self.bandwidth_), (self.n_features_in_,))
        return reflected(self.rows_, ends, reach_of(self._kernel) * wide)

    @cached_property
    def _placing(self) -> Bandwidth:
        return Bandwidth.of(self.bandwidth_, self.rows_)

    @cached_property
    def _sums(self) -> KernelSums:
        kernel, images = self._kernel, self._images
        return KernelSums(
            self._placing.place(images.rows),
            None if self._unweighted else self.weights_[images.origin],
            kernel.kind,
            kernel.shape(self.n_features_in_),
            self._placing.size,
            self.rtol,
            self.n_jobs,
            self._placing.ends if self.support is None else None,
        )

    @cached_property
    def _unweighted(self) -> bool:
        return bool((self.weights_ == 1.0).all())

    def _log_density(self, targets: Floats) -> Floats:
        with one_blas_thread():
            logs = self._sums.logs(self._placing.place(targets))
        logs += self._log_constant
        ends = checked_support(self.support, self.n_features_in_)
        return logs if ends is None else np.where(inside(targets, ends), logs, -np.inf)

    @property
    def _log_constant(self) -> float:
        """What is added to the log of a sum of kernels: log c - log n - log |B|."""
        n = len(self.weights_) if self._unweighted else float(self.weights_.sum())
        constant = self._kernel.log_constant(self.n_features_in_)
        return constant - float(np.log(n)) - self._placing.log_volume
