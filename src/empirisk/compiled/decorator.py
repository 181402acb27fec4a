"""The one way to compile a loop."""

from numba import njit

compiled = njit(cache=True, nogil=True)
