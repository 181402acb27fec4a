"""The layers that a network is built of, as a user writes them down.

A layer knows its settings and, given the shape of what comes in, the shape of what it gives out,
how many parameters it has, and its row in the table that compiled code reads
(`compiled.networks.layout`). It holds no numbers: all weights and biases of a network lie in one
vector.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from empirisk.compiled.networks import layout
from empirisk.runtime.arrays import Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole

Shape = tuple[int, ...]
"""(features,), or (channels, length), or (channels, height, width)."""

ACTIVATIONS = {
    "identity": layout.IDENTITY,
    "logistic": layout.SIGMOID,
    "sigmoid": layout.SIGMOID,
    "tanh": layout.TANH,
    "relu": layout.RELU,
    "leaky_relu": layout.LEAKY_RELU,
    "gelu": layout.GELU,
    "softmax": layout.SOFTMAX,
}
"""By name; "sigmoid" is the notes' word for what scikit-learn calls "logistic"."""


class Layer(ABC):
    """What all layers have."""

    kind: ClassVar[int]

    @abstractmethod
    def shape_out(self, shape: Shape) -> Shape:
        """The shape of what it gives out, for that of what it takes in."""

    def shapes_of_parameters(self, shape: Shape) -> list[Shape]:
        """Of the weights, and of the biases where there are any; empty without parameters."""
        return []

    def n_parameters(self, shape: Shape) -> int:
        """How many weights and biases it has."""
        return sum(prod(each) for each in self.shapes_of_parameters(shape))

    def steps(self) -> "list[Layer]":
        """The layer as one or two steps of compiled code."""
        return [self]

    def row(self, shape: Shape) -> Ints:
        """Its row in the table, but for the places of its numbers."""
        row = np.zeros(layout.N_FIELDS, np.int64)
        row[layout.KIND], row[layout.WEIGHTS], row[layout.BIAS] = self.kind, -1, -1
        row[layout.N_IN], row[layout.N_OUT] = prod(shape), prod(self.shape_out(shape))
        return row

    @property
    def rate(self) -> float:
        """Of dropout."""
        return 0.0


class Activated(Layer):
    """A layer of weights, followed by an activation."""

    activation: str

    @property
    def has_bias(self) -> bool:
        """Whether a number is added to each weighted sum."""
        return True

    def steps(self) -> list[Layer]:
        code = activation_code(self.activation)
        if code < layout.GELU:
            return [self]
        linear: Any = self
        return [replace(linear, activation="identity"), Activation(self.activation)]

    def row(self, shape: Shape) -> Ints:
        row = super().row(shape)
        row[layout.ACTIVE] = activation_code(self.activation)
        return row


@dataclass(frozen=True)
class Dense(Activated):
    """z = s(W x + b): all units see all features.

    Parameters
    ----------
    units : int
        How many features it gives out.
    activation : str
        s: "relu", "identity", "logistic" (or "sigmoid"), "tanh", "leaky_relu", "gelu", "softmax".
    bias : bool
        Without it, z = s(W x).

    Examples
    --------
    >>> Dense(3).shape_out((4,)), Dense(3).n_parameters((4,))
    ((3,), 15)
    """

    kind: ClassVar[int] = layout.DENSE
    units: int
    activation: str = "relu"
    bias: bool = True

    def __post_init__(self) -> None:
        check_count("units", self.units, type(self).__name__)
        activation_code(self.activation)
        check_bias(self.bias, type(self).__name__)

    @property
    def has_bias(self) -> bool:
        return self.bias

    def shape_out(self, shape: Shape) -> Shape:
        return (int(self.units),)

    def shapes_of_parameters(self, shape: Shape) -> list[Shape]:
        weights: list[Shape] = [(int(self.units), prod(shape))]
        return [*weights, (int(self.units),)] if self.bias else weights


@dataclass(frozen=True)
class Bottleneck(Dense):
    """z = W x: a linear layer of few units, without a bias.

    Put before a layer of weights V it makes their product V W a matrix of low rank; an L2 penalty
    on both is one on the nuclear norm of the product.

    Examples
    --------
    >>> Bottleneck(2).n_parameters((5,))
    10
    """

    activation: str = "identity"
    bias: bool = False


@dataclass(frozen=True)
class Activation(Layer):
    """z = s(x), feature by feature; "softmax" is over all features.

    Parameters
    ----------
    name : str
        s, as in `Dense`.

    Examples
    --------
    >>> Activation("softmax").shape_out((3,))
    (3,)
    """

    kind: ClassVar[int] = layout.ACTIVATION
    name: str

    def __post_init__(self) -> None:
        activation_code(self.name)

    def shape_out(self, shape: Shape) -> Shape:
        return shape

    def row(self, shape: Shape) -> Ints:
        row = super().row(shape)
        row[layout.ACTIVE] = activation_code(self.name)
        return row


@dataclass(frozen=True)
class Flatten(Layer):
    """A picture as a vector: channel by channel, row by row.

    Examples
    --------
    >>> Flatten().shape_out((16, 5, 5))
    (400,)
    """

    def shape_out(self, shape: Shape) -> Shape:
        return (prod(shape),)

    def steps(self) -> list[Layer]:
        return []  # the numbers lie in this order already


@dataclass(frozen=True)
class Dropout(Layer):
    """While training, each number is 0 with probability `p`, else divided by 1 - p.

    Parameters
    ----------
    p : float
        From 0 to below 1.

    References
    ----------
    N. Srivastava et al. (2014), Dropout: a simple way to prevent neural networks from overfitting.

    Examples
    --------
    >>> from empirisk import Dense, Dropout, NetworkClassifier
    >>> net = NetworkClassifier([Dense(50), Dropout(0.2)])
    >>> Dropout(0.2).shape_out((50,)), Dropout(0.2).n_parameters((50,))
    ((50,), 0)
    """

    kind: ClassVar[int] = layout.DROPOUT
    p: float = 0.5

    def __post_init__(self) -> None:
        if not (is_number(self.p) and 0 <= self.p < 1):
            raise ParameterError(f"p of Dropout is {self.p!r}; it must be a number in [0, 1)")

    def shape_out(self, shape: Shape) -> Shape:
        return shape

    @property
    def rate(self) -> float:
        return float(self.p)


def activation_code(name: Any) -> int:
    """The number by which compiled code knows an activation."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ParameterError(f"activation is {name!r}; there are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def check_count(name: str, value: Any, owner: str, least: int = 1) -> None:
    """Raise a ParameterError unless a value is a whole number that is large enough."""
    if not is_whole(value, least):
        raise ParameterError(
            f"{name} of {owner} is {value!r}; it must be a whole number, {least} or more"
        )


def check_bias(bias: Any, owner: str) -> None:
    """Raise a ParameterError unless it is True or False whether a layer has a bias."""
    if not is_flag(bias):
        raise ParameterError(f"bias of {owner} is {bias!r}; it must be True or False")
