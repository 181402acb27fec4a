"""AdaBoost beside scikit-learn's: stumps and small trees, which must vote the same way."""

from typing import Any

import numpy as np
import sklearn.ensemble as peers
import sklearn.tree as peer_trees

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.trees import smooth_data
from empirisk import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
from empirisk.runtime.arrays import Array


def boosting_case(X: Array, y: Array, rounds: int, depth: int) -> Case:
    """Both are fitted on rows (X, y); scikit-learn's has no n_jobs."""
    tree = DecisionTreeClassifier(max_depth=depth)
    peer = peer_trees.DecisionTreeClassifier(max_depth=depth, random_state=0)
    some = slice(0, 20_000)

    def apart(ours: Any, theirs: Any) -> float:
        votes = ours.decision_function(X[some]) - theirs.decision_function(X[some])
        return max(float(np.abs(votes).max()), abs(ours.score(X, y) - theirs.score(X, y)))

    return Case(
        size=f"{len(X):,} x {X.shape[1]}, {rounds} trees of depth {depth}",
        ours=lambda: AdaBoostClassifier(tree, n_estimators=rounds, n_jobs=2).fit(X, y),
        peers={
            "scikit-learn": lambda: peers.AdaBoostClassifier(
                peer, n_estimators=rounds, random_state=0
            ).fit(X, y)
        },
        quality=Quality("largest difference of votes, or of the training error", 1e-6, apart),
        peer_threads=(1,),
    )


@benchmark("ada_boost_stumps", target=Target(ratio=20), peer_repeats=1)
def ada_boost_stumps(quick: bool) -> Case:
    """AdaBoost of 400 stumps, two classes, 100,000 x 30 floats."""
    X, y = smooth_data(1_000 if quick else 100_000, 30)
    return boosting_case(X.astype(np.float32).astype(float), y > 0, 20 if quick else 400, 1)


@benchmark("ada_boost_integers", target=Target(ratio=20), peer_repeats=1)
def ada_boost_integers(quick: bool) -> Case:
    """AdaBoost of 400 stumps, two classes, 100,000 x 30 integers of 20 values."""
    X, y = smooth_data(1_000 if quick else 100_000, 30, few=True)
    return boosting_case(X, y > 0, 20 if quick else 400, 1)


@benchmark("ada_boost_classes", target=Target(ratio=20), peer_repeats=1)
def ada_boost_classes(quick: bool) -> Case:
    """AdaBoost of 50 stumps, five classes, 50,000 x 20 floats."""
    X, y = smooth_data(1_000 if quick else 50_000, 20)
    fifths = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    return boosting_case(X.astype(np.float32).astype(float), fifths, 10 if quick else 50, 1)


@benchmark("ada_boost_trees", target=Target(ratio=5), peer_repeats=1)
def ada_boost_trees(quick: bool) -> Case:
    """AdaBoost of 50 trees of depth 3, two classes, 50,000 x 20 floats."""
    X, y = smooth_data(1_000 if quick else 50_000, 20)
    return boosting_case(X.astype(np.float32).astype(float), y > 0, 10 if quick else 50, 3)


@benchmark("ada_boost_regression", target=Target(ratio=3), peer_repeats=1)
def ada_boost_regression(quick: bool) -> Case:
    """AdaBoost.R2 of 50 trees of depth 3, 20,000 x 20 floats: draws differ, scores must not."""
    X, y = smooth_data(1_000 if quick else 20_000, 20)
    new, target = smooth_data(20_000, 20, seed=1)
    return Case(
        size=f"{len(X):,} x 20, 50 trees of depth 3",
        ours=lambda: AdaBoostRegressor(random_state=0, n_jobs=2).fit(X, y),
        peers={"scikit-learn": lambda: peers.AdaBoostRegressor(random_state=0).fit(X, y)},
        quality=Quality(
            "score on new rows below the peer's",
            2 / len(X) ** 0.5,  # the draws differ
            lambda a, b: float(b.score(new, target) - a.score(new, target)),
        ),
        peer_threads=(1,),
    )
