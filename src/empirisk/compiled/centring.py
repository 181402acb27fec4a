"""Centring and weighting rows in one pass."""

from empirisk.compiled.decorator import compiled


@compiled
def centre_rows(X, y, mean, root, Z):
    """Z[i] = root[i] * ([X[i], y[i]] - mean): sqrt(W) times the centred columns [X, y]."""
    n, p = X.shape
    for i in range(n):
        for j in range(p):
            Z[i, j] = (X[i, j] - mean[j]) * root[i]
        for k in range(y.shape[1]):
            Z[i, p + k] = (y[i, k] - mean[p + k]) * root[i]
