"""What a tree of a gradient boosting may become, and where it grows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.compiled.boosting.choosing import N_UNITS
from empirisk.compiled.boosting.gradients import BLOCK
from empirisk.compiled.boosting.histograms import CHUNK, SUMS, pack_codes
from empirisk.compiled.boosting.layout import CODES, NODE, SPLIT
from empirisk.compiled.boosting.leaves import ITEM, PART, PARTS
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.runtime.arrays import Array, Floats

OWN = 8 + SUMS + 3 * CHUNK


@dataclass(frozen=True, eq=False)
class Limits:
    """What a tree may become.

    Attributes
    ----------
    max_leaf_nodes : int or None
    max_depth : int or None
        Of leaves; the root has depth 0.
    min_samples_leaf : int
    l2 : float
        Added to the sum of curvatures of a leaf.
    min_gain : float
        A split must gain more: see `compiled.boosting.splitting`.
    max_features : float
        The share of the features that are drawn at each split.
    learning_rate : float
    monotone : int array of shape (p,) or None
        Signs of monotone constraints.
    interactions : sequence of sets of features, or None
        A path may use features of one set. Features in no set are used by no tree.
    """

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2: float = 0.0
    min_gain: float = 0.0
    max_features: float = 1.0
    learning_rate: float = 0.1
    monotone: Array | None = None
    interactions: Sequence[set[int]] | None = None


@dataclass(frozen=True, eq=False)
class Room:
    """Where a tree grows: see `compiled.boosting.growing`."""

    max_leaves: int
    tasks: Array
    spans: Array
    codes: Array
    words: Array
    first_code: Array
    features: Array
    feature_of: Array
    first_feature: Array
    every_row: Array
    rows: Array
    spare: Array
    units: Floats
    nodes: Array
    splits: Array
    split_bits: Array
    node_bits: Array
    ways: Array
    chosen: Array
    members: Array
    active: Array
    drawing: Array
    heap: Array
    free: Array
    sums: Array
    gains: Floats
    order: Array
    own: Array
    leaf_node: Array
    items: Array
    derived: Floats
    places: Floats
    part_sums: Floats
    leaves: Floats

    @classmethod
    def of(cls, bins: BinnedTable, limits: Limits, team: int, copies: Array) -> "Room":
        """For the trees of a table."""
        n, p = bins.shape
        most = _most_leaves(n, limits, copies)
        n_nodes = 2 * most - 1
        features = bins.features.copy()
        if limits.monotone is not None:
            features["monotone"] = limits.monotone
        codes = bins.own_codes().copy() if bins.levels else bins.own_codes()
        words = np.zeros((-(-len(codes) // 8), n), np.int64)
        pack_codes(codes, words)
        members = _members(limits.interactions, p)
        column = features["column"]
        sizes = np.zeros(len(codes), np.int64)
        last = features["first"] + features["n_bins"] - (features["default"] >= 0)
        np.maximum.at(sizes, column, last + features["missing"])
        return cls(
            max_leaves=most,
            tasks=_tasks(len(codes)),
            spans=_spans(len(codes)),
            codes=codes,
            words=words,
            first_code=np.concatenate([[0], np.cumsum(sizes)]),
            features=features,
            feature_of=np.argsort(column, kind="stable").astype(np.int32),
            first_feature=np.searchsorted(np.sort(column), np.arange(len(codes) + 1)),
            every_row=np.arange(n, dtype=np.uint32),
            rows=np.empty(n, np.uint32),
            spare=np.empty((2, n), np.uint32),
            units=np.zeros(N_UNITS + 2 * team),
            nodes=np.zeros(n_nodes, NODE),
            splits=np.zeros((2, p), SPLIT),
            split_bits=np.zeros((2, p, CODES // 64), np.uint64),
            node_bits=np.zeros((n_nodes, CODES // 64), np.uint64),
            ways=np.zeros((n_nodes, CODES), np.uint8),
            chosen=np.zeros((2, p), np.uint8),
            members=members,
            active=np.zeros((n_nodes if len(members) else 1, max(len(members), 1)), np.uint8),
            drawing=np.zeros(p, np.int64),
            heap=np.zeros(most + 1, np.int32),
            free=np.zeros(most + 1, np.int32),
            sums=np.zeros((team, 2, CODES), np.int64),
            gains=np.zeros((team, CODES)),
            order=np.zeros((team, 2, CODES), np.int64),
            own=np.zeros((team, OWN), np.int64),
            leaf_node=np.zeros(most, np.int64),
            items=np.zeros((most + n // ITEM + 1, 3), np.int64),
            derived=np.zeros((team, 2, BLOCK)),
            places=np.zeros((team, 4, most + 1, 3)),
            part_sums=np.zeros((min(PARTS, n // PART + 1), most, 3)),
            leaves=np.zeros((most, 4)),
        )


def _most_leaves(n: int, limits: Limits, copies: Array) -> int:
    counted = int(copies.sum()) if len(copies) else n
    most = min(n, counted // max(limits.min_samples_leaf, 1))
    if limits.max_leaf_nodes is not None:
        most = min(most, limits.max_leaf_nodes)
    if limits.max_depth is not None and limits.max_depth < 30:
        most = min(most, 2**limits.max_depth)
    return max(most, 1)


def _members(interactions: Sequence[set[int]] | None, p: int) -> Array:
    """members[k, j] = 1 where feature j is in set k."""
    groups: list[Any] = [] if interactions is None else list(interactions)
    members = np.zeros((len(groups), p), np.uint8)
    for k, group in enumerate(groups):
        members[k, list(group)] = 1
    return members


def _tasks(n_columns: int) -> Array:
    """Columns that are worked on at a time: four; fewer at last, so that threads end together."""
    tasks, first = [], 0
    while first < n_columns:
        left = n_columns - first
        tasks.append((first, 4 if left >= 8 else 2 if left >= 3 else 1))
        first += tasks[-1][1]
    return np.array(tasks, np.int64)


def _spans(n_columns: int) -> Array:
    """All columns, eight at a time; at last four, two or one."""
    spans, first = [], 0
    while first < n_columns:
        spans.append((first, min(8, 1 << ((n_columns - first).bit_length() - 1))))
        first += spans[-1][1]
    return np.array(spans, np.int64)
