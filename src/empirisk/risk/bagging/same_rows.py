"""Whether rows are those that an ensemble was fitted on: only then are rows out of bag such.

Of other rows, or of the same ones in another order, members would judge rows that they drew, and
the risk would look too small.
"""

from typing import Any

import numpy as np

from empirisk.risk.plans.fingerprints import digest
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError


def target_key(y: Array, weight: Floats | None = None) -> str | None:
    """A digest of values, or of class codes, row by row.

    None where some rows have weight 0: what an ensemble is judged by may be without them.
    """
    if weight is not None and not (weight > 0).all():
        return None
    return digest(np.asarray(y, dtype=np.float64).reshape(len(y), -1))


def refuse_other_targets(ensemble: Any, y: Array) -> None:
    """Raise a DataError unless y is what an ensemble that knows its own was fitted on."""
    known = getattr(ensemble, "_target_key", None)
    if known is not None and known != target_key(y):
        raise DataError(
            f"y is not what {type(ensemble).__name__} was fitted on, or its rows come in another "
            "order, and then no row is known to be out of bag: give the rows it was fitted on, in "
            "the same order; risk.evaluate judges it on others"
        )
