"""Linear trees: beside fitting every candidate anew, and beside what predicts as well."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.trees import smooth_data
from empirisk import LinearTreeRegressor
from empirisk.runtime.arrays import Array, Floats

LEAVES = 31
ROUNDS = 200


def risk_above(new: Floats, target: Floats, tolerance: float) -> Quality:
    """Of fitted models: by how much ours errs more on new rows."""

    def risk(model: Any) -> float:
        return float(np.mean((model.predict(new) - target) ** 2))

    return Quality(
        "squared error on new rows, above the peer's", tolerance, lambda a, b: risk(a) - risk(b)
    )


@benchmark("linear_tree", target=Target(ratio=20), peer_repeats=1)
def linear_tree(quick: bool) -> Case:
    """A linear tree of depth 4, 3,000 x 6, beside NumPy fitting both sides of every cut anew."""
    n, p = (300, 4) if quick else (3_000, 6)
    X, y = smooth_data(n, p)
    new, target = smooth_data(20_000, p, seed=1)
    ours = LinearTreeRegressor(max_depth=4)
    return Case(
        size=f"{n:,} x {p}",
        ours=lambda: ours.fit(X, y),
        peers={"NumPy, refitting": lambda: RefittedTree(depth=4, min_rows=20, bins=32).fit(X, y)},
        # A few cuts differ, now for the better, now not; of few rows a cut is a large part.
        quality=risk_above(new, target, 0.5 if quick else 0.05),
        peer_threads=(1,),
    )


@benchmark("linear_tree_boosting", peer_repeats=1)
def linear_tree_boosting(quick: bool) -> Case:
    """One linear tree of 31 leaves, 20,000 x 10, beside 200 rounds of boosting, which err as much.

    LightGBM's trees with linear leaves (`linear_tree`) run too where it is installed.
    """
    n, p = (1_500, 5) if quick else (20_000, 10)
    X, y = smooth_data(n, p)
    new, target = smooth_data(20_000, p, seed=1)
    ours = LinearTreeRegressor(max_leaf_nodes=LEAVES)
    boosting = HistGradientBoostingRegressor(max_iter=ROUNDS, early_stopping=False)
    peers: dict[str, Callable[[], Any]] = {"scikit-learn": lambda: boosting.fit(X, y)}
    if find_spec("lightgbm"):
        peers["LightGBM"] = lambda: boosted_linear_trees(X, y)
    return Case(
        size=f"{n:,} x {p}",
        ours=lambda: ours.fit(X, y),
        peers=peers,
        quality=risk_above(new, target, 0.2 if quick else 0.02),
        peer_threads=(1,),
    )


@benchmark("linear_tree_quality", peer_repeats=1)
def linear_tree_quality(quick: bool) -> Case:
    """One linear tree of 31 leaves, 20,000 x 10, beside a tree and a line, which err more."""
    n, p = (1_500, 5) if quick else (20_000, 10)
    X, y = smooth_data(n, p)
    new, target = smooth_data(20_000, p, seed=1)
    ours, tree = (
        LinearTreeRegressor(max_leaf_nodes=LEAVES),
        DecisionTreeRegressor(min_samples_leaf=20, random_state=0),
    )
    return Case(
        size=f"{n:,} x {p}",
        ours=lambda: ours.fit(X, y),
        peers={"a tree": lambda: tree.fit(X, y), "ridge": lambda: Ridge().fit(X, y)},
        quality=risk_above(new, target, 0.0),
        peer_threads=(1,),
    )


def boosted_linear_trees(X: Floats, y: Floats) -> Any:
    """LightGBM with linear models in the leaves."""
    lightgbm = import_module("lightgbm")
    how = {"linear_tree": True, "num_leaves": LEAVES, "num_threads": 1, "verbose": -1}
    return lightgbm.train(how, lightgbm.Dataset(X, y, params=how), num_boost_round=ROUNDS)


class RefittedTree:
    """A linear tree as one would write it first: two ridge fits for each cut, at quantiles."""

    def __init__(self, *, depth: int, min_rows: int, bins: int, alpha: float = 1.0) -> None:
        self.depth, self.min_rows, self.bins, self.alpha = depth, min_rows, bins, alpha

    def fit(self, X: Floats, y: Floats) -> "RefittedTree":
        self.mean, self.spread = X.mean(axis=0), X.std(axis=0)
        self.root = self._grow((X - self.mean) / self.spread, y, self.depth)
        return self

    def predict(self, X: Floats) -> Floats:
        Z, values = (X - self.mean) / self.spread, np.empty(len(X))
        self._fill(self.root, Z, values, np.arange(len(X)))
        return values

    def _fill(self, node: Any, Z: Floats, values: Floats, rows: Array) -> None:
        coef, constant, split = node
        if split is None:
            values[rows] = Z[rows] @ coef + constant
            return
        j, threshold, left, right = split
        goes_left = Z[rows, j] <= threshold
        self._fill(left, Z, values, rows[goes_left])
        self._fill(right, Z, values, rows[~goes_left])

    def _grow(self, Z: Floats, y: Floats, depth: int) -> Any:
        coef, constant, error = self._ridge(Z, y)
        best = None
        for j in range(Z.shape[1]) if depth else ():
            for threshold in np.unique(np.quantile(Z[:, j], np.arange(1, self.bins) / self.bins)):
                left = Z[:, j] <= threshold
                if min(left.sum(), (~left).sum()) < self.min_rows:
                    continue
                found = self._ridge(Z[left], y[left])[2] + self._ridge(Z[~left], y[~left])[2]
                if found < error:
                    best, error = (j, threshold), found
        if best is None:
            return coef, constant, None
        left = Z[:, best[0]] <= best[1]
        sides = (self._grow(Z[side], y[side], depth - 1) for side in (left, ~left))
        return coef, constant, (*best, *sides)

    def _ridge(self, Z: Floats, y: Floats) -> tuple[Floats, float, float]:
        centre, mean = Z.mean(axis=0), float(y.mean())
        Z, y = Z - centre, y - mean
        gram = Z.T @ Z + self.alpha * np.eye(Z.shape[1])
        coef = np.asarray(np.linalg.solve(gram, Z.T @ y), dtype=np.float64)
        error = float(((y - Z @ coef) ** 2).sum() + self.alpha * coef @ coef)
        return coef, float(mean - coef @ centre), error
