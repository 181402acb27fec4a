"""Rows of a binned table walk down a tree by their codes, without their values."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def walk_codes(nodes, features, ways, codes, rows, leaf_of):
    """leaf_of[i] = the number of the leaf that row rows[i] of the codes comes to."""
    for i in range(rows.size):
        row = rows[i]
        node = np.int64(0)
        while nodes[node].left >= 0:
            column = features[nodes[node].feature].column
            node = np.int64(nodes[node].left) + 1 - np.int64(ways[node, codes[column, row]])
        leaf_of[i] = nodes[node].leaf
