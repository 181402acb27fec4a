"""Equality that overlooks nothing: types, dtypes, shapes, bits, and the sign of zero."""

import numpy as np


def assert_same(one, other):
    assert type(one) is type(other), (one, other)
    if isinstance(one, np.ndarray):
        assert (one.dtype.newbyteorder("="), one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "O":
            return assert_same(one.tolist(), other.tolist())
        assert one.astype(other.dtype).tobytes() == other.tobytes()
    elif isinstance(one, np.floating) and np.isnan(one):
        assert np.isnan(other)  # written as text, a NaN is a NaN, whatever its bits
        assert one.dtype == other.dtype
    elif isinstance(one, np.generic):
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    elif isinstance(one, dict):
        assert_same([*one.items()], [*other.items()])
    elif isinstance(one, float):
        assert repr(one) == repr(other)
    elif hasattr(one, "__dict__") and not isinstance(one, type):
        assert_same(dict(sorted(vars(one).items())), dict(sorted(vars(other).items())))
    else:
        assert one == other
    return None
