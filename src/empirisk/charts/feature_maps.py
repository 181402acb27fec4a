"""Many small pictures in one: the kernels of a layer, or what they find in an image."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError

ROOM = 0.16  # between pictures, as a share of their longer side; words need it
LEAST_ROOM = 0.06


def draw_feature_maps(
    pictures: Floats,
    *,
    names: Sequence[str] | None = None,
    columns: int | None = None,
    signed: bool = False,
    own_scale: bool = False,
    ax: Any = None,
) -> Any:
    """Draw many small pictures side by side.

    Parameters
    ----------
    pictures : array of shape (n, height, width) or (rows, columns, height, width)
        Drawn row by row, or as they stand.
    names : sequence of str, optional
        Written above each.
    columns : int, optional
        Pictures in a row; by default the whole is about square.
    signed : bool
        Colour numbers below 0 blue and above 0 red, as of kernels; otherwise they go from black to
        white.
    own_scale : bool
        Each picture has its own scale; otherwise all have one, shown beside them.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from empirisk import image_kernel
    >>> kernels = [image_kernel(name) for name in ("blur", "sharpen")]
    >>> ax = draw_feature_maps(kernels, names=["blur", "sharpen"], signed=True)
    >>> [text.get_text() for text in ax.texts]
    ['blur', 'sharpen']
    """
    pictures, columns = _row_by_row(pictures, columns)
    n, height, width = pictures.shape
    if names is not None and len(names) != n:
        raise ParameterError(f"there are {n} pictures and {len(names)} names: give one for each")
    ax = axes(ax)
    across = min(columns or int(np.ceil(np.sqrt(n * height / width))), n)
    down = -(-n // across)
    low, high = _scale(pictures, signed)
    apart = (ROOM if names is not None else LEAST_ROOM) * max(height, width)
    how = {"cmap": "RdBu_r" if signed else "gray", "interpolation": "nearest"}
    for i, picture in enumerate(pictures):
        ends = _scale(picture, signed) if own_scale else (low, high)
        left, top = (i % across) * (width + apart), (i // across) * (height + apart)
        place = (left, left + width, top + height, top)
        image = ax.imshow(picture, extent=place, vmin=ends[0], vmax=ends[1], **how)
        if names is not None:
            ax.text(left + width / 2, top - 0.2 * apart, names[i], fontsize="small", ha="center",
                    va="bottom", parse_math=False)  # fmt: skip
    if not own_scale:
        ax.figure.colorbar(image, ax=ax, shrink=0.7)
    ax.set_xlim(-apart, across * (width + apart))
    ax.set_ylim(down * (height + apart), -apart)
    ax.axis("off")
    return ax


def _row_by_row(pictures: Any, columns: int | None) -> tuple[Floats, int | None]:
    """The pictures one after the other, and how many stand in a row."""
    try:
        found = np.asarray(pictures, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"these are no pictures of numbers, all of one size: {error}") from None
    if found.ndim not in (3, 4) or 0 in found.shape:
        raise DataError(
            f"pictures of shape {found.shape}; wanted (n, height, width), one picture being "
            "[picture], or (rows, columns, height, width)"
        )
    if found.ndim == 3:
        return found, columns
    return found.reshape(-1, *found.shape[2:]), found.shape[1]


def _scale(pictures: Floats, signed: bool) -> tuple[float, float]:
    """What is black or blue, and what is white or red."""
    if signed:
        most = float(np.abs(pictures).max()) or 1.0
        return -most, most
    low, high = float(pictures.min()), float(pictures.max())
    return low, high if high > low else low + 1.0
