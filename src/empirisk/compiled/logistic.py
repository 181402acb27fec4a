"""Logistic loss of scores: its value, and its derivative in each score, row by row."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def logistic_rows(score, y, weight, residual):
    """sum_i w_i log(1 + exp(-s_i f_i)), s_i = 1 where y_i is 1 and else -1.

    residual[i] becomes the derivative in f_i, w_i (probability of class 1 - y_i).
    """
    total = 0.0
    for i in range(score.size):
        f = score[i]
        away = f if y[i] == 0 else -f  # how far on the wrong side
        small = np.exp(-abs(f))
        total += weight[i] * (max(away, 0.0) + np.log1p(small))
        wrong = small / (1.0 + small) if away < 0.0 else 1.0 / (1.0 + small)
        residual[i] = weight[i] * (wrong if y[i] == 0 else -wrong)
    return total


@compiled
def softmax_rows(scores, y, weight):
    """sum_i w_i (log sum_k exp f_ik - f_iy); scores become w_i (probability_k - [y_i = k])."""
    n, n_classes = scores.shape
    total = 0.0
    for i in range(n):
        row = scores[i]
        top = row[0]
        for k in range(1, n_classes):
            top = max(top, row[k])
        own = row[y[i]] - top
        rest, wrong = -1.0, 0.0  # beside the top class, and beside the own one
        for k in range(n_classes):
            row[k] = np.exp(row[k] - top)
            rest += row[k]
            if k != y[i]:
                wrong += row[k]
        if own == 0.0:
            rest = wrong  # which has lost no digits
        total += weight[i] * (np.log1p(rest) - own)
        row[y[i]] = -wrong
        for k in range(n_classes):
            row[k] *= weight[i] / (1.0 + rest)
    return total


@compiled
def logistic_curvature(score, weight, root):
    """root[i] = sqrt(w_i p_i (1 - p_i)), p_i the probability of class 1."""
    for i in range(score.size):
        small = np.exp(-abs(score[i]))
        root[i] = np.sqrt(weight[i] * small) / (1.0 + small)


@compiled
def softmax_probabilities(scores):
    """Scores (rows, classes) become probabilities."""
    n, n_classes = scores.shape
    for i in range(n):
        row = scores[i]
        top = row[0]
        for k in range(1, n_classes):
            top = max(top, row[k])
        total = 0.0
        for k in range(n_classes):
            row[k] = np.exp(row[k] - top)
            total += row[k]
        for k in range(n_classes):
            row[k] /= total


@compiled
def weigh_rows(X, centre, root, Z):
    """Z[i] = root[i] * [X[i] - centre, 1], the 1 only if Z has a column more than X."""
    n, p = X.shape
    for i in range(n):
        for j in range(p):
            Z[i, j] = (X[i, j] - centre[j]) * root[i]
        if Z.shape[1] > p:
            Z[i, p] = root[i]
