"""Scores of rows after each of some numbers of trees, from one walk down each tree."""

import numpy as np

from empirisk.compiled.boosting.scoring import add_scores
from empirisk.compiled.decorator import compiled


@compiled(signatures=3)
def stage_scores(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, ends, splits,
    node_value, X, codes, at, leaves, scores, staged,
):  # fmt: skip
    """staged[i, v] = the scores of row i after ends[v] trees, which ascend.

    scores are those before the first tree, and are added to. The rest is as in `add_scores`.
    """
    first = np.int64(0)
    for v in range(ends.size):
        add_scores(
            thresholds, links, subsets, first_node, first_subset, first_leaf, value, first, ends[v],
            splits, node_value, X, codes, at, leaves, scores,
        )  # fmt: skip
        first = ends[v]
        for i in range(scores.shape[0]):
            for k in range(scores.shape[1]):
                staged[i, v, k] = scores[i, k]
