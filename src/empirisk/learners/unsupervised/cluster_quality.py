"""How good a partition into clusters is, by the rows and their labels alone.

With m_k the weight and c_k the mean of cluster k, and c the mean of all rows:

    within   W = sum_k sum_{i in k} w_i |x_i - c_k|^2
               = sum_k 1/(2 m_k) sum_{i, j in k} w_i w_j |x_i - x_j|^2,
    between  B = sum_k m_k |c_k - c|^2,      total = W + B = sum_i w_i |x_i - c|^2.

Everything is computed from rows that are centred and scaled; nothing n x n is kept. A row of
weight w counts as w copies of it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from empirisk.charts.silhouettes import draw_silhouettes
from empirisk.compiled.clustering.pairs import mean_distances, sum_squares_within
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.placed_rows import PlacedRows, share
from empirisk.runtime.arrays import Array, Floats, Int32s, Ints
from empirisk.runtime.complaints import first_row, missing_labels
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import check_weights

ROWS_AT_ONCE = 256  # pairs cost much: small blocks, well shared out
ROUNDED = 1e-9  # of a sum of weights


def cluster_quality(
    X: Any, labels: Any, *, sample_weight: Any = None, n_jobs: int | None = None
) -> "ClusterQuality":
    """Measures of a partition of rows into clusters.

    Parameters
    ----------
    X : array-like of shape (n, p)
    labels : array-like of shape (n,)
        The cluster of each row; any labels.
    sample_weight : array-like of shape (n,), optional
    n_jobs : int or None
        Threads; no bit depends on it.

    Returns
    -------
    ClusterQuality
        Sums of squares `within`, `between` and `total`; `calinski_harabasz` and `silhouette`,
        larger is better; `davies_bouldin`, smaller is better; the rows' `silhouettes`; `plot()`.

    References
    ----------
    T. Caliński & J. Harabasz (1974), A dendrite method for cluster analysis.
    D. Davies & D. Bouldin (1979), A cluster separation measure.
    P. Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis.

    Examples
    --------
    >>> X = [[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]]
    >>> quality = cluster_quality(X, [0, 0, 0, 1, 1, 1])
    >>> quality.within, quality.between, quality.calinski_harabasz
    (16.0, 121.5, 30.375)
    >>> round(quality.silhouette, 4), round(quality.davies_bouldin, 4)
    (0.7133, 0.2963)
    """
    rows = numbers(X, "cluster_quality")
    weight = check_weights(sample_weight, len(rows))
    labels = np.asarray(labels)
    if labels.shape != (len(rows),):
        raise DataError(f"labels have shape {labels.shape}; wanted {(len(rows),)}")
    missing = missing_labels(labels)
    if missing.any():
        raise DataError(
            f"labels have {missing.sum()} missing value(s) (NaN or None), {first_row(missing)}: "
            "give each row a cluster, or leave it out"
        )
    kept = weight > 0
    try:
        names, codes = np.unique(labels[kept], return_inverse=True)
    except TypeError as error:
        raise DataError(
            f"labels mix several types ({error}): turn them all into text, or all into numbers"
        ) from error
    if not kept.all():
        rows, weight = np.ascontiguousarray(rows[kept]), weight[kept]
    team = Team(n_jobs)
    placed = PlacedRows.of(rows, weight, team)
    return ClusterQuality(placed, codes.astype(np.int32), names, kept, team)


@dataclass(frozen=True, eq=False, repr=False)
class ClusterQuality:
    """Measures of a partition, each found when it is asked for. Made by `cluster_quality`.

    Attributes
    ----------
    within, within_by_pairs : float
        W by centroids and by pairs of rows, which is the same number.
    between, total : float
        B, and W + B.
    calinski_harabasz : float
        B / W * (n - K) / (K - 1), larger is better; 1 < K < n.
    davies_bouldin : float
        The mean over clusters of the largest (s_k + s_l) / |c_k - c_l|, with s_k the mean distance
        to the centroid; smaller is better.
    silhouettes : array of shape (n,)
        (b - a) / max(a, b) of each row: a is its mean distance to the others of its cluster, b the
        least mean distance to the rows of another cluster; 0 for a cluster of one row, NaN for a
        row of weight 0.
    silhouette : float
        Their weighted mean; larger is better.
    """

    placed: PlacedRows
    codes: Int32s
    names: Array
    kept: Array
    team: Team

    def __repr__(self) -> str:
        return (
            f"{self.n_clusters} cluster(s) of {len(self.codes)} rows: sums of squares within "
            f"{self.within:.4g}, between {self.between:.4g}, total {self.total:.4g}"
        )

    @property
    def n_clusters(self) -> int:
        return len(self.names)

    @cached_property
    def within(self) -> float:
        return float(self.placed.in_squared_units(self._sums[0]))

    @cached_property
    def within_by_pairs(self) -> float:
        rows, weight, labels, begin, _ = self._in_order
        sums = np.empty(len(rows))
        share(self.team, sum_squares_within, self._blocks, rows, weight, labels, begin, sums)
        mass = np.bincount(labels, weight)
        return float(self.placed.in_squared_units((weight * sums / (2 * mass[labels])).sum()))

    @cached_property
    def between(self) -> float:
        return float(self.placed.in_squared_units(self._sums[1]))

    @property
    def total(self) -> float:
        return self.within + self.between

    @property
    def calinski_harabasz(self) -> float:
        n, K = self.placed.mass * self.placed.heaviest, self.n_clusters
        self._refuse_one("the Calinski-Harabasz score")
        if not n > K:
            raise DataError(f"there are {K} clusters of {n:g} rows; the score needs fewer")
        within, between = self._sums
        if within == 0:
            return float("inf") if between > 0 else 1.0  # as in scikit-learn
        return between / within * (n - K) / (K - 1)

    @cached_property
    def davies_bouldin(self) -> float:
        self._refuse_one("the Davies-Bouldin score")
        centres, mass = self._centres
        distance = np.sqrt(self.placed.distances(self.codes, centres, self.team))
        spread = np.bincount(self.codes, self.placed.weight * distance) / mass
        worst = [
            overlap(cdist(centres[k : k + 1], centres)[0], spread[k] + spread, k)
            for k in range(self.n_clusters)
        ]
        return float(np.mean(worst))

    @cached_property
    def silhouettes(self) -> Floats:
        self._refuse_one("the silhouette")
        refuse_light(self.placed.mass * self.placed.heaviest, self.n_clusters)
        rows, weight, labels, begin, order = self._in_order
        own, other = np.empty((2, len(rows)))
        mass = np.bincount(labels, weight)
        share(
            self.team, mean_distances, self._blocks, rows, weight, labels, begin, mass, own, other
        )
        copies = mass * self.placed.heaviest
        own *= copies[labels] / np.maximum(copies[labels] - 1, 1e-300)  # to the others, not itself
        larger = np.maximum(own, other)
        value = np.where(larger > 0, (other - own) / np.where(larger > 0, larger, 1.0), 0.0)
        value[copies[labels] <= 1] = 0.0
        out = np.full(len(self.kept), np.nan)
        out[np.flatnonzero(self.kept)[order]] = value
        return out

    @property
    def silhouette(self) -> float:
        weight = self.placed.weight
        return float(weight @ self.silhouettes[self.kept] / weight.sum())

    def plot(self, ax: Any = None) -> Any:
        """The silhouette of each row, sorted within clusters."""
        return draw_silhouettes(
            self.silhouettes[self.kept], self.codes, self.names, self.silhouette, ax=ax
        )

    @cached_property
    def _centres(self) -> tuple[Floats, Floats]:
        return self.placed.means(self.codes, self.n_clusters, self.team)

    @cached_property
    def _sums(self) -> tuple[float, float]:
        """W and B of the rows z."""
        centres, mass = self._centres
        distance = self.placed.distances(self.codes, centres, self.team)
        apart = centres - mass @ centres / mass.sum()
        within = float(self.placed.weight @ distance)
        return within, float(mass @ np.einsum("kj,kj->k", apart, apart))

    @cached_property
    def _in_order(self) -> tuple[Floats, Floats, Int32s, Ints, Ints]:
        """Rows z by cluster, their weights and labels, where clusters begin, and their places."""
        order = np.argsort(self.codes, kind="stable")
        labels = self.codes[order]
        begin = np.searchsorted(labels, np.arange(self.n_clusters + 1)).astype(np.int64)
        rows = self.placed.at(order)
        return rows, self.placed.weight[order], labels, begin, order

    @property
    def _blocks(self) -> Ints:
        n = len(self.codes)
        return np.append(np.arange(0, n, ROWS_AT_ONCE), n).astype(np.int64)

    def _refuse_one(self, what: str) -> None:
        if self.n_clusters < 2:
            raise DataError(f"there is one cluster; {what} needs two or more")


def refuse_light(weight: float, n_clusters: int) -> None:
    """Of rows that count as less than one each, what says something of their pairs says nothing."""
    if weight < n_clusters * (1 - ROUNDED):
        raise DataError(
            f"the weights sum to {weight:.4g} for {n_clusters} clusters, and a row of weight w "
            "counts as w rows: multiply them, such that they sum to the number of rows"
        )


def overlap(apart: Floats, spread: Floats, k: int) -> float:
    """The largest spread / apart over clusters other than k; infinite where centroids coincide."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spread > 0, spread / apart, 0.0)
    ratio[k] = 0.0
    return float(ratio.max())
