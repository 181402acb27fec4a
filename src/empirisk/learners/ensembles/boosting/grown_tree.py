"""A tree of a gradient boosting as it was grown, and many of them as one array each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.runtime.arrays import Array, Floats, Ints


class GrownTree(NamedTuple):
    """One tree, as `ForestTrees` has many."""

    nodes: Array
    value: Floats
    weight: Floats
    rows: Array
    subsets: Array
    gains: Floats


def joined(trees: Sequence[GrownTree]) -> ForestTrees:
    """All of them."""
    nodes, value, weight, rows, subsets, gains = zip(*trees, strict=True)

    def first(parts: Sequence[Array]) -> Ints:
        return np.concatenate([[0], np.cumsum([len(part) for part in parts])])

    return ForestTrees(
        nodes=np.concatenate(nodes),
        value=np.concatenate(value)[:, None],
        weight=np.concatenate(weight),
        rows=np.concatenate(rows).astype(np.int32),
        impurity=np.empty(0),
        subsets=np.concatenate(subsets),
        first_node=first(nodes),
        first_leaf=first(value),
        first_subset=first(subsets),
        gains=np.array(gains),
        medians=np.empty((0, 2)),
    )
