"""Shapley values of trees beside LightGBM's and XGBoost's, which are compiled: the same trees.

The peer grows the trees; ours takes them from its model file, so that both explain the same sums
and the answers must be equal.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.trees import smooth_data
from empirisk.learners.trees.tree_sums import TreeSums
from empirisk.runtime.arrays import Array, Floats

TREES = 100


def lightgbm_nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """In preorder: feature, threshold and size of the left side of a split; value and cover."""
    if "leaf_value" in tree:
        yield {"value": tree["leaf_value"], "cover": tree["leaf_count"]}
        return
    left, right = (list(lightgbm_nodes(tree[side])) for side in ("left_child", "right_child"))
    yield {"feature": tree["split_feature"], "cut": tree["threshold"], "left": len(left)}
    yield from left
    yield from right


def xgboost_nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same of XGBoost, which compares x < threshold in single precision."""
    if "leaf" in tree:
        yield {"value": tree["leaf"], "cover": tree["cover"]}
        return
    sides = {child["nodeid"]: child for child in tree["children"]}
    left, right = (list(xgboost_nodes(sides[tree[side]])) for side in ("yes", "no"))
    cut = np.nextafter(np.float32(tree["split_condition"]), np.float32(-np.inf))
    yield {"feature": int(tree["split"][1:]), "cut": float(cut), "left": len(left)}
    yield from left
    yield from right


def sums_of(trees: list[list[dict[str, Any]]]) -> TreeSums:
    """Trees of a peer as a sum of ours."""
    nodes = np.zeros(
        sum(map(len, trees)),
        np.dtype([("threshold", np.float64), ("kind", np.int32), ("right", np.int32)]),
    )
    place, leaves, first_leaf = 0, [], [0]
    for tree in trees:
        for i, node in enumerate(tree):
            if "value" in node:
                leaves.append((node["value"], node["cover"]))
                nodes[place + i] = -np.inf, 0, i
            else:
                nodes[place + i] = node["cut"], 4 * node["feature"], i + 1 + node["left"]
        place += len(tree)
        first_leaf.append(len(leaves))
    value, weight = np.array(leaves, dtype=np.float64).T
    return TreeSums(
        thresholds=nodes.view(np.float64).reshape(-1, 2),
        links=nodes.view(np.int32).reshape(-1, 4),
        subsets=np.empty(0, np.uint32),
        value=np.ascontiguousarray(value[:, None]),
        weight=weight.copy(),
        first_node=np.cumsum([0, *map(len, trees)]),
        first_leaf=np.array(first_leaf),
        first_subset=np.zeros(len(trees) + 1, np.int64),
        column=np.zeros(len(trees), np.int64),
        constant=np.zeros(1),
        scale=1.0,
    )


def contributions(sums: TreeSums, X: Floats, jobs: int) -> Floats:
    """As peers give them: the values, and the base in the last column."""
    values, base = sums.shapley_values(X, n_jobs=jobs)
    return np.column_stack([values[:, :, 0], np.full(len(X), base[0])])


def case(sums: TreeSums, peer: str, call: Any, new: Array, jobs: int, tolerance: float) -> Case:
    leaves = len(sums.value) / len(sums.column)
    return Case(
        size=f"{len(new):,} x {new.shape[1]}, {TREES} trees of {leaves:.0f} leaves",
        ours=lambda: contributions(sums, new, jobs),
        peers={peer: call},
        quality=Quality("difference", tolerance, lambda a, b: float(np.abs(a - b).max())),
        peer_threads=(1,),
    )


def beside_lightgbm(quick: bool, leaves: int, rows: int, jobs: int) -> Case:
    """Gradient boosting of LightGBM on 20,000 rows."""
    lightgbm = import_module("lightgbm")
    X, y = smooth_data(2_000 if quick else 20_000, 20)
    new, _ = smooth_data(200 if quick else rows, 20, seed=1)
    how = {"num_leaves": leaves, "min_data_in_leaf": 5, "verbose": -1, "num_threads": jobs}
    model = lightgbm.train(how, lightgbm.Dataset(X, y, params=how), num_boost_round=TREES)
    dumped = model.dump_model()["tree_info"]
    sums = sums_of([list(lightgbm_nodes(tree["tree_structure"])) for tree in dumped])

    def call() -> Any:
        return model.predict(new, pred_contrib=True, num_threads=jobs)

    return case(sums, "LightGBM", call, new, jobs, 1e-8)


def beside_xgboost(quick: bool, leaves: int, rows: int, jobs: int) -> Case:
    """Gradient boosting of XGBoost on 20,000 rows; its sums are in single precision."""
    xgboost = import_module("xgboost")
    X, y = (part.astype(np.float32) for part in smooth_data(2_000 if quick else 20_000, 20))
    new = smooth_data(200 if quick else rows, 20, seed=1)[0].astype(np.float32)
    how = {"max_leaves": leaves, "grow_policy": "lossguide", "max_depth": 0, "nthread": jobs,
           "tree_method": "hist", "base_score": 0.0}  # fmt: skip
    model = xgboost.train(how, xgboost.DMatrix(X, y), num_boost_round=TREES)
    dumped = model.get_dump(dump_format="json", with_stats=True)
    sums = sums_of([list(xgboost_nodes(json.loads(tree))) for tree in dumped])
    rows_of_new = xgboost.DMatrix(new)

    def call() -> Any:
        return model.predict(rows_of_new, pred_contribs=True)

    return case(sums, "XGBoost", call, new.astype(float), jobs, 1e-3)


if find_spec("lightgbm"):

    @benchmark("shapley_lightgbm", target=Target(ratio=10), peer_repeats=1)
    def shapley_lightgbm(quick: bool) -> Case:
        """Shapley values of 100 trees of 31 leaves beside LightGBM, one thread each."""
        return beside_lightgbm(quick, 31, 5_000, 1)

    @benchmark("shapley_lightgbm_two", target=Target(ratio=10), peer_repeats=1)
    def shapley_lightgbm_two(quick: bool) -> Case:
        """Shapley values of 100 trees of 31 leaves beside LightGBM, two threads each."""
        return beside_lightgbm(quick, 31, 5_000, 2)

    @benchmark("shapley_lightgbm_deep", target=Target(ratio=10), peer_repeats=1)
    def shapley_lightgbm_deep(quick: bool) -> Case:
        """Shapley values of 100 trees of 1,000 leaves beside LightGBM, one thread each."""
        return beside_lightgbm(quick, 1_000, 300, 1)


if find_spec("xgboost"):

    @benchmark("shapley_xgboost", target=Target(ratio=10), peer_repeats=1)
    def shapley_xgboost(quick: bool) -> Case:
        """Shapley values of 100 trees of 31 leaves beside XGBoost, one thread each."""
        return beside_xgboost(quick, 31, 5_000, 1)
