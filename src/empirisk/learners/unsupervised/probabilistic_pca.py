"""The Gaussian model that PCA is of: K axes of signal in noise of one variance.

Tipping & Bishop (1999): rows have the covariance C = V' diag(l - v) V + v I, with the variances l
along the K axes and v the mean variance along the others. In columns of standard deviation 1, if
the axes are those of the correlation matrix, and in X's own units otherwise.
"""

from typing import Any

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_predict


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
        """The log-density of each row under the model; infinite where a variance is 0."""
        Z = self._standard(check_predict(self, X))
        shrinkage, noise = self._shrinkage()
        p, variance = self.n_features_in_, self._squares / (self._weight - 1)
        with one_blas_thread(), np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = Z @ self.components_.T
            if self.n_components_ < p:
                rest = np.einsum("ij,ij->i", Z, Z) - (scores * scores) @ shrinkage
                distance = np.maximum(rest, 0.0) / noise
            else:
                distance = (scores * scores) @ (1 / variance)
            size = np.log(variance).sum() + (p - self.n_components_) * np.log(noise or 0.0)
            size = np.log(variance).sum() if self.n_components_ == p else size
            size += 2 * np.log(self._unit * self.scale_).sum()
            return -0.5 * (p * np.log(2 * np.pi) + size + distance)

    def score(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-density of the rows."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

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
