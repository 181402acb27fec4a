"""Boosted trees by brute force, in plain NumPy: every split of a node tried, one by one.

Best-first growth on the sums G and H of gradients and curvatures in a node, on the distinct values
themselves; missing values are tried on both sides. The levels of a category are cut in the order of
G / (H + 10); levels with fewer than 10 rows in the node are one with what is missing, and of L such
groups a cut is weighed with 2 (L - 8) more of l2 if L > 8. Where a node lacks it, what is missing
goes to the side with more rows. Under monotone constraints the values of a node stay within bounds:
those of its parent, and after a split by a constrained feature half way between both values.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

LEAST_CURVATURE = 1e-3  # of a child, as in scikit-learn and LightGBM
FEW, SMOOTH = 10, 10.0  # rows of a level in a node, and what is added to curvatures for the order


@dataclass
class Cut:
    """A split: by a threshold, or by levels on both sides; what is on neither is missing."""

    feature: int
    threshold: float = np.nan
    sides: tuple = ()
    missing_left: bool = False
    more_l2: float = 0.0

    def goes_left(self, x):
        if not self.sides:
            return np.where(np.isnan(x), self.missing_left, x <= self.threshold)
        known = np.isin(x, self.sides[0] + self.sides[1])
        return np.where(known, np.isin(x, self.sides[0]), self.missing_left)


@dataclass
class Node:
    """A leaf, or with a cut and children an inner node; `used` are the features above it."""

    rows: np.ndarray
    depth: int
    value: float
    used: frozenset = frozenset()
    bounds: tuple = (-np.inf, np.inf)
    cut: Cut | None = None
    children: list = field(default_factory=list)

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
        left = self.cut.goes_left(X[rows, self.cut.feature])
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
    monotone=None,
):
    """A tree to gradients g and curvatures h; its values are -G / (H + l2), within bounds."""
    signs = np.zeros(X.shape[1]) if monotone is None else np.asarray(monotone)

    def value(rows, bounds, more=0.0):
        return np.clip(-g[rows].sum() / (h[rows].sum() + l2 + more), *bounds)

    def part(rows, bounds, more=0.0):
        """-2 (G v + (H + l2) v^2 / 2) at the value v; without bounds G^2 / (H + l2)."""
        v = value(rows, bounds, more)
        return -(2 * g[rows].sum() + (h[rows].sum() + l2 + more) * v) * v

    def bounds_of(node, sides):
        """The bounds of both children."""
        (low, high), sign = node.bounds, signs[node.cut.feature]
        middle = np.mean([value(side, node.bounds) for side in sides])
        if sign == 0:
            return [node.bounds, node.bounds]
        return [(low, middle), (middle, high)][:: int(sign)]

    def candidates(node):
        """(gain, cut, rows of both sides) of all cuts that are allowed."""
        for j in allowed(node.used, X.shape[1], groups):
            x = X[node.rows, j]
            search = level_cuts if j in categories else number_cuts
            for cut in search(j, x, g[node.rows], h[node.rows]):
                left = cut.goes_left(x)
                a, b = node.rows[left], node.rows[~left]
                if min(len(a), len(b)) < max(min_samples_leaf, 1):
                    continue
                if min(h[a].sum(), h[b].sum()) < LEAST_CURVATURE:
                    continue
                if signs[j] * (value(b, node.bounds) - value(a, node.bounds)) < 0:
                    continue
                sides = sum(part(side, node.bounds, cut.more_l2) for side in (a, b))
                yield sides - part(node.rows, node.bounds, cut.more_l2), cut, (a, b)

    def best(node):
        found = (min_gain * (1 + 1e-12) + 1e-12 * abs(part(node.rows, node.bounds)), None, None)
        if node.depth < max_depth:
            for candidate in candidates(node):
                # Equal gains up to rounding: the first stands.
                if candidate[0] > found[0] + 1e-10 * abs(found[0]):
                    found = candidate
        return found

    rows = np.arange(len(X))
    root = Node(rows, 0, value(rows, Node.bounds))
    open_nodes = [(root, best(root))]
    n_leaves = 1
    while max_leaf_nodes is None or n_leaves < max_leaf_nodes:
        gains = [found[0] if found[1] is not None else -np.inf for _, found in open_nodes]
        if not gains or max(gains) == -np.inf:
            break
        node, (_, node.cut, sides) = open_nodes.pop(int(np.argmax(gains)))
        used = node.used | {node.cut.feature}
        node.children = [
            Node(side, node.depth + 1, value(side, bounds), used, bounds)
            for side, bounds in zip(sides, bounds_of(node, sides), strict=True)
        ]
        open_nodes += [(child, best(child)) for child in node.children]
        n_leaves += 1
    return root


def allowed(used, p, groups):
    """The features that may still be split by, where groups say which may meet."""
    if groups is None:
        return range(p)
    fitting = [set(group) for group in groups if used <= set(group)]
    return sorted(set().union(*fitting)) if fitting else []


def number_cuts(j, x, g, h):
    """All cuts of the values in a node between neighbours; what is missing right, then left."""
    missing = np.isnan(x)
    values = np.unique(x[~missing])
    for low, high in pairwise(values):
        threshold = low + (high - low) / 2
        if not missing.any():
            yield Cut(j, threshold, missing_left=2 * (x <= threshold).sum() > len(x))
            continue
        for left in (False, True):
            yield Cut(j, threshold, missing_left=left)
    if missing.any() and len(values):
        yield Cut(j, np.inf)  # what is missing against the rest


def level_cuts(j, x, g, h):
    """All cuts of the levels of a node in the order of their smoothed steps."""
    frequent = [level for level in np.unique(x[~np.isnan(x)]) if (x == level).sum() >= FEW]
    groups = [(x == level, level) for level in frequent]
    rest = ~np.isin(x, frequent)
    if rest.any():
        groups.append((rest, None))
    order = sorted(groups, key=lambda group: g[group[0]].sum() / (h[group[0]].sum() + SMOOTH))
    names = [name for _, name in order]
    for k in range(1, len(names)):
        left, right = ([n for n in side if n is not None] for side in (names[:k], names[k:]))
        missing_left = None in names[:k]
        if not rest.any():
            missing_left = 2 * np.isin(x, left).sum() > len(x)
        yield Cut(
            j, sides=(left, right), missing_left=missing_left, more_l2=2 * max(len(names) - 8, 0)
        )


def boost(X, y, start, gradient, curvature, *, rounds, learning_rate=0.1, **how):
    """Scores of the training rows after each round, and the trees."""
    raw, trees, staged = np.full(len(y), float(start)), [], []
    for _ in range(rounds):
        tree = grow(X, gradient(y, raw), curvature(y, raw), **how)
        raw = raw + learning_rate * tree.predict(X)
        trees.append(tree)
        staged.append(raw)
    return np.array(staged), trees
