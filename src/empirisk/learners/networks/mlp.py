"""Multi-layer perceptrons: what the classifier and the regressor share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.compiled.networks.heads import POISSON
from empirisk.learners.networks.layers import (
    Dense,
    Dropout,
    Layer,
    activation_code,
    check_count,
)
from empirisk.learners.networks.network import Network
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number


class MLP(Network):
    """Dense layers one after the other, all hidden ones with one activation."""

    hidden_layer_sizes: Any
    activation: str
    dropout: float

    def _layers(self, n_outputs: int) -> list[Layer]:
        hidden: list[Layer] = []
        activation_code(self.activation)  # also where no layer has it
        if not (is_number(self.dropout) and 0 <= self.dropout < 1):
            raise ParameterError(f"dropout is {self.dropout!r}; it must be a number in [0, 1)")
        for units in checked_sizes(self.hidden_layer_sizes):
            hidden.append(Dense(units, self.activation))
            if self.dropout > 0:
                hidden.append(Dropout(self.dropout))
        return [*hidden, Dense(n_outputs, "identity")]

    @property
    def coefs_(self) -> list[Floats]:
        """The weights of each layer, (inputs, outputs), for X and y in their own units.

        z = s(x W + b) layer by layer gives the predictions: the standard units of training are
        multiplied into the first and the last layer. The arrays are copies, not to be written to;
        a list that is put in their place is what predicts from then on.
        """
        return self._in_units()[0]

    @coefs_.setter
    def coefs_(self, weights: Sequence[Any]) -> None:
        self._out_of_units(weights, self.intercepts_)

    @property
    def intercepts_(self) -> list[Floats]:
        """The biases of each layer, for X and y in their own units; see `coefs_`."""
        return self._in_units()[1]

    @intercepts_.setter
    def intercepts_(self, biases: Sequence[Any]) -> None:
        self._out_of_units(self.coefs_, biases)

    def _in_units(self) -> tuple[list[Floats], list[Floats]]:
        architecture, params = self._architecture, self.params_.astype(float)
        weights = [each.T.copy() for each in architecture.weights(params)]
        biases = [each.copy() for each in architecture.biases(params)]
        with np.errstate(over="ignore", under="ignore"):
            weights[0] = weights[0] / self._unit[:, np.newaxis]
            biases[0] = biases[0] - self._centre @ weights[0]
            if not hasattr(self, "classes_"):
                self._put_units(weights, biases)
        for each in (*weights, *biases):
            each.flags.writeable = False  # a number written into a copy would change nothing
        return weights, biases

    def _out_of_units(self, weights: Sequence[Any], biases: Sequence[Any]) -> None:
        """Become the network of these weights and biases: `_in_units` backwards."""
        architecture, params = self._architecture, self.params_.copy()
        found = [_numbers_of(each) for each in (*weights, *biases)]
        shapes = [each.shape for each in (*self.coefs_, *self.intercepts_)]
        if [each.shape for each in found] != shapes:
            raise DataError(
                f"weights and biases have the shapes {[each.shape for each in found]}; this "
                f"network has {shapes}"
            )
        weights, biases = found[: len(weights)], found[len(weights) :]
        with np.errstate(over="ignore", under="ignore"):
            if not hasattr(self, "classes_"):
                self._take_units(weights, biases)
            biases[0] = biases[0] + self._centre @ weights[0]
            weights[0] = weights[0] * self._unit[:, np.newaxis]
        for view, each in zip(architecture.weights(params), weights, strict=True):
            view[:] = each.T
        for view, each in zip(architecture.biases(params), biases, strict=True):
            view[:] = each
        self.params_ = params

    def _put_units(self, weights: list[Floats], biases: list[Floats]) -> None:
        """Multiply the units of y into the last layer; of an exponential, add their logarithm."""
        if self._head(fitted=True).kind == POISSON:
            biases[-1] = biases[-1] + np.log(self._target_unit)
            return
        weights[-1] = weights[-1] * self._target_unit
        biases[-1] = biases[-1] * self._target_unit + self._target_centre

    def _take_units(self, weights: list[Floats], biases: list[Floats]) -> None:
        """`_put_units` backwards."""
        if self._head(fitted=True).kind == POISSON:
            biases[-1] = biases[-1] - np.log(self._target_unit)
            return
        weights[-1] = weights[-1] / self._target_unit
        biases[-1] = (biases[-1] - self._target_centre) / self._target_unit


def _numbers_of(given: Any) -> Floats:
    """Finite numbers."""
    numbers = np.asarray(given, dtype=float)
    if not np.isfinite(numbers).all():
        raise DataError("weights and biases have values that are not finite")
    return numbers


def checked_sizes(sizes: Any) -> Sequence[int]:
    """The units of each hidden layer; one number is one layer."""
    given = sizes if isinstance(sizes, list | tuple | np.ndarray) else [sizes]
    for size in given:
        check_count("hidden_layer_sizes", size, "a network")
    return [int(size) for size in given]
