"""Columns with a kernel density in each class, as naive Bayes multiplies them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from empirisk.data.column_samples import ColumnSamples
from empirisk.learners.density.bandwidth_rules import silverman
from empirisk.learners.density.kernel_density import KernelDensity
from empirisk.runtime.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class KernelColumns:
    """A Gaussian bump on each value of the class (John & Langley 1995):

        g_k(x) = sum_i w_i N(x; x_i, h_k^2) / sum_i w_i,    h_k = (4 / 3 n_k)^(1/5) s_k,

    n_k the weight of the cells of class k and s_k their standard deviation: Silverman's rule, as
    `KernelDensity(bandwidth="silverman")`. A deviation whose square is below `variance_floor` times
    the variance of the column over all classes is raised to that. A column that does not vary at
    all says nothing. A class that has no cell of a column has there the density over all classes.
    """

    smoothed: ClassVar[bool] = False

    densities: tuple[tuple[KernelDensity | None, ...], ...]
    first: Floats  # of each column the least value, and the only one where it does not vary

    @classmethod
    def learned(cls, samples: ColumnSamples, floor: float) -> "KernelColumns":
        everything = [samples.pooled(j) for j in range(samples.n_columns)]
        columns = [_densities(samples, j, of_all, floor) for j, of_all in enumerate(everything)]
        first = np.array([values[0] if len(values) else np.nan for values, _ in everything])
        return cls(tuple(zip(*columns, strict=True)), first)

    def add_log_likelihoods(self, X: Floats, out: Floats) -> None:
        out += self.cells(X).sum(axis=2)

    def cells(self, X: Floats) -> Floats:
        found = np.zeros((len(X), len(self.densities), X.shape[1]))
        for j, column in enumerate(X.T):
            there = ~np.isnan(column)
            asked, place = np.unique(column[there], return_inverse=True)
            if not len(asked):
                continue
            for k, of_class in enumerate(self.densities):
                density = of_class[j]
                if density is not None:
                    found[there, k, j] = density.score_samples(asked[:, None])[place.reshape(-1)]
        return found

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        X = np.tile(self.first, (len(y), 1))
        share, noise = rng.random(X.shape), rng.standard_normal(X.shape)
        for k, of_class in enumerate(self.densities):
            own = y == k
            for j, density in enumerate(of_class):
                if density is None:
                    continue
                ends = np.cumsum(density.weights_) / density.weights_.sum()
                place = np.minimum(np.searchsorted(ends, share[own, j]), len(ends) - 1)
                X[own, j] = density.rows_[place, 0] + density.bandwidth_ * noise[own, j]
        return X

    def parameters(self, j: int) -> dict[str, Floats]:
        of_classes = [own[j] for own in self.densities]
        wide = [0.0 if density is None else density.bandwidth_ for density in of_classes]
        return {"bandwidth": np.array(wide, dtype=float)}


def _densities(
    samples: ColumnSamples, j: int, everything: tuple[Floats, Floats], floor: float
) -> list[KernelDensity | None]:
    """Of column j in each class; None where it does not vary among the values of all."""
    of_all = _deviation(*everything)
    if of_all == 0:
        return [None] * samples.n_classes
    found: list[KernelDensity | None] = []
    for k in range(samples.n_classes):
        own = samples.sample(k, j)
        values, weight = own if len(own[0]) else everything
        deviation = max(_deviation(values, weight), np.sqrt(floor) * of_all)
        wide = silverman(float(weight.sum()), 1) * deviation
        density = KernelDensity(bandwidth=float(wide))
        found.append(density.fit(values[:, None], sample_weight=weight))
    return found


def _deviation(values: Floats, weight: Floats) -> float:
    """As `KernelDensity` has it, of frequencies: the sum of squares is divided by n - 1."""
    n = float(weight.sum())
    if len(values) < 2:
        return 0.0
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1])))
    share, x = weight / n, values / unit
    mean = float(share @ x)
    return unit * float(np.sqrt(share @ (x - mean) ** 2 * (n / (n - 1) if n > 1 else 1.0)))
