"""Arrays as bytes: what NumPy writes is read, and nothing else."""

import io
import struct

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk.model_file.npy import as_npy, from_npy
from empirisk.runtime.errors import DataError

ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
    np.array(3.5),
    np.zeros((0, 4), dtype=np.float16),
    np.array([True, False]),
    np.array([["é", "𝄞"], ["", "abc"]]),
    np.array(["2020-01-01", "NaT"], dtype="M8[25s]"),
    np.array([5], dtype="m8"),
    np.zeros((1,) * 64),
    np.arange(4.0, dtype=">f4"),
]


def by_numpy(array, version=None):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=version)
    return buffer.getvalue()


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape[:3]}")
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)], ids=str)
def test_every_version_that_numpy_writes_is_read(array, version):
    expected = array.astype(array.dtype.newbyteorder("="))
    assert_array_equal(from_npy(by_numpy(array, version)), expected, strict=True)
    assert_array_equal(np.load(io.BytesIO(as_npy(array)), allow_pickle=False), array, strict=True)


def forged(header, data=b"", version=b"\x01\x00"):
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


def described(descr="'<f8'", order="False", shape="(2,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def test_a_forged_header_can_be_right():
    assert_array_equal(from_npy(forged(described(), bytes(16))), [0.0, 0.0])


FORGED = [
    b"",
    b"\x93NUMPY",
    b"\x93NUMPY\x01\x00\xff\xff{",
    b"\x93NUMPY\x09\x00" + bytes(100),
    b"\x80\x04\x95" + bytes(100),
    forged(described("'|O'"), bytes(16)),
    forged(described("'|O8'"), bytes(16)),
    forged(described("'<f16'"), bytes(32)),
    forged(described("'<c16'"), bytes(32)),
    forged(described("'|V8'"), bytes(16)),
    forged(described("'|S8'"), bytes(16)),
    forged(described("'<f3'"), bytes(6)),
    forged(described("'<U0'"), b""),
    forged(described("'<U0'", shape="(1000000000000,)"), b""),
    forged(described("'<U999999999'", shape="(0,)") + "x"),
    forged(described("'<M8[fortnights]'"), bytes(16)),
    forged(described("[('a', '<f8')]"), bytes(16)),
    forged(described("__import__('os').abort()"), bytes(16)),
    forged(described(order="__import__('os').abort()"), bytes(16)),
    forged(described(shape="(-2,)"), bytes(16)),
    forged(described(shape="(-1, -2)"), bytes(16)),
    forged(described(shape="(2)"), bytes(16)),
    forged(described(shape="(2.0,)"), bytes(16)),
    forged(described(shape="(1 + 1,)"), bytes(16)),
    forged(described(shape="(3,)"), bytes(16)),
    forged(described(shape="(1,)"), bytes(16)),
    forged(described(shape="(1000000000000000,)"), bytes(16)),
    forged(described(shape=f"({2**32}, {2**32}, 2)"), b""),
    forged(described(shape=f"(0, {2**62}, {2**62})"), b""),
    forged(described(shape=f"({10**30},)"), b""),
    forged(described(shape=str((1,) * 65)), bytes(8)),
    forged(described("'|b1'"), b"\x01\x02"),
    forged(described("'<U1'"), b"\x00\x00\x11\x00a\x00\x00\x00"),
    forged(described("'>U1'", order="True"), b"\xff\xff\xff\xff\x00\x00\x00a"),
    forged("{" * 5000),
]


@pytest.mark.parametrize("data", FORGED, ids=lambda data: repr(data[:70]))
def test_a_header_that_lies_is_refused_before_memory_is_taken(data):
    with pytest.raises((ValueError, TypeError)):  # of which the archive makes a DataError
        from_npy(data)


def test_an_array_of_pickles_is_refused():
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([{}, None]), allow_pickle=True)
    with pytest.raises(DataError, match="header"):
        from_npy(buffer.getvalue())
