"""A grown tree: flat arrays, an entry for each node, in preorder."""

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from empirisk.compiled.trees.walking import (
    find_leaves,
    find_leaves_by_subsets,
    find_pruned_leaves,
    relatives,
)
from empirisk.learners.trees.soundness import KINDS, check_tree
from empirisk.runtime.arrays import Array, Bools, Floats
from empirisk.runtime.parallel import parallel, slices

LEAF = -1
NO_FEATURE = -2  # as in scikit-learn
ROWS_AT_ONCE = 2**16
SEEN = 12.0
# No part of a tree: a model file does not keep it.
_packed: "WeakKeyDictionary[Tree, Array]" = WeakKeyDictionary()
PACKED = np.dtype([("threshold", np.float64), ("kind", np.int32), ("right", np.int32)])


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in preorder: node 0 is the root, the left child of an inner node i is i + 1.

    The names of the arrays are those of scikit-learn's trees where they mean the same.

    Attributes
    ----------
    children_right : int32 array
        -1 in a leaf.
    feature : int32 array
        -2 in a leaf.
    threshold : float64 array
        A value x goes left where x <= threshold; NaN in leaves and in splits of a category.
    cut : float64 array
        The same in terms of `CodedColumn.places`: for integers beyond 2^53, of codes.
    missing_go_to_left : bool array
        Missing values and levels that the node did not see in training.
    subset : int32 array
        Where the list of a split by categories begins in `subsets`, else -1.
    subsets : uint32 array
        Lists of the levels that do not go where missing values go, see `levels_apart`. A list is a
        number n, n numbers w in order, and n words: bit b of a word is the level 32 w + b.
    n_node_samples, weighted_n_node_samples, impurity : arrays
        Rows, their weight, and the impurity of each node.
    gain : float64 array
        The part of the root's impurity that a split takes away.
    split_order : int32 array
        The number of splits that were made before this one, -1 in a leaf.
    value : float64 array of shape (nodes, outputs, 1) or (nodes, 1, classes)
        Means, medians, or shares of the classes.
    n_features : int
    """

    children_right: Array
    feature: Array
    threshold: Floats
    cut: Floats
    missing_go_to_left: Bools
    subset: Array
    subsets: Array
    n_node_samples: Array
    weighted_n_node_samples: Floats
    impurity: Floats
    gain: Floats
    split_order: Array
    value: Floats
    n_features: int

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, are a tree."""
        arrays = {name: getattr(self, name) for name in KINDS}
        check_tree(arrays, self.value, self.subsets, self.n_features)

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def is_leaf(self) -> Bools:
        return self.children_right == LEAF

    @property
    def children_left(self) -> Array:
        """-1 in a leaf."""
        return np.where(self.is_leaf, LEAF, np.arange(1, self.node_count + 1)).astype(np.int32)

    @property
    def n_leaves(self) -> int:
        return int(self.is_leaf.sum())

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    @property
    def n_classes(self) -> Array:
        """Of each output, 1 for numbers."""
        return np.full(self.n_outputs, self.max_n_classes)

    @property
    def max_n_classes(self) -> int:
        return self.value.shape[2]

    def relatives(self) -> tuple[Array, Array, Array]:
        """Of each node: its parent (-1 for the root), its depth, the node after all below it."""
        parent, depth, end = np.empty((3, self.node_count), np.int32)
        relatives(np.ascontiguousarray(self.children_right), parent, depth, end)
        return parent, depth, end

    def levels_apart(self, node: int) -> Array:
        """The levels that a split does not send where it sends missing values, in order."""
        first = int(self.subset[node])
        n = int(self.subsets[first])
        at, words = self.subsets[first + 1 : first + 1 + 2 * n].reshape(2, n)
        bits = words[:, None] >> np.arange(32, dtype=np.uint32) & np.uint32(1)
        return (32 * at[:, None] + np.arange(32, dtype=np.uint32))[bits == 1]

    @property
    def parent(self) -> Array:
        """-1 for the root."""
        return self.relatives()[0]

    @property
    def depth(self) -> Array:
        """The number of splits above each node."""
        return self.relatives()[1]

    @property
    def is_found_by_chance(self) -> bool:
        """Whether a split gains more than twice what some split above it does.

        A search that looks one split ahead did not see it coming, as where only the product of two
        features says something, and trees from other rows of the same kind may not come to it. By
        chance alone n times the gain, which is about a chi-squared, is rarely above 12.
        """
        parent, depth, _ = self.relatives()
        above = np.full(self.node_count, np.inf)
        for level in range(1, int(depth.max()) + 1):
            nodes = np.flatnonzero(depth == level)
            above[nodes] = np.minimum(above[parent[nodes]], self.gain[parent[nodes]])
        is_seen = self.gain * self.n_node_samples[0] > SEEN
        return bool((self.gain > 2 * above)[is_seen].any())

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    def apply(self, places: Floats) -> Array:
        """The leaf of each row; X as `CodedColumn.places` gives it."""
        thresholds, links = self.packed()
        leaves = np.empty(len(places), np.int32)

        def walk(part: slice) -> None:
            if len(self.subsets):
                find_leaves_by_subsets(thresholds, links, self.subsets, places[part], leaves[part])
            else:
                find_leaves(thresholds, links, places[part], None, leaves[part])

        parallel(walk, slices(len(places), ROWS_AT_ONCE))
        return leaves

    def apply_pruned(self, places: Floats, alpha: Floats, values: Floats) -> Array:
        """(rows, values): the leaf of each row when nodes with alpha up to a value are leaves."""
        thresholds, links = self.packed()
        leaves = np.empty((len(places), len(values)), np.int32)
        find_pruned_leaves(thresholds, links, self.subsets, alpha, values, places, leaves)
        return leaves

    def decision_path(self, places: Floats) -> csr_array:
        """(rows, nodes): 1 where a row passes a node."""
        leaves, (parent, depth, _) = self.apply(places), self.relatives()
        steps = depth[leaves] + 1
        ends = np.concatenate([[0], np.cumsum(steps)])
        nodes, at = np.empty(ends[-1], np.int32), leaves
        for back in range(depth.max() + 1):
            rows = np.flatnonzero(steps > back)
            nodes[ends[rows + 1] - 1 - back] = at[rows]
            at = np.where(parent[at] < 0, 0, parent[at])
        shape = (len(leaves), self.node_count)
        return csr_array((np.ones(len(nodes), np.int64), nodes, ends), shape=shape)

    def gains_by_feature(self) -> Floats:
        """The part of the root's impurity that splits by each feature take away."""
        inner = ~self.is_leaf
        gains = np.bincount(self.feature[inner], self.gain[inner], minlength=self.n_features)
        return gains.astype(np.float64)

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """The gains of the splits by each feature, as parts of their sum.

        Without `normalize`, in the units of the impurity, as in scikit-learn.
        """
        gains = self.gains_by_feature()
        if not normalize:
            return gains * self.impurity[0]
        return gains / gains.sum() if gains.sum() > 0 else gains

    def packed(self) -> tuple[Floats, Array]:
        """Thresholds and links as `compiled.trees.walking` reads them, two views of one array."""
        packed = _packed.get(self)
        if packed is None:
            packed = _packed[self] = self.pack()
        return packed.view(np.float64).reshape(-1, 2), packed.view(np.int32).reshape(-1, 4)

    def pack(self) -> Array:
        """Nodes of the kind `PACKED`; a walk that has come to a leaf stays there."""
        leaf, category = self.is_leaf, self.subset >= 0
        packed = np.empty(self.node_count, PACKED)
        packed["threshold"] = np.where(leaf, -np.inf, np.where(category, self.subset, self.cut))
        kind = 4 * self.feature + 2 * category + self.missing_go_to_left
        packed["kind"] = np.where(leaf, 0, kind)
        packed["right"] = np.where(leaf, np.arange(self.node_count), self.children_right)
        return packed

    def cut_back(self, leaves: Bools) -> "Tree":
        """The tree in which these nodes are leaves, and all below them is gone."""
        end = self.relatives()[2]
        opened = np.bincount(np.flatnonzero(leaves) + 1, minlength=self.node_count + 1)
        closed = np.bincount(end[leaves], minlength=self.node_count + 1)
        gone = np.cumsum(opened - closed)[:-1] > 0  # below some of them, which are intervals
        kept = np.flatnonzero(~gone)
        number = np.cumsum(~gone) - 1
        leaf = (leaves | self.is_leaf)[kept]
        return replace(
            self,
            children_right=np.where(leaf, LEAF, number[self.children_right[kept]]).astype(np.int32),
            feature=np.where(leaf, NO_FEATURE, self.feature[kept]).astype(np.int32),
            threshold=np.where(leaf, np.nan, self.threshold[kept]),
            cut=np.where(leaf, np.nan, self.cut[kept]),
            missing_go_to_left=np.where(leaf, False, self.missing_go_to_left[kept]),
            subset=np.where(leaf, -1, self.subset[kept]).astype(np.int32),
            gain=np.where(leaf, 0.0, self.gain[kept]),
            split_order=np.where(leaf, -1, self.split_order[kept]).astype(np.int32),
            n_node_samples=self.n_node_samples[kept],
            weighted_n_node_samples=self.weighted_n_node_samples[kept],
            impurity=self.impurity[kept],
            value=self.value[kept],
        )
