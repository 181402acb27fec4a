"""Short hashes that tell whether two results come from the same rows and splits."""

from hashlib import sha256
from typing import Any

import numpy as np
from scipy.sparse import issparse

from empirisk.data.table import Table


def data_key(y: Any, sample_weight: Any = None, groups: Any = None) -> str:
    """Digest of y, weights and groups; no weights are the same as all weights one."""
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weights is not None and (weights == 1).all():
        weights = None
    return digest(y, weights, groups)


def digest(*parts: Any) -> str:
    """A short hash of arrays, tables, strings and None, the same in every process."""
    h = sha256()
    for part in parts:
        if part is None or isinstance(part, str):
            h.update(repr(part).encode())
            continue
        if isinstance(part, Table):
            h.update(part.digest().encode())
            continue
        array = part.toarray() if issparse(part) else np.asarray(part)
        if array.dtype.kind in "OTUSM":
            array = array.astype(str)
        h.update(f"{array.dtype.str}{array.shape}".encode())
        h.update(np.ascontiguousarray(array).tobytes())
    return h.hexdigest()[:16]
