"""Rows in clumps, for k-means."""

import numpy as np
from sklearn.datasets import load_iris

IRIS = load_iris().data


def clumps(n, p, k, *, apart, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + apart * rng.normal(size=(k, p))[rng.integers(k, size=n)]
