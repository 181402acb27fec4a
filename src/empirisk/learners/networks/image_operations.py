"""Convolution and pooling of signals and pictures, with the kernels of the notes, and sums of
random variables, which are convolutions too.

A window of the kernel's size moves over the picture. What it gives at each place is

    (A * B)[y, x] = sum_{v, u} A[y s + v - p, x s + u - p] B[v, u],

with stride s and p zeros around A. That is cross-correlation, which networks call convolution
(Definition 8.7); convolution in the strict sense turns the kernel round first, `flip=True`.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import product
from typing import Any, Literal

import numpy as np

from empirisk.learners.networks.picture_layers import Pair, as_pair
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError
from empirisk.runtime.scalars import is_whole

KERNELS: dict[str, Floats] = {
    "margin": np.array([[-1.0, -1.0, -1.0], [-1.0, 8.0, -1.0], [-1.0, -1.0, -1.0]]),
    "sharpen": np.array([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]]),
    "blur": np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]) / 16,
    "vertical": np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]),
}
"""By name: a detector of margins, sharpening, Gaussian blur, a detector of vertical lines."""

SUM_TO_ONE = 1e-8
"""How far from 1 a sum of probabilities may be, which may come from rounded or 32-bit numbers."""

LARGEST = np.finfo(float).max

AT_ONCE = 2**14  # numbers that are summed up together, in the cache


def image_kernel(name: str) -> Floats:
    """A 3 x 3 kernel of the notes (section 8.4), by its name.

    Parameters
    ----------
    name : {"margin", "sharpen", "blur", "vertical"}
        "margin" gives 0 where all nine pixels are the same; "sharpen" takes a pixel away from its
        four neighbours; "blur", a small Gaussian, draws it towards all of them; "vertical" is
        largest where a vertical line is in the middle.

    Returns
    -------
    array of shape (3, 3)

    Examples
    --------
    >>> image_kernel("sharpen")
    array([[ 0., -1.,  0.],
           [-1.,  5., -1.],
           [ 0., -1.,  0.]])
    """
    if not isinstance(name, str) or name not in KERNELS:
        raise ParameterError(f"there is no kernel {name!r}; there are {', '.join(KERNELS)}")
    return KERNELS[name].copy()


def convolve(
    image: Any,
    kernel: Any,
    *,
    padding: Any = 0,
    stride: Any = 1,
    flip: bool = False,
) -> Floats:
    """Move a kernel over a signal or a picture: the weighted sum of what it meets at each place.

    Parameters
    ----------
    image : array-like of shape (length,), (height, width) or (channels, height, width)
        Finite numbers. Colours come first: `np.moveaxis(picture, -1, 0)` of a picture whose
        colours come last.
    kernel : str or array-like
        The name of an `image_kernel`; or of shape (length,) for a signal, (height, width) for a
        picture, each channel by itself; or of shape (channels out, channels, height, width), as
        the weights of a `Conv2d`, which sums over the channels.
    padding : int, (height, width) or "same"
        Zeros put on each side; by "same" as many as give each pixel its place (an even kernel has
        one more after than before).
    stride : int or (height, width)
        How far the kernel moves.
    flip : bool
        Turn the kernel round, which is convolution in the strict sense; by default it is not,
        as in networks.

    Returns
    -------
    array
        Of as many axes as the image, or (channels out, height, width);
        (side + 2 padding - kernel) // stride + 1 numbers along each side.

    Notes
    -----
    Sums are direct, not by Fourier transform: pictures of whole numbers have exact results. The
    time is that of height x width x (numbers of the kernel) products.

    Examples
    --------
    A vertical line, and a dot beside it (equation 8.1):

    >>> image = np.zeros((6, 6))
    >>> image[:, 2] = image[1, 1] = 1
    >>> convolve(image, "vertical")
    array([[1., 3., 0., 0.],
           [1., 3., 0., 0.],
           [0., 3., 0., 0.],
           [0., 3., 0., 0.]])

    Means of three neighbours (Figure 39):

    >>> convolve([3, 6, 9, 0], [1 / 3, 1 / 3, 1 / 3], padding=2)
    array([1., 3., 6., 5., 3., 0.])
    """
    picture, d = _picture("image", image)
    kernels = _kernels(kernel, d, len(picture))
    size: Pair = kernels.shape[-2:]
    steps = as_pair("stride", stride, "convolve", 1, d)
    padded = np.pad(picture, ((0, 0), *_zeros(padding, size, d)))
    if flip:
        kernels = kernels[..., ::-1, ::-1]
    with np.errstate(over="ignore", invalid="ignore"):
        result = _weighted_sum(padded, kernels, size, steps)
    if not np.isfinite(result).all():
        raise DataError(
            "the numbers of the image and the kernel are so large that their products have no "
            "finite sum: divide one of them by a large number"
        )
    return result if kernels.ndim == 4 else _unpacked(result, np.ndim(image))


def pool(
    image: Any,
    size: Any = 2,
    *,
    stride: Any = None,
    by: Literal["max", "mean"] = "max",
) -> Floats:
    """The largest or the mean number of each window of a signal or a picture.

    Parameters
    ----------
    image : array-like of shape (length,), (height, width) or (channels, height, width)
        Finite numbers; channels are pooled each by itself.
    size : int or (height, width)
        Of the window.
    stride : int or (height, width), optional
        How far it moves; by default windows lie side by side. What is left at the end is dropped.
    by : {"max", "mean"}

    Returns
    -------
    array
        Of as many axes as the image.

    Examples
    --------
    >>> pool([[1, 3, 0, 0], [1, 3, 0, 0], [0, 3, 0, 0], [0, 3, 0, 0]])
    array([[3., 0.],
           [3., 0.]])
    >>> pool([[1, 3, 0, 0], [1, 3, 0, 0], [0, 3, 0, 0], [0, 3, 0, 0]], by="mean")
    array([[2. , 0. ],
           [1.5, 0. ]])
    """
    picture, d = _picture("image", image)
    window = as_pair("size", size, "pool", 1, d)
    steps = window if stride is None else as_pair("stride", stride, "pool", 1, d)
    if by not in ("max", "mean"):
        raise ParameterError(f"by is {by!r}; it must be 'max' or 'mean'")
    parts = [part for _, _, part in _places(picture, window, steps)]
    return _unpacked(reduce(np.maximum, parts) if by == "max" else _mean(parts), np.ndim(image))


def sum_distribution(p: Any, q: Any, *, first: tuple[int, int] = (0, 0)) -> tuple[Ints, Floats]:
    """The distribution of X + Y of independent whole numbers X and Y: a convolution.

    P(X + Y = n) = sum_i P(X = i) P(Y = n - i)  (Definition 8.6).

    Parameters
    ----------
    p, q : array-like of shape (k,) and (l,)
        The probabilities of `first[0]`, `first[0]` + 1, ... for X, and of `first[1]`, ... for Y.
    first : pair of int
        The least value of X and that of Y.

    Returns
    -------
    values : array of shape (k + l - 1,)
        From `first[0] + first[1]` on.
    probabilities : array of shape (k + l - 1,)
        Direct sums of positive numbers: small ones have all their digits.

    Examples
    --------
    Two dice:

    >>> values, probabilities = sum_distribution([1 / 6] * 6, [1 / 6] * 6, first=(1, 1))
    >>> values
    array([ 2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12])
    >>> (36 * probabilities).round(6)
    array([1., 2., 3., 4., 5., 6., 5., 4., 3., 2., 1.])
    """
    if not isinstance(first, tuple | list) or len(first) != 2:
        raise ParameterError(f"first is {first!r}; give the least values of X and of Y as a pair")
    if not all(is_whole(least) for least in first):
        raise ParameterError(f"first is {first!r}; it must hold two whole numbers")
    chances = np.convolve(_probabilities("p", p), _probabilities("q", q))
    return int(first[0]) + int(first[1]) + np.arange(len(chances)), chances


def _places(picture: Floats, window: Pair, stride: Pair) -> Iterator[tuple[int, int, Floats]]:
    """For each place (v, u) of a window, the numbers it meets: (channels, rows, columns)."""
    sides = picture.shape[1:]
    for side, k in zip(sides, window, strict=True):
        if side < k:
            raise DataError(
                f"a window of {window[0]} x {window[1]} does not fit into "
                f"{sides[0]} x {sides[1]} numbers: make it smaller, or pad the image "
                "(channels come first)"
            )
    # The last number that a place meets is at place + (side - k) // stride * stride.
    reach = [(side - k) // s * s + 1 for side, k, s in zip(sides, window, stride, strict=True)]
    for v, u in np.ndindex(*window):
        yield v, u, picture[:, v : v + reach[0] : stride[0], u : u + reach[1] : stride[1]]


def _mean(parts: list[Floats]) -> Floats:
    """Of arrays of the same shape; finite if they are, also where their sum is not."""
    n, largest = len(parts), max(float(np.abs(part).max()) for part in parts)
    if largest <= LARGEST / n:
        return reduce(np.add, parts) / n
    half = reduce(np.add, [part / (2 * n) for part in parts])
    return 2 * np.clip(half, -largest / 2, largest / 2)


def _weighted_sum(padded: Floats, kernels: Floats, size: Pair, stride: Pair) -> Floats:
    """One kernel over each channel; or all kernels, (out, channels, height, width), over all."""
    places = list(_places(padded, size, stride))
    if kernels.ndim == 4:
        return reduce(np.add, (np.tensordot(kernels[..., v, u], p, 1) for v, u, p in places))
    result = np.zeros_like(places[0][2], order="C")
    rows = max(AT_ONCE // result.shape[2], 1)
    for channel, top in product(range(len(result)), range(0, result.shape[1], rows)):
        block = result[channel, top : top + rows]
        term = np.empty_like(block)
        for v, u, part in places:
            np.multiply(part[channel, top : top + rows], kernels[v, u], out=term)
            block += term
    return result


def _zeros(padding: Any, size: Pair, dimensions: int) -> tuple[Pair, Pair]:
    """Zeros before and after, of the height and of the width."""
    if isinstance(padding, str) and padding != "same":
        raise ParameterError(f"padding is {padding!r}; give a number, (height, width) or 'same'")
    if isinstance(padding, str):
        before = (size[0] - 1) // 2, (size[1] - 1) // 2
        after = size[0] - 1 - before[0], size[1] - 1 - before[1]
    else:
        before = after = as_pair("padding", padding, "convolve", 0, dimensions, across=0)
    return (before[0], after[0]), (before[1], after[1])


def _picture(name: str, values: Any) -> tuple[Floats, int]:
    """A signal or a picture as (channels, height, width), and whether it is along 1 or 2 sides."""
    numbers = _numbers(name, values)
    if numbers.ndim not in (1, 2, 3):
        raise DataError(
            f"{name} has the shape {numbers.shape}; wanted (length,), (height, width) or "
            "(channels, height, width)"
        )
    sides = numbers.shape if numbers.ndim > 1 else (1, len(numbers))
    return numbers.reshape(-1, *sides[-2:]), min(numbers.ndim, 2)


def _unpacked(picture: Floats, axes: int) -> Floats:
    """(channels, height, width) with as many axes as came in."""
    return picture.reshape(picture.shape[3 - axes :])


def _kernels(kernel: Any, dimensions: int, channels: int) -> Floats:
    """A kernel of shape (height, width) or (channels out, channels, height, width)."""
    numbers = image_kernel(kernel) if isinstance(kernel, str) else _numbers("kernel", kernel)
    if dimensions == 1 and numbers.ndim == 1:
        return numbers.reshape(1, -1)
    if dimensions == 2 and numbers.ndim == 2:
        return numbers
    if dimensions == 2 and numbers.ndim == 4 and numbers.shape[1] == channels:
        return numbers
    wanted = f"(height, width) or (channels out, {channels}, height, width)"
    raise DataError(
        f"the kernel has the shape {numbers.shape}; for this image it must have the shape "
        f"{'(length,)' if dimensions == 1 else wanted}"
    )


def _probabilities(name: str, values: Any) -> Floats:
    numbers = _numbers(name, values)
    total = float(numbers.sum())
    if numbers.ndim != 1 or numbers.min() < 0 or abs(total - 1) > SUM_TO_ONE:
        raise DataError(
            f"{name} must be a list of probabilities, 0 or more, with the sum 1; it has the shape "
            f"{numbers.shape}, the least number {numbers.min():.6g} and the sum {total:.10g}"
        )
    return numbers


def _numbers(name: str, values: Any) -> Floats:
    """Finite float64 numbers, at least one."""
    try:
        given: Array = np.ma.asarray(values) if np.ma.isMaskedArray(values) else np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} has rows of different lengths") from error
    if given.dtype.kind not in "buif":
        raise DataTypeError(f"{name} holds {given.dtype} values; wanted numbers")
    numbers: Floats = np.ma.filled(given.astype(np.float64), np.nan)
    if not numbers.size:
        raise DataError(f"{name} is empty: its shape is {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise DataError(f"{name} has numbers that are missing or infinite: replace them first")
    return numbers
