"""The risk of minimum-norm least squares on either side of p = n: drawn, and in theory.

For y = x'beta + noise, x standard normal in D dimensions, |beta|^2 = signal spread evenly over
them, and a model that sees the first p of them, let s = signal min(p, D)/D be the part it sees and
v = noise variance + signal - s the noise it meets. Then exactly

    E R = v (1 + p/(n - p - 1))                           for p <= n - 2,
    E R = v (1 + n/(p - n - 1)) + s (1 - n/p)             for p >= n + 2,

and infinite between (Breiman and Freedman 1983; Belkin, Hsu and Xu 2020; Hastie et al. 2022).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.data.blocks import Blocks
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number, is_whole
from empirisk.runtime.streams import generator
from empirisk.solvers.least_squares import least_squares

Pairs = list[tuple[int, int]]
"""Numbers of training rows and of features, (n, p)."""


@dataclass(frozen=True)
class LinearModel:
    """y = x'beta + noise with standard normal features, of which the first p are seen."""

    relevant: int
    signal: float
    noise_variance: float

    def __post_init__(self) -> None:
        if not (is_whole(self.relevant, 1) and is_number(self.signal) and self.signal >= 0):
            raise ParameterError(
                f"relevant = {self.relevant!r} and signal = {self.signal!r}; wanted 1 or more "
                "features and a number >= 0"
            )
        if not (is_number(self.noise_variance) and self.noise_variance >= 0):
            raise ParameterError(f"noise_variance is {self.noise_variance!r}; give a number >= 0")

    def expected_risk(self, n: int, p: int) -> float:
        """Of minimum-norm least squares over training sets; infinite where |n - p| <= 1."""
        seen = self.signal * min(p, self.relevant) / self.relevant
        noise = self.noise_variance + self.signal - seen
        if p <= n - 2:
            return noise * (1 + p / (n - p - 1))
        if p >= n + 2:
            return noise * (1 + n / (p - n - 1)) + seen * (1 - n / p)
        return float(np.inf)

    def draw(self, pairs: Pairs, seed: int) -> Floats:
        """Risk and training risk (2, pairs) of one training set, whose rows all pairs share."""
        rng = generator(seed)
        n, p = np.max(pairs, axis=0)
        beta = np.zeros(max(p, self.relevant))
        beta[: self.relevant] = np.sqrt(self.signal / self.relevant)
        X = rng.standard_normal((n, len(beta)))
        y = X @ beta + np.sqrt(self.noise_variance) * rng.standard_normal(n)
        found = []
        for n, p in pairs:
            coef = minimum_norm(X[:n, :p], y[:n])
            excess = np.square(coef - beta[:p]).sum() + np.square(beta[p:]).sum()
            training = np.square(y[:n] - X[:n, :p] @ coef).mean()
            found.append((self.noise_variance + excess, training))
        return np.array(found).T


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """Rows seen through features max(0, w'x + c), w and c normal, x with columns of unit scale."""

    X: Floats
    y: Floats
    n_test: int

    @classmethod
    def of(cls, X: Any, y: Any, test_size: float) -> "RandomFeatures":
        X = numbers(X, "double_descent")
        y = numbers(np.asarray(y).reshape(-1, 1), "double_descent")[:, 0]
        if len(X) != len(y) or len(X) < 2:
            raise DataError(f"X has {len(X)} rows and y {len(y)}; wanted the same, 2 or more")
        if not (is_number(test_size) and 0 < test_size < 1):
            raise ParameterError(f"test_size is {test_size!r}; it must lie between 0 and 1")
        return cls(X, y, min(max(round(test_size * len(X)), 1), len(X) - 1))

    @property
    def n_train(self) -> int:
        return len(self.X) - self.n_test

    def draw(self, pairs: Pairs, seed: int) -> Floats:
        """Risk and training risk (2, pairs) for one draw of features and of training rows."""
        rng = generator(seed)
        order = rng.permutation(len(self.X))
        train, test = order[self.n_test :], order[: self.n_test]
        scale = np.abs(self.X[train]).max(axis=0)
        X = self.X / np.where(scale > 0, scale, 1.0)
        X = X - X[train].mean(axis=0)
        spread = X[train].std(axis=0)
        X = X / np.where(spread > 0, spread, 1.0)
        p = max(pair[1] for pair in pairs)
        weights = rng.standard_normal((X.shape[1], p)) / np.sqrt(X.shape[1])
        Z = np.maximum(X @ weights + rng.standard_normal(p), 0.0)
        found = []
        for n, p in pairs:
            some = train[:n]
            level = self.y[some].mean()
            coef = minimum_norm(Z[some, :p], self.y[some] - level)
            error = self.y - level - Z[:, :p] @ coef
            with np.errstate(over="ignore"):  # a risk beyond float64 is infinite
                found.append((np.square(error[test]).mean(), np.square(error[some]).mean()))
        return np.array(found).T


def minimum_norm(X: Floats, y: Floats) -> Floats:
    """The coefficients of least norm among those of least squares, without an intercept."""
    check_deadline()
    blocks = Blocks.of_arrays(np.ascontiguousarray(X), y[:, np.newaxis], np.ones(len(X)))
    return least_squares(blocks, fit_intercept=False).coef[0]
