"""Sums over the columns of the log-likelihoods of classes; missing cells (NaN) are left out."""

import numpy as np

from empirisk.compiled.decorator import compiled

FARTHEST = 1e150
"""Standard deviations from a mean: the square of more would overflow."""
LANES = 8  # sums side by side, as one instruction takes them


@compiled
def add_gaussian_scores(X, mean, inverse, log_scale, out):
    """out[i, k] -= sum_j z^2 / 2 + log_scale[k, j] with z = (X[i, j] - mean[k, j]) inverse[k, j].

    A column with inverse 0 says nothing.
    """
    n, p = X.shape
    n_classes = mean.shape[0]
    whole = p - p % LANES
    scale = np.empty(n_classes)
    for k in range(n_classes):
        scale[k] = 0.0
        for j in range(p):
            scale[k] += log_scale[k, j]
    lane = np.empty(LANES)
    for i in range(n):
        row = X[i]
        for k in range(n_classes):
            middle, narrow = mean[k], inverse[k]
            lane[:] = 0.0
            for j in range(0, whole, LANES):
                for b in range(LANES):
                    z = (row[j + b] - middle[j + b]) * narrow[j + b]
                    lane[b] += z * z
            total = ((lane[0] + lane[4]) + (lane[1] + lane[5])) + (
                (lane[2] + lane[6]) + (lane[3] + lane[7])
            )
            for j in range(whole, p):
                z = (row[j] - middle[j]) * narrow[j]
                total += z * z
            if total - total == 0.0:
                out[i, k] -= 0.5 * total + scale[k]
            else:
                out[i, k] -= _of_cells(row, middle, narrow, log_scale[k])


@compiled(inner=True)
def _of_cells(row, mean, inverse, log_scale):
    """The same sum for a row with missing cells, or with cells very far away."""
    total = 0.0
    for j in range(row.size):
        if row[j] == row[j] and inverse[j] > 0.0:
            z = (row[j] - mean[j]) * inverse[j]
            z = min(max(z, -FARTHEST), FARTHEST)
            total += 0.5 * z * z + log_scale[j]
    return total


@compiled
def add_level_counts(X, first, y, weight, out):
    """out[y[i], first[j] + X[i, j]] += weight[i]; X has codes of levels, NaN where missing."""
    n, q = X.shape
    for i in range(n):
        for j in range(q):
            if X[i, j] == X[i, j]:
                out[y[i], first[j] + int(X[i, j])] += weight[i]


@compiled
def add_level_scores(X, first, log_share, out):
    """out[i, k] += sum_j log_share[first[j] + X[i, j], k]."""
    n, q = X.shape
    for i in range(n):
        for j in range(q):
            if X[i, j] == X[i, j]:
                share = log_share[first[j] + int(X[i, j])]
                for k in range(out.shape[1]):
                    out[i, k] += share[k]
