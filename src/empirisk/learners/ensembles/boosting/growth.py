"""Growing the trees of a gradient boosting: one table of bins, one set of limits, one team."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from empirisk.compiled.boosting import gradients
from empirisk.compiled.boosting.choosing import N_LEAVES, N_NODES, N_UNITS
from empirisk.compiled.boosting.gradients import derive_classes
from empirisk.compiled.boosting.growing import boost
from empirisk.compiled.boosting.histograms import pack_codes
from empirisk.compiled.boosting.layout import RULES
from empirisk.compiled.boosting.packing import pack_nodes
from empirisk.compiled.boosting.walking import walk_codes
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.entry_widths import counted_copies, set_widths
from empirisk.learners.ensembles.boosting.grown_tree import GrownTree
from empirisk.learners.ensembles.boosting.level_groups import bins_of_levels
from empirisk.learners.ensembles.boosting.room import Limits, Room
from empirisk.learners.team import Team
from empirisk.learners.trees.limits import counts_rows
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError

Loss = Literal["squared", "log"]
KINDS = {"squared": gradients.SQUARED, "log": gradients.LOG}
ROWS_TO_SHARE = 4096  # with fewer, a team would wait more than work
MIN_CURVATURE = 1e-3  # of a child, as in scikit-learn and LightGBM
NO_ROWS = np.empty(0, np.uint32)


@dataclass(eq=False)
class Booster:
    """Grows trees on the rows of a table, one after the other, in one room.

    Parameters
    ----------
    bins : BinnedTable
    limits : Limits
    weight : float array of shape (n,), optional
        Of the rows, none 0. A row of weight w is w copies: where all are whole numbers they count
        as so many rows for `min_samples_leaf`, else as one each.
    n_jobs : int or None
        Threads of the team.
    copies : int array of shape (n,), optional
        How many rows each row counts as, where that is not to follow from the weights; empty for
        one each.

    Attributes
    ----------
    leaf_of : int32 array of shape (n,)
        The leaf of every row in the last tree, also of rows with which it was not grown.
    leaf_values : float64 array of shape (leaves,)
        Of the last tree, times the learning rate; may be changed before `keep`.
    """

    bins: BinnedTable
    limits: Limits
    weight: Floats | None = None
    n_jobs: int | None = None
    copies: Array | None = None
    _kept: list[GrownTree] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        n, p = self.bins.shape
        if n == 0 or p == 0:
            raise DataError(f"the table has {n} rows and {p} features; trees need some of both")
        self.team = Team(self.n_jobs if n >= ROWS_TO_SHARE else 1)
        self.weight = np.empty(0) if self.weight is None else self.weight
        if self.copies is None:
            whole = len(self.weight) > 0 and counts_rows(self.weight)
            self.copies = self.weight.astype(np.int64) if whole else np.empty(0, np.int64)
        self.copies = counted_copies(self.copies, self.limits.min_samples_leaf)
        self.leaf_of = np.zeros(n, np.int32)
        self.leaf_values = np.zeros(1)
        self.n_leaves = self.n_nodes = 1
        self._room = Room.of(self.bins, self.limits, self.team.size, self.copies)
        self._level_bins = self.bins.level_bins.copy()
        self._rules = self._new_rules()
        self._constant: bool | None = None
        monotone = self.limits.monotone is not None and np.any(self.limits.monotone)
        self._bounded = True if monotone else None
        self._order = self._room.order if self.bins.features["category"].any() else None
        self._words: dict[int, tuple[Array, Array, Array]] = {}
        most = int(self.bins.features["n_levels"].max())
        self._words_needed = 1 + 2 * (most // 32 + 1) if most else 0  # for the levels of a split
        self._gradient, self._curvature = np.empty(n), np.empty(n)
        self._classes: Floats | None = None

    def group_levels(
        self, gradient: Floats, curvature: Floats | None, rows: Array | None = None
    ) -> None:
        """Put levels in bins for the next tree, where a category has more levels than bins.

        Gradients, curvatures and rows are as in `grow`.
        """
        assert self.copies is not None
        part: Any = slice(None) if rows is None else rows
        for j in self.bins.levels:
            feature = self.bins.features[j]
            first, n_levels = int(feature["levels"]), int(feature["n_levels"])
            self._level_bins[first : first + n_levels] = bins_of_levels(
                self.bins.own_levels(j)[part],
                n_levels,
                gradient[part],
                None if curvature is None else curvature[part],
                self.copies[part] if len(self.copies) else None,
                int(feature["n_bins"]),
            )
        if self.bins.levels:
            self._write_groups(self.bins, self._room.codes)
            pack_codes(self._room.codes, self._room.words)

    def _write_groups(self, bins: BinnedTable, codes: Array) -> None:
        """The bins of the levels of rows of the table become their codes."""
        for j in bins.levels:
            feature = bins.features[j]
            first, n_levels = int(feature["levels"]), int(feature["n_levels"])
            groups = np.append(self._level_bins[first : first + n_levels], feature["n_bins"])
            codes[feature["column"]] = groups.astype(np.uint8)[bins.own_levels(j)]

    def grow(
        self,
        gradient: Floats,
        curvature: Floats | None = None,
        *,
        rows: Array | None = None,
        seed: int = 0,
    ) -> None:
        """Grow a tree for given gradients and curvatures, both times the weights of the rows.

        Parameters
        ----------
        gradient, curvature : float arrays of shape (n,)
            No curvature means 1 for each row.
        rows : int array, optional
            The rows with which the tree is grown, in ascending order.
        seed : int
            From which features are drawn.
        """
        empty = np.empty(0)
        self._boost(
            gradients.GIVEN, empty, empty, empty, gradient,
            empty if curvature is None else curvature, rows, seed,
        )  # fmt: skip

    def round(
        self, loss: Loss, score: Floats, y: Floats, *, rows: Array | None = None, seed: int = 0
    ) -> None:
        """Grow a tree for a loss, and add its values to the scores.

        Parameters
        ----------
        loss : {"squared", "log"}
        score : float array of shape (n,)
            Changed in place.
        y : float array of shape (n,)
        rows, seed
            As in `grow`.
        """
        assert self.weight is not None
        constant = loss == "squared" and len(self.weight) == 0
        curvature = np.empty(0) if constant else self._curvature
        self._boost(KINDS[loss], score, score, y, self._gradient, curvature, rows, seed)

    def derive_classes(self, scores: Floats, y: Floats) -> None:
        """Note the gradients of all classes at the scores (classes, n), for one round."""
        (K, n), size = scores.shape, self.team.size
        if self._classes is None:
            self._classes, self._most = np.empty((K, n)), np.empty((size, K, 2))
        gradients, most = self._classes, self._most

        def find(rank: int) -> None:
            part = n * rank // size, n * (rank + 1) // size
            derive_classes(scores, y, self.weight, gradients, most[rank], *part)

        self.team.run(find)

    def round_of_class(
        self, k: int, score: Floats, *, rows: Array | None = None, seed: int = 0
    ) -> None:
        """Grow a tree for class k by the gradients noted last, and add its values to the scores."""
        assert self._classes is not None
        empty = np.empty(0)
        self._room.units[N_UNITS:] = self._most[:, k].ravel()
        self._boost(gradients.SOFTMAX, self._classes[k], score, empty, empty, empty, rows, seed)

    def _boost(
        self,
        kind: int,
        points: Floats,
        score: Floats,
        y: Floats,
        gradient: Floats,
        curvature: Floats,
        rows: Array | None,
        seed: int,
    ) -> None:
        check_deadline()
        room, rules = self._room, self._rules
        self._set_words(len(curvature) == 0 and kind != gradients.SOFTMAX)
        grown, others = self._divided(rows)
        entries, parts, histograms = self._words_of(int(rules[0]["width"]))
        assert self.weight is not None
        shared = (
            self.team.sync, rules, room.units, kind, points, score, y, self.weight, self.copies,
            gradient, curvature, room.tasks, room.spans, room.codes, room.words, room.first_code,
            room.features, room.feature_of, room.first_feature, self.bins.low, self.bins.high,
            grown, others, room.spare, entries, parts, histograms, room.nodes,
            room.splits, room.split_bits, room.node_bits, room.ways, room.chosen, room.members,
            room.active, room.drawing, room.heap, room.free, seed, room.sums, room.gains,
            room.gains.view(np.int64), self._order, self._bounded, room.own, room.derived,
            room.leaf_node, room.items, room.places, room.part_sums, room.leaves, self.leaf_of,
        )  # fmt: skip
        size = self.team.size
        self.team.run(lambda rank: boost(rank, size, *shared))
        self.n_leaves, self.n_nodes = int(self.team.sync[N_LEAVES]), int(self.team.sync[N_NODES])
        self.leaf_values = room.leaves[: self.n_leaves, 0].copy()

    def _divided(self, rows: Array | None) -> tuple[Array, Array]:
        """The rows with which a tree is grown, to be put in order by it, and all others."""
        if rows is None:
            self._room.rows[:] = self._room.every_row
            return self._room.rows, NO_ROWS
        grown = np.array(rows, np.uint32)
        if len(grown) == len(self.bins):
            return grown, NO_ROWS
        left_out = np.ones(len(self.bins), bool)
        left_out[rows] = False
        return grown, np.flatnonzero(left_out).astype(np.uint32)

    def keep(self) -> None:
        """Add the last tree, with its `leaf_values`, to the trees."""
        self._kept.append(self.newest())

    def kept(self) -> list[GrownTree]:
        """The trees that were kept so far, one by one."""
        return self._kept[:]

    def newest(self) -> GrownTree:
        """The last tree, with its `leaf_values`."""
        room, n_leaves, n_nodes = self._room, self.n_leaves, self.n_nodes
        nodes = np.empty((n_nodes, 2), np.int64)
        subsets = np.empty(self._words_needed * (n_nodes // 2), np.uint32)
        gains = np.zeros(len(self.bins.columns))
        n_words = pack_nodes(
            room.nodes, room.units, room.features, self._level_bins, room.node_bits,
            np.empty((2, n_leaves), np.int32), nodes.view(np.float64), nodes.view(np.int32),
            subsets, gains,
        )  # fmt: skip
        leaves = room.nodes[room.leaf_node[:n_leaves]]
        return GrownTree(
            nodes=nodes,
            value=self.leaf_values.copy(),
            weight=room.leaves[:n_leaves, 3].copy(),
            rows=leaves["end"] - leaves["start"],
            subsets=subsets[:n_words].copy(),
            gains=gains,
        )

    def find_leaves(self, bins: BinnedTable) -> Array:
        """The leaves of the last tree that other rows of the same table come to."""
        leaves, room = np.empty(len(bins), np.int32), self._room
        codes, rows = bins.codes, bins.row_numbers()
        if bins.levels:
            codes, rows = bins.own_codes().copy(), np.arange(len(bins), dtype=np.uint32)
            self._write_groups(bins, codes)
        walk_codes(room.nodes, room.features, room.ways, codes, rows, leaves)
        return leaves

    def _new_rules(self) -> Array:
        limits, n, p = self.limits, *self.bins.shape
        rules = np.zeros(1, RULES)
        rule = rules[0]
        rule["max_leaves"] = self._room.max_leaves
        rule["max_depth"] = n if limits.max_depth is None else limits.max_depth
        rule["min_rows"] = max(limits.min_samples_leaf, 1)
        rule["n_drawn"] = max(1, int(np.ceil(limits.max_features * p - 1e-9)))
        rule["n_groups"] = len(self._room.members) if limits.interactions is not None else 0
        rule["l2"], rule["min_gain"] = limits.l2, limits.min_gain
        rule["min_curvature"], rule["rate"] = MIN_CURVATURE, limits.learning_rate
        return rules

    def _set_words(self, constant: bool) -> None:
        """How entries are packed, where curvatures are constant or not."""
        if constant is self._constant:
            return
        self._constant = constant
        assert self.copies is not None
        n_codes = int(self._room.first_code[-1])
        set_widths(self._rules[0], len(self.bins), self.copies, constant, n_codes)

    def _words_of(self, width: int) -> tuple[Array, Array, Array]:
        """Room for entries, and for histograms: parts by other threads of the team, and whole."""
        if width not in self._words:
            n, size = len(self.bins), width * int(self._room.first_code[-1])
            slots = int(self._rules[0]["n_slots"]) + 2
            self._words[width] = (
                np.empty(width * n, np.int64),
                np.empty((2, self.team.size - 1, size), np.int64),
                np.empty((slots, size), np.int64),
            )
        return self._words[width]
