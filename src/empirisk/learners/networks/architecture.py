"""A list of layers, put together: shapes, parameters, and the table that compiled code reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from empirisk.compiled.networks import layout
from empirisk.learners.networks.layers import Activated, Layer, Shape
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole


@dataclass(frozen=True)
class Part:
    """A layer at its place in a network.

    Attributes
    ----------
    layer : Layer
    shape_in, shape_out : tuple of int
    parameters : tuple of (slice, shape)
        Where its weights and biases lie in the vector of all parameters.
    """

    layer: Layer
    shape_in: Shape
    shape_out: Shape
    parameters: tuple[tuple[slice, Shape], ...]

    @property
    def n_parameters(self) -> int:
        """How many weights and biases it has."""
        return sum(prod(shape) for _, shape in self.parameters)


class Architecture:
    """A network without its numbers.

    Parameters
    ----------
    input_shape : tuple of int
    layers : sequence of Layer

    Attributes
    ----------
    parts : list of Part
    n_parameters : int
    n_inputs, n_outputs : int
    n_rows : int
        Features of all layers together, the inputs included: rows of `values` of compiled code.
    widest : int
        The most features that a layer takes in or gives out.
    table : int64 array of shape (steps, fields); rates : float64 array of shape (steps,)
        What compiled code reads.

    Examples
    --------
    >>> from empirisk.learners.networks.layers import Dense
    >>> print(Architecture((4,), [Dense(3, "tanh"), Dense(1, "identity")]))
    input                                             (4,)
    Dense(units=3, activation='tanh', bias=True)      (3,)    15 parameters
    Dense(units=1, activation='identity', bias=True)  (1,)     4 parameters
    19 parameters
    """

    def __init__(self, input_shape: Shape, layers: Sequence[Layer]) -> None:
        self.input_shape, self.layers = tuple(input_shape), list(layers)
        self.parts: list[Part] = []
        shape, place = self.input_shape, 0
        for layer in self.layers:
            parameters = []
            for each in layer.shapes_of_parameters(shape):
                parameters.append((slice(place, place + prod(each)), each))
                place += prod(each)
            out = layer.shape_out(shape)
            self.parts.append(Part(layer, shape, out, tuple(parameters)))
            shape = out
        self.n_parameters, self.n_inputs, self.n_outputs = place, prod(input_shape), prod(shape)
        self.output_shape = shape
        self._write_table()

    def __reduce__(self) -> tuple[Any, ...]:
        """Put together again elsewhere: arrays that come from another process are read-only."""
        return Architecture, (self.input_shape, self.layers)

    def _write_table(self) -> None:
        rows, rates, self.ends = [], [], [self.n_inputs]
        origin, to = 0, self.n_inputs
        widest = self.n_inputs
        for part in self.parts:
            shape = part.shape_in
            for step in part.layer.steps():
                row = step.row(shape)
                row[layout.FROM], row[layout.TO] = origin, to
                if isinstance(step, Activated):
                    row[layout.WEIGHTS] = part.parameters[0][0].start
                    row[layout.BIAS] = part.parameters[1][0].start if step.has_bias else -1
                rows.append(row)
                rates.append(step.rate)
                origin, to = to, to + int(row[layout.N_OUT])
                widest, shape = max(widest, int(row[layout.N_OUT])), step.shape_out(shape)
            self.ends.append(to)
        if not rows:
            raise ParameterError(
                f"layers is {self.layers!r}: there is no layer that computes anything; put a "
                "Dense(1) at the end, for example"
            )
        self.table: Ints = np.array(rows, np.int64)
        self.rates: Floats = np.array(rates, dtype=float)
        self.n_rows, self.widest = to, widest

    @property
    def has_marks(self) -> bool:
        """Whether a layer notes something on the way forth: places of the largest, or factors."""
        kinds = self.table[:, layout.KIND]
        return bool(((kinds == layout.MAX_POOL) | (kinds == layout.DROPOUT)).any())

    def weights(self, params: Array) -> list[Array]:
        """The weights of each layer that has some, as views of the vector of parameters."""
        return self._views(params, 0)

    def biases(self, params: Array) -> list[Array]:
        """The biases of each layer that has some, as views of the vector of parameters."""
        return self._views(params, 1)

    def _views(self, params: Array, which: int) -> list[Array]:
        return [
            params[part.parameters[which][0]].reshape(part.parameters[which][1])
            for part in self.parts
            if len(part.parameters) > which
        ]

    def penalised(self) -> Floats:
        """1 for weights, 0 for biases, which no penalty holds back."""
        share = np.zeros(self.n_parameters)
        for part in self.parts:
            if part.parameters:
                share[part.parameters[0][0]] = 1.0
        return share

    def __str__(self) -> str:
        names = ["input", *(str(part.layer) for part in self.parts)]
        shapes = [str(self.input_shape), *(str(part.shape_out) for part in self.parts)]
        counts = ["", *(f"{part.n_parameters:,}" for part in self.parts)]
        wide, deep, far = (max(map(len, words)) for words in (names, shapes, counts))
        lines = [
            f"{name:{wide}}  {shape:{deep}}"
            + (f"  {count:>{max(far, 4)}} parameters" if count not in ("", "0") else "")
            for name, shape, count in zip(names, shapes, counts, strict=True)
        ]
        return "\n".join([line.rstrip() for line in lines] + [f"{self.n_parameters:,} parameters"])


def checked_layers(layers: Any, name: str = "layers") -> list[Layer]:
    """The layers that a user gave."""
    given = list(layers) if isinstance(layers, list | tuple) else None
    if given is None or not all(isinstance(layer, Layer) for layer in given):
        raise ParameterError(
            f"{name} is {layers!r}; it must be a list of layers, such as [Dense(100), Dense(50)]"
        )
    return given


def checked_shape(input_shape: Any, n_features: int) -> Shape:
    """The shape of a row, which has as many numbers as X has columns."""
    if input_shape is None:
        return (n_features,)
    sides = tuple(input_shape) if isinstance(input_shape, tuple | list) else ()
    whole = all(is_whole(side, 1) for side in sides)
    if len(sides) not in (1, 2, 3) or not whole or prod(sides) != n_features:
        raise ParameterError(
            f"input_shape is {input_shape!r}, and X has {n_features} columns; give None, or "
            "(channels, length) or (channels, height, width) with that product"
        )
    return tuple(int(side) for side in sides)
