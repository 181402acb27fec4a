"""Kernel regression: the mean of near targets, or a line through them."""

from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from empirisk.learners.neighbors.kernel_smoother import KernelSmoother
from empirisk.learners.soundness import is_floats, require
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.validation import check_fit, check_predict


class KernelRegressor(RegressorMixin, KernelSmoother):
    """The mean of the targets of near rows: f(x) = sum_i w_i K((x - x_i)/h) y_i / sum_i w_i K(.).

    It is the plug-in predictor of the kernel density of (x, y): the conditional mean of y under it
    (Nadaraya 1964, Watson 1964). With degree=1 a line is fitted to the near rows by weighted least
    squares and read off at x, which takes the bias away that slopes and the edge of the data give.

    Complexity axis: `bandwidth`; `Tuned(KernelRegressor())` chooses it, leave-one-out and folds for
    all bandwidths from one pass over the pairs of rows.

    Parameters
    ----------
    bandwidth : number, array, or {"scott", "silverman", "loo"}
        h, in standard deviations of each column (see `scale`): a number, or one for each column;
        with scale=None also a symmetric, positive definite matrix B for K(B^-1 (x - x_i)).
        "scott" and "silverman" are the rules for densities, n^(-1/(d+4)) and (4 / ((d + 2)
        n))^(1/(d+4)), n the sum of the weights; "loo" has the least squared error of rows left
        out, where rows that are equal in X are left out together, among bandwidths in equal ratios,
        50 of them from a twentieth of Scott's to twice the spread of the rows, and as many again
        beyond the end where the error still falls, until it has settled: where the truth is a line,
        local lines have no widest bandwidth.
    kernel : str
        As in `KernelDensity`, of order 2.
    degree : {0, 1}
        Local mean, or local line. Directions in which the rows near x do not spread are left out of
        the line.
    scale : {"columns", None}
        Whether columns are divided by their standard deviations (divisor n), or taken as they are.
        A bandwidth by name is in standard deviations either way.
    n_jobs : int or None
        Threads. No bit depends on it.

    Attributes
    ----------
    bandwidth_ : float or array
        In the units of X: a number, one for each column, or a matrix.
    rows_, y_train_, weights_ : arrays
        The training rows of positive weight.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where no row is within reach of a kernel of bounded support, the prediction is the mean of the
    nearest rows, ties included. The Gaussian and the exponential tend to the same far away.

    References
    ----------
    E. Nadaraya (1964), On estimating regression. G. Watson (1964), Smooth regression analysis.
    J. Fan and I. Gijbels (1996), Local Polynomial Modelling and Its Applications.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> KernelRegressor(bandwidth=0.5, scale=None).fit(X, y).predict([[1.0], [10.0]]).round(3)
    array([1.215, 9.   ])
    >>> KernelRegressor(0.5, degree=1, scale=None).fit(X, y).predict([[1.0]]).round(3)
    array([1.214])
    """

    def __init__(
        self,
        bandwidth: Any = "scott",
        *,
        kernel: str = "gaussian",
        degree: int = 0,
        scale: str | None = "columns",
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.degree = degree
        self.scale = scale
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows, and find the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        train = check_fit(self, X, y, sample_weight)
        return self._keep(train.X, train.y, train.sample_weight, 0)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The local mean or line at each row; with `return_std` also its standard error."""
        targets = check_predict(self, X)
        found = self._answer(self._fits(targets).fits, "value")[:, 0]
        return (found, self._standard_errors(targets)) if return_std else found

    def standard_errors(self, X: Any) -> Floats:
        """sqrt(v(x) sum_i w_i l_i^2) of f(x) = sum_i w_i l_i y_i, without the bias.

        v(x) is the local mean of the squared residuals of rows left out, one copy at a time. It is
        infinite where no residual is known, since every row is alone.
        """
        return self._standard_errors(check_predict(self, X))

    def _standard_errors(self, targets: Floats) -> Floats:
        squares, known = self._held_out_squares
        unit = self._unit
        Y = np.column_stack([squares, known])
        average = self._fits(targets, Y, degree=0).fits[:, 0]
        everywhere = self.weights_ @ Y
        with np.errstate(divide="ignore", invalid="ignore"):
            local = np.where(average[:, 1] > 0, average[:, 0] / average[:, 1], np.nan)
            overall = everywhere[0] / everywhere[1] if everywhere[1] > 0 else np.inf
        variance = np.where(np.isnan(local), overall, local)
        return np.sqrt(variance) * np.sqrt(self._fits(targets, with_norms=True).norms[:, 0]) * unit

    @property
    def _unit(self) -> float:
        """Of y, so that squares stay finite."""
        return float(np.abs(self.y_train_).max()) or 1.0

    @cached_property
    def _held_out_squares(self) -> tuple[Floats, Floats]:
        """Squared residuals, in the unit of y, of training rows left out; and whether known."""
        found = self._fits(self.rows_, with_norms=True)
        unit = self._unit
        residual = self.y_train_ / unit - self._answer(found.fits, "value")[:, 0] / unit
        left = 1.0 - found.leverages[:, 0]
        known = left > 1e-10
        squares = np.where(known, residual / np.where(known, left, 1.0), 0.0) ** 2
        return squares, known.astype(np.float64)

    @property
    def _degree(self) -> int:
        return self.degree

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.degree, bool) or self.degree not in (0, 1):
            raise ParameterError(f"degree is {self.degree!r}; give 0 (means) or 1 (lines)")

    def _targets(self, y: Array, n_classes: int) -> Floats:
        return np.require(y, np.float64, ["C", "ALIGNED", "WRITEABLE"]).reshape(-1, 1)

    def _answer(self, fits: Floats, output: Output) -> Array:
        return fits[:, :, 0]

    def _with_targets(self, y: Array, n_classes: int) -> Self:
        self.y_train_ = y
        return self

    def _check_loaded_targets(self) -> None:
        y: Any = getattr(self, "y_train_", None)
        require(is_floats(y, (len(self.rows_),)) and np.isfinite(y).all(), self, "y_train_")
