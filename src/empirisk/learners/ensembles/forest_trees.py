"""The trees of a forest in flat arrays: what predictions need, and what the rest follows from.

A node takes 16 bytes, a leaf besides its values, its weight, its rows and, of a regression, its
impurity. The weights, values, impurities and gains of inner nodes are those of the leaves below
them, added up, and are found when a single tree is asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from empirisk.compiled.trees.forest_walking import add_values, find_forest_leaves
from empirisk.learners.ensembles.forest_soundness import check_trees
from empirisk.learners.trees.finishing import PackedTree
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_sums import TreeSums
from empirisk.runtime.arrays import Array, Bools, Floats, Ints, WritableArrays
from empirisk.runtime.parallel import parallel, slices

SPARE = 1.125  # trees may be larger than the first
ROWS_AT_ONCE = 2**13  # so that a tree is read for many rows
NOT_A_NUMBER = np.int64(0x7FF80000) << np.int64(32)  # the bits of a quiet NaN, its low half free
LOW_HALF = np.int64(0xFFFFFFFF)
JOINED = ("value", "nodes", "weight", "rows", "impurity", "subsets", "gains", "medians")
PER_TREE = ("first_node", "first_leaf", "first_subset")


class Joining:
    """An array that parts are put into as they come.

    There is room for about `share` times the first part: what is not written to takes no memory.
    """

    def __init__(self, first: Array, share: float) -> None:
        self._array = np.empty((ceil(SPARE * share * len(first)), *first.shape[1:]), first.dtype)
        self._end = 0

    def add(self, part: Array) -> None:
        end = self._end + len(part)
        if end > len(self._array):
            longer = np.empty((2 * end, *part.shape[1:]), part.dtype)
            longer[: self._end] = self._array[: self._end]
            self._array = longer
        self._array[self._end : end] = part
        self._end = end

    def done(self) -> Array:
        """All parts; the room that was not used is given back."""
        self._array.resize((self._end, *self._array.shape[1:]), refcheck=False)
        return self._array


@dataclass(frozen=True, eq=False)
class ForestTrees(WritableArrays):
    """B trees, one after the other, each in preorder.

    Attributes
    ----------
    nodes : int64 array of shape (nodes, 2)
        Packed as `compiled.trees.forest_walking` reads them: the bits of the threshold; the kind
        of split, and above it, the right child in its tree.
    value : float64 array of shape (leaves, columns)
        Of a leaf: a mean for each output, or the shares of the classes; of two classes the share of
        the second alone.
    weight : float64 array of shape (leaves,)
    rows : int32 array of shape (leaves,)
        How many rows a leaf has; a row that was drawn twice counts once.
    impurity : float64 array of shape (leaves,) or (0,)
        Empty for classes, whose impurity follows from their shares.
    subsets : uint32 array
        Levels of splits by categories, as in `Tree`.
    first_node, first_leaf, first_subset : int64 arrays of shape (B + 1,)
        Where each tree begins, and the last one ends.
    gains : float64 array of shape (B, p)
        The part of the root's impurity that splits by each feature took away, in each tree.
    medians : float64 array of shape (inner nodes, 2) or (0, 2)
        The median and the impurity of inner nodes, for absolute errors.
    """

    nodes: Array
    value: Floats
    weight: Floats
    rows: Array
    impurity: Floats
    subsets: Array
    first_node: Ints
    first_leaf: Ints
    first_subset: Ints
    gains: Floats
    medians: Floats

    @classmethod
    def of(cls, packed: Sequence["ForestTrees"]) -> "ForestTrees":
        """The trees of several forests in one."""
        return packed[0] if len(packed) == 1 else cls.joined(packed, sum(map(len, packed)))

    @classmethod
    def joined(cls, packed: Iterable["ForestTrees"], n_trees: int) -> "ForestTrees":
        """The same, of forests that come one after the other and have `n_trees` in all."""
        rooms: dict[str, Joining] = {}
        sizes: dict[str, list[Ints]] = {name: [] for name in PER_TREE}
        for trees in packed:
            if not rooms:
                share = n_trees / len(trees)
                rooms = {name: Joining(getattr(trees, name), share) for name in JOINED}
            for name, room in rooms.items():
                room.add(getattr(trees, name))
            for name in PER_TREE:
                sizes[name].append(np.diff(getattr(trees, name)))
        starts = {
            name: np.concatenate([[0], np.cumsum(np.concatenate(parts))])
            for name, parts in sizes.items()
        }
        return cls(**{name: room.done() for name, room in rooms.items()}, **starts)

    @classmethod
    def of_tree(cls, tree: Tree, *, classes: int = 0, medians: bool = False) -> "ForestTrees":
        """A single tree, as it is kept; `classes` is 0 for a regression."""
        leaf = tree.is_leaf
        value = tree.value[leaf].reshape(int(leaf.sum()), -1)
        nodes = tree.pack().view(np.int64).reshape(-1, 2)
        nodes[leaf, 0] = NOT_A_NUMBER | np.arange(len(value))
        return cls(
            nodes=nodes,
            value=value[:, 1:] if classes == 2 else value,
            weight=tree.weighted_n_node_samples[leaf],
            rows=tree.n_node_samples[leaf],
            impurity=np.empty(0) if classes else tree.impurity[leaf],
            subsets=tree.subsets,
            first_node=np.array([0, tree.node_count]),
            first_leaf=np.array([0, len(value)]),
            first_subset=np.array([0, len(tree.subsets)]),
            gains=tree.gains_by_feature()[None],
            medians=np.column_stack([tree.value[~leaf, 0, 0], tree.impurity[~leaf]])
            if medians
            else np.empty((0, 2)),
        )

    @classmethod
    def of_packed(cls, tree: PackedTree, *, classes: int = 0) -> "ForestTrees":
        """A single tree, as a grower packs it; `classes` is 0 for a regression."""
        return cls(
            nodes=tree.nodes.view(np.int64).reshape(-1, 2),
            value=tree.value if classes != 1 else np.ones_like(tree.value),
            weight=tree.weight,
            rows=tree.rows,
            impurity=np.empty(0) if classes else tree.impurity,
            subsets=tree.subsets,
            first_node=np.array([0, len(tree.nodes)]),
            first_leaf=np.array([0, len(tree.rows)]),
            first_subset=np.array([0, len(tree.subsets)]),
            gains=tree.gains[None],
            medians=np.empty((0, 2)),
        )

    def __len__(self) -> int:
        return len(self.gains)

    def __getitem__(self, trees: slice) -> "ForestTrees":
        """Some neighbouring trees; nothing is copied."""
        first, stop, _ = trees.indices(len(self))
        node, leaf, subset = (
            slice(getattr(self, name)[first], getattr(self, name)[stop]) for name in PER_TREE
        )
        starts = {
            name: getattr(self, name)[first : stop + 1] - getattr(self, name)[first]
            for name in PER_TREE
        }
        return ForestTrees(
            nodes=self.nodes[node],
            value=self.value[leaf],
            weight=self.weight[leaf],
            rows=self.rows[leaf],
            impurity=self.impurity[leaf],
            subsets=self.subsets[subset],
            gains=self.gains[first:stop],
            medians=self.medians[node.start - leaf.start : node.stop - leaf.stop],
            **starts,
        )

    def first(self, n: int) -> "ForestTrees":
        """The first trees, in arrays of their own."""
        return ForestTrees(**{name: array.copy() for name, array in vars(self[:n]).items()})

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, are trees."""
        check_trees(self)

    def leaves(self, b: int, places: Floats, rows: Ints | None = None) -> Array:
        """The leaf that rows of a table come to in tree b, numbered within the tree."""
        leaves = np.empty(len(places) if rows is None else len(rows), np.int32)
        find_forest_leaves(
            *self._walks(), self.first_node, self.first_subset, b, places, rows, leaves
        )
        return leaves

    def values(self, b: int, places: Floats, rows: Ints) -> Floats:
        """What tree b says of some rows: (rows, columns)."""
        return self.value[self.first_leaf[b] + self.leaves(b, places, rows)]

    def mean_value(self, places: Floats, *, n_jobs: int | None = None) -> Floats:
        """The mean over the trees of what they say of each row: (rows, columns)."""
        total = self._total(self.value, places, n_jobs)
        if np.isfinite(total).all():
            total /= len(self)
            return total
        return self._total(self.value / len(self), places, n_jobs)  # a sum that overflows

    def _total(self, value: Floats, places: Floats, n_jobs: int | None) -> Floats:
        """The sum over the trees of the values of the leaves that each row comes to."""
        total = np.zeros((len(places), value.shape[1]))

        def add(part: slice) -> None:
            block = places[part]
            leaves = np.empty(len(block), np.int32)
            add_values(
                *self._walks(), self.first_node, self.first_subset, self.first_leaf, value, block,
                leaves, total[part],
            )  # fmt: skip

        parallel(add, slices(len(places), ROWS_AT_ONCE), n_jobs=n_jobs)
        return total

    def all_leaves(self, places: Floats, *, n_jobs: int | None = None) -> Array:
        """(rows, trees): the leaf of each row in each tree, numbered within the tree."""
        leaves = np.empty((len(self), len(places)), np.int32)

        def find(b: int) -> None:
            leaves[b] = self.leaves(b, places)

        parallel(find, range(len(self)), n_jobs=n_jobs)
        return leaves.T

    def sums(
        self,
        *,
        scale: float,
        quantity: str,
        mirrored: bool = False,
        constant: Floats | None = None,
        column: Ints | None = None,
    ) -> TreeSums:
        """The trees as a sum, as in `TreeSums`; by default all give all columns, from 0."""
        thresholds, links, subsets = self._walks()
        return TreeSums(
            thresholds=thresholds,
            links=links,
            subsets=subsets,
            value=self.value,
            weight=self.weight,
            first_node=self.first_node,
            first_leaf=self.first_leaf,
            first_subset=self.first_subset,
            column=np.zeros(len(self), np.int64) if column is None else column,
            constant=np.zeros(self.value.shape[1]) if constant is None else constant,
            scale=scale,
            quantity=quantity,
            mirrored=mirrored,
        )

    def _walks(self) -> tuple[Floats, Array, Array]:
        """Thresholds and links, two views of the nodes, and the lists of levels."""
        return self.nodes.view(np.float64), self.nodes.view(np.int32), self.subsets

    def is_leaf(self) -> Bools:
        """Of every node."""
        return (self.nodes[:, 0] & ~LOW_HALF) == NOT_A_NUMBER

    def importances(self) -> Floats:
        """(B, p): the gains of splits by each feature as parts of their sum, in each tree."""
        total = self.gains.sum(axis=1, keepdims=True)
        return np.divide(self.gains, total, out=np.zeros_like(self.gains), where=total > 0)
