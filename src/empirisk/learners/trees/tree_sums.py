"""Predictions that are sums over trees: what a learner shows of itself to have them explained."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import roots_legendre

from empirisk.compiled.trees.shapley import add_shapley_values, count_features
from empirisk.data.coded_column import CodedColumn
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import parallel, slices

ROWS = 256  # side by side: what they need of a path stays in the cache
ROWS_AT_ONCE = 2 * ROWS


@dataclass(frozen=True, eq=False)
class TreeSums:
    """f_k(x) = constant_k + scale * (the values of column k at the leaves of x, summed over trees).

    Attributes
    ----------
    thresholds, links : float64 and int32 views of packed nodes
        Of all trees, one after the other, each in preorder, as `compiled.trees.walking` or
        `forest_walking` reads them.
    subsets : uint32 array
    value : float64 array of shape (leaves, width)
    weight : float64 array of shape (leaves,)
        The weight of training rows in each leaf.
    first_node, first_leaf, first_subset : int64 arrays of shape (trees + 1,)
    column : int64 array of shape (trees,)
        The values of the leaves of tree b belong to the columns from column[b] on.
    constant : float64 array of shape (columns,)
    scale : float
    quantity : str
        What f is, as an axis calls it.
    mirrored : bool
        Of two classes, f is the probability of the second; that of the first is 1 - f.
    """

    thresholds: Floats
    links: Array
    subsets: Array
    value: Floats
    weight: Floats
    first_node: Ints
    first_leaf: Ints
    first_subset: Ints
    column: Ints
    constant: Floats
    scale: float
    quantity: str = "prediction"
    mirrored: bool = False

    @classmethod
    def of_tree(cls, tree: Tree, *, classes: int = 0) -> "TreeSums":
        """A single tree with constants in its leaves, of so many classes; 0 for a regression."""
        thresholds, links = tree.packed()
        value = tree.value[tree.is_leaf].reshape(tree.n_leaves, -1)
        value = np.ascontiguousarray(value[:, 1:] if classes == 2 else value)
        return cls(
            thresholds=thresholds,
            links=links,
            subsets=tree.subsets,
            value=value,
            weight=tree.weighted_n_node_samples[tree.is_leaf],
            first_node=np.array([0, tree.node_count]),
            first_leaf=np.array([0, len(value)]),
            first_subset=np.array([0, len(tree.subsets)]),
            column=np.zeros(1, np.int64),
            constant=np.zeros(value.shape[1]),
            scale=1.0,
            quantity="probability" if classes else "prediction",
            mirrored=classes == 2,
        )

    def base(self) -> tuple[Floats, Floats]:
        """The mean of f over the leaves by their weight, and leaf values about the mean of a tree.

        Shapley values do not depend on constants; small numbers lose less to rounding.
        """
        sizes = np.diff(self.first_leaf)
        total = np.add.reduceat(self.weight, self.first_leaf[:-1])
        share = self.weight / np.repeat(total, sizes)
        means = np.add.reduceat(share[:, None] * self.value, self.first_leaf[:-1])
        base = np.zeros(len(self.constant))
        for k in range(means.shape[1]):
            np.add.at(base, self.column + k, means[:, k])
        about = self.scale * (self.value - np.repeat(means, sizes, axis=0))
        return self.constant + self.scale * base, about

    def shapley_values(self, places: Floats, *, n_jobs: int | None) -> tuple[Floats, Floats]:
        """The values (rows, features, columns) of rows as trees compare them, and the base."""
        base, value = self.base()
        features = np.empty(len(self.column), np.int64)
        count_features(self.links, self.weight, self.first_node, self.first_leaf, features)
        points, rates = gauss_rules(max(1, (int(features.max()) + 1) // 2))
        (n, p), columns = places.shape, len(base)
        found = np.empty((n, p, columns))

        def explain(part: slice) -> None:
            X = side_by_side(places[part])
            total = np.zeros((len(X), columns, *X.shape[1:]))
            add_shapley_values(
                self.thresholds, self.links, self.subsets, self.first_node, self.first_leaf,
                self.first_subset, value, self.weight, self.column, points, rates, X, total,
            )  # fmt: skip
            rows = total.transpose(0, 3, 2, 1).reshape(-1, p, columns)
            found[part] = rows[: part.stop - part.start]

        parallel(explain, slices(n, ROWS_AT_ONCE), n_jobs=n_jobs)
        return found, base


class SumOfTrees(Protocol):
    """A fitted learner whose predictions, on some scale, are sums over trees.

    Its door is that of the trees (`data.table_door.check_places`).
    """

    columns_: list[CodedColumn]

    def _tree_sums(self) -> TreeSums: ...


def gauss_rules(most: int) -> tuple[Floats, Floats]:
    """Points and weights of Gauss's rules on (0, 1): in row q - 1 the one with q points.

    Examples
    --------
    >>> points, weights = gauss_rules(2)
    >>> weights
    array([[1. , 0. ],
           [0.5, 0.5]])
    >>> round(float((points[1] ** 3) @ weights[1]), 15)  # exact up to the power 2 q - 1
    0.25
    """
    points, weights = np.zeros((2, most, most))
    for q in range(1, most + 1):
        x, w = roots_legendre(q)
        points[q - 1, :q], weights[q - 1, :q] = (1.0 + x) / 2, w / 2
    return points, weights


def side_by_side(places: Floats) -> Floats:
    """(blocks, features, rows of a block): of the last one some may be missing."""
    n, p = places.shape
    width = min(n, ROWS)
    room = np.full((-(-n // width) * width, p), np.nan)
    room[:n] = places
    return np.ascontiguousarray(room.reshape(-1, width, p).transpose(0, 2, 1))
