"""Trees by brute force, in plain NumPy: every split of a node tried, one by one."""

from itertools import product

import numpy as np

from tolerances import SUMMED

IMPURITIES = {
    "squared_error": lambda y, w: np.average((y - np.average(y, weights=w)) ** 2, weights=w),
    "absolute_error": lambda y, w: min(np.average(abs(y - c), weights=w) for c in y),
    "poisson": lambda y, w: _poisson(y, np.average(y, weights=w), w),
}


def _poisson(y, mean, w):
    if mean <= 0:
        return np.inf
    terms = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0.0)
    return np.average(terms, weights=w)


def class_impurity(criterion, n_classes, costs=None):
    """The impurity of a node as a function of labels and weights."""

    def impurity(y, w):
        p = np.bincount(y, w, minlength=n_classes) / w.sum()
        if criterion == "gini":
            return 1 - (p**2).sum()
        if criterion == "generalised":
            return p @ costs @ p
        if criterion == "misclassification":
            return ((1 - np.eye(n_classes) if costs is None else costs) @ p).min()
        return -(p[p > 0] * np.log2(p[p > 0])).sum()

    return impurity


def left_sides(x, category):
    """All the ways a feature can split the rows: masks of the rows that go left."""
    missing = np.isnan(x)
    levels = np.unique(x[~missing])
    if category:
        subsets = [
            np.isin(x, [level for level, left in zip(levels, way, strict=True) if left])
            for way in product([0, 1], repeat=len(levels))
        ]
    else:
        subsets = [x <= level for level in levels]
    for left in subsets:
        yield left
        yield left | missing


def best_gain(X, y, w, impurity, categories=(), min_rows=1, min_weight=0.0, allowed=None):
    """The largest decrease of weight times impurity over all splits; -inf without any."""
    whole, best = w.sum() * impurity(y, w), -np.inf
    for j in range(X.shape[1]):
        for left in left_sides(X[:, j], j in categories):
            right = ~left
            few = min(left.sum(), right.sum()) < max(min_rows, 1)
            if few or min(w[left].sum(), w[right].sum()) < min_weight:
                continue
            if allowed is not None and not allowed(j, y[left], w[left], y[right], w[right]):
                continue
            gain = whole - split_cost(y, w, left, impurity)
            best = max(best, gain)
    return best


def split_cost(y, w, left, impurity):
    """Weight times impurity of the two sides."""
    right = ~left
    return w[left].sum() * impurity(y[left], w[left]) + w[right].sum() * impurity(
        y[right], w[right]
    )


def walk(tree, places):
    """The nodes that each row passes, one row at a time."""
    paths = []
    for row in places:
        node, path = 0, [0]
        while tree.children_right[node] >= 0:
            x = row[tree.feature[node]]
            if np.isnan(x):
                left = tree.missing_go_to_left[node]
            elif tree.subset[node] >= 0:
                left = tree.missing_go_to_left[node] != (x in tree.levels_apart(node))
            else:
                left = x <= tree.threshold[node]
            node = node + 1 if left else tree.children_right[node]
            path.append(node)
        paths.append(path)
    return paths


def rows_of_nodes(tree, places):
    """The rows that pass each node."""
    rows = [[] for _ in range(tree.node_count)]
    for i, path in enumerate(walk(tree, places)):
        for node in path:
            rows[node].append(i)
    return [np.array(each, int) for each in rows]


def audit(tree, places, y, w, impurity, *, max_depth=np.inf, **how):
    """Every inner node has the best of all splits, every leaf has none; impurities are right."""
    total, depth, root = w.sum(), tree.depth, impurity(y, w)
    for node, rows in enumerate(rows_of_nodes(tree, places)):
        yn, wn = y[rows], w[rows]
        assert abs(tree.impurity[node] - impurity(yn, wn)) <= SUMMED * root
        assert tree.n_node_samples[node] == len(rows)
        if tree.is_leaf[node]:
            one_value = (yn == yn[0]).all() or depth[node] == max_depth
            assert one_value or best_gain(places[rows], yn, wn, impurity, **how) == -np.inf
            continue
        left = np.isin(rows, rows_of_nodes_below(tree, places, node + 1, rows))
        gain = wn.sum() * impurity(yn, wn) - split_cost(yn, wn, left, impurity)
        best = best_gain(places[rows], yn, wn, impurity, **how)
        scale = wn.sum() * impurity(yn, wn)
        assert abs(gain - best) <= SUMMED * scale, (node, gain, best)
        share = tree.gain[node] * tree.impurity[0] * total
        assert abs(share - gain) <= SUMMED * total * root


def rows_of_nodes_below(tree, places, child, rows):
    """Those of the rows that go to this child."""
    return [i for i, path in zip(rows, walk(tree, places[rows]), strict=True) if child in path]
