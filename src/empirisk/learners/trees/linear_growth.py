"""Growing a linear tree: a node is split where the models of its two sides fit best together."""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from empirisk.compiled.trees.categories import pack_subset
from empirisk.compiled.trees.layout import NODE
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.finishing import finished, places_in_preorder
from empirisk.learners.trees.linear_nodes import TIE, LinearTarget, Node, Workshop
from empirisk.learners.trees.terms import Limits
from empirisk.learners.trees.tree import LEAF, Tree
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.deadlines import check_deadline

ROUNDING = 8 * float(np.finfo(float).eps)
"""Residuals of this part of the largest value are rounding errors: the model is perfect."""


@dataclass(frozen=True, eq=False)
class NodeModels:
    """The ridge models of all nodes of a tree, in preorder: value + coef (z - centre).

    low, high
        The range of Y in each node.
    """

    centre: Floats
    coef: Floats
    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class _Cut:
    """The best split of a node, its levels if it is by a category, and the sides it makes."""

    split: Array
    packed: Array
    left: Node
    right: Node
    gain: float


def grow_linear_tree(
    coding: RankCoding, target: LinearTarget, limits: Limits, max_bins: int
) -> tuple[Tree, NodeModels]:
    """Grow on all rows of a coding; the impurity of a node is its penalised error by weight."""
    growth = _Growth(coding, target, limits, max_bins)
    if limits.max_leaves:
        growth.best_first(limits.max_leaves)
    else:
        growth.depth_first()
    return growth.finish()


class _Growth:
    """The nodes so far."""

    def __init__(
        self, coding: RankCoding, target: LinearTarget, limits: Limits, max_bins: int
    ) -> None:
        self.coding, self.limits = coding, limits
        self.workshop = Workshop(coding, target, limits, max_bins)
        self.largest = float(np.abs(target.Y).max(initial=0.0))
        self.nodes: list[Node] = []
        self.cuts: dict[int, tuple[_Cut, int]] = {}
        self.root = self._add(self.workshop.fitted(np.arange(len(target.Y)), 0))

    def depth_first(self) -> None:
        stack = [self.root]
        while stack:
            node = stack.pop()
            cut = self._best_cut(node)
            if cut is not None:
                left, right = self._split(node, cut)
                stack += [right, left]

    def best_first(self, max_leaves: int) -> None:
        """The split with the largest gain comes next; only new nodes are searched."""
        heap: list[tuple[float, int, Node, _Cut]] = []
        fresh: tuple[Node, ...] = (self.root,)
        while True:
            for node in fresh:
                cut = self._best_cut(node)
                if cut is not None:
                    heappush(heap, (-cut.gain, node.number, node, cut))
            if not heap or len(self.cuts) + 1 >= max_leaves:
                return
            _, _, node, cut = heappop(heap)
            fresh = self._split(node, cut)

    def _add(self, node: Node) -> Node:
        node.number = len(self.nodes)
        self.nodes.append(node)
        return node

    def _split(self, node: Node, cut: _Cut) -> tuple[Node, Node]:
        self.cuts[node.number] = (cut, len(self.cuts))
        node.rows = node.rows[:0]  # those of its sides are kept
        return self._add(cut.left), self._add(cut.right)

    def _best_cut(self, node: Node) -> _Cut | None:
        """The best split; None where the node stays a leaf."""
        check_deadline()
        limits = self.limits
        few = node.copies < max(limits.min_rows_split, 2 * limits.min_rows_leaf)
        light = node.weight < max(limits.min_weight_split, 2 * limits.min_weight_leaf)
        perfect = node.error <= node.weight * (ROUNDING * self.largest) ** 2
        if few or light or perfect or node.depth >= limits.max_depth:
            return None
        split = self.workshop.best_split(node)
        if split["feature"] < 0:
            return None
        words = self.workshop.words
        packed = np.empty(1 + 3 * words.shape[1], np.uint32)
        packed = packed[: pack_subset(words, packed, 0)].copy()
        to_left = self._goes_left(node.rows, split, words)
        left = self.workshop.fitted(node.rows[to_left], node.depth + 1)
        right = self.workshop.fitted(node.rows[~to_left], node.depth + 1)
        # The search found the same but for rounding: a best split that gains nothing is the end.
        gain = node.error - left.error - right.error
        if gain <= TIE * node.error or gain < limits.min_gain:
            return None
        return _Cut(split, packed, left, right, gain)

    def _goes_left(self, rows: Ints, split: Array, words: Array) -> Bools:
        feature = self.coding.features[split["feature"]]
        tables, table_rows = self.workshop.tables, self.workshop.table_rows
        codes = tables[feature["table"]][feature["place"]][table_rows[rows]].astype(np.uint32)
        if feature["category"]:
            word = words[0][np.minimum(codes >> 5, words.shape[1] - 1)]
            to_left = (word >> (codes & 31)) & 1 != 0
        else:
            to_left = codes <= split["code"]
        return np.where(codes == feature["n_codes"], split["missing_left"] == 1, to_left)

    def finish(self) -> tuple[Tree, NodeModels]:
        """The tree and its models, in preorder."""
        nodes = np.zeros(len(self.nodes), NODE)
        for name in ("feature", "right", "rank", "subset"):
            nodes[name] = LEAF
        packed, n_packed = [np.zeros(0, np.uint32)], 0
        for node in self.nodes:
            record = nodes[node.number]
            record["rows"], record["weight"] = node.n_rows, node.weight
            record["impurity"] = node.error / node.weight
            if node.number not in self.cuts:
                continue
            cut, record["rank"] = self.cuts[node.number]
            record["right"] = cut.right.number
            record["gain"] = cut.gain
            for name in ("feature", "code", "next_code", "missing_left"):
                record[name] = cut.split[name]
            if self.coding.features[cut.split["feature"]]["category"]:
                record["subset"] = n_packed
                packed.append(cut.packed)
                n_packed += len(cut.packed)
        means = np.stack([node.mean for node in self.nodes])
        order = np.argsort(places_in_preorder(nodes))
        tree = finished(nodes, means, np.concatenate(packed), self.coding, 1.0)
        return tree, NodeModels(*(self._stacked(name, order) for name in _MODEL))

    def _stacked(self, name: str, order: Array) -> Floats:
        return np.stack([getattr(self.nodes[number], name) for number in order])


_MODEL = ("centre", "coef", "value", "low", "high")
