"""k-means beside scikit-learn's and faiss, from the same start; silhouettes; quality of starts.

From one start, exact k-means has one answer: the sums of squares must be equal. faiss computes in
single precision and stops after a number of iterations, so it is given as many as scikit-learn
needs, and what it reaches may be a little less.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.cluster as peers
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import silhouette_score

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import KMeans, cluster_quality, read_table
from empirisk.runtime.arrays import Floats

# A peer that is timed where it is installed.
faiss: Any = import_module("faiss") if find_spec("faiss") else None

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BIRCH = DATA / "clust_birch_rg1.parquet"


def same_start(X: Floats, n_clusters: int) -> Case:
    """All begin at the same rows, drawn at random."""
    start = X[np.random.default_rng(0).permutation(len(X))[:n_clusters]]
    given: dict[str, Any] = {"n_clusters": n_clusters, "init": start, "n_init": 1}
    rounds = KMeans(**given).fit(X).n_iter_
    others: dict[str, Callable[[], Any]] = {
        "scikit-learn": lambda: peers.KMeans(**given).fit(X).inertia_,
        "scikit-learn, elkan": lambda: peers.KMeans(**given, algorithm="elkan").fit(X).inertia_,
    }
    if faiss is not None:
        others["faiss"] = lambda: faiss_inertia(X, start, rounds)
    return Case(
        size=f"{len(X):,} x {X.shape[1]}, {n_clusters} clusters, {rounds} iterations",
        ours=lambda: KMeans(**given, n_jobs=2).fit(X).inertia_,
        peers=others,
        quality=Quality(
            "share by which the sum of squares differs",
            1e-3,  # of faiss, in single precision; from scikit-learn's it is 1e-12
            lambda a, b: abs(a - b) / b,
        ),
    )


def faiss_inertia(X: Floats, start: Floats, rounds: int) -> float:
    """The sum of squares that faiss reaches; a label for each row is part of a fit."""
    faiss.omp_set_num_threads(2)
    rows = X.astype(np.float32)
    found = faiss.Kmeans(
        X.shape[1],
        len(start),
        niter=rounds,
        max_points_per_centroid=len(X),
        min_points_per_centroid=1,
    )
    found.train(rows, init_centroids=start.astype(np.float32))
    return float(found.index.search(rows, 1)[0].sum(dtype=np.float64))


@benchmark("kmeans_500", target=Target(ratio=1.5), peer_repeats=2)
def kmeans_500(quick: bool) -> Case:
    """k-means from one start, 500,000 x 20, 50 overlapping clusters."""
    n = 5_000 if quick else 500_000
    X, _ = make_blobs(n, 20, centers=50, cluster_std=3.0, random_state=0)
    return same_start(X, 50)


@benchmark("kmeans_noise", target=Target(ratio=1.5), peer_repeats=1)
def kmeans_noise(quick: bool) -> Case:
    """k-means from one start, 500,000 x 20, 50 clusters of rows that have none."""
    n = 5_000 if quick else 500_000
    return same_start(np.random.default_rng(0).normal(size=(n, 20)), 50)


@benchmark("kmeans_birch", target=Target(ratio=2))
def kmeans_birch(quick: bool) -> Case:
    """k-means from one start, 100,000 x 2, 100 clusters on a grid (Birch)."""
    if BIRCH.exists() and not quick:
        return same_start(columns(BIRCH, 2), 100)
    X, _ = make_blobs(2_000 if quick else 100_000, 2, centers=100, random_state=0)
    return same_start(X, 100)


@benchmark("kmeans_starts", target=Target(ratio=1), peer_repeats=1)
def kmeans_starts(quick: bool) -> Case:
    """The best of ten starts on ten sets: is our sum of squares above scikit-learn's?

    Each set has the number of clusters it is known for; n_init=10 and the same random states for
    both, two threads.
    """
    return best_of_ten(quality_sets(), (1,), quick)


@benchmark("kmeans_few_rows", target=Target(ratio=1))
def kmeans_few_rows(quick: bool) -> Case:
    """The same for up to 5,000 rows, where overhead counts, and half and twice as many clusters."""
    sets = quality_sets()
    few = {name: (X, k) for name, (X, k) in sets.items() if len(X) <= 5000}
    return best_of_ten(few, (0.5, 1, 2), quick)


def best_of_ten(sets: dict[str, tuple[Floats, int]], times: tuple[float, ...], quick: bool) -> Case:
    """Ten starts on each of these sets, and in how many runs our sum of squares is above."""
    chosen = list(sets.values())[: 2 if quick else None]
    seeds = range(1 if quick else 3)
    runs = [(X, max(2, int(m * k)), seed) for X, k in chosen for m in times for seed in seeds]

    def sums(kind: Any) -> Callable[[], Floats]:
        return lambda: np.array(
            [kind(k, n_init=10, random_state=seed).fit(X).inertia_ for X, k, seed in runs]
        )

    return Case(
        size=f"{len(chosen)} sets, {len(times)} K for each, 10 starts, {len(seeds)} seed(s)",
        ours=sums(partial(KMeans, n_jobs=2)),
        peers={"scikit-learn": sums(peers.KMeans)},
        quality=Quality(
            f"runs, of {len(runs)}, whose sum of squares is above the peer's",
            0,
            lambda a, b: float((a > b * (1 + 1e-9)).sum()),  # rounding apart
        ),
    )


def quality_sets() -> dict[str, tuple[Floats, int]]:
    """Rows and numbers of clusters; two sets alone where the others are not there."""
    sets = {"iris": (load_iris().data, 3), "digits": (load_digits().data, 10)}
    shapes = {"d31": 31, "s1": 15, "s4": 15, "r15": 15, "xclara": 3, "aggregation": 7}
    for name, k in shapes.items():
        path = DATA / f"clust_{name}.parquet"
        if path.exists():
            sets[name] = columns(path, 2), k
    for name, k in {"california_housing": 20, "esl_zip_train": 10}.items():
        path = DATA / f"{name}.parquet"
        if path.exists():
            X = columns(path, None)
            spread = X.std(axis=0)
            sets[name] = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), k
    return sets


@benchmark("silhouette", target=Target(ratio=2), peer_repeats=2)
def silhouette(quick: bool) -> Case:
    """The mean silhouette, 20,000 x 10, 8 clusters."""
    X, labels = make_blobs(1_000 if quick else 20_000, 10, centers=8, random_state=0)
    return Case(
        size=f"{len(X):,} x 10, 8 clusters",
        ours=lambda: cluster_quality(X, labels, n_jobs=2).silhouette,
        peers={"scikit-learn": lambda: float(silhouette_score(X, labels))},
        quality=Quality("absolute difference", 1e-10, lambda a, b: abs(a - b)),
    )


def columns(path: Path, first: int | None) -> Floats:
    """The first columns of numbers of a file."""
    table = read_table(path)
    numeric = [name for name in table.names if table[name].kind == "number"][:first]
    return np.column_stack([table[name].numbers() for name in numeric]).astype(float)
