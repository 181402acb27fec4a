"""k-means by Mahalanobis distance: |x - c|_M^2 = (x - c)' M^-1 (x - c).

With A A' = M^-1 that is the Euclidean distance of the rows xA, so Lloyd's algorithm runs on those.
M is given, or it is the pooled covariance of the rows about their centroids. Then labels, centroids
and M are found in turn, each given the others, which lowers

    n log det M + sum_i (x_i - c_{z_i})' M^-1 (x_i - c_{z_i}),

the likelihood of normal clusters of one shape, in each step; at the end it is det M that is least
(Friedman & Rubin 1967; Celeux & Govaert 1992). Nothing depends on the units of the features then.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from empirisk.learners.team import Team
from empirisk.learners.unsupervised.lloyd import Partition
from empirisk.learners.unsupervised.placed_rows import PlacedRows
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread

MOST_ROUNDS = 100
DEFICIENT = 1e-14  # of a pivot, relative to its variance: nothing but rounding is left


class Whitened(NamedTuple):
    """A partition of rows z A; A, None for the identity; and what starts are judged by."""

    partition: Partition
    placed: PlacedRows
    matrix: Floats | None
    cost: float


Run = Callable[[PlacedRows, Floats | None], Partition]
"""Lloyd's algorithm on rows, from centres, or from a start of its own."""


def given_metric(
    placed: PlacedRows, covariance: Any, centres: Floats | None, run: Run, team: Team
) -> Whitened:
    """k-means by the Mahalanobis distance of a given matrix, from centres z if there are any."""
    M = checked_covariance(covariance, placed.X.shape[1])
    powers = placed.powers[:, np.newaxis] + placed.powers
    try:
        matrix = whitening(np.ldexp(M, -powers) * placed.unit * placed.unit)
    except DataError:
        raise ParameterError(
            f"covariance is {M.tolist()!r:.60}, which is not positive definite; give that of "
            "features none of which depends on others"
        ) from None
    rows = whitened_rows(placed, matrix, team)
    partition = run(rows, None if centres is None else rows.place(centres @ matrix))
    return Whitened(partition, rows, matrix, partition.within / rows.unit / rows.unit)


def checked_covariance(covariance: Any, p: int) -> Floats:
    """A matrix that was given, if it is that of a distance of p features."""
    try:
        M = np.asarray(covariance, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"covariance is {covariance!r:.60}; give a symmetric matrix of numbers, of shape "
            f"{(p, p)}, 'pooled' or None"
        ) from None
    if M.shape != (p, p):
        raise ParameterError(
            f"covariance has shape {M.shape}; give a symmetric matrix of shape {(p, p)}, 'pooled' "
            "or None"
        )
    if not np.isfinite(M).all():
        raise ParameterError("covariance has cells that are NaN or infinite; give finite numbers")
    size = np.abs(M).max() or 1.0
    if not np.allclose(M / size, M.T / size):
        raise ParameterError(f"covariance is {M.tolist()!r:.60}; give a symmetric matrix")
    return M


def pooled_metric(placed: PlacedRows, centres: Floats | None, run: Run, team: Team) -> Whitened:
    """k-means by the pooled covariance within clusters, estimated again until labels settle.

    It starts from the covariance of all rows.
    """
    matrix = whitening(pooled_covariance(placed, np.zeros(len(placed.X), np.int32), 1, team))
    rows = whitened_rows(placed, matrix, team)
    partition = run(rows, None if centres is None else rows.place(centres @ matrix))
    for _ in range(MOST_ROUNDS):
        K, labels = len(partition.centres), partition.labels
        back = rows.put_back(partition.centres) @ np.linalg.inv(matrix)
        matrix = whitening(pooled_covariance(placed, labels, K, team))
        rows = whitened_rows(placed, matrix, team)
        n_iter = partition.n_iter
        partition = run(rows, rows.place(back @ matrix))
        partition = partition._replace(n_iter=n_iter + partition.n_iter)
        if np.array_equal(labels, partition.labels):
            break
    cost = -2.0 * float(np.log(np.abs(np.diagonal(matrix))).sum())
    return Whitened(partition, rows, matrix, cost)


def pooled_covariance(placed: PlacedRows, labels: Any, n_clusters: int, team: Team) -> Floats:
    """sum_i w_i (z_i - mean)(z_i - mean)' / sum_i w_i about the mean of each row's cluster."""
    means, _ = placed.means(labels, n_clusters, team)
    apart = placed.at(slice(None)) - means[labels]
    with one_blas_thread():
        return (apart * placed.weight[:, np.newaxis]).T @ apart / placed.mass


def whitening(covariance: Floats) -> Floats:
    """The matrix A, upper triangular, with A A' = M^-1."""
    root = np.sqrt(np.diagonal(covariance).clip(0))
    scale = np.where(root > 0, root, 1.0)
    try:
        factor = cholesky(covariance / scale / scale[:, np.newaxis], lower=True)
    except LinAlgError:
        factor = np.zeros_like(covariance)
    if not (np.diagonal(factor) ** 2 > DEFICIENT).all():
        raise DataError(
            "the covariance of the Mahalanobis distance is not positive definite: features depend "
            "on one another, within clusters or altogether; leave some out, or give a covariance"
        )
    inverse = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return np.ascontiguousarray((inverse / scale).T)


def whitened_rows(placed: PlacedRows, matrix: Floats, team: Team) -> PlacedRows:
    """The rows z A, placed anew."""
    with one_blas_thread():
        rows = placed.at(slice(None)) @ matrix
    whitened = PlacedRows.of(np.ascontiguousarray(rows), placed.weight, team)
    return replace(whitened, heaviest=placed.heaviest)
