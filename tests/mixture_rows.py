"""Rows of three groups, and a Gaussian mixture written out for them."""

import numpy as np

TYPES = ("full", "tied", "diag", "spherical")
ALL = (*TYPES, "sieve")


def three_groups(seed=0, n=90):
    rng = np.random.default_rng(seed)
    groups = [
        rng.normal(size=(n, 2)),
        rng.normal(size=(n, 2)) @ [[1.0, 0.6], [0.0, 0.5]] + [5.0, 1.0],
        0.5 * rng.normal(size=(n // 2, 2)) + [0.0, 6.0],
    ]
    return np.concatenate(groups)


X = three_groups()


def matrices(mixture):
    """The covariance matrix of each component, from the public attributes."""
    K, p = mixture.means_.shape
    C = mixture.covariances_
    return {
        "full": lambda: C,
        "tied": lambda: np.array([C] * K),
        "diag": lambda: np.array([np.diag(row) for row in C]),
        "spherical": lambda: np.array([v * np.eye(p) for v in C]),
        "sieve": lambda: np.array([C[0] * np.eye(p)] * K),
    }[mixture.covariance_type]()
