"""Whether what was read from a file is a forest: no walk may leave its trees."""

from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn, check_column
from empirisk.learners.trees.soundness import are_lists, check_array, is_preorder
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError

NOT_A_NUMBER = 0x7FF80000  # the high half of the threshold of a leaf


def check_trees(trees: Any) -> None:
    """Raise a DataError unless these are the arrays of trees, one after the other."""
    n, leaves = len(trees.nodes), len(trees.weight)
    B, p = trees.gains.shape if trees.gains.ndim == 2 else (0, 0)
    check_array("nodes", trees.nodes, np.int64, (n, 2))
    check_array("value", trees.value, np.float64, (leaves, *trees.value.shape[1:]))
    check_array("weight", trees.weight, np.float64, (leaves,))
    check_array("rows", trees.rows, np.int32, (leaves,))
    check_array("gains", trees.gains, np.float64, (B, p))
    check_array("subsets", trees.subsets, np.uint32, (len(trees.subsets),))
    if len(trees.impurity):
        check_array("impurity", trees.impurity, np.float64, (leaves,))
    if len(trees.medians):
        check_array("medians", trees.medians, np.float64, (n - leaves, 2))
    if B == 0 or trees.value.ndim != 2 or trees.value.shape[1] == 0:
        raise DataError("there is no tree, or its leaves have no values")
    ends = {"first_node": n, "first_leaf": leaves, "first_subset": len(trees.subsets)}
    for name, end in ends.items():
        starts = getattr(trees, name)
        check_array(name, starts, np.int64, (B + 1,))
        if starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
            raise DataError(f"{name} does not say where trees begin")
    for b in range(B):
        _check_tree(trees, b, p)


def _check_tree(trees: Any, b: int, p: int) -> None:
    nodes = trees.nodes[trees.first_node[b] : trees.first_node[b + 1]]
    halves = nodes.view(np.int32)
    right, kind = halves[:, 3], halves[:, 2]
    leaf = right == np.arange(len(nodes))
    numbers = np.arange(trees.first_leaf[b + 1] - trees.first_leaf[b])
    marked = (halves[leaf, 1] == NOT_A_NUMBER).all() and (kind[leaf] == 0).all()
    if not marked or not np.array_equal(halves[leaf, 0], numbers):
        raise DataError(f"the leaves of tree {b} are not numbered in order")
    if not is_preorder(np.where(leaf, -1, right).astype(np.int32)):
        raise DataError(f"the nodes of tree {b} are not in preorder")
    feature = kind[~leaf] >> 2
    if (feature < 0).any() or (feature >= p).any():
        raise DataError(f"tree {b} has features beyond {p}")
    listed = ~leaf & (kind & 2 == 2)
    first = _places(nodes[listed, 0].view(np.float64) if listed.any() else np.empty(0))
    subsets = trees.subsets[trees.first_subset[b] : trees.first_subset[b + 1]]
    if not are_lists(subsets, first):
        raise DataError(f"tree {b} has splits by levels that are not listed")


def _places(numbers: Array) -> Array:
    """Places in an array; -2 for what is none."""
    within = (numbers >= 0) & (numbers < 2**31) & (numbers == np.floor(numbers))
    return np.where(within, numbers, -2).astype(np.int64)


def check_forest(forest: Any) -> None:
    """Raise a DataError unless the parts of a fitted forest belong together."""
    trees = forest.trees_
    check_columns(trees, forest.columns_, forest.n_features_in_)
    criterion = getattr(forest, "_criterion", forest.criterion)
    by_medians = isinstance(criterion, str) and criterion == "absolute_error"
    if len(trees.nodes) > len(trees.weight) and by_medians != (len(trees.medians) > 0):
        raise DataError(f"medians of inner nodes are not what the criterion {criterion!r} keeps")
    members = getattr(forest, "_members", None)
    if members is not None and len(members.first) != len(trees.weight) + 1:
        raise DataError("_members are not those of the leaves")
    width = trees.value.shape[1]
    if hasattr(forest, "classes_"):
        K = forest.n_classes_
        if not isinstance(forest.classes_, np.ndarray) or forest.classes_.shape != (K,):
            raise DataError(f"classes_ are not an array of {K} labels")
        wanted = 1 if K == 2 else K
    else:
        wanted = forest.n_outputs_
    if width != wanted:
        raise DataError(f"leaves have {width} values, and {wanted} are needed")


def check_columns(trees: Any, columns: Any, n_features: Any) -> None:
    """Raise a DataError unless the columns of a file are those that the trees split by.

    Splits by lists of levels are of categories, and of these alone.
    """
    if not isinstance(columns, list) or not all(isinstance(c, CodedColumn) for c in columns):
        raise DataError("columns_ are not a list of columns")
    for column in columns:
        check_column(column)
    p = trees.gains.shape[1]
    if not len(columns) == n_features == p:
        raise DataError(f"columns_ are {len(columns)}, and the trees have {p} features")
    links = trees.nodes.view(np.int32)
    inner = links[:, 1] != NOT_A_NUMBER
    kind = links[inner, 2]
    category = np.array([column.kind == "category" for column in columns])
    if not np.array_equal(category[kind >> 2], kind & 2 == 2):
        raise DataError("splits by levels are not those by categories")
