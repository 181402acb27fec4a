"""Layers that move a window over a signal or a picture: convolutions and pooling."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from empirisk.compiled.networks import layout
from empirisk.learners.networks.layers import (
    Activated,
    Layer,
    Shape,
    activation_code,
    check_bias,
    check_count,
)
from empirisk.runtime.arrays import Ints
from empirisk.runtime.errors import ParameterError

Pair = tuple[int, int]
LARGEST_WINDOW = 2**24  # places of a window, which compiled code counts in float32


class Window(Layer):
    """Where the window of a layer goes: its height and width, its strides and the zeros around."""

    @abstractmethod
    def window(self, shape: Shape) -> tuple[Pair, Pair, Pair]:
        """(height, width) of the window, of its strides, and of the zeros on each side."""

    def picture(self, shape: Shape) -> tuple[int, int, int]:
        """What comes in as (channels, height, width); a signal has the height 1."""
        dimensions = getattr(self, "dimensions", len(shape) - 1)
        if len(shape) != dimensions + 1 or dimensions not in (1, 2):
            wanted = "(channels, length)" if dimensions == 1 else "(channels, height, width)"
            raise ParameterError(
                f"{self} takes what has the shape {wanted}, and {shape} came: give the learner "
                "input_shape, and put Flatten() behind the last layer that moves a window"
            )
        return (shape[0], 1, shape[1]) if dimensions == 1 else (shape[0], shape[1], shape[2])

    def channels_out(self, channels: int) -> int:
        """How many channels it gives out."""
        return channels

    def shape_out(self, shape: Shape) -> Shape:
        channels, *sides = self.picture(shape)
        kernel, stride, pad = self.window(shape)
        places = []
        for side, k, s, p in zip(sides, kernel, stride, pad, strict=True):
            if side + 2 * p < k:
                raise ParameterError(
                    f"the window of {self} has {k} places, and what comes in has {side}"
                    f"{f' and {p} zeros on each side' if p else ''}: make it smaller"
                )
            places.append((side + 2 * p - k) // s + 1)
        out = self.channels_out(channels)
        return (out, places[1]) if len(shape) == 2 else (out, places[0], places[1])

    def row(self, shape: Shape) -> Ints:
        row = super().row(shape)
        channels, height, width = self.picture(shape)
        out = self.shape_out(shape)
        kernel, stride, pad = self.window(shape)
        row[layout.CHANNELS : layout.OUT_CHANNELS] = channels, height, width
        row[layout.OUT_CHANNELS : layout.KERNEL_HEIGHT] = (
            out[0], 1 if len(out) == 2 else out[1], out[-1]
        )  # fmt: skip
        row[layout.KERNEL_HEIGHT : layout.N_FIELDS] = *kernel, *stride, *pad
        return row


@dataclass(frozen=True)
class Convolution(Window, Activated):
    """What convolutions of signals and of pictures share."""

    kind: ClassVar[int] = layout.CONVOLUTION
    dimensions: ClassVar[int]
    channels: int
    kernel_size: Any
    stride: Any = 1
    padding: Any = 0
    activation: str = "relu"
    bias: bool = True

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_count("channels", self.channels, name)
        for setting, least in (("kernel_size", 1), ("stride", 1), ("padding", 0)):
            as_pair(setting, getattr(self, setting), name, least, self.dimensions)
        activation_code(self.activation)
        check_bias(self.bias, name)

    @property
    def has_bias(self) -> bool:
        return self.bias

    def channels_out(self, channels: int) -> int:
        return int(self.channels)

    def window(self, shape: Shape) -> tuple[Pair, Pair, Pair]:
        name, d = type(self).__name__, self.dimensions
        return (
            as_pair("kernel_size", self.kernel_size, name, 1, d),
            as_pair("stride", self.stride, name, 1, d),
            as_pair("padding", self.padding, name, 0, d, across=0),
        )

    def shapes_of_parameters(self, shape: Shape) -> list[Shape]:
        (height, width), _, _ = self.window(shape)
        weights = (int(self.channels), self.picture(shape)[0], height, width)
        return [weights, (int(self.channels),)] if self.bias else [weights]


@dataclass(frozen=True)
class Conv1d(Convolution):
    """z[c, x] = s(b_c + sum_{d, u} w[c, d, u] input[d, x * stride + u - padding]).

    Parameters
    ----------
    channels : int
        How many signals it gives out.
    kernel_size : int
        Places that the kernel meets.
    stride : int
        How far it moves.
    padding : int
        Zeros put on each side of what comes in.
    activation, bias
        As of `Dense`.

    Examples
    --------
    >>> Conv1d(4, 3).shape_out((2, 10)), Conv1d(4, 3).n_parameters((2, 10))
    ((4, 8), 28)
    """

    dimensions: ClassVar[int] = 1


@dataclass(frozen=True)
class Conv2d(Convolution):
    """z[c, y, x] = s(b_c + sum_{d, v, u} w[c, d, v, u] input[d, y t + v - p, x t + u - p]).

    t is the stride and p the padding. That is cross-correlation, as in all networks: the kernel is
    not flipped.

    Parameters
    ----------
    channels : int
        How many pictures it gives out.
    kernel_size, stride, padding : int, or (height, width)
        The places that the kernel meets, how far it moves, and the zeros on each side.
    activation, bias
        As of `Dense`.

    Examples
    --------
    >>> Conv2d(6, 5, padding=2).shape_out((1, 28, 28)), Conv2d(6, 5).n_parameters((1, 28, 28))
    ((6, 28, 28), 156)
    """

    dimensions: ClassVar[int] = 2


@dataclass(frozen=True)
class Pool(Window):
    """What both kinds of pooling share."""

    size: Any = 2
    stride: Any = None

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("stride", self.stride)):
            if value is not None or name == "size":
                as_pair(name, value, type(self).__name__, 1, 2)

    def window(self, shape: Shape) -> tuple[Pair, Pair, Pair]:
        name, d = type(self).__name__, len(shape) - 1
        kernel = as_pair("size", self.size, name, 1, d)
        if kernel[0] * kernel[1] > LARGEST_WINDOW:
            raise ParameterError(
                f"size of {name} is {self.size!r}; a window has {LARGEST_WINDOW:,} places at most"
            )
        stride = kernel if self.stride is None else as_pair("stride", self.stride, name, 1, d)
        return kernel, stride, (0, 0)


@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest number of each window, channel by channel, of signals or pictures.

    Parameters
    ----------
    size : int, or (height, width)
        Of the window.
    stride : int or (height, width), optional
        How far it moves; by default windows lie side by side. What is left at the end is dropped.

    Examples
    --------
    >>> MaxPool(2).shape_out((6, 28, 28))
    (6, 14, 14)
    """

    kind: ClassVar[int] = layout.MAX_POOL


@dataclass(frozen=True)
class AveragePool(Pool):
    """The mean of each window, channel by channel; parameters as of `MaxPool`.

    Examples
    --------
    >>> AveragePool(3, stride=1).shape_out((2, 7))
    (2, 5)
    """

    kind: ClassVar[int] = layout.AVERAGE_POOL


def as_pair(
    name: str, value: Any, owner: str, least: int, dimensions: int, *, across: int = 1
) -> Pair:
    """(height, width) of a setting; of a signal the height is `across`."""
    several = isinstance(value, tuple | list)
    if several and dimensions == 1:
        raise ParameterError(f"{name} of {owner} is {value!r}; of a signal give one number")
    both = value if several else (value, value)
    if len(both) != 2:
        raise ParameterError(f"{name} of {owner} is {value!r}; give a number, or (height, width)")
    for each in both:
        check_count(name, each, owner, least)
    return (across if dimensions == 1 else int(both[0])), int(both[1])
