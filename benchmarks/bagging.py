"""Bags beside scikit-learn's, two workers each: of trees, and of a foreign estimator.

scikit-learn's bags work in processes; in threads, by joblib's `threading` backend, they are another
peer. Draws differ, so what must be equal is how well new rows are predicted.
"""

from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble as peers
from joblib import parallel_config
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.trees import smooth_data
from empirisk import BaggingClassifier, BaggingRegressor
from empirisk.runtime.arrays import Array, Floats

WORKERS = 2


def bag_case(
    ours: Any, peer: Any, X: Floats, y: Array, new: Floats, target: Array, tolerance: float
) -> Case:
    """Fit, and predict new rows; the results are scores on these."""

    def work(bag: Any) -> float:
        return float(bag.fit(X, y).score(new, target))

    def in_threads() -> float:
        with parallel_config(backend="threading"):
            return work(peer)

    return Case(
        size=f"{len(X):,} x {X.shape[1]}, {ours.n_estimators} members",
        ours=partial(work, ours),
        peers={"scikit-learn": partial(work, peer), "scikit-learn, threads": in_threads},
        quality=Quality("score on new rows below the peer's", tolerance, lambda a, b: b - a),
        peer_threads=(1,),
    )


@benchmark("bagged_trees", target=Target(ratio=3), peer_repeats=1)
def bagged_trees(quick: bool) -> Case:
    """100 bagged regression trees, 20,000 x 20, fitted and asked about 10,000 new rows."""
    n, p, B = (500, 5, 10) if quick else (20_000, 20, 100)
    X, y = smooth_data(n, p)
    new, target = smooth_data(10_000, p, seed=1)
    how: dict[str, Any] = {"n_estimators": B, "random_state": 0, "n_jobs": WORKERS}
    return bag_case(
        BaggingRegressor(**how), peers.BaggingRegressor(**how), X, y, new, target,
        0.1 if quick else 0.01,
    )  # fmt: skip


@benchmark("bagged_tree_classes", target=Target(ratio=3), peer_repeats=1)
def bagged_tree_classes(quick: bool) -> Case:
    """100 bagged classification trees, four classes, 20,000 x 20, fitted and asked."""
    n, p, B = (500, 5, 10) if quick else (20_000, 20, 100)
    (X, y), (new, target) = (
        classes_of(*smooth_data(n, p)),
        classes_of(*smooth_data(10_000, p, seed=1)),
    )
    how: dict[str, Any] = {"n_estimators": B, "random_state": 0, "n_jobs": WORKERS}
    return bag_case(
        BaggingClassifier(**how), peers.BaggingClassifier(**how), X, y, new, target,
        0.1 if quick else 0.01,
    )  # fmt: skip


@benchmark("bagged_neighbours", target=Target(ratio=0.9), peer_repeats=1)
def bagged_neighbours(quick: bool) -> Case:
    """20 bags of scikit-learn's nearest neighbours, 5,000 x 5: what is around the members."""
    n, p, B = (300, 4, 5) if quick else (5_000, 5, 20)
    (X, y), (new, target) = (
        classes_of(*smooth_data(n, p)),
        classes_of(*smooth_data(5_000, p, seed=1)),
    )
    how: dict[str, Any] = {"n_estimators": B, "random_state": 0, "n_jobs": WORKERS}
    member = KNeighborsClassifier()
    return bag_case(
        BaggingClassifier(member, **how), peers.BaggingClassifier(member, **how),
        X, y, new, target, 0.1 if quick else 0.015,
    )  # fmt: skip


def classes_of(X: Floats, y: Floats) -> tuple[Floats, Array]:
    """Four classes by the target."""
    return X, np.digitize(y, [-1.5, 0.0, 1.5])
