"""Arrays whose memory is given back between two pieces of work."""

import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from empirisk.runtime.scratch import MANY, Scratch


@pytest.mark.parametrize("shape", [5, (5, 2), (MANY, 2), (MANY // 4, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.uint32, np.int32])
def test_is_an_array_to_write_to(shape, dtype):
    array = Scratch(shape, dtype).array
    assert array.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    array[:] = 3
    assert (array == 3).all()


@pytest.mark.parametrize("first", [0, 1, 511, 512, 513, 100_000, 99_999])
def test_what_stands_before_the_first_number_is_kept(first):
    room = Scratch(100_000)
    room.array[:] = np.arange(100_000)
    room.forget(first)
    np.testing.assert_array_equal(room.array[:first], np.arange(first))
    room.array[:] = 1.0  # it can be used again
    assert room.array.sum() == 100_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_forgotten_pages_go_back_to_the_system():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    room = Scratch(2**23)
    room.array[:] = 1.0
    full = resident()
    room.forget(2**20)
    assert full - resident() > 0.9 * 7 * 2**23
    assert (room.array[: 2**20] == 1.0).all()
    assert not room.array[2**20 :].any()  # gone, not only out of sight


def test_what_cannot_be_given_back_is_kept(monkeypatch):
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)
    room = Scratch(100_000)
    room.array[:] = 1.0
    room.forget()
    assert room.array.sum() == 100_000
