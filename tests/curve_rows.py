"""Rows for learning curves: a line and noise of variance one."""

import numpy as np


def regression(n=100, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + rng.normal(size=n)
