"""The distribution of Y given x, as a model estimates it, in a form that any loss can be put into.

    weights    values y_i of the training rows with weights w_i(x) that sum to one, of a model with
               `conditional_weights`: nearest neighbours, kernel regression
    gaussian   N(h(x), s^2), of any other regressor h with the variance s^2 of its noise

Both become, block by block, values and weights along an axis.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from empirisk.data.scaling import power_of_two
from empirisk.learners.density.best_actions import (
    best_actions,
    expected_losses,
    gaussian_actions,
)
from empirisk.losses import RegressionLoss
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import slices

Block = tuple[slice, Floats, Floats]
"""Rows, and for each of them values of y and their weights."""

CELLS = 2**19  # of a block
REACH, N_NODES = 8.0, 401
NODES = np.linspace(-REACH, REACH, N_NODES)
"""Of a normal distribution, at equal distances: for smooth losses the sum is exact to rounding, for
losses with a kink to about 1e-4 deviations, the square of the distance of the nodes."""
DENSITIES = np.exp(-(NODES**2) / 2)


def has_weights(model: Any) -> bool:
    """Whether a model says by which training rows it predicts."""
    return hasattr(model, "conditional_weights")


@dataclass(frozen=True, eq=False)
class Conditional:
    """The distributions of y at some rows.

    Attributes
    ----------
    n : int
        How many.
    blocks : function
        Gives their blocks, each time it is called.
    mean, deviation : array, float or None
        Of normal ones.
    """

    n: int
    blocks: Callable[[], Iterator[Block]]
    mean: Floats | None = None
    deviation: float = 0.0

    @classmethod
    def of(cls, model: Any, X: Any, deviation: float | None) -> "Conditional":
        """Of a fitted model at the rows of X; without a deviation it has conditional weights."""
        if deviation is not None:
            return cls.normal(np.asarray(model.predict(X), dtype=float), deviation)
        weights, y = _weights_of(model, X)
        return cls(weights.shape[0], lambda: weighted_values(weights, y))

    @classmethod
    def normal(cls, mean: Floats, deviation: float) -> "Conditional":
        """Of normal distributions with one deviation."""
        return cls(len(mean), lambda: gaussian_values(mean, deviation), mean, deviation)

    def best_actions(self, loss: RegressionLoss, actions: Floats | None) -> Floats:
        """The number of least expected loss for each row, of those given or of all."""
        if self.mean is not None and actions is None:
            formula = gaussian_actions(loss, self.mean, self.deviation)
            if formula is not None:
                return formula
        found = np.empty(self.n)
        for rows, values, weight in self.blocks():
            found[rows] = best_actions(loss, values, weight, actions)
        return found

    def expected_losses(self, loss: RegressionLoss, action: Floats) -> Floats:
        """The expected loss of an action for each row."""
        found = np.empty(self.n)
        for rows, values, weight in self.blocks():
            found[rows] = expected_losses(loss, values, weight, action[rows])
        return found


def deviations(y: Array, predicted: Floats, weight: Floats) -> Floats:
    """The root of the mean squared residual of each column of predictions."""
    residuals = np.subtract(y[:, None], predicted)
    unit = power_of_two(np.abs(residuals).max(axis=0))
    return unit * np.sqrt(np.average((residuals / unit) ** 2, axis=0, weights=weight))


def _weights_of(model: Any, X: Any) -> tuple[Any, Floats]:
    weights = csr_array(model.conditional_weights(X))
    y = np.asarray(model.y_train_, dtype=float).reshape(-1)
    if weights.shape[1] != len(y):
        raise DataError(
            f"{type(model).__name__} has {len(y)} values y_train_, and conditional_weights of "
            f"{weights.shape[1]} columns; there must be one for each"
        )
    return weights, y


def weighted_values(weights: Any, y: Floats) -> Iterator[Block]:
    """Of weights (rows, n_train); rows with fewer values than others have weights 0."""
    lengths = np.diff(weights.indptr)
    size = max(1, CELLS // max(1, int(lengths.max(initial=1))))
    for rows in slices(weights.shape[0], size):
        yield rows, *_padded(weights, lengths, rows, y)


def _padded(weights: Any, lengths: Array, rows: slice, y: Floats) -> tuple[Floats, Floats]:
    own = lengths[rows]
    longest = max(1, int(own.max(initial=1)))
    place = weights.indptr[:-1][rows, None] + np.arange(longest)
    there = np.arange(longest) < own[:, None]
    place = np.where(there, place, weights.indptr[:-1][rows, None])
    place = np.minimum(place, max(len(weights.indices) - 1, 0))
    return y[weights.indices[place]], np.where(there, weights.data[place], 0.0)


def gaussian_values(mean: Floats, deviation: float) -> Iterator[Block]:
    """Of normal distributions with one deviation."""
    for rows in slices(len(mean), CELLS // N_NODES):
        values = mean[rows, None] + deviation * NODES
        yield rows, values, np.broadcast_to(DENSITIES, values.shape)
