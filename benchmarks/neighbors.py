"""Nearest neighbours beside scikit-learn's and faiss; all k by folds beside GridSearchCV.

The search is exact for all, so distances must be equal; faiss computes in single precision. Fitting
is part of the time, as a tree takes some. GridSearchCV is timed at a few of the values of k, since
one costs as much as another: over all of them it takes so many times longer.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn.neighbors as peers
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import KNeighborsRegressor, Tuned
from empirisk.runtime.arrays import Floats

# A peer that is timed where it is installed.
faiss: Any = import_module("faiss") if find_spec("faiss") else None

SOME = (1, 20, 50, 80, 100)
"""Values of k of which GridSearchCV is timed: a twentieth of all."""


def search_case(n: int, m: int, p: int, others: dict[str, Callable[..., Any]]) -> Case:
    """The ten nearest of n normal rows, for m points."""
    rng = np.random.default_rng(0)
    X, points, y = rng.normal(size=(n, p)), rng.normal(size=(m, p)), np.zeros(n)

    def ours() -> Floats:
        return KNeighborsRegressor(10, n_jobs=2).fit(X, y).kneighbors(points)[0]

    return Case(
        size=f"{n:,} x {p}, {m:,} points, k = 10",
        ours=ours,
        peers={name: partial(search, X, points) for name, search in others.items()},
        quality=Quality(
            "largest relative difference of distances",
            1e-3,  # of faiss, in single precision, where distances are about 1
            lambda a, b: float(np.max(np.abs(a - b) / b)),
        ),
    )


def scikit(algorithm: str) -> Callable[[Floats, Floats], Floats]:
    """scikit-learn's search with two threads."""
    search = peers.NearestNeighbors(n_neighbors=10, algorithm=algorithm, n_jobs=2)
    return lambda X, points: search.fit(X).kneighbors(points)[0]


def faiss_flat(X: Floats, points: Floats) -> Floats:
    faiss.omp_set_num_threads(2)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))
    return np.sqrt(index.search(points.astype(np.float32), 10)[0]).astype(np.float64)


SCIKIT = {"scikit-learn, brute": scikit("brute"), "scikit-learn, kd_tree": scikit("kd_tree")}


@benchmark("knn_search", target=Target(ratio=1.5), peer_repeats=2)
def knn_search(quick: bool) -> Case:
    """The ten nearest of 100,000 x 10 rows for 10,000 points, beside scikit-learn."""
    return search_case(2_000 if quick else 100_000, 500 if quick else 10_000, 10, SCIKIT)


@benchmark("knn_faiss", target=Target(ratio=2), peer_repeats=2)
def knn_faiss(quick: bool) -> Case:
    """The ten nearest of 100,000 x 10 rows for 10,000 points, beside faiss flat."""
    others = {"scikit-learn, brute": scikit("brute")} if faiss is None else {"faiss": faiss_flat}
    return search_case(2_000 if quick else 100_000, 500 if quick else 10_000, 10, others)


@benchmark("knn_50_columns", target=Target(ratio=1.2), peer_repeats=2)
def knn_50_columns(quick: bool) -> Case:
    """The ten nearest of 100,000 x 50 rows for 10,000 points, beside scikit-learn and faiss."""
    others = {"scikit-learn, brute": scikit("brute")}
    if faiss is not None:
        others["faiss"] = faiss_flat
    return search_case(2_000 if quick else 100_000, 500 if quick else 10_000, 50, others)


@benchmark("knn_3_columns", peer_repeats=2)
def knn_3_columns(quick: bool) -> Case:
    """The ten nearest of 100,000 x 3 rows for 10,000 points, where trees pay."""
    tree = {"scikit-learn, kd_tree": scikit("kd_tree")}
    return search_case(2_000 if quick else 100_000, 500 if quick else 10_000, 3, tree)


@benchmark("knn_by_pairs", target=Target(ratio=1), peer_repeats=2)
def knn_by_pairs(quick: bool) -> Case:
    """The ten nearest of 20,000 x 20 categories by Hamming's distance, which has no tree here."""
    rng = np.random.default_rng(0)
    n, m = (2_000, 500) if quick else (20_000, 4_000)
    X, points = rng.integers(0, 4, (n, 20)) * 1.0, rng.integers(0, 4, (m, 20)) * 1.0

    def ours() -> Floats:
        learner = KNeighborsRegressor(10, metric="hamming", n_jobs=2)
        return learner.fit(X, np.zeros(n)).kneighbors(points)[0]

    def scikit_learn() -> Floats:
        search = peers.NearestNeighbors(n_neighbors=10, metric="hamming", n_jobs=2)
        return search.fit(X).kneighbors(points)[0]

    return Case(
        size=f"{n:,} x 20, {m:,} points, k = 10",
        ours=ours,
        peers={"scikit-learn": scikit_learn},
        quality=Quality(
            "largest difference of distances", 0.0, lambda a, b: float(np.max(np.abs(a - b)))
        ),
    )


@benchmark("knn_all_k", target=Target(ratio=3), peer_repeats=1)
def knn_all_k(quick: bool) -> Case:
    """All k from 1 to 100 by 10 folds at 20,000 x 10; GridSearchCV does 5 of them: 3 x 20 = 60."""
    n = 1_000 if quick else 20_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = np.sin(X[:, 0]) + X[:, 1] + rng.normal(size=n)
    folds = KFold(10, shuffle=True, random_state=0)

    def ours() -> Floats:
        tuned = Tuned(KNeighborsRegressor(), values=range(1, 101), cv=folds, n_jobs=2).fit(X, y)
        return tuned.path_.risk[[k - 1 for k in SOME]]

    def grid_search() -> Floats:
        search = GridSearchCV(
            peers.KNeighborsRegressor(),
            {"n_neighbors": SOME},
            scoring="neg_mean_squared_error",
            cv=folds,
            refit=False,
            n_jobs=2,
        )
        return -search.fit(X, y).cv_results_["mean_test_score"]

    return Case(
        size=f"{n:,} x 10, 10 folds, 100 values beside {len(SOME)}",
        ours=ours,
        peers={f"scikit-learn GridSearchCV, {len(SOME)} of 100 values": grid_search},
        quality=Quality(
            "largest relative difference of scores",
            1e-10,
            lambda a, b: float(np.abs(a / b - 1).max()),
        ),
        peer_threads=(1,),  # two processes already
    )
