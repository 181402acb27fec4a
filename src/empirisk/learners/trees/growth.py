"""From codes, targets and rules to a grown tree: the room that the compiled grower works in."""

from dataclasses import dataclass

import numpy as np

from empirisk.compiled.trees import criteria
from empirisk.compiled.trees.binning import BINS_PER_ROW
from empirisk.compiled.trees.growing import (
    AGAIN,
    FRESH,
    N_FREE,
    N_FRESH,
    N_NODES,
    N_OPEN,
    N_WORDS,
    STATE,
    grow,
)
from empirisk.compiled.trees.layout import NODE, OPEN, RULES
from empirisk.compiled.trees.ordering import ALL_PAIRS, DIGIT_BITS
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.finishing import finished
from empirisk.learners.trees.tree import LEAF, Tree
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.scratch import Scratch

WORK_AT_ONCE = 2**27  # rows times features between two looks at the clock: about a second
LEVELS_AT_ONCE = 2  # of a large tree, between which memory is given back
SMALL_WORK = 2**22  # done at once
BLOCK_ENTRIES = 2**17  # of 8 bytes, in two halves: 2 MB, about what stays in the cache
BLOCK_SHARE = 0.5  # of the features must be looked at in each node for a block to pay
NEVER = np.iinfo(np.int32).max
ROUNDING = 1e-12  # of worths, where weights are products with the factors of classes
HALF_A_COPY = 0.5  # copies are whole numbers, up to the rounding of sums of weights


@dataclass(frozen=True)
class Limits:
    """Where growth ends; the meanings are scikit-learn's, in rows and weights."""

    max_depth: int = NEVER
    max_leaves: int = 0
    max_features: int = NEVER
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_split: float = 0.0
    min_weight_leaf: float = 0.0
    min_copies_split: float = 0.0
    min_copies_leaf: float = 0.0
    min_gain: float = -np.inf


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted, for each row of the coding.

    kind
        A criterion of `compiled.trees.criteria`.
    values : float64 array of shape (n, outputs)
        Of a regression; of two classes 0 and 1.
    labels : int32 array of shape (n,)
        Class codes, of more than two classes; ranks of the values, for absolute errors; not used
        for others.
    weight : float64 array of shape (n,) or None
        None where all rows weigh 1.
    n_sums : int
        Classes, if they are more than two; else outputs.
    costs : array of shape (classes, classes)
        C(i | j), for the criteria that take costs.
    copies : array of shape (classes,)
        What a unit of weight of each class counts for in `Limits.min_copies_leaf`.
    """

    kind: int
    values: Floats
    labels: Array
    weight: Floats | None
    n_sums: int = 1
    costs: Floats | None = None
    copies: Floats | None = None


def grow_tree(
    coding: RankCoding,
    target: Target,
    limits: Limits,
    *,
    seed: int = 0,
    monotone: Array | None = None,
    gain_scale: float = 1.0,
    random: bool = False,
) -> Tree:
    """Grow a tree on the rows of a coding; values and weights are by row of its whole table.

    gain_scale
        What a gain of the criterion is in units of weight times impurity.
    random
        Whether thresholds are drawn (`compiled.trees.random_splits`); else each is the best.
    """
    features = coding.features.copy()
    if monotone is not None:
        features["monotone"] = monotone
    rows = coding.row_numbers() if coding.rows is None else coding.rows.astype(np.uint32)
    growth = _Growth(coding, features, rows, target, limits, seed, random)
    growth.rules["gain_scale"] = gain_scale
    check_deadline()
    while growth.step():
        check_deadline()
    return growth.tree(coding, gain_scale)


class _Growth:
    """All arrays of one growth; those of open nodes grow with the tree."""

    def __init__(
        self,
        coding: RankCoding,
        features: Array,
        rows: Array,
        target: Target,
        limits: Limits,
        seed: int,
        random: bool,
    ) -> None:
        self.features, self.rows = features, rows
        n, p = len(rows), len(features)
        block = 0 if random else _block_size(n, p, limits)
        classes = target.n_sums if target.kind // 10 == 1 else 1
        n_codes = int(features["n_codes"].max(initial=0)) + 1
        binned = target.kind // 10 <= 1 and limits.min_rows_leaf <= 1
        n_bins = min(n_codes * classes, BINS_PER_ROW * n) + classes if binned else 0
        n_sorted = min(n, n_codes * classes // BINS_PER_ROW + ALL_PAIRS) if binned else n
        categories = features["category"] != 0
        n_levels = int(features["n_codes"][categories].max(initial=0))
        n_entries = max(n_bins, n_sorted, block) + 1
        first = 2 * p * block
        second = first + n_entries
        third = second + max(n_sorted, block)
        self.rules = _rules(target, limits, features, block, n, first, second, third)
        self.state = np.zeros(STATE, np.int64)
        self.words = np.zeros((2, -(-n_levels // 32)), np.uint32)
        self.ids = np.empty(max(block, 1), np.uint32)
        self._start(n, p, target, limits, seed)
        width = 1 if target.kind // 10 == 1 else 1 + target.n_sums
        labelled = target.kind // 10 in (1, 3)
        self.data = (
            np.empty(0) if target.weight is None else target.weight,
            target.values,
            target.labels if labelled else None,
            np.zeros((1, 1)) if target.costs is None else np.ascontiguousarray(target.costs),
        )
        self.tables = (coding.small, coding.medium, coding.large)
        self.points = coding.points if random else None
        self.thresholds = np.empty(len(self.nodes)) if random else None
        codes, sums = Scratch(n, np.uint32), Scratch((n + n_bins, width))
        label = Scratch(n + n_bins, np.int32) if labelled else None
        entries = Scratch(third + (n_entries if categories.any() else 0), np.uint64)
        ordered = Scratch((n + 1, 5)) if target.kind == criteria.ABSOLUTE else None
        self.rooms = [(room, 0) for room in (codes, sums, label, ordered) if room is not None]
        self.rooms.append((entries, first))  # the block comes before it
        self.work = (
            codes.array,
            sums.array,
            None if label is None else label.array,
            _totals(target),
            entries.array,
            np.empty(2**DIGIT_BITS, np.uint32),
            np.empty((2, ALL_PAIRS), np.int32),
            np.arange(p),
            None if ordered is None else ordered.array,
            np.zeros((4, n_levels), np.uint32) if n_levels else None,
            np.zeros((n_levels + target.n_sums + 1, target.n_sums + 2)) if n_levels else None,
            self.words if n_levels else None,
            np.zeros(1) if target.kind // 10 == 2 else None,
            np.zeros(max(block, 1), np.uint8),
        )
        self.budget = min(WORK_AT_ONCE, max(SMALL_WORK, LEVELS_AT_ONCE * n * p))

    def _start(self, n: int, p: int, target: Target, limits: Limits, seed: int) -> None:
        leaves = max(n // limits.min_rows_leaf, 1)
        if limits.max_leaves:
            leaves = min(leaves, limits.max_leaves)
        if limits.max_depth < 32:
            leaves = min(leaves, 2**limits.max_depth)
        places = leaves + 4 if limits.max_leaves else 64
        self.nodes = np.empty(2 * leaves + 1, NODE)  # what is not written to takes no memory
        self.value = np.empty((2 * leaves + 1, target.n_sums))
        self.opened = np.zeros(places, OPEN)
        self.constant = np.zeros((places, -(-p // 64)), np.uint64)
        self.heap, self.free = np.zeros(places, np.int32), np.arange(places, dtype=np.int32)
        self.subsets = np.zeros(16 * (1 + 3 * self.words.shape[1]), np.uint32)
        self.nodes[0]["feature"] = self.nodes[0]["right"] = LEAF
        self.nodes[0]["subset"] = self.nodes[0]["rank"] = -1
        root = places - 1
        self.opened[root] = (root, 0, 0, 0, n, seed, 0, -np.inf, np.inf)
        self.opened["place"] = np.arange(places)
        self.state[N_NODES], self.state[N_FREE] = 1, places - 1
        if limits.max_leaves:
            self.state[N_FRESH], self.state[FRESH] = 1, root
        else:
            self.heap[0], self.state[N_OPEN] = root, 1

    def step(self) -> bool:
        """Grow on for about a second at most; returns whether there is more to do."""
        self._make_room()
        ending = grow(
            *self.tables,
            self.features,
            self.points,
            self.thresholds,
            *self.data,
            self.rules,
            self.rows,
            self.ids,
            self.nodes,
            self.value,
            self.subsets if self.words.size else None,
            self.opened,
            self.constant,
            self.heap,
            self.free,
            *self.work,
            self.state,
            self.budget,
        )
        if ending == AGAIN:
            self._forget()
        return bool(ending == AGAIN)

    def _forget(self) -> None:
        """Give back the memory of nodes that are done: what is written next takes its place.

        Between two nodes nothing but the block is needed. So a tree with a leaf for each row needs
        little more than the nodes that it ends with.
        """
        for room, first in self.rooms:
            room.forget(first)

    def _make_room(self) -> None:
        if self.state[N_WORDS] + 1 + 3 * self.words.shape[1] > len(self.subsets):
            self.subsets = _longer(self.subsets)
        if self.state[N_FREE] < 2 or self.state[N_OPEN] + 2 > len(self.heap):
            n = len(self.opened)
            self.opened, self.constant = _longer(self.opened), _longer(self.constant)
            self.heap, self.free = _longer(self.heap), _longer(self.free)
            self.opened["place"] = np.arange(2 * n)
            self.free[self.state[N_FREE] : self.state[N_FREE] + n] = np.arange(n, 2 * n)
            self.state[N_FREE] += n

    def tree(self, coding: RankCoding, gain_scale: float) -> Tree:
        """What has grown; it ends here."""
        del self.work, self.rooms
        n = int(self.state[N_NODES])
        for array in (self.nodes, self.value):
            array.resize((n, *array.shape[1:]), refcheck=False)  # what was not used, given back
        packed = self.subsets[: self.state[N_WORDS]]
        drawn = None if self.thresholds is None else self.thresholds[:n]
        return finished(self.nodes, self.value, packed, coding, gain_scale, drawn)


def _block_size(n: int, p: int, limits: Limits) -> int:
    """Rows of a block that is sorted once; 0 where most features are not looked at anyway."""
    size = min(n, BLOCK_ENTRIES // p)
    out_of_order = limits.max_leaves > 0 and size < n  # a block must be finished before the next
    if limits.max_features < BLOCK_SHARE * p or out_of_order or size < 2:
        return 0
    return size


def _rules(
    target: Target,
    limits: Limits,
    features: Array,
    block: int,
    n: int,
    first: int,
    second: int,
    third: int,
) -> Array:
    rules = np.zeros(1, RULES)
    rules[0] = (
        target.kind,
        target.n_sums,
        limits.max_depth,
        limits.max_leaves,
        min(limits.max_features, len(features)),
        limits.min_rows_split,
        limits.min_rows_leaf,
        limits.min_weight_split,
        max(limits.min_weight_leaf, np.finfo(float).tiny),
        limits.min_copies_split - HALF_A_COPY,
        limits.min_copies_leaf - HALF_A_COPY,
        0.0 if target.copies is None or target.n_sums > 1 else target.copies[0],
        0.0 if target.copies is None else ROUNDING,
        limits.min_gain,
        1.0,
        features["monotone"].any(),
        target.weight is not None,
        block,
        n,
        first,
        second,
        third,
    )
    return rules


def _totals(target: Target) -> Floats:
    """Room for `totals`, and the copies of the sums: of two classes, beside those of weights."""
    totals = np.zeros((5, target.n_sums))
    if target.copies is not None:
        totals[criteria.COPIES] = target.copies if target.n_sums > 1 else np.diff(target.copies)
    return totals


def _longer(array: Array) -> Array:
    longer = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
