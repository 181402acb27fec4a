"""Arrays to work in, whose memory goes back to the system while they are not used."""

import mmap
from typing import Any

import numpy as np

from empirisk.runtime.arrays import Array

MANY = 2**18  # bytes; less is not worth the calls
ANONYMOUS = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
"""Pages of this process alone: those that could be shared would live on when it forgets them."""


class Scratch:
    """An array whose content may be forgotten between two pieces of work.

    It has pages of its own. Forgotten ones take no memory until they are written to again, where
    the system knows how (Linux does); elsewhere they are kept.

    Examples
    --------
    >>> room = Scratch(100_000)
    >>> room.array[:] = 1.0
    >>> room.forget(1000)
    >>> float(room.array[999])
    1.0
    """

    def __init__(self, shape: int | tuple[int, ...], dtype: Any = np.float64) -> None:
        n = int(np.prod(shape))
        size = n * np.dtype(dtype).itemsize
        self._pages = _pages(size) if size >= MANY else None
        if self._pages is None:
            self.array: Array = np.empty(shape, dtype)
        else:
            self.array = np.frombuffer(self._pages, dtype, count=n).reshape(shape)

    def forget(self, first: int = 0) -> None:
        """Forget what stands from the first-th number on."""
        if self._pages is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        begin = -(-first * self.array.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
        if begin < len(self._pages):
            self._pages.madvise(mmap.MADV_DONTNEED, begin)


def _pages(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=ANONYMOUS) if ANONYMOUS else mmap.mmap(-1, size)
