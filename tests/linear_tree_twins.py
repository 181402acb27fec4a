"""Splits of linear trees by brute force, in plain NumPy: both sides of every cut fitted anew."""

import numpy as np

from tolerances import SOLVED, SUMMED
from tree_twins import rows_of_nodes


def in_standard_units(X, w):
    mean = np.array([np.average(x[~np.isnan(x)], weights=w[~np.isnan(x)]) for x in X.T])
    square = (X - mean) ** 2
    spread = [np.average(s[~np.isnan(s)], weights=w[~np.isnan(s)]) for s in square.T]
    return (X - mean) / np.sqrt(spread)


def imputed(Z, w):
    """About the means of the rows; missing values at 0."""
    seen = ~np.isnan(Z)
    mean = np.where(seen, Z * w[:, None], 0).sum(axis=0) / np.maximum(seen.T @ w, 1e-300)
    return np.where(seen, Z - mean, 0.0)


def ridge_error(Z, Y, w, alpha):
    """The penalised error of the ridge model of these rows, by least squares on longer rows.

    Missing values stand at the means of these rows; too few rows have the mean of Y (n, outputs).
    """
    root = np.sqrt(w)[:, None]
    A = np.column_stack([np.ones(len(Y)), imputed(Z, w)]) * root
    if len(Y) < Z.shape[1] + 2:
        A = A[:, :1]
    penalty = np.sqrt(alpha) * np.eye(A.shape[1])[1:]
    B = np.vstack([Y * root, np.zeros((len(penalty), Y.shape[1]))])
    A = np.vstack([A, penalty])
    return ((B - A @ np.linalg.lstsq(A, B, rcond=1e-11)[0]) ** 2).sum()


def sides_error(left, Z, Y, w, alpha):
    return sum(ridge_error(Z[side], Y[side], w[side], alpha) for side in (left, ~left))


def cut_errors(x, Z, Y, w, alpha, min_rows):
    """(rows on the left, error of both sides) of all the ways to cut a feature."""
    missing = np.isnan(x)
    for value in np.unique(x[~missing]):
        for left in (x <= value, (x <= value) | missing):
            if min_rows <= left.sum() <= len(Y) - min_rows:
                yield left, sides_error(left, Z, Y, w, alpha)


def assert_splits_are_the_best_of_all(model, X, Y, w):
    """Of each node of a fitted tree: its error, its split, and that a leaf has no better one."""
    tree, alpha, min_rows = model.tree_, model.alpha, model.min_samples_leaf
    Z, members = in_standard_units(X, w), rows_of_nodes(tree, X)
    scale = ridge_error(Z[:, :0], Y, w, 0)
    for node, rows in enumerate(members):
        Zn, Yn, wn = Z[rows], Y[rows], w[rows]
        error = ridge_error(Zn, Yn, wn, alpha)
        # Two ways to solve systems of condition numbers below 1e4.
        assert abs(tree.impurity[node] * wn.sum() - error) < 1e-10 * scale
        assert tree.n_node_samples[node] == len(rows)
        if tree.is_leaf[node] and tree.depth[node] == model.max_depth:
            continue
        cuts = (cut_errors(x, Zn, Yn, wn, alpha, min_rows) for x in X[rows].T)
        best = min((e for errors in cuts for _, e in errors), default=np.inf)
        if tree.is_leaf[node]:
            # Of perfect models rounding errors are left.
            assert best > error * (1 - 1e-9) - 1e-12 * scale
            continue
        left = np.isin(rows, members[node + 1])
        assert abs(sides_error(left, Zn, Yn, wn, alpha) - best) < SUMMED * scale
        gain = tree.gain[node] * tree.impurity[0] * w.sum()
        assert abs(gain - (error - best)) < SOLVED * scale
