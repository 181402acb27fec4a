"""The points x at which predictions are judged, and what is known of Y there."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.risk.populations.features import Points, as_rows
from empirisk.risk.populations.population import Population
from empirisk.risk.populations.regression import RegressionPopulation
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator


def rows_given(given: Any, name: str, population: Population) -> Any:
    """A table of rows with the features of the population."""
    X = as_rows(given)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or not shape[0]:
        raise ParameterError(
            f"{name} is {given!r:.60}; give a table with a row for each point, such as "
            "[[0.1], [0.2]]"
        )
    features = np.shape(population.features.draw(1, generator(0)))[1:]
    if features and shape[1:] != features:
        raise ParameterError(
            f"{name} has {shape[1]} column(s), and the population {features[0]} feature(s)"
        )
    return X


@dataclass(frozen=True, eq=False)
class JudgedAt:
    """Points, their weights, which sum to one, and y drawn there where the points were drawn.

    `drawn` says that the points are a random sample themselves, which adds to the Monte Carlo
    error; a grid, a fixed design and all values of a discrete X are not.
    """

    X: Any
    weight: Floats
    y: Array | None
    drawn: bool

    @classmethod
    def of(
        cls,
        population: Population,
        given: Any,
        n_points: int,
        seed: int,
        *,
        discrete: bool = True,
    ) -> Self:
        """The points given, all there are of a discrete X, or n_points drawn."""
        if given is not None:
            X = rows_given(given, "points", population)
            n = _num_samples(X)
            return cls(X, np.full(n, 1 / n), None, drawn=False)
        if not is_whole(n_points, 2):
            raise ParameterError(f"n_points is {n_points!r}; a mean with its error takes 2 or more")
        features = population.features
        if discrete and isinstance(features, Points) and len(features.probability) <= n_points:
            return cls(features.X, features.probability, None, drawn=False)
        X, y = population.draw(n_points, generator(seed))
        return cls(X, np.full(n_points, 1 / n_points), y, drawn=True)

    def mean(self, values: Floats) -> Floats:
        """The weighted mean over the points, the first axis; points without a value left out."""
        seen = ~np.isnan(values)
        weight = self.weight.reshape(-1, *[1] * (values.ndim - 1)) * seen
        start = np.where(np.isfinite(values[0]), values[0], 0.0)  # so that equal values are exact
        deviation = np.where(seen, values - start, 0.0)
        with np.errstate(invalid="ignore"):  # NaN where no point has a value
            return start + (weight * deviation).sum(axis=0) / weight.sum(axis=0)

    def error(self, values: Floats) -> Floats:
        """The standard error of that mean that the choice of the points adds."""
        mean = self.mean(values)
        if not self.drawn:
            return np.zeros(np.shape(mean))
        seen = ~np.isnan(values)
        n, weight = seen.sum(axis=0), self.weight.reshape(-1, *[1] * (values.ndim - 1)) * seen
        deviation = np.where(seen, values - mean, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):  # NaN where fewer than two are seen
            share = weight / weight.sum(axis=0)
            return np.sqrt(n / (n - 1) * (np.square(share * deviation)).sum(axis=0))

    def noise_variance(self, population: RegressionPopulation) -> Floats:
        """Var(Y | x), or where it is not known the squared deviation of the y drawn."""
        known = population.noise_variance(self.X)
        if known is not None:
            return known
        if self.y is None:
            raise ParameterError(
                "the noise at given points is not known: give the population its noise_variance, "
                "or leave the points to be drawn"
            )
        return np.square(self.y - population.regression_function(self.X))
