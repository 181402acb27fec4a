"""The choice of the number of clusters, by a measure of quality.

Each measure is a short function of the fitted clusterers and the rows; `number_of_clusters` fits
the clusterers, asks one measure, and keeps the whole curve.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from sklearn.base import clone

from empirisk.charts.number_of_clusters import draw_number_of_clusters
from empirisk.learners.unsupervised.agreement import adjusted_rand
from empirisk.learners.unsupervised.cluster_quality import cluster_quality
from empirisk.learners.unsupervised.placed_rows import inverse_power
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread, parallel
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.targets import check_weights

Measure = Literal[
    "silhouette", "calinski_harabasz", "davies_bouldin", "gap", "elbow", "stability", "held_out"
]
WHY = {
    "silhouette": "the largest mean silhouette",
    "calinski_harabasz": "the largest ratio of between to within",
    "davies_bouldin": "the least overlap of neighbouring clusters",
    "gap": "the first gap not more than a standard error below the next",
    "elbow": "the sharpest bend of W",
    "stability": "the best agreement between bootstrap samples",
    "held_out": "the least reconstruction risk of rows held out",
}
MODERATE = (1e-50, 1e50)  # sizes
FOLDS = 5


class Curve(NamedTuple):
    """A measure at each number of clusters, its standard error if it has one, and the choice."""

    score: Floats
    standard_error: Floats | None
    chosen: int


@dataclass(frozen=True, eq=False)
class NumberOfClusters:
    """A measure of quality along the number of clusters. Made by `number_of_clusters`.

    Attributes
    ----------
    by : str
        The measure.
    values : tuple of int
    score : array
        The measure at each value; NaN where it has none: of one cluster, and of more clusters than
        its samples have rows.
    standard_error : array or None
        Over reference samples or pairs of bootstrap samples.
    within : array
        W at each value.
    n_clusters : int
        The choice.
    best_estimator_ : the clusterer fitted with it
    """

    by: str
    values: tuple[int, ...]
    score: Floats
    standard_error: Floats | None
    within: Floats
    n_clusters: int
    best_estimator_: Any

    def __str__(self) -> str:
        return f"{self.n_clusters} clusters, by {self.by}: {WHY[self.by]}"

    def plot(self, ax: Any = None) -> Any:
        """The measure along the number of clusters, with the choice."""
        return draw_number_of_clusters(
            np.array(self.values), self.score, self.standard_error, self.by, self.n_clusters, ax=ax
        )


def number_of_clusters(
    estimator: Any,
    X: Any,
    values: Sequence[int] = range(1, 11),
    *,
    by: Measure = "silhouette",
    sample_weight: Any = None,
    n_samples: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NumberOfClusters:
    """Choose the number of clusters of `KMeans` or another clusterer.

    Parameters
    ----------
    estimator : clusterer with `n_clusters`, `labels_` and `inertia_`
    X : array-like of shape (n, p)
    values : sequence of int, increasing
        1 has no silhouette and no score by centroids; it is passed over by these.
    by : str
        "silhouette" (Rousseeuw 1987) and "calinski_harabasz" (1974) take the largest,
        "davies_bouldin" (1979) the least; "gap" (Tibshirani, Walther & Hastie 2001) compares log W
        with that of uniform rows in the box of the principal axes; "elbow" takes the largest
        curvature of W along the values, both scaled to 0..1; "stability" the best mean agreement,
        by the adjusted Rand index, of two clusterers that were fitted on bootstrap samples (Fang &
        Wang 2012); "held_out" the least mean squared distance of rows held out in five folds.
    sample_weight : array-like of shape (n,), optional
        Rows of weight 0 change nothing. A reference sample of "gap" and a bootstrap sample have as
        many rows as X, a row with its weight being one observation.
    n_samples : int
        Reference samples of "gap", pairs of bootstrap samples of "stability".
    random_state, n_jobs
        Samples are drawn from the one and shared out among the other.

    Examples
    --------
    >>> from empirisk import KMeans
    >>> rng, corners = np.random.default_rng(0), [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]
    >>> X = np.repeat(corners, 20, axis=0) + rng.normal(size=(60, 2))
    >>> print(number_of_clusters(KMeans(n_init=3), X, range(1, 6), by="gap", random_state=0))
    3 clusters, by gap: the first gap not more than a standard error below the next
    """
    wanted = _checked(estimator, values, by, n_samples)
    rows = numbers(X, "number_of_clusters")
    weight = check_weights(sample_weight, len(rows))
    fit_seed, draw_seed = spawn(random_state, 2)
    unit, counted = unit_of_squares(rows), weight > 0
    task = Task(
        estimator, rows[counted] * unit, weight[counted], wanted, n_samples, draw_seed, n_jobs
    )
    fitted = [task.fitted(value, task.X, task.weight, fit_seed) for value in wanted]
    within = np.array([model.inertia_ for model in fitted])
    curve = CURVES[by](task, fitted, within)
    score, error, best = curve.score, curve.standard_error, fitted[curve.chosen]
    if unit != 1 or not counted.all():
        best = task.fitted(wanted[curve.chosen], rows, weight, fit_seed)
    with np.errstate(over="ignore"):
        if by == "held_out":
            score, error = score / unit / unit, error / unit / unit
        within = within / unit / unit
    return NumberOfClusters(by, tuple(wanted), score, error, within, wanted[curve.chosen], best)


def _checked(estimator: Any, values: Any, by: Any, n_samples: Any) -> list[int]:
    """The values, where these arguments go together."""
    if by not in get_args(Measure):
        raise ParameterError(f"by is {by!r}; give one of {get_args(Measure)}")
    if by in ("gap", "elbow") and str(getattr(estimator, "covariance", None)) == "pooled":
        raise ParameterError(
            f"by is {by!r}; W by the pooled covariance is the same for every number of clusters: "
            "choose by another measure"
        )
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ParameterError(f"estimator is the class {name}; give an object of it, {name}()")
    if not (hasattr(estimator, "get_params") and "n_clusters" in estimator.get_params()):
        raise ParameterError(
            f"estimator is {estimator!r:.60}, which has no n_clusters: give a clusterer such as "
            "KMeans(); number_of_components is for mixtures"
        )
    if not is_whole(n_samples, 1):
        raise ParameterError(f"n_samples is {n_samples!r}; give a whole number of 1 or more")
    wanted = list(values) if isinstance(values, Iterable) else []
    if len(wanted) < 2 or not all(is_whole(K, 1) for K in wanted) or sorted(set(wanted)) != wanted:
        raise ParameterError(
            f"values are {values!r}; give two or more whole numbers >= 1, increasing, such as "
            "range(1, 11)"
        )
    return wanted


def unit_of_squares(rows: Floats) -> float:
    """1, or the power of two without which squares would overflow or vanish."""
    size = float(np.abs(rows).max())
    return 1.0 if MODERATE[0] < size < MODERATE[1] else inverse_power(size)


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
        score = np.full(len(task.values), np.nan)
        for place, (value, model) in enumerate(zip(task.values, fitted, strict=True)):
            if value > 1 and len(np.unique(model.labels_)) > 1:
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
        uniform = low + generator(draws).random(task.X.shape) * (high - low)
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
