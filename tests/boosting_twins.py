"""Boosted trees by brute force, in plain NumPy: every split of a node tried, one by one.

Best-first growth on the sums G and H of gradients and curvatures in a node, on the distinct values
themselves; missing values are tried on both sides; the levels of a category are cut in the order of
G / H.
"""

from dataclasses import dataclass, field

import numpy as np

LEAST_CURVATURE = 1e-3  # of a child, as in scikit-learn and LightGBM


@dataclass
class Node:
    """A leaf, or with `feature` a split; `levels` go left of a category."""

    rows: np.ndarray
    depth: int
    value: float
    used: frozenset = frozenset()
    feature: int = -1
    threshold: float = np.nan
    levels: frozenset = frozenset()
    missing_left: bool = False
    children: list = field(default_factory=list)

    def goes_left(self, x):
        missing = np.isnan(x)
        left = np.isin(x, list(self.levels)) if self.levels else x <= self.threshold
        return np.where(missing, self.missing_left, left)

    def leaves(self):
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]

    def predict(self, X):
        out = np.empty(len(X))
        self._predict(X, np.arange(len(X)), out)
        return out

    def _predict(self, X, rows, out):
        if not self.children:
            out[rows] = self.value
            return
        left = self.goes_left(X[rows, self.feature])
        self.children[0]._predict(X, rows[left], out)
        self.children[1]._predict(X, rows[~left], out)


def grow(
    X,
    g,
    h,
    *,
    categories=(),
    max_leaf_nodes=31,
    max_depth=np.inf,
    min_samples_leaf=20,
    l2=0.0,
    min_gain=0.0,
    groups=None,
):
    """A tree to gradients g and curvatures h; its values are -G / (H + l2)."""

    def value(rows):
        return -g[rows].sum() / (h[rows].sum() + l2)

    def part(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + l2)

    def candidates(node):
        """(gain, feature, what goes left, missing left) of all splits that are allowed."""
        for j in allowed(node.used, X.shape[1], groups):
            x = X[node.rows, j]
            for threshold, levels in cuts(x, g[node.rows], h[node.rows], j in categories):
                for missing_left in (False, True):
                    trial = Node(node.rows, 0, 0.0, frozenset(), j, threshold, levels, missing_left)
                    left = trial.goes_left(x)
                    a, b = node.rows[left], node.rows[~left]
                    if min(len(a), len(b)) < min_samples_leaf:
                        continue
                    if min(h[a].sum(), h[b].sum()) < LEAST_CURVATURE:
                        continue
                    gain = part(a) + part(b) - part(node.rows)
                    yield gain, trial, (a, b)

    def best(node):
        found = (min_gain * (1 + 1e-12) + 1e-12 * abs(part(node.rows)), None, None)
        if node.depth < max_depth:
            for candidate in candidates(node):
                # Equal gains up to rounding: the first stands.
                if candidate[0] > found[0] + 1e-10 * abs(found[0]):
                    found = candidate
        return found

    rows = np.arange(len(X))
    root = Node(rows, 0, value(rows))
    open_nodes = [(root, best(root))]
    n_leaves = 1
    while max_leaf_nodes is None or n_leaves < max_leaf_nodes:
        gains = [found[0] if found[1] is not None else -np.inf for _, found in open_nodes]
        if not gains or max(gains) == -np.inf:
            break
        node, (_, split, sides) = open_nodes.pop(int(np.argmax(gains)))
        node.feature, node.threshold = split.feature, split.threshold
        node.levels, node.missing_left = split.levels, split.missing_left
        used = node.used | {split.feature}
        node.children = [Node(side, node.depth + 1, value(side), used) for side in sides]
        open_nodes += [(child, best(child)) for child in node.children]
        n_leaves += 1
    return root


def allowed(used, p, groups):
    """The features that may still be split by, where groups say which may meet."""
    if groups is None:
        return range(p)
    fitting = [set(group) for group in groups if used <= set(group)]
    return sorted(set().union(*fitting)) if fitting else []


def cuts(x, g, h, category):
    """(threshold, levels) of all cuts of the values in a node."""
    values = np.unique(x[~np.isnan(x)])
    if category:
        means = [g[x == level].sum() / h[x == level].sum() for level in values]
        order = values[np.argsort(means, kind="stable")]
        for k in range(1, len(order) + 1):
            yield np.nan, frozenset(order[:k].tolist())
        return
    for low, high in zip(values[:-1], values[1:], strict=True):
        yield low + (high - low) / 2, frozenset()
    if np.isnan(x).any() and len(values):
        yield np.inf, frozenset()  # what is missing against the rest


def boost(X, y, start, gradient, curvature, *, rounds, learning_rate=0.1, **how):
    """Scores of the training rows after each round, and the trees."""
    raw, trees, staged = np.full(len(y), float(start)), [], []
    for _ in range(rounds):
        tree = grow(X, gradient(y, raw), curvature(y, raw), **how)
        raw = raw + learning_rate * tree.predict(X)
        trees.append(tree)
        staged.append(raw)
    return np.array(staged), trees
