"""Rows among which neighbours are searched."""

import numpy as np


def data(n=150, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 5.0, 0.2][:p]
    y = X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=n)
    return X, y, np.digitize(y, [-0.7, 0.7])
