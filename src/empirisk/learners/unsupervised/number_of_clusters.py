"""The choice of the number of clusters, by a measure of quality.

`number_of_clusters` fits the clusterers, asks one measure of `cluster_curves`, and keeps the whole
curve.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from empirisk.charts.number_of_clusters import draw_number_of_clusters
from empirisk.learners.unsupervised.cluster_curves import CURVES, Task
from empirisk.learners.unsupervised.placed_rows import inverse_power
from empirisk.risk.foreign import takes_weights
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import spawn
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


@dataclass(frozen=True, eq=False)
class NumberOfClusters:
    """A measure of quality along the number of clusters. Made by `number_of_clusters`.

    Attributes
    ----------
    by : str
        The measure.
    values : tuple of int
    score : array
        The measure at each value; NaN where it has none: of one cluster, of as many as rows, and of
        more clusters than its samples have rows.
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
        Its fit takes `sample_weight`.
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
    if not takes_weights(estimator):
        raise ParameterError(
            f"the fit of {type(estimator).__name__} takes no sample_weight: give a clusterer that "
            "does, and has inertia_, such as KMeans()"
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
