"""Rows on which trees are boosted, and the trees that a booster kept."""

import numpy as np

from empirisk.learners.ensembles.boosting.boosted_trees import BoostedTrees
from empirisk.learners.ensembles.boosting.grown_tree import joined

SMALL = {"min_samples_leaf": 4, "max_leaf_nodes": 6}


def sample(n=120, seed=0, missing=False, category=False):
    """Features of several kinds, fewer distinct values than bins, and a target with signal."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 12, size=n), rng.uniform(size=n), rng.normal(size=n)]
    )
    score = np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + X[:, 2] * X[:, 3]
    if category:
        X[:, 1] = (7 * X[:, 1]) % 12
    if missing:
        X[rng.uniform(size=X.shape) < 0.15] = np.nan
    return X, score + 0.3 * rng.normal(size=n)


def kept_trees(booster, per_round=1):
    """All trees that were kept; `per_round` of them are one round."""
    return BoostedTrees(joined(booster.kept()), per_round)
