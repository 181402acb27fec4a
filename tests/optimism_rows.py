"""Rows of a regression, and the hat matrix of ridge regression written out."""

import numpy as np


def regression(n=40, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n)


def ridge_hat_matrix(X, alpha, w):
    """Weighted, with an intercept that is not penalised: written out, without a solver."""
    Z = np.column_stack([np.ones(len(X)), X])
    penalty = alpha * np.diag([0.0] + [1.0] * X.shape[1])
    return Z @ np.linalg.inv(Z.T @ (w[:, None] * Z) + penalty) @ (Z.T * w)
