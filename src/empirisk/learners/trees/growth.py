"""From codes, targets and limits to grown trees, one or many in one room."""

from functools import cached_property

import numpy as np

from empirisk.compiled.trees.drawn_rows import enter_drawn
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
from empirisk.compiled.trees.layout import NODE, OPEN
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.finishing import PackedTree, finished, packed
from empirisk.learners.trees.growing_room import GrowingRoom
from empirisk.learners.trees.terms import Limits, Target
from empirisk.learners.trees.tree import LEAF, Tree
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline

WORK_AT_ONCE = 2**27  # rows times features between two looks at the clock: about a second
LEVELS_AT_ONCE = 2  # of a large tree, between which memory is given back
SMALL_WORK = 2**22  # done at once
BLOCK_ENTRIES = 2**17  # of 8 bytes, in two halves: 2 MB, about what stays in the cache
BLOCK_SHARE = 0.5  # of the features must be looked at in each node for a block to pay


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
    """Grow a tree on the rows of a coding; see `Grower`."""
    grower = Grower(coding, target, limits, monotone, gain_scale, random)
    n, p = coding.shape
    grower.budget = min(WORK_AT_ONCE, max(SMALL_WORK, LEVELS_AT_ONCE * n * p))
    grower.thrifty = True
    grower.grow(seed)
    return grower.tree()


class Grower:
    """Grows trees one after the other, in one room, on the rows of a coding.

    A thread has its own: nothing but the coding and the target is shared.

    Parameters
    ----------
    coding : RankCoding
    target : Target
        Values, labels and weights by row of the whole table of the coding.
    limits : Limits
    monotone : int8 array of shape (p,) or None
        Signs of monotone constraints.
    gain_scale : float
        What a gain of the criterion is in units of weight times impurity.
    random : bool
        Whether thresholds are drawn (`compiled.trees.random_splits`); else each is the best.
    lines : uint8 array of shape (rows of the table, small features) or None
        The small codes row by row, with which small nodes of several classes are done sooner.

    Attributes
    ----------
    thrifty : bool
        Whether the memory of nodes that are done is given back while a tree grows.
    budget : int
        Rows times features between two looks at the clock.
    """

    def __init__(
        self,
        coding: RankCoding,
        target: Target,
        limits: Limits,
        monotone: Array | None = None,
        gain_scale: float = 1.0,
        random: bool = False,
        lines: Array | None = None,
    ) -> None:
        self.coding, self.target, self.gain_scale = coding, target, gain_scale
        self.budget, self.thrifty = WORK_AT_ONCE, False
        self._lines = np.empty((0, 0), np.uint8) if lines is None else lines
        self._features = coding.features.copy()
        if monotone is not None:
            self._features["monotone"] = monotone
        n, p = len(coding), len(self._features)
        block = 0 if random else _block_size(n, p, limits)
        self._room = GrowingRoom(n, self._features, target, limits, block)
        self._room.rules["gain_scale"] = gain_scale
        self._best_first = limits.max_leaves > 0
        self._ids = np.empty(max(block, 1), np.uint32)
        self._all_rows = coding.row_numbers()
        self._values = target.values
        self._labels = target.labels if target.family in (1, 3) else None
        self._costs = np.ascontiguousarray(
            np.zeros((1, 1)) if target.costs is None else target.costs
        )
        self._points = coding.points if random else None
        self._make_nodes(n, p, target.n_sums, limits, random)

    def _make_nodes(self, n: int, p: int, n_sums: int, limits: Limits, random: bool) -> None:
        leaves = max(n // limits.min_rows_leaf, 1)
        if limits.max_leaves:
            leaves = min(leaves, limits.max_leaves)
        if limits.max_depth < 32:
            leaves = min(leaves, 2**limits.max_depth)
        places = leaves + 4 if limits.max_leaves else 64
        self._nodes = np.empty(2 * leaves + 1, NODE)  # what is not written to takes no memory
        self._value = np.empty((2 * leaves + 1, n_sums))
        self._thresholds = np.empty(2 * leaves + 1) if random else None
        self._opened = np.zeros(places, OPEN)
        self._opened["place"] = np.arange(places)
        self._constant = np.zeros((places, -(-p // 64)), np.uint64)
        self._heap, self._free = np.zeros((2, places), np.int32)
        self._subsets = np.zeros(16 * (1 + 3 * self._room.words.shape[1]), np.uint32)
        self._state = np.zeros(STATE, np.int64)

    def aim(self, target: Target) -> None:
        """Let the trees to come be for another target, of the same kind, on the same rows."""
        self.target, self._values = target, target.values

    def grow(
        self, seed: int = 0, counts: Ints | None = None, factors: Floats | None = None
    ) -> None:
        """Grow a tree, in the place of the one before.

        Parameters
        ----------
        seed : int
            Of the features and thresholds that are drawn.
        counts : int array of shape (rows of the coding,) or None
            How often each row was drawn: a row counts once for the limits of rows, and its weight
            is multiplied by this. None: each once.
        factors : float64 array of shape (classes,) or None
            Of the weights of the rows of each class, beside those of the target.
        """
        if counts is None:
            rows, weights = self._all_rows.copy(), self.target.weight
        else:
            rows, weights = self._drawn(counts)
        if factors is not None:
            weights = self._factored(weights, factors)
        self._room.rules["weighted"] = weights is not None
        self._begin(len(rows), seed)
        check_deadline()
        while self._step(rows, np.empty(0) if weights is None else weights):
            check_deadline()
            if self.thrifty:
                self._room.forget()
            self._make_room()

    def _drawn(self, counts: Ints) -> tuple[Array, Floats]:
        """The rows that were drawn, and weights by row of the table."""
        rows, weights = self._room_for_draws
        n = enter_drawn(self._all_rows, counts, self.target.weight, rows, weights)
        return rows[:n], weights

    @cached_property
    def _room_for_draws(self) -> tuple[Array, Floats]:
        return np.empty_like(self._all_rows), np.empty(self.coding.small.shape[1])

    def _factored(self, weights: Floats | None, factors: Floats) -> Floats:
        labels = self.target.values[:, 0] if self.target.family == 0 else self.target.labels
        factor: Floats = factors[labels.astype(np.int64)]
        return factor if weights is None else factor * weights

    def _begin(self, n: int, seed: int) -> None:
        root = len(self._free) - 1
        self._nodes[0]["feature"] = self._nodes[0]["right"] = LEAF
        self._nodes[0]["subset"] = self._nodes[0]["rank"] = -1
        self._opened[root] = (root, 0, 0, 0, n, seed, 0, -np.inf, np.inf)
        self._constant[root] = 0
        self._free[:] = np.arange(len(self._free))
        self._heap[0] = root
        self._state[:] = 0
        self._state[N_NODES], self._state[N_FREE] = 1, root
        if self._best_first:
            self._state[N_FRESH], self._state[FRESH] = 1, root
        else:
            self._state[N_OPEN] = 1

    def _step(self, rows: Array, weights: Floats) -> bool:
        """Grow on until the budget is used up; returns whether there is more to do."""
        ending = grow(
            self.coding.small,
            self.coding.medium,
            self.coding.large,
            self._features,
            self._points,
            self._thresholds,
            weights,
            self._values,
            self._labels,
            self._costs,
            self._room.rules,
            rows,
            self._ids,
            self._nodes,
            self._value,
            self._subsets if self._room.words.size else None,
            self._opened,
            self._constant,
            self._heap,
            self._free,
            *self._room.arrays,
            self._lines,
            self._state,
            self.budget,
        )
        return bool(ending == AGAIN)

    def _make_room(self) -> None:
        if self._state[N_WORDS] + 1 + 3 * self._room.words.shape[1] > len(self._subsets):
            self._subsets = _longer(self._subsets)
        if self._state[N_FREE] < 2 or self._state[N_OPEN] + 2 > len(self._heap):
            n = len(self._opened)
            self._opened, self._constant = _longer(self._opened), _longer(self._constant)
            self._heap, self._free = _longer(self._heap), _longer(self._free)
            self._opened["place"] = np.arange(2 * n)
            self._free[self._state[N_FREE] : self._state[N_FREE] + n] = np.arange(n, 2 * n)
            self._state[N_FREE] += n

    def packed(self) -> PackedTree:
        """What has grown, in the least room; another tree may be grown then."""
        n = int(self._state[N_NODES])
        return packed(
            self._nodes[:n],
            self._value[:n],
            self._subsets[: self._state[N_WORDS]],
            self.coding,
            self.gain_scale,
            None if self._thresholds is None else self._thresholds[:n],
        )

    def tree(self) -> Tree:
        """What has grown, with all that is known of its nodes; the grower ends here."""
        del self._room
        n = int(self._state[N_NODES])
        for array in (self._nodes, self._value):
            array.resize((n, *array.shape[1:]), refcheck=False)  # what was not used, given back
        levels = self._subsets[: self._state[N_WORDS]]
        drawn = None if self._thresholds is None else self._thresholds[:n]
        return finished(self._nodes, self._value, levels, self.coding, self.gain_scale, drawn)


def _block_size(n: int, p: int, limits: Limits) -> int:
    """Rows of a block that is sorted once; 0 where most features are not looked at anyway."""
    size = min(n, BLOCK_ENTRIES // p)
    out_of_order = limits.max_leaves > 0 and size < n  # a block must be finished before the next
    if limits.max_features < BLOCK_SHARE * p or out_of_order or size < 2:
        return 0
    return size


def _longer(array: Array) -> Array:
    longer = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
