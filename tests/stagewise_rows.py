"""Rows for forward stagewise regression."""

import numpy as np


def data(n=80, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3) + rng.normal(size=p)
    return X, 2 * X[:, 0] - X[:, 2] + np.abs(X[:, 1]) + rng.normal(size=n)
