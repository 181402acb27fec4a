"""Whether what was read from a file is a tree and what belongs to it: no walk may leave it."""

from typing import Any

import numpy as np

from empirisk.compiled.trees.walking import relatives
from empirisk.data.coded_column import CodedColumn, check_column
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


def check_array(name: str, array: Array, kind: Any, shape: tuple[int, ...]) -> None:
    """Raise a DataError unless an array is of this kind and shape."""
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
        raise DataError(f"{name} is not an array of {np.dtype(kind)} of shape {shape}")


def check_tree(arrays: dict[str, Array], value: Array, subsets: Array, n_features: int) -> None:
    """Raise a DataError unless these are the arrays of a tree in preorder."""
    n = len(arrays["children_right"])
    for name, kind in KINDS.items():
        check_array(name, arrays[name], kind, (n,))
    check_array("value", value, np.float64, (n, *value.shape[1:]))
    if value.ndim != 3 or value.size == 0:
        raise DataError(f"value is an array of shape {value.shape}, not of 3 dimensions")
    if not is_preorder(np.ascontiguousarray(arrays["children_right"])):
        raise DataError("children_right are not those of nodes in preorder")
    feature = arrays["feature"][arrays["children_right"] >= 0]
    if (feature < 0).any() or (feature >= n_features).any():
        raise DataError(f"feature has numbers beyond {n_features} features")
    if subsets.dtype != np.uint32 or not are_lists(subsets, arrays["subset"]):
        raise DataError("subset does not say where lists begin in subsets")


def is_preorder(right: Array) -> bool:
    """Whether what is below the left child of each node ends where its right child begins."""
    n, inner = len(right), np.flatnonzero(right != -1)
    if n == 0 or (right[inner] <= inner + 1).any() or (right[inner] >= n).any():
        return False
    parent, depth, end = np.empty((3, n), np.int32)
    relatives(right, parent, depth, end)
    return bool(end[0] == n and (end[inner + 1] == right[inner]).all())


def are_lists(subsets: Array, subset: Array) -> bool:
    """Whether all lists of levels lie within `subsets`, and no two overlap."""
    first = subset[subset != -1].astype(np.int64)
    if subsets.ndim != 1 or (first < 0).any() or (first >= len(subsets)).any():
        return False
    first.sort()
    n = subsets[first].astype(np.int64)
    return bool((n > 0).all() and (first + 1 + 2 * n <= np.append(first[1:], len(subsets))).all())


def check_fitted(learner: Any) -> None:
    """Raise a DataError unless the parts of a fitted tree belong together."""
    tree, columns = learner.tree_, learner.columns_
    if not isinstance(columns, list) or not all(isinstance(c, CodedColumn) for c in columns):
        raise DataError("columns_ are not a list of columns")
    if not len(columns) == learner.n_features_in_ == tree.n_features:
        raise DataError(f"columns_ are {len(columns)}, and the tree has {tree.n_features} features")
    for column in columns:
        check_column(column)
    _check_splits(tree, columns)
    if hasattr(learner, "classes_"):
        _check_classes(learner)
    elif tree.value.shape[1:] != (learner.n_outputs_, 1):
        raise DataError(
            f"value has {tree.value.shape[1:]} numbers for {learner.n_outputs_} outputs"
        )


def check_models(learner: Any) -> None:
    """Raise a DataError unless each leaf of a linear tree has a model of columns of numbers."""
    tree, models = learner.tree_, learner.models_
    if not np.array_equal(models.nodes, np.flatnonzero(tree.is_leaf)):
        raise DataError("models_ are not those of the leaves")
    numbers = [j for j, column in enumerate(learner.columns_) if column.kind == "number"]
    if not np.isin(models.columns.columns, numbers).all():
        raise DataError("models_ are of columns that are not there, or no numbers")
    n_outputs = len(getattr(learner, "classes_", [0]))
    if models.coef.shape[1] != n_outputs:
        raise DataError(f"models_ have {models.coef.shape[1]} outputs, not {n_outputs}")


def _check_splits(tree: Any, columns: list[CodedColumn]) -> None:
    """Splits by lists of levels are of categories, and no list has a level beyond theirs."""
    n_levels = np.array([len(c.values) if c.kind == "category" else 0 for c in columns])
    category = np.array([c.kind == "category" for c in columns])
    inner, listed = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.subset != -1)
    if not np.array_equal(inner[category[tree.feature[inner]]], listed):
        raise DataError("subset is not given for the splits by categories, and for these alone")
    first = tree.subset[listed].astype(np.int64)
    n = tree.subsets[first].astype(np.int64)
    places = np.arange(n.sum()) + np.repeat(first + 1 - np.cumsum(n) + n, n)
    words, bits = tree.subsets[places], tree.subsets[places + np.repeat(n, n)]
    beyond = 32 * words.astype(np.int64) + np.frexp(bits.astype(float))[1]
    if (beyond > np.repeat(n_levels[tree.feature[listed]], n)).any():
        raise DataError("subsets have levels that the columns do not have")


def _check_classes(learner: Any) -> None:
    n_nodes, k = learner.tree_.node_count, learner.n_classes_
    if not isinstance(learner.classes_, np.ndarray) or learner.classes_.shape != (k,):
        raise DataError(f"classes_ are not an array of {k} labels")
    if learner.tree_.value.shape[1:] != (1, k):
        raise DataError(f"value does not have the shares of {k} classes")
    check_array("_labels", learner._labels, np.int64, (n_nodes,))
    if (learner._labels < 0).any() or (learner._labels >= k).any():
        raise DataError(f"_labels has numbers beyond {k} classes")
