"""From the records of a grower to a tree: preorder, thresholds, the way of what was not seen."""

from collections.abc import Iterator

import numpy as np

from empirisk.compiled.trees.finishing import find_places, finish, rearrange
from empirisk.compiled.trees.layout import FINISHED
from empirisk.data.rank_coding import RankCoding, cuts_of_integers
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Floats


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
