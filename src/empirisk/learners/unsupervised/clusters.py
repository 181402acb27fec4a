"""What is the same for every learner of centroids: a row's code is its nearest centroid's number.

Distances are Euclidean after `whitening_`: |(x - c) A|, with A the identity unless the learner has
a Mahalanobis distance.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from empirisk.compiled.clustering.summing import all_distances
from empirisk.learners.soundness import check_numbers
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.encoder_decoder import EncoderDecoderMixin
from empirisk.learners.unsupervised.lloyd import nearest
from empirisk.learners.unsupervised.placed_rows import PlacedRows, block_starts, share, team_for
from empirisk.risk.axis import Axis, Output
from empirisk.runtime.arrays import Floats, Int32s
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_predict

MOST_CLUSTERS = 20  # of the default grid
FAR_DIGITS = 20  # binary ones, of 53, that a row may be farther away than centres are apart


class Clusters(
    EncoderDecoderMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Encoding by the nearest of `cluster_centers_`, decoding by the centroid itself."""

    axis: ClassVar[Axis | None] = Axis(("n_clusters",), larger="richer", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"

    n_clusters: int
    n_jobs: int | None
    cluster_centers_: Floats
    labels_: Int32s
    whitening_: Floats | None

    def encode(self, X: Any) -> Int32s:
        """The number of the nearest centroid of each row, the first of equally near ones."""
        return self._answered(X, lambda placed, centres, _, team: nearest(placed, centres, team))

    def decode(self, code: Any) -> Floats:
        """The centroid of each code."""
        check_is_fitted(self, "cluster_centers_")
        code, K = np.asarray(code), len(self.cluster_centers_)
        whole = code.ndim == 1 and code.dtype.kind in "iu"
        if not whole or (len(code) and not 0 <= code.min() <= code.max() < K):
            raise DataError(f"codes must be a list of whole numbers 0..{K - 1}, as encode gives")
        return self.cluster_centers_[code]

    def predict(self, X: Any) -> Int32s:
        """`encode`, as scikit-learn calls it."""
        return self.encode(X)

    def transform(self, X: Any) -> Floats:
        """The distances of each row to all centroids, (m, n_clusters)."""

        def distances(placed: PlacedRows, centres: Floats, power: int, team: Team) -> Floats:
            out = np.empty((len(placed.X), len(centres)))
            columns = np.ascontiguousarray(centres.T)
            first = block_starts(len(out), 1)
            share(team, all_distances, first, placed.X, placed.unit, placed.shift, columns, out)
            with np.errstate(over="ignore"):
                return np.ldexp(np.sqrt(out, out=out) / placed.unit, power)

        return self._answered(X, distances)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Int32s:
        """`fit`, and the labels of the training rows."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Floats:
        """`fit`, and the distances of the training rows to all centroids."""
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """-W of these rows, the sum of squared distances to their centroids; y is ignored."""
        distance = self._square_distances(X)
        weight = check_weights(sample_weight, len(distance))
        used = weight > 0  # beyond 1e154 a distance squared is infinite
        with np.errstate(over="ignore"):
            return -float(weight[used] @ distance[used])

    def losses_of_rows(self, X: Any, output: Output = "reconstruction") -> Floats:
        """|x - g(e(x))|^2 of each row, (x - c)' M^-1 (x - c) where the learner has a matrix M."""
        if output != "reconstruction":
            raise ParameterError(
                f"{type(self).__name__} has no {output!r} of rows: use the loss 'reconstruction'"
            )
        return self._square_distances(X)

    def axis_values(
        self, X: Floats, y: Any, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """1, 2, ..., 20, as far as clusters have two rows on average."""
        return range(1, max(1, min(MOST_CLUSTERS, n_train // 2)) + 1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.sparse = True
        return tags

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file are centroids."""
        centres = getattr(self, "cluster_centers_", None)
        p = getattr(self, "n_features_in_", None)
        if centres is None and p is None:
            return  # not fitted
        check_numbers("cluster_centers_", centres, (None, p))
        if getattr(self, "whitening_", None) is not None:
            check_numbers("whitening_", self.whitening_, (p, p))

    def _square_distances(self, X: Any) -> Floats:
        def squares(placed: PlacedRows, centres: Floats, power: int, team: Team) -> Floats:
            square = placed.distances(nearest(placed, centres, team), centres, team)
            with np.errstate(over="ignore"):
                return np.ldexp(placed.in_squared_units(square), 2 * power)

        return self._answered(X, squares)

    def _answered(self, X: Any, answer: Callable[[PlacedRows, Floats, int, Team], Any]) -> Any:
        """What is said of each row placed beside the centres, whatever other rows there are."""
        rows = check_predict(self, X)
        centres, matrix = self.cluster_centers_, self._matrix
        groups, found = alike_in_size(rows, centres, matrix), []
        for group in groups:
            part = np.ascontiguousarray(rows[group])
            team = team_for(part, self.n_jobs)
            found.append(answer(*placed_together(part, centres, matrix, team), team))
        if len(groups) == 1:
            return found[0]
        out = np.empty((len(rows), *found[0].shape[1:]), found[0].dtype)
        for group, said in zip(groups, found, strict=True):
            out[group] = said
        return out

    @property
    def _matrix(self) -> Floats | None:
        return getattr(self, "whitening_", None)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def alike_in_size(rows: Floats, centres: Floats, matrix: Floats | None) -> list[Any]:
    """Which rows can be placed together: in the unit of one that is far away, others would lose
    their digits."""
    unit = np.ones(rows.shape[1]) if matrix is None else np.abs(matrix).max(axis=1)
    half = centres[0] / 2  # so that no difference of numbers overflows
    with np.errstate(over="ignore"):
        spread = (np.abs(centres / 2 - half) * unit).max() or (np.abs(half) * unit).max() or 1.0
        ends = np.array([rows.min(axis=0), rows.max(axis=0)])
        if (np.abs(ends / 2 - half) * unit).max() < spread * 2.0**FAR_DIGITS:
            return [slice(None)]
        away = (np.abs(rows / 2 - half) * unit).max(axis=1)
    beyond = np.where(np.isfinite(away), np.frexp(away)[1] - np.frexp(spread)[1], 2000)
    bucket = np.maximum(beyond // FAR_DIGITS, 0)
    return [np.flatnonzero(bucket == b) for b in np.unique(bucket)]


def placed_together(
    rows: Floats, centres: Floats, matrix: Floats | None, team: Team
) -> tuple[PlacedRows, Floats, int]:
    """Rows, and centres beside them, where distances are Euclidean, and divided by 2^power.

    With a matrix A those are distances of (x - c) A.
    """
    power = 0
    if matrix is not None:
        rows, centres, power = whitened_points(rows, centres, matrix)
    placed = PlacedRows.of(rows, np.ones(len(rows)), team, beside=centres)
    return placed, placed.place(centres), power


def whitened_points(rows: Floats, centres: Floats, matrix: Floats) -> tuple[Floats, Floats, int]:
    """(x - m) A / 2^power of rows and centres, m their first centre; no size overflows."""
    largest = np.maximum(np.abs(rows).max(axis=0), np.abs(centres).max(axis=0))
    powers = np.frexp(largest)[1] + 1
    power = int((np.frexp(np.abs(matrix).max(axis=1))[1] + powers).max())
    small = np.ldexp(matrix, (powers - power)[:, np.newaxis])
    middle = np.ldexp(centres[0], -powers)
    with one_blas_thread():
        turned = (np.ldexp(rows, -powers) - middle) @ small
        centres = (np.ldexp(centres, -powers) - middle) @ small
    return np.ascontiguousarray(turned), centres, power


def check_number_of_clusters(n_clusters: Any, n: int) -> int:
    """The number of clusters, at most one for each row."""
    if not is_whole(n_clusters, 1):
        raise ParameterError(f"n_clusters is {n_clusters!r}; give a whole number of 1 or more")
    if n_clusters > n:
        raise ParameterError(
            f"n_samples={n} should be >= n_clusters={n_clusters}: there are {n} row(s) of positive "
            "weight; give more rows or fewer clusters"
        )
    return int(n_clusters)
