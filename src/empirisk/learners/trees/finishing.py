"""From the records of a grower to a tree: preorder, thresholds, the way of what was not seen."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from empirisk.compiled.trees.finishing import find_places, finish, rearrange
from empirisk.compiled.trees.layout import FINISHED
from empirisk.compiled.trees.packing import pack
from empirisk.data.large_integers import cuts_of_integers
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.tree import PACKED, Tree
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class PackedTree:
    """A tree in the least room: nodes in preorder, and the leaves in their order there.

    Attributes
    ----------
    nodes : record array of shape (nodes,)
        `PACKED`, as `compiled.trees.walking` reads it. The number of a leaf is the lower four bytes
        of its threshold: `nodes.view(np.int32).reshape(-1, 4)[:, 0]`.
    subsets : uint32 array
        As in `Tree`.
    value : float64 array of shape (leaves, sums)
        Means, or shares of the classes; of two classes that of the second.
    weight, impurity : float64 arrays of shape (leaves,)
    rows : int32 array of shape (leaves,)
        Rows, and their weight, with which the tree was grown.
    gains : float64 array of shape (p,)
        The part of the root's impurity that splits by each feature take away.
    """

    nodes: Array
    subsets: Array
    value: Floats
    weight: Floats
    impurity: Floats
    rows: Array
    gains: Floats


def packed(
    nodes: Array,
    value: Floats,
    levels: Array,
    coding: RankCoding,
    gain_scale: float,
    drawn: Floats | None = None,
) -> PackedTree:
    """As `finished`, packed; the nodes stay as they are."""
    total = nodes[0]["weight"] * nodes[0]["impurity"]
    n, n_leaves = len(nodes), (len(nodes) + 1) // 2
    tree = PackedTree(
        np.empty(n, PACKED),
        np.empty(len(levels), np.uint32),
        np.empty((n_leaves, value.shape[1])),
        np.empty(n_leaves),
        np.empty(n_leaves),
        np.empty(n_leaves, np.int32),
        np.zeros(len(coding.columns)),
    )
    n_words = pack(
        nodes,
        value,
        coding.features,
        coding.points,
        np.empty(0) if drawn is None else drawn,
        total if total > 0 else 1.0,
        gain_scale if total > 0 else 0.0,
        np.empty((2, n_leaves), np.int32),
        tree.nodes.view(np.float64).reshape(-1, 2),
        tree.nodes.view(np.int32).reshape(-1, 4),
        tree.value,
        tree.weight,
        tree.impurity,
        tree.rows,
        tree.gains,
        *((levels, tree.subsets) if len(levels) else (None, None)),
    )
    if coding.has_integers:
        place = places_in_preorder(nodes)
        for at, cuts in _cuts_of_integers(nodes, coding):
            tree.nodes["threshold"][place[at]] = cuts
    return replace(tree, subsets=tree.subsets[:n_words].copy()) if len(levels) else tree


def places_in_preorder(nodes: Array) -> Array:
    """Where each node of a grower comes in its tree."""
    below, place = np.empty((2, len(nodes)), np.int32)
    find_places(np.ascontiguousarray(nodes["right"]), below, place)
    return place


def finished(
    nodes: Array,
    value: Floats,
    packed: Array,
    coding: RankCoding,
    gain_scale: float,
    drawn: Floats | None = None,
) -> Tree:
    """The tree of these nodes, which it takes over; a node that was never split is a leaf.

    packed
        The levels of splits by a category (`compiled.trees.categories.pack_subset`).
    gain_scale
        What a gain is in units of weight times impurity.
    drawn
        The thresholds of the nodes, where they were drawn.
    """
    total = nodes[0]["weight"] * nodes[0]["impurity"]
    scale = gain_scale if total > 0 else 0.0
    place = places_in_preorder(nodes)
    inner = nodes["right"] >= 0
    nodes["gain"][inner] /= total if total > 0 else 1.0  # the scale by total may overflow
    nodes["right"][inner] = place[nodes["right"][inner]]
    drawn = np.empty(0) if drawn is None else drawn
    for array in (value, drawn, nodes):
        if len(array):
            rearrange(array.view(np.int64).reshape(len(nodes), -1), place.copy())
    cuts = list(_cuts_of_integers(nodes, coding))
    tree, subsets = nodes.view(FINISHED), np.empty(len(packed), np.uint32)
    levels = (packed, subsets) if len(packed) else (None, None)
    numbers = nodes.view(np.float64).reshape(len(nodes), -1)
    n_words = finish(nodes, numbers, coding.features, coding.points, drawn, scale, *levels)
    cut = tree["threshold"].copy() if cuts else tree["threshold"]
    for at, places in cuts:
        cut[at] = places
    return Tree(
        children_right=tree["right"],
        feature=tree["feature"],
        threshold=tree["threshold"],
        cut=cut,
        missing_go_to_left=tree["missing_left"],
        subset=tree["subset"],
        subsets=subsets[:n_words].copy(),
        n_node_samples=tree["rows"],
        weighted_n_node_samples=tree["weight"],
        impurity=tree["impurity"],
        gain=tree["gain"],
        split_order=tree["rank"],
        value=value,
        n_features=len(coding.columns),
    )


def _cuts_of_integers(nodes: Array, coding: RankCoding) -> Iterator[tuple[Array, Floats]]:
    """The splits by integers beyond 2^53, and their places between codes."""
    for j, column in enumerate(coding.columns):
        if column.kind == "integer":
            at = np.flatnonzero(nodes["feature"] == j)
            codes, following = nodes["code"][at], nodes["next_code"][at]
            yield at, cuts_of_integers(column.values, codes, following)
