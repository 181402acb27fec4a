"""Where EM starts: rows dealt to components, by k-means, by rows drawn, at random, by a hierarchy.

Rows come with features of one size. Each start is a matrix of responsibilities, or a label for
each row.
"""

from typing import Any

import numpy as np

from empirisk.compiled.mixtures.ward import ward_merges
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.kmeans import KMeans
from empirisk.learners.unsupervised.lloyd import nearest
from empirisk.learners.unsupervised.placed_rows import PlacedRows
from empirisk.learners.unsupervised.seeding import plus_plus, random_rows
from empirisk.runtime.arrays import Floats, Int32s, Ints
from empirisk.runtime.streams import generator

STARTS = ("kmeans", "hierarchical", "random", "k-means++", "random_from_data")
AUTO = (*STARTS, "kmeans", "quantiles", "random", "k-means++", "random_from_data")
AUTO_AGAIN = (*STARTS, "kmeans", *STARTS[2:], "random_from_data")
MOST_IN_HIERARCHY = 2000  # rows; of more, so many are drawn and the others join the nearest
POOLED = 0.1


def way_of_start(init_params: str, number: int) -> tuple[str, bool]:
    """How the start of this number is found, and whether in the second view of the rows."""
    if init_params != "auto":
        return init_params, False
    again = number // len(AUTO) % 2 == 1
    return (AUTO_AGAIN if again else AUTO)[number % len(AUTO)], again


def start_labels(Z: Floats, weight: Floats, K: int, way: str, seed: int, team: Team) -> Int32s:
    """A component for each row, by the start of this name."""
    if K == 1:
        return np.zeros(len(Z), np.int32)
    if way == "hierarchical":
        return ward_labels(Z, weight, K, seed, team)
    if way == "kmeans":
        found = KMeans(K, n_init=1, random_state=seed % 2**32, n_jobs=team.size)
        return found.fit(Z, sample_weight=weight).labels_
    if way == "quantiles":
        return quantile_labels(Z, weight, K)
    placed, rng = PlacedRows.of(Z, weight, team), generator(seed)
    if way == "k-means++":
        return nearest(placed, plus_plus(placed, K, rng, team), team)
    return nearest(placed, random_rows(placed, K, rng), team)


def quantile_labels(Z: Floats, weight: Floats, K: int) -> Int32s:
    """K groups of about the same weight along the first principal component, which draws nothing.

    Examples
    --------
    >>> quantile_labels(np.array([[9.0], [1.0], [2.0], [3.0]]), np.ones(4), 2)
    array([1, 0, 0, 1], dtype=int32)
    """
    gaps = Z - np.average(Z, axis=0, weights=weight)
    axis = np.linalg.eigh((gaps * weight[:, np.newaxis]).T @ gaps)[1][:, -1]
    along = gaps @ (axis * np.sign(axis[np.abs(axis).argmax()]))
    _, place = np.unique(along, return_inverse=True)  # copies of a row stay together
    mass = np.bincount(place, weights=weight)
    before = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    return np.minimum(K * before, K - 1).astype(np.int32)[place]


def random_responsibilities(n: int, K: int, seed: int) -> Floats:
    """Uniform numbers that sum to one in each row, as in scikit-learn."""
    share: Floats = generator(seed).random((n, K))
    return share / share.sum(axis=1, keepdims=True)


def ward_labels(Z: Floats, weight: Floats, K: int, seed: int, team: Team) -> Int32s:
    """Ward's hierarchy, cut at K clusters."""
    if len(Z) <= MOST_IN_HIERARCHY:
        return ward_cut(Z, weight, K)
    drawn = np.sort(generator(seed).permutation(len(Z))[:MOST_IN_HIERARCHY])
    if len(np.unique(Z[drawn], axis=0)) < K:
        return start_labels(Z, weight, K, "kmeans", seed, team)
    labels = ward_cut(Z[drawn], weight[drawn], K)
    centres = np.array(
        [np.average(Z[drawn][labels == k], 0, weight[drawn][labels == k]) for k in range(K)]
    )
    placed = PlacedRows.of(Z, weight, team)
    return nearest(placed, placed.place(centres), team)


def ward_cut(Z: Floats, weight: Floats, K: int) -> Int32s:
    """Labels of the K clusters of Ward's hierarchy.

    Examples
    --------
    >>> ward_cut(np.array([[0.0], [9.0], [1.0], [8.0], [20.0]]), np.ones(5), 3)
    array([0, 1, 0, 1, 2], dtype=int32)
    """
    n = len(Z)
    merged, into, height = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    ward_merges(np.array(Z, order="C"), weight / weight.max(), merged, into, height)
    parent = np.arange(n)
    order = np.argsort(height, kind="stable")[: n - K]
    for m in np.sort(order):  # a cluster that has joined another one takes part no more
        parent[merged[m]] = into[m]
    return numbered(np.array([root_of(parent, i) for i in range(n)]))


def root_of(parent: Ints, i: int) -> int:
    """The last one in a chain of parents."""
    while parent[i] != i:
        i = int(parent[i])
    return i


def numbered(names: Ints) -> Int32s:
    """0, 1, ... in the order in which names come first."""
    _, first, codes = np.unique(names, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[codes.reshape(-1)]


def label_moments(Z: Floats, weight: Floats, labels: Any, K: int) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and covariance matrix of the rows of each label, or responsibility.

    A tenth of each covariance is the pooled one, so that those of few rows are no needles.
    """
    p = Z.shape[1]
    mass, means, scatter = np.zeros(K), np.zeros((K, p)), np.zeros((K, p, p))
    for k in range(K):
        here = labels == k if labels.ndim == 1 else slice(None)
        w = weight[here] if labels.ndim == 1 else weight * labels[:, k]
        mass[k] = w.sum()
        if mass[k] > 0:
            means[k] = w @ Z[here] / mass[k]
            gaps = Z[here] - means[k]
            scatter[k] = (gaps * w[:, np.newaxis]).T @ gaps
    pooled = scatter.sum(axis=0) / mass.sum()
    size = np.where(mass > 0, mass, 1.0)[:, np.newaxis, np.newaxis]
    matrices = (1 - POOLED) * scatter / size + POOLED * pooled
    return mass, means, matrices


def by_place(means: Floats) -> Ints:
    """Components by their means, the first feature first: whatever order the rows come in."""
    return np.lexsort(means.T[::-1])
