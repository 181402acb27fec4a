"""Whether the arrays of a tree that was read from a file are a tree: a walk must stay within it."""

import numpy as np

from empirisk.compiled.trees.walking import relatives
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError

KINDS = {
    "children_right": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "cut": np.float64,
    "missing_go_to_left": np.bool_,
    "subset": np.int32,
    "n_node_samples": np.int32,
    "weighted_n_node_samples": np.float64,
    "impurity": np.float64,
    "gain": np.float64,
    "split_order": np.int32,
}
"""What the arrays with an entry for each node hold."""


def check_tree(arrays: dict[str, Array], value: Array, subsets: Array, n_features: int) -> None:
    """Raise a DataError unless these are the arrays of a tree in preorder."""
    n = len(arrays["children_right"])
    for name, kind in KINDS.items():
        if arrays[name].dtype != kind or arrays[name].shape != (n,):
            raise DataError(f"{name} is not an array of {np.dtype(kind)} for {n} nodes")
    if value.dtype != np.float64 or value.ndim != 3 or len(value) != n:
        raise DataError(f"value is not an array of float64 for {n} nodes")
    if not _is_preorder(np.ascontiguousarray(arrays["children_right"])):
        raise DataError("children_right are not those of nodes in preorder")
    feature = arrays["feature"][arrays["children_right"] >= 0]
    if (feature < 0).any() or (feature >= n_features).any():
        raise DataError(f"feature has numbers beyond {n_features} features")
    if subsets.dtype != np.uint32 or not _are_lists(subsets, arrays["subset"]):
        raise DataError("subset does not say where lists begin in subsets")


def _is_preorder(right: Array) -> bool:
    """Whether what is below the left child of each node ends where its right child begins."""
    n, inner = len(right), np.flatnonzero(right != -1)
    if n == 0 or (right[inner] <= inner + 1).any() or (right[inner] >= n).any():
        return False
    parent, depth, end = np.empty((3, n), np.int32)
    relatives(right, parent, depth, end)
    return bool(end[0] == n and (end[inner + 1] == right[inner]).all())


def _are_lists(subsets: Array, subset: Array) -> bool:
    first = subset[subset != -1].astype(np.int64)
    if subsets.ndim != 1 or (first < 0).any() or (first >= len(subsets)).any():
        return False
    n = subsets[first].astype(np.int64)
    return bool((n > 0).all() and (first + 1 + 2 * n <= len(subsets)).all())
