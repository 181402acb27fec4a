"""Stochastic k-means: rows come one by one and pull their nearest centre."""

from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import clone

from empirisk.compiled.clustering.stochastic import CONSTANT, COUNT, DECAYING, pull_centres
from empirisk.learners.soundness import check_numbers
from empirisk.learners.unsupervised import seeding
from empirisk.learners.unsupervised.clusters import Clusters, check_number_of_clusters
from empirisk.learners.unsupervised.placed_rows import PlacedRows, inverse_power, team_for
from empirisk.learners.unsupervised.seeding import STARTS
from empirisk.risk.without_labels import FittedPath
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import check_parameters, is_number, is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_predict, check_rows

Step = Literal["count", "constant", "decaying"]
STEPS = {"count": COUNT, "constant": CONSTANT, "decaying": DECAYING}
SEEN_AT_START = 50  # rows for each cluster, among which the start is looked for
AT_LEAST = 2000


class StochasticKMeans(Clusters):
    """k-means by stochastic gradient: at step t a row x is drawn and its nearest centroid c_k moves
    to c_k + alpha_t (x - c_k).

    The gradient of |x - c_k|^2 is -2 (x - c_k), so this is stochastic descent on the risk
    E min_k |x - c_k|^2, of which W/n of `KMeans` is the empirical version. With alpha_t = 1/n_k,
    where n_k counts the rows that centroid k has received, each centroid is the mean of these
    (MacQueen 1967). Constant steps never settle, but follow rows whose distribution changes; steps
    that decay as t^-power, 1/2 < power <= 1, settle (Robbins & Monro 1951).

    A fit takes the rows `max_iter` times, each time in a new random order; `partial_fit` takes the
    rows it is given once, in their order, and goes on from where it was.

    Complexity axis: `n_clusters`.

    Parameters
    ----------
    n_clusters : int
    init : {"k-means++", "random", "random_partition"} or array
        As for `KMeans`; it is found among at most max(2000, 50 * n_clusters) rows drawn at random.
    max_iter : int
        Passes over the rows.
    step : {"count", "constant", "decaying"}
        alpha_t: 1/n_k; step_size; or step_size / (1 + t)^power for t = 0, 1, ...
    step_size : float or None
        Between 0 and 1; None is 0.05 for constant steps and 1 for steps that decay.
    power : float
    random_state : None, int, RandomState or Generator
    n_jobs : int or None
        Threads for the start and for labels; steps follow one another.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n,)
        Of the rows of the last call; a model file does not keep it.
    inertia_ : float
        W of the rows of the last call.
    counts_ : array of shape (n_clusters,)
        The weight of the rows that each centroid has received.
    n_steps_ : float
        The weight of all rows that have been taken.
    n_iter_ : int
        Passes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A row of weight w makes the move of w copies of it one after the other; with steps that decay,
    all of them at the step size of the first.

    References
    ----------
    J. MacQueen (1967), Some methods for classification and analysis of multivariate observations.
    L. Bottou and Y. Bengio (1995), Convergence properties of the k-means algorithms.

    Examples
    --------
    >>> X = [[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]]
    >>> stream = StochasticKMeans(n_clusters=2, init=[[0.0, 0.0], [9.0, 0.0]])
    >>> stream.partial_fit(X[:3]).partial_fit(X[3:]).cluster_centers_
    array([[ 1.,  2.],
           [10.,  2.]])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 5,
        step: Step = "count",
        step_size: float | None = None,
        power: float = 0.75,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.step = step
        self.step_size = step_size
        self.power = power
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find centroids in `max_iter` passes over the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to encode.
        y : ignored
        sample_weight : array-like of shape (n,), optional
        """
        rows, weight = check_rows(self, X, sample_weight)
        self._fit_rows(rows, weight)
        return self._judge(X, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take these rows once, in their order; the first call starts from them."""
        if not hasattr(self, "cluster_centers_"):
            rows, weight = check_rows(self, X, sample_weight)
            start, _ = spawn(self.random_state, 2)
            self._begin(rows, weight, start)
        else:
            rows = check_predict(self, X)
            weight = check_weights(sample_weight, len(rows))
            self._check_parameters()
            self._check_same_number()
        self._pull(rows, weight, np.flatnonzero(weight))
        self.n_iter_ += 1
        return self._judge(X, sample_weight)

    def fit_path(
        self, X: Floats, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> FittedPath:
        """A fit for each number of clusters; there is no shorter way to the same."""
        pairs = [clone(self).set_params(n_clusters=value) for value in values]
        return FittedPath([pair._fit_rows(X, sample_weight) for pair in pairs])

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file can be gone on from."""
        super().check_loaded()
        if hasattr(self, "cluster_centers_"):
            counts, steps = getattr(self, "counts_", None), getattr(self, "n_steps_", None)
            check_numbers("counts_", counts, (len(self.cluster_centers_),))
            if steps is None or not is_number(steps) or steps < 0 or (self.counts_ < 0).any():
                raise DataError("n_steps_ and counts_ are not numbers >= 0")

    def _fit_rows(self, rows: Floats, weight: Floats) -> Self:
        start, shuffle = spawn(self.random_state, 2)
        self._begin(rows, weight, start)
        rng = generator(shuffle)
        for _ in range(self.max_iter):
            self._pull(rows, weight, rng.permutation(len(rows)))
            self.n_iter_ += 1
        return self

    def _begin(self, rows: Floats, weight: Floats, seed: int) -> None:
        """Find a start among some of the rows."""
        self._check_parameters()
        K = check_number_of_clusters(self.n_clusters, len(rows))
        rng, team = generator(seed), team_for(rows, self.n_jobs)
        seen = max(AT_LEAST, SEEN_AT_START * K)
        if len(rows) > seen:
            some = np.sort(rng.choice(len(rows), seen, replace=False))
            rows, weight = rows[some], weight[some]
        placed = PlacedRows.of(np.ascontiguousarray(rows), weight, team)
        if isinstance(self.init, str):
            centres = seeding.start(self.init, placed, K, rng, team)
        else:
            centres = seeding.given(self.init, placed, K)
        self.n_features_in_ = rows.shape[1]
        self.cluster_centers_ = placed.put_back(centres)
        self.counts_, self.n_steps_, self.n_iter_ = np.zeros(K), 0.0, 0

    def _check_same_number(self) -> None:
        K = len(self.cluster_centers_)
        if self.n_clusters != K:
            raise ParameterError(
                f"n_clusters is {self.n_clusters!r}, and there are {K} centroids to go on from: "
                "leave it as it was, or call fit to begin anew"
            )

    def _pull(self, rows: Floats, weight: Floats, order: Any) -> None:
        """Take these rows, in the units and about the middle of them and the centres."""
        centres = self.cluster_centers_
        unit = inverse_power(max(np.abs(rows).max(), np.abs(centres).max()))
        shift = (centres * unit).mean(axis=0)
        columns = np.ascontiguousarray((centres * unit - shift).T)
        steps = np.array([self.n_steps_])
        pull_centres(
            np.ascontiguousarray(rows), unit, shift, weight, order.astype(np.int64),
            STEPS[self.step], self._first_step(), float(self.power), columns, self.counts_, steps,
        )  # fmt: skip
        self.n_steps_ = float(steps[0])
        self.cluster_centers_ = np.ascontiguousarray((columns.T + shift) / unit)

    def _first_step(self) -> float:
        if self.step_size is None:
            return 0.05 if self.step == "constant" else 1.0
        return float(self.step_size)

    def _judge(self, X: Any, sample_weight: Any) -> Self:
        self.labels_ = self.encode(X)
        self.inertia_ = -self.score(X, sample_weight=sample_weight)
        return self

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            max_iter=(is_whole(self.max_iter, 1), "a whole number of 1 or more"),
            step=(self.step in get_args(Step), f"one of {get_args(Step)}"),
            step_size=(
                self.step_size is None or (is_number(self.step_size) and 0 < self.step_size <= 1),
                "a number above 0 and at most 1, or None",
            ),
            power=(is_number(self.power) and self.power >= 0, "a number >= 0"),
            init=(
                self.init in STARTS if isinstance(self.init, str) else not callable(self.init),
                f"one of {STARTS}, or an array of centres",
            ),
        )
