"""Measures of quality along the number of clusters, each a short function of what was fitted."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from empirisk.learners.unsupervised.agreement import adjusted_rand
from empirisk.learners.unsupervised.cluster_quality import cluster_quality
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread, parallel
from empirisk.runtime.streams import generator, spawn

FOLDS = 5


class Curve(NamedTuple):
    """A measure at each number of clusters, its standard error if it has one, and the choice."""

    score: Floats
    standard_error: Floats | None
    chosen: int


class Task(NamedTuple):
    """What every measure is given: rows of weight 0 have left, and squares do not overflow."""

    estimator: Any
    X: Floats
    weight: Floats
    values: list[int]
    n_samples: int
    seed: int
    n_jobs: int | None

    def fitted(self, n_clusters: int, X: Floats, weight: Floats, seed: int) -> Any:
        """A clusterer, seeded unless it has a seed of its own."""
        model = clone(self.estimator).set_params(n_clusters=n_clusters)
        if "random_state" in model.get_params() and model.random_state is None:
            model.set_params(random_state=seed % 2**32)
        return model.fit(X, sample_weight=weight)


def by_index(name: str, sign: float) -> Any:
    """The curve of a measure of `cluster_quality`; the best has the largest sign * score."""

    def curve(task: Task, fitted: list[Any], within: Floats) -> Curve:
        score, n = np.full(len(task.values), np.nan), task.weight.sum()
        for place, model in enumerate(fitted):
            K = len(np.unique(model.labels_))
            if K > 1 and n != K:  # clusters of one row each are perfect, and say nothing
                quality = cluster_quality(
                    task.X, model.labels_, sample_weight=task.weight, n_jobs=task.n_jobs
                )
                score[place] = getattr(quality, name)
        return Curve(score, None, _best(sign * score))

    return curve


def gap_curve(task: Task, fitted: list[Any], within: Floats) -> Curve:
    """log W of uniform rows minus log W; the first value within a standard error of the next."""
    low, high, axes = principal_box(task.X, task.weight)

    def reference(seed: int) -> Floats:
        draws, fits = spawn(seed, 2)
        uniform = low + generator(draws).random((len(task.X), len(low))) * (high - low)
        with one_blas_thread():
            rows = np.ascontiguousarray(uniform @ axes)
        return np.array(
            [task.fitted(value, rows, task.weight, fits).inertia_ for value in task.values]
        )

    drawn = np.array(parallel(reference, spawn(task.seed, task.n_samples), n_jobs=task.n_jobs))
    with np.errstate(divide="ignore", invalid="ignore"):  # as many clusters as different rows
        gap = np.log(drawn).mean(axis=0) - np.log(within)
        error = np.log(drawn).std(axis=0) * np.sqrt(1 + 1 / task.n_samples)
    enough = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return Curve(gap, error, int(enough[0]) if len(enough) else _best(gap))


def principal_box(X: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """The box about the rows along their principal axes; box @ axes are rows again."""
    rows = X / max(np.abs(X).max(), 1e-300)
    centred = rows - weight @ rows / weight.sum()
    with one_blas_thread():
        axes = np.linalg.svd(centred * np.sqrt(weight / weight.max())[:, np.newaxis], False)[2]
        along = X @ axes.T
    return along.min(axis=0), along.max(axis=0), axes


def elbow_curve(task: Task, fitted: list[Any], within: Floats) -> Curve:
    """The curvature of W, the first and the last value of which have none."""
    score = curvature(np.array(task.values, dtype=float), within)
    return Curve(score, None, _best(score))


def curvature(x: Floats, y: Floats) -> Floats:
    """y'' / (1 + y'^2)^(3/2) by differences of neighbours, both axes scaled to 0..1.

    The first and the last value have none.

    Examples
    --------
    >>> curvature(np.arange(5.0), np.array([8.0, 4.0, 0.0, 0.0, 0.0])).round(2)
    array([ nan, 0.  , 2.83, 0.  ,  nan])
    """
    out = np.full(len(x), np.nan)
    if len(x) < 3:
        return out
    x = (x - x[0]) / (x[-1] - x[0])
    span = y.max() - y.min()
    y = (y - y.min()) / (span if span > 0 else 1.0)
    slope = np.diff(y) / np.diff(x)
    middle = (slope[1:] + slope[:-1]) / 2
    second = np.diff(slope) / ((x[2:] - x[:-2]) / 2)
    out[1:-1] = second / (1 + middle**2) ** 1.5
    return out


def stability_curve(task: Task, fitted: list[Any], within: Floats) -> Curve:
    """The mean adjusted Rand index of all rows' labels by two models of bootstrap samples."""

    def agreement(seed: int) -> Floats:
        one, other, fits = spawn(seed, 3)
        counts = [bootstrap_counts(task.weight, generator(draw)) for draw in (one, other)]
        found = np.full(len(task.values), np.nan)
        for place, value in enumerate(task.values):
            if 1 < value <= min(map(np.count_nonzero, counts)):
                labels = [task.fitted(value, task.X, w, fits).predict(task.X) for w in counts]
                found[place] = adjusted_rand(*labels, sample_weight=task.weight)
        return found

    drawn = np.array(parallel(agreement, spawn(task.seed, task.n_samples), n_jobs=task.n_jobs))
    mean, deviation = drawn.mean(axis=0), drawn.std(axis=0, ddof=1) if len(drawn) > 1 else None
    error = None if deviation is None else deviation / np.sqrt(len(drawn))
    return Curve(mean, error, _best(mean))


def bootstrap_counts(weight: Floats, rng: np.random.Generator) -> Floats:
    """A bootstrap sample of rows, as their weights times how often they were drawn."""
    return weight * rng.multinomial(len(weight), np.full(len(weight), 1 / len(weight)))


def held_out_curve(task: Task, fitted: list[Any], within: Floats) -> Curve:
    """The reconstruction risk along the axis, from five folds."""
    if not hasattr(task.estimator, "reconstruction_path"):
        raise ParameterError("by='held_out' needs an encoder and decoder, such as KMeans")
    n_train = len(task.X) - -(-len(task.X) // FOLDS)
    values = [value for value in task.values if value <= n_train]
    score, error = np.full((2, len(task.values)), np.nan)
    if values:
        path = task.estimator.reconstruction_path(
            task.X, values, cv=FOLDS, sample_weight=task.weight, n_jobs=task.n_jobs,
            random_state=task.seed,
        )  # fmt: skip
        score[: len(values)], error[: len(values)] = path.risk, path.standard_error
    return Curve(score, error, _best(-score))


CURVES: dict[str, Any] = {
    "silhouette": by_index("silhouette", 1.0),
    "calinski_harabasz": by_index("calinski_harabasz", 1.0),
    "davies_bouldin": by_index("davies_bouldin", -1.0),
    "gap": gap_curve,
    "elbow": elbow_curve,
    "stability": stability_curve,
    "held_out": held_out_curve,
}


def _best(score: Floats) -> int:
    if np.isnan(score).all():
        raise DataError("the measure has no value at any of these numbers of clusters; give more")
    return int(np.nanargmax(score))
