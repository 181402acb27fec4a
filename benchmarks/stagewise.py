"""Forward stagewise regression beside scikit-learn's gradient boosting, and a loop in NumPy."""

from typing import Any

import numpy as np
import sklearn.ensemble as peers

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.trees import smooth_data
from empirisk import DecisionTreeRegressor, LogitBoostClassifier, StagewiseRegressor, Tuned
from empirisk.runtime.arrays import Array, Floats


def tree_case(n: int, p: int, depth: int, rounds: int) -> Case:
    """The same trees on the same residuals: what they predict must be the same."""
    X, y = smooth_data(n, p)
    X = X.astype(np.float32).astype(float)  # which scikit-learn compares
    new, target = smooth_data(20_000, p, seed=1)
    ours = StagewiseRegressor(DecisionTreeRegressor(max_depth=depth), rounds)
    peer = peers.GradientBoostingRegressor(n_estimators=rounds, max_depth=depth, random_state=0)
    return Case(
        size=f"{n:,} x {p}, {rounds} rounds of depth {depth}",
        ours=lambda: ours.fit(X, y),
        peers={"scikit-learn": lambda: peer.fit(X, y)},
        quality=Quality(
            "R squared on new rows below the peer's",
            1e-3,  # equal splits are settled otherwise
            lambda a, b: float(b.score(new, target) - a.score(new, target)),
        ),
        peer_threads=(1,),
    )


@benchmark("stagewise_trees", target=Target(ratio=5), peer_repeats=1)
def stagewise_trees(quick: bool) -> Case:
    """L2-boosting of trees of depth 3, 20,000 x 30 floats, 100 rounds."""
    return tree_case(1_000 if quick else 20_000, 30, 3, 10 if quick else 100)


@benchmark("stagewise_stumps", target=Target(ratio=5), peer_repeats=1)
def stagewise_stumps(quick: bool) -> Case:
    """L2-boosting of stumps, 20,000 x 30 floats, 100 rounds."""
    return tree_case(1_000 if quick else 20_000, 30, 1, 10 if quick else 100)


def boosted_in_numpy(X: Array, y: Array, rounds: int, rate: float) -> Floats:
    """Componentwise least squares as one would write it: a product X'r in each round."""
    Z = X - X.mean(axis=0)
    Z /= np.sqrt((Z**2).sum(axis=0))
    residual, coef = y - y.mean(), np.zeros(X.shape[1])
    for _ in range(rounds):
        correlation = residual @ Z
        j = np.abs(correlation).argmax()
        coef[j] += rate * correlation[j]
        residual = residual - rate * correlation[j] * Z[:, j]
    return Z @ coef + y.mean()


def column_case(n: int, p: int, rounds: int) -> Case:
    """The same columns, the same coefficients."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 1))
    y = X[:, :10] @ rng.normal(size=10) + 3 * rng.normal(size=n)
    ours = StagewiseRegressor("least_squares", rounds)
    return Case(
        size=f"{n:,} x {p}, {rounds} rounds",
        ours=lambda: ours.fit(X, y),
        peers={"NumPy": lambda: boosted_in_numpy(X, y, rounds, 0.1)},
        quality=Quality(
            "largest difference of the fits, relative to y",
            1e-8,
            lambda a, b: float(np.abs(a.predict(X) - b).max() / y.std()),
        ),
    )


@benchmark("stagewise_columns", target=Target(ratio=5), peer_repeats=2)
def stagewise_columns(quick: bool) -> Case:
    """Componentwise least squares, 20,000 x 100, 500 rounds, with degrees of freedom and AIC."""
    return column_case(*((500, 20, 50) if quick else (20_000, 100, 500)))


@benchmark("stagewise_wide", target=Target(ratio=1.5), peer_repeats=2)
def stagewise_wide(quick: bool) -> Case:
    """Componentwise least squares, 500 x 10,000, 500 rounds, with degrees of freedom and AIC."""
    return column_case(*((50, 3_000, 50) if quick else (500, 10_000, 500)))


@benchmark("logit_boost", target=Target(ratio=3), peer_repeats=1)
def logit_boost(quick: bool) -> Case:
    """LogitBoost of stumps for two classes, 20,000 x 30 floats, 100 rounds.

    scikit-learn has no LogitBoost; its gradient boosting of the same loss, with stumps and Newton
    values in the leaves, is nearest.
    """
    n, rounds = (1_000, 10) if quick else (20_000, 100)
    X, y = smooth_data(n, 30)
    new, target = smooth_data(20_000, 30, seed=1)
    ours = LogitBoostClassifier(n_estimators=rounds, learning_rate=0.3)
    peer = peers.GradientBoostingClassifier(n_estimators=rounds, max_depth=1, learning_rate=0.3)
    return Case(
        size=f"{n:,} x 30, {rounds} rounds",
        ours=lambda: ours.fit(X, y > 0),
        peers={"scikit-learn": lambda: peer.fit(X, y > 0)},
        quality=Quality(
            "accuracy on new rows below the peer's",
            0.01,  # another algorithm for the same loss
            lambda a, b: float(b.score(new, target > 0) - a.score(new, target > 0)),
        ),
        peer_threads=(1,),
    )


@benchmark("stagewise_tuned", target=Target(ratio=5), peer_repeats=1)
def stagewise_tuned(quick: bool) -> Case:
    """The number of rounds by 5-fold cross-validation, 10,000 x 20, up to 100 rounds of depth 2."""
    n, rounds = (500, 10) if quick else (10_000, 100)
    X, y = smooth_data(n, 20)
    X = X.astype(np.float32).astype(float)
    fold = np.arange(n) % 5
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    learner = StagewiseRegressor(DecisionTreeRegressor(max_depth=2), rounds)
    peer = peers.GradientBoostingRegressor(n_estimators=rounds, max_depth=2, random_state=0)

    def by_stages() -> Floats:
        losses: Any = []
        for train, test in splits:
            peer.fit(X[train], y[train])
            losses.append([((y[test] - f) ** 2).mean() for f in peer.staged_predict(X[test])])
        return np.mean(losses, axis=0)

    return Case(
        size=f"{n:,} x 20, 5 folds, {rounds} rounds",
        ours=lambda: Tuned(learner, cv=splits).fit(X, y),
        peers={"scikit-learn": by_stages},
        quality=Quality(
            "relative difference of the least risk",
            1e-3,  # equal splits are settled otherwise
            lambda a, b: float(abs(min(a.path_.risk) / min(b) - 1)),
        ),
        peer_threads=(1,),
    )
