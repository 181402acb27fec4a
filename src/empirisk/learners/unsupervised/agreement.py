"""How far two partitions of the same rows agree."""

from typing import Any

import numpy as np

from empirisk.learners.unsupervised.cluster_quality import refuse_light
from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import check_weights


def adjusted_rand(labels: Any, others: Any, *, sample_weight: Any = None) -> float:
    """The adjusted Rand index: agreement about pairs of rows, beyond what chance gives.

    With n_kl the rows of cluster k here and l there, and C(n) = n(n-1)/2 pairs of n rows,

        (sum C(n_kl) - E) / ((sum C(n_k.) + sum C(n_.l)) / 2 - E),
        E = sum C(n_k.) sum C(n_.l) / C(n)

    (Hubert & Arabie 1985): 1 for equal partitions, 0 on average for unrelated ones. A row of weight
    w counts as w copies of it.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    """
    one, other = np.asarray(labels), np.asarray(others)
    if one.shape != other.shape or one.ndim != 1:
        raise DataError(f"labels have shapes {one.shape} and {other.shape}; give equal lengths")
    weight = check_weights(sample_weight, len(one))
    used = weight > 0
    rows, here = np.unique(one[used], return_inverse=True)
    columns, there = np.unique(other[used], return_inverse=True)
    refuse_light(float(weight.sum()), max(len(rows), len(columns)))
    table = np.bincount(here * len(columns) + there, weight[used], len(rows) * len(columns))
    table = table.reshape(len(rows), len(columns))
    both = _pairs(table).sum()
    first, second = _pairs(table.sum(axis=1)).sum(), _pairs(table.sum(axis=0)).sum()
    expected = first * second / _pairs(table.sum()) if table.sum() > 1 else 0.0
    most = (first + second) / 2
    return 1.0 if most == expected else float((both - expected) / (most - expected))


def _pairs(n: Any) -> Any:
    return n * (n - 1) / 2
