"""The Gaussian model that PCA is of: K axes of signal in noise of one variance.

Tipping & Bishop (1999): rows have the covariance C = V' diag(l - v) V + v I, with the variances l
along the K axes and v the mean variance along the others. In columns of standard deviation 1, if
the axes are those of the correlation matrix, and in X's own units otherwise. Whether coordinates
are whitened makes no difference to it; scikit-learn multiplies by the variances twice there.
"""

from typing import Any

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_predict

ROUNDING = 1e-12
"""What rounding errors put a row off the directions that have variance, in shares of its size."""


class ProbabilisticMixin:
    """Covariance, precision and log-density of rows under the model."""

    def get_covariance(self: Any) -> Floats:
        """The covariance of rows under the model, (p, p)."""
        signal, noise = self._signal_and_noise()
        V, unit = self.components_, self._unit * self.scale_
        with one_blas_thread(), np.errstate(over="ignore"):
            covariance = (V.T * signal) @ V + noise * np.eye(self.n_features_in_)
            return covariance * unit * unit[:, None]

    def get_precision(self: Any) -> Floats:
        """The inverse of the covariance; without noise, the pseudo-inverse."""
        shrinkage, noise = self._shrinkage()
        V, unit = self.components_, self._unit * self.scale_
        with one_blas_thread(), np.errstate(over="ignore"):
            if noise > 0:
                precision = (np.eye(self.n_features_in_) - (V.T * shrinkage) @ V) / noise
            else:
                variance = self._squares / (self._weight - 1)
                inverse = np.divide(1, variance, out=np.zeros_like(variance), where=variance > 0)
                precision = (V.T * inverse) @ V
            return precision / unit / unit[:, None]

    def score_samples(self: Any, X: Any) -> Floats:
        """The log-density of each row under the model.

        Where the model has no variance in some direction, all rows that it allows have the density
        infinity, and all others 0.
        """
        Z = self._standard(check_predict(self, X))
        _, noise = self._signal_and_noise()
        p, variance = self.n_features_in_, self._squares / (self._weight - 1)
        alive = variance > 0
        axes, variance, left = self.components_[alive], variance[alive], p - int(alive.sum())
        with one_blas_thread():
            scores = Z @ axes.T
            rest = np.square(Z - scores @ axes).sum(axis=1)
        if left and noise == 0:
            size = np.square(Z).sum(axis=1) + np.square(self._standard(np.zeros((1, p)))).sum()
            return np.where(rest > ROUNDING**2 * size, -np.inf, np.inf)
        distance = (scores * scores) @ (1 / variance) + (rest / noise if left else 0.0)
        volume = np.log(variance).sum() + (left * np.log(noise) if left else 0.0)
        volume += 2 * np.log(self._unit * self.scale_).sum()
        return -0.5 * (p * np.log(2 * np.pi) + volume + distance)

    def score(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-density of the rows."""
        density = self.score_samples(X)
        weight = check_weights(sample_weight, len(density))
        density, weight = density[weight > 0], weight[weight > 0]
        if density.min() == -np.inf:
            return -np.inf
        return float(np.average(density, weights=weight))

    def _signal_and_noise(self: Any) -> tuple[Floats, float]:
        """l - v and v, as scikit-learn counts the axes left out: min(n, p) less those kept."""
        others = min(self.n_samples_, self.n_features_in_) - self.n_components_
        noise = self._dropped / others / (self._weight - 1) if others else 0.0
        return np.maximum(self._squares / (self._weight - 1) - noise, 0.0), noise

    def _shrinkage(self: Any) -> tuple[Floats, float]:
        """(l - v) / l and v."""
        signal, noise = self._signal_and_noise()
        variance = signal + noise
        part = np.divide(signal, variance, out=np.zeros_like(signal), where=variance > 0)
        return part, noise
