"""Arrays as `.npy` bytes and back: of a header, only what `as_npy` can have written is believed."""

import math
import re
from io import BytesIO
from typing import Any

import numpy as np

from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError

MAGIC = b"\x93NUMPY"
WIDTH = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}
"""Bytes that give the length of the header, by version of the .npy format."""

DTYPE = r"[<>|][biufUMm][1-9]\d{0,8}(?:\[\w{1,20}\])?"
SHAPE = r"\((?:\d{1,19},|\d{1,19}(?:, \d{1,19}){1,63})?\)"
HEADER = re.compile(
    rf"\{{'descr': '({DTYPE})', 'fortran_order': (True|False), 'shape': ({SHAPE}), \}} *\n"
)
LAST_CHARACTER = 0x10FFFF


def storable(dtype: np.dtype[Any]) -> bool:
    """Booleans, integers, floats up to double precision, text and dates."""
    simple = dtype.kind in "biuUMm" or (dtype.kind == "f" and dtype.itemsize <= 8)
    return simple and dtype.itemsize > 0


def as_npy(array: Array) -> bytes:
    """The bytes of a `.npy` file, of an array whose dtype is storable."""
    buffer = BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def from_npy(data: bytes) -> Array:
    """The array of a `.npy` file, in the byte order of this machine; `DataError` for any other."""
    header, start = _header(data)
    found = HEADER.fullmatch(header)
    if found is None:
        raise DataError("its header does not describe an array of numbers, text or dates")
    dtype, shape = named_dtype(found[1]), tuple(map(int, re.findall(r"\d+", found[3])))
    promised, there = dtype.itemsize * math.prod(shape), len(data) - start
    if promised != there:
        raise DataError(f"its header promises {promised} bytes of values, and {there} follow")
    order: Any = "F" if found[2] == "True" else "C"
    values: Array = np.ndarray(shape, dtype, buffer=data, offset=start, order=order)
    return _checked(values.astype(dtype.newbyteorder("="), order="K", copy=True))


def named_dtype(name: str) -> np.dtype[Any]:
    """The dtype that NumPy writes so, if it is storable."""
    if re.fullmatch(DTYPE, name) is None or not storable(np.dtype(name)):
        raise DataError(f"the dtype {name!r} is not one of numbers, text or dates")
    return np.dtype(name)


def _header(data: bytes) -> tuple[str, int]:
    """The text of the header, and where the values begin."""
    if data[:6] != MAGIC or data[6:8] not in WIDTH:
        raise DataError("it is no .npy array of format 1 to 3")
    begin = 8 + WIDTH[data[6:8]]
    end = begin + int.from_bytes(data[8:begin], "little")
    return data[begin:end].decode("latin-1"), end


def _checked(array: Array) -> Array:
    """Refuse bits that are no character or no truth value: NumPy does not look."""
    raw = array.ravel(order="K")
    if array.dtype.kind == "U" and raw.view(np.uint32).max(initial=0) > LAST_CHARACTER:
        raise DataError("it holds text with characters that do not exist")
    if array.dtype.kind == "b" and raw.view(np.uint8).max(initial=0) > 1:
        raise DataError("it holds truth values that are neither 0 nor 1")
    return array
