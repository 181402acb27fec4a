"""The trees of a gradient boosting, round by round, and what they add to the scores of rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from empirisk.compiled.boosting.scoring import add_scores, code_rows
from empirisk.compiled.boosting.staging import stage_scores
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel, slices

ROWS_AT_ONCE = 2048
NUMBERS_AT_ONCE = 2**22  # scores of several rounds that are kept: 32 MB
MOST_NODES = 255  # of a tree that is tried split by split; larger ones are walked
FEW_ROWS = 64  # not worth a table of splits
MOST_THRESHOLDS = 2**16 - 2  # of a feature


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Rounds of trees: one for each class of three or more, else one.

    Attributes
    ----------
    trees : ForestTrees
        Round by round, class by class. The value of a leaf is what it adds to a score; its weight
        is that of its rows; gains are sums of the gains of splits.
    per_round : int
        Trees of a round.
    """

    trees: ForestTrees
    per_round: int = 1

    def __len__(self) -> int:
        """How many rounds."""
        return len(self.trees) // self.per_round

    def __getitem__(self, rounds: slice) -> "BoostedTrees":
        """Some neighbouring rounds; nothing is copied."""
        first, stop, _ = rounds.indices(len(self))
        part = self.trees[first * self.per_round : stop * self.per_round]
        return BoostedTrees(part, self.per_round)

    def first(self, rounds: int) -> "BoostedTrees":
        """The first rounds, in arrays of their own."""
        return BoostedTrees(self.trees.first(rounds * self.per_round), self.per_round)

    def add_to(self, scores: Floats, places: Floats, *, n_jobs: int | None = None) -> None:
        """Add what the rounds say of rows to their scores, (n, per_round), in place."""
        if not len(self):
            return
        trees, stop = self.trees, len(self) * self.per_round
        table = self._splits if len(places) >= FEW_ROWS else NO_SPLITS
        walks = self._walks(table)

        def add(part: slice) -> None:
            block = places[part]
            codes = np.empty((len(table.used), len(block)), np.uint16)
            column, place = np.empty(len(block)), np.empty(len(block), np.int64)
            code_rows(block, table.used, table.first, table.thresholds, column, place, codes)
            add_scores(
                *walks, trees.first_node, trees.first_subset, trees.first_leaf,
                trees.value, 0, stop, table.splits, table.node_value, block, codes,
                np.empty(len(block) if table is not NO_SPLITS else 0, np.uint16),
                np.empty(len(block), np.int32), scores[part],
            )  # fmt: skip

        parallel(add, slices(len(places), ROWS_AT_ONCE), n_jobs=n_jobs)

    def stage(self, scores: Floats, places: Floats, rounds: Ints, staged: Floats) -> None:
        """staged[:, v] = the scores after rounds[v] rounds, which ascend: (n, V, per_round).

        scores, (n, per_round), are those before the first round, and are added to.
        """
        trees, n = self.trees, len(places)
        table = self._splits if n >= FEW_ROWS else NO_SPLITS
        codes = np.empty((len(table.used), n), np.uint16)
        code_rows(
            places, table.used, table.first, table.thresholds, np.empty(n), np.empty(n, np.int64),
            codes,
        )  # fmt: skip
        stage_scores(
            *self._walks(table), trees.first_node, trees.first_subset, trees.first_leaf,
            trees.value, rounds * self.per_round, table.splits, table.node_value, places, codes,
            np.empty(0 if table is NO_SPLITS else n, np.uint16), np.empty(n, np.int32), scores,
            staged,
        )  # fmt: skip

    def stages(
        self, scores: Floats, places: Floats, *, n_jobs: int | None = None
    ) -> Iterator[Floats]:
        """The scores after each round, from those before the first: (n, per_round).

        Some rounds are found at a time, so that rows are not coded for each.
        """
        scores, at_once = scores.copy(), max(1, NUMBERS_AT_ONCE // scores.size)
        for first in range(0, len(self), at_once):
            some = self[first : first + at_once]
            staged = np.empty((len(places), len(some), self.per_round))
            parts = slices(len(places), ROWS_AT_ONCE)
            parallel(partial(some._stage_part, scores, places, staged), parts, n_jobs=n_jobs)
            yield from (staged[:, t].copy() for t in range(len(some)))

    def _stage_part(self, scores: Floats, places: Floats, staged: Floats, part: slice) -> None:
        self.stage(scores[part], places[part], np.arange(1, len(self) + 1), staged[part])

    def _walks(self, table: "SplitTable") -> tuple[Array | None, Array | None, Array | None]:
        """The nodes and lists of levels of trees that are walked, where there are some."""
        if table.complete:
            return None, None, None
        thresholds, links, subsets = self.trees._walks()
        return thresholds, links, subsets if len(subsets) else None

    @cached_property
    def _splits(self) -> "SplitTable":
        return SplitTable.of(self.trees)

    def __getstate__(self) -> dict[str, object]:
        return {"trees": self.trees, "per_round": self.per_round}

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, are trees."""
        sound = isinstance(self.trees, ForestTrees) and isinstance(self.per_round, int)
        if not sound or self.per_round < 1 or len(self.trees) % self.per_round:
            raise DataError("the trees of a boosting do not come in whole rounds")


class LateTrees(BoostedTrees):
    """Rounds of trees that are joined when they are first asked for.

    A scorer that is told the scores of its rows never asks; to join all trees after each round
    would take longer and longer.

    Parameters
    ----------
    join : callable
        Gives the trees of all rounds.
    n_rounds, per_round : int
    """

    def __init__(self, join: Callable[[], ForestTrees], n_rounds: int, per_round: int) -> None:
        vars(self).update(_join=join, _n_rounds=n_rounds, per_round=per_round)

    def __len__(self) -> int:
        return int(vars(self)["_n_rounds"])

    @cached_property
    def trees(self) -> ForestTrees:
        joined: ForestTrees = vars(self)["_join"]()
        return joined


@dataclass(frozen=True, eq=False)
class SplitTable:
    """The splits of small trees by the places of thresholds, as `compiled.boosting.scoring` reads.

    Attributes
    ----------
    used : int64 array
        The features that are coded.
    first, thresholds : int64 and float64 arrays
        The thresholds of each, in order, filled up with infinity to 2^s - 1.
    splits : int64 array of shape (nodes, 4)
        The second column is -1 in trees that are walked.
    node_value : float64 array of shape (nodes,)
        Of leaves.
    """

    used: Ints
    first: Ints
    thresholds: Floats
    splits: Array
    node_value: Floats

    @property
    def complete(self) -> bool:
        """Whether no tree is walked."""
        return bool((self.splits[:, 1] >= 0).all())

    @classmethod
    def of(cls, trees: ForestTrees) -> "SplitTable":
        """Of all trees that are small enough and have no split by a list of levels."""
        sizes, listed = np.diff(trees.first_node), np.diff(trees.first_subset)
        small = np.repeat((sizes <= MOST_NODES) & (listed == 0), sizes)
        leaf = trees.is_leaf()
        links, tree = trees.nodes.view(np.int32), np.repeat(np.arange(len(trees)), sizes)
        splits = np.full((len(leaf), 4), -1, np.int64)
        splits[small, 1] = links[small, 3]
        node_value = np.zeros(len(leaf))
        node_value[leaf] = trees.value[trees.first_leaf[tree[leaf]] + links[leaf, 0], 0]
        inner = np.flatnonzero(small & ~leaf)
        kind, cut = links[inner, 2], trees.nodes.view(np.float64)[inner, 0]
        used: list[int] = []
        first, thresholds = [0], []
        for j in np.unique(kind >> 2):
            here = kind >> 2 == j
            points = np.unique(cut[here])
            if len(points) > MOST_THRESHOLDS:
                return NO_SPLITS
            left = kind[here] & 1
            splits[inner[here], 0] = len(used)
            splits[inner[here], 2] = 1 - left
            splits[inner[here], 3] = np.searchsorted(points, cut[here]) + left
            used.append(int(j))
            full = 2 ** len(points).bit_length() - 1
            thresholds.append(np.append(points, np.full(full - len(points), np.inf)))
            first.append(first[-1] + full)
        points = np.concatenate(thresholds) if thresholds else np.empty(0)
        return cls(np.array(used, np.int64), np.array(first), points, splits, node_value)


NO_SPLITS = SplitTable(
    np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0), np.full((1, 4), -1), np.empty(0)
)
