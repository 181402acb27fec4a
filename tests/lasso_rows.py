"""Rows of correlated columns in several units, three of which matter."""

import numpy as np


def sample(n=60, p=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3) * np.geomspace(0.3, 3, p) + 1
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=n)
