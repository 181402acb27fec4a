"""Classes with one covariance matrix, in turn and as many of each."""

import numpy as np


def sample(n=120, p=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    return rng.normal(size=(n, p)) @ mix + rng.normal(size=(n_classes, p))[y], y
