"""k-means: the encoder is the nearest of K points, the decoder these points."""

import sys
from collections.abc import Sequence
from typing import Any, Literal, Self, get_args
from warnings import warn

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.learners.team import Team
from empirisk.learners.unsupervised import seeding
from empirisk.learners.unsupervised.best_of_starts import best_partition
from empirisk.learners.unsupervised.clusters import Clusters, check_number_of_clusters
from empirisk.learners.unsupervised.encoder_decoder import EncoderDecoderMixin
from empirisk.learners.unsupervised.lloyd import Assignment, Criterion, Partition, Stopping
from empirisk.learners.unsupervised.mahalanobis import Whitened, given_metric, pooled_metric
from empirisk.learners.unsupervised.placed_rows import PlacedRows, team_for
from empirisk.learners.unsupervised.seeding import STARTS
from empirisk.learners.unsupervised.trajectory import Trajectory
from empirisk.risk.axis import Output
from empirisk.risk.without_labels import FittedPath
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ConvergenceWarning, DataError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.scalars import check_parameters, is_flag, is_number, is_whole
from empirisk.runtime.streams import generator, seed32, spawn
from empirisk.runtime.validation import check_rows


class KMeans(Clusters):
    """K centroids and a partition of the rows: minimise W = sum_i w_i |x_i - c_{z_i}|^2 over labels
    z_i in 0..K-1 and points c_k.

    That is empirical risk minimisation over pairs of an encoder e(x) = z, any map to K labels, and
    a decoder g(z) = c_z: the best encoder for given points takes the nearest one, and W/n is the
    mean squared distance of rows from their reconstructions. Lloyd's algorithm minimises over
    labels and over centroids in turn, down to a local minimum; of `n_init` starts the one with the
    least W is kept. Rows that no centre can have passed since they were looked at last are not
    looked at again, which changes no label (Hamerly 2010).

    Complexity axis: `n_clusters`; `Tuned(KMeans())` chooses it by the reconstruction of rows held
    out, and `number_of_clusters` by measures of the quality of clusters.

    Parameters
    ----------
    n_clusters : int
    init : {"k-means++", "random", "random_partition"}, array or callable
        Where to start: rows spread out by greedy k-means++ with exchanges (see `seeding`), rows
        drawn at random, the means of a random partition, the centres given, of shape (n_clusters,
        n_features), or those that init(X, n_clusters, random_state) returns.
    n_init : "auto" or int
        How many starts; "auto" is 1 for k-means++, 10 otherwise; given centres are one start. The
        ends of several are varied, with some further starts, and the best is followed to stability,
        whatever `criterion` says, and until no single row can be moved to another cluster and lower
        W: still a local minimum, mostly a better one (see `best_of_starts`); not so for Mahalanobis
        distances.
    max_iter : int
        Iterations at most, of each run of Lloyd's algorithm.
    tol : float
        See `criterion`.
    verbose : int
        Above 0, a line on stderr for each start.
    random_state : None, int, RandomState or Generator
    copy_x : bool
        As in scikit-learn, where False lets it write into X. X is never changed here.
    algorithm : {"lloyd", "elkan"}
        As in scikit-learn, where one of the two is faster. Both are the same iterations, and here
        the same code.
    criterion : {"movement", "stability", "unchanged"}
        When to stop. Always when no row changes its cluster, "stability". "movement", as in
        scikit-learn, also when the squared moves of the centres sum to at most tol times the mean
        variance of the features; "unchanged" also when at most a share tol of the rows changes.
    covariance : None, "pooled" or array of shape (n_features, n_features)
        Distances are Euclidean, or Mahalanobis distances (x - c)' M^-1 (x - c) with M given or
        estimated together with the clusters as the pooled covariance within them.
    keep_steps : bool
        Whether `trajectory_` keeps the centres of each iteration, for pictures.
    n_jobs : int or None
        Threads: starts are shared out, or the rows of a single start. No bit depends on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n,)
        Of the training rows, those of weight 0 included; a model file does not keep it.
    inertia_ : float
        W.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether it stopped by `criterion`.
    trajectory_ : Trajectory
        W after each step of Lloyd's algorithm; `trajectory_.plot()`, `trajectory_.plot_steps(X)`.
        With covariance="pooled", of the run with the last covariance. Of several starts it begins
        at the trial that led to the best.
    whitening_ : array of shape (n_features, n_features) or None
        A with |x - c|_M = |(x - c) A|; None for Euclidean distances.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A cluster that loses all its rows is put on the row that is furthest from its centre, the first
    of such; that row joins it in the next iteration. A row of weight w counts as w copies of it,
    and rows are drawn as these would be. Rows are centred, and scaled by a power of two, so that
    neither an offset of 1e9 nor a unit of 1e200 is felt; `inertia_` may then be infinite. What is
    found of float32 is float64, other than in scikit-learn.

    References
    ----------
    S. Lloyd (1982), Least squares quantization in PCM.
    D. Arthur and S. Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    J. Hartigan (1975), Clustering algorithms.
    G. Hamerly (2010), Making k-means even faster.
    P. Fränti (2018), Efficiency of random swap clustering.
    D. Gribel and T. Vidal (2019), HG-means: a scalable hybrid genetic algorithm for minimum
    sum-of-squares clustering.
    S. Lattanzi and C. Sohler (2019), A better k-means++ algorithm via local search.

    Examples
    --------
    >>> X = [[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]]
    >>> kmeans = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> sorted(kmeans.cluster_centers_.tolist()), kmeans.inertia_
    ([[1.0, 2.0], [10.0, 2.0]], 16.0)
    >>> kmeans.reconstruct([[0.0, 0.0], [12.0, 3.0]])
    array([[ 1.,  2.],
           [10.,  2.]])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: Literal["lloyd", "elkan"] = "lloyd",
        criterion: Criterion = "movement",
        covariance: Any = None,
        keep_steps: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.criterion = criterion
        self.covariance = covariance
        self.keep_steps = keep_steps
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find centroids and labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to encode.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        rows, weight = check_rows(self, X, sample_weight)
        self._check_parameters()
        check_number_of_clusters(self.n_clusters, len(rows))
        self._fit_placed(self._placed(rows, weight))
        if len(self.labels_) < _num_samples(X):
            self.labels_ = self.encode(X)  # rows of weight 0 as well
        return self

    def losses_of_rows(self, X: Any, output: Output = "reconstruction") -> Floats:
        """|x - g(e(x))|^2 of each row, by the Mahalanobis distance if its matrix was given.

        The pooled covariance is another unit in each fit, in which losses cannot be compared.
        """
        check_is_fitted(self)
        if self._pooled:
            return EncoderDecoderMixin.losses_of_rows(self, X, output)
        return super().losses_of_rows(X, output)

    def fit_path(
        self, X: Floats, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> FittedPath:
        """A fit for each number of clusters, of rows that are centred and scaled once.

        There is no shorter way that is exact: the minima of neighbouring numbers of clusters are
        not nested, and a start from one of them is another start than the one asked for.
        """
        self._check_parameters()
        placed = self._placed(X, sample_weight)
        pairs = []
        for value in values:
            check_number_of_clusters(value, len(X))
            pairs.append(clone(self).set_params(n_clusters=value)._fit_placed(placed))
        return FittedPath(pairs)

    def _placed(self, X: Floats, weight: Floats) -> PlacedRows:
        by_column = self.covariance is not None  # nothing depends on the units of columns then
        return PlacedRows.of(X, weight, team_for(X, self.n_jobs), by_column=by_column)

    def _fit_placed(self, placed: PlacedRows) -> Self:
        """The best of all starts."""
        seeds = spawn(self.random_state, self._number_of_starts())
        if len(seeds) > 1 and self.covariance is None:
            partition = best_partition(
                placed, self.n_clusters, lambda seed: self._drawn_centres(placed, seed), seeds,
                self.max_iter, n_jobs=self.n_jobs, keep=self.keep_steps, tell=self._tell,
            )  # fmt: skip
            best = Whitened(partition, placed, None, partition.within)
        else:
            ends = parallel(lambda seed: self._end(placed, seed), seeds, n_jobs=self.n_jobs)
            self._tell([end.partition.n_iter for end in ends])
            best = min(ends, key=lambda end: end.cost)
        self._take(best, placed)
        distinct = len(np.unique(self.labels_))
        if distinct < self.n_clusters:
            warn(
                f"{distinct} of n_clusters={self.n_clusters} clusters have rows: there are no more "
                "different rows; give fewer clusters",
                ConvergenceWarning,
            )
        return self

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file are centroids and their metric."""
        super().check_loaded()
        if hasattr(self, "cluster_centers_") and type(self._pooled) is not bool:
            raise DataError("_pooled is neither True nor False")

    def _end(self, placed: PlacedRows, seed: int) -> Whitened:
        """Where the algorithm ends from one start."""
        team = team_for(placed.X, self.n_jobs)

        def run(rows: PlacedRows, centres: Floats | None) -> Partition:
            if centres is None:
                centres = seeding.start(self.init, rows, self.n_clusters, generator(seed), team)
            state = Assignment(rows, centres, team)
            return state.iterate(self._stopping(rows), keep=self.keep_steps).settled()

        centres = self._given_centres(placed, seed)
        if self.covariance is None:
            partition = run(placed, centres)
            return Whitened(partition, placed, None, partition.within)
        if isinstance(self.covariance, str):
            return pooled_metric(placed, centres, run, team)
        return given_metric(placed, self.covariance, centres, run, team)

    def _tell(self, iterations: Sequence[int]) -> None:
        for number, n_iter in enumerate(iterations if self.verbose else [], start=1):
            print(f"KMeans, start {number}: {n_iter} iterations", file=sys.stderr)

    def _stopping(self, rows: PlacedRows) -> Stopping:
        unit = rows.scatter.mean() / rows.mass if self.criterion == "movement" else 1.0
        return Stopping(self.criterion, self.tol * unit, self.max_iter)

    def _drawn_centres(self, placed: PlacedRows, seed: int) -> Floats:
        """One of several starts, which exchanges would make too much alike."""
        centres = self._given_centres(placed, seed)
        if centres is None:
            centres = seeding.start(
                self.init, placed, self.n_clusters, generator(seed), Team(1), exchanges=False
            )
        return centres

    def _given_centres(self, placed: PlacedRows, seed: int) -> Floats | None:
        """What `init` is or returns, placed like the rows; None if it is the name of a rule."""
        init = self.init
        if isinstance(init, str):
            return None
        if callable(init):
            rows, state = np.ldexp(placed.X, placed.powers), np.random.RandomState(seed32(seed))
            init = init(rows, self.n_clusters, random_state=state)
        return seeding.given(init, placed, self.n_clusters)

    def _number_of_starts(self) -> int:
        if not isinstance(self.init, str) and not callable(self.init):
            return 1
        if self.n_init == "auto":
            return 1 if self.init == "k-means++" else 10
        return int(self.n_init)

    def _take(self, end: Whitened, placed: PlacedRows) -> None:
        """Become what was found."""
        partition, rows, matrix = end.partition, end.placed, end.matrix

        def put_back(centres: Floats) -> Floats:
            if matrix is None:
                return placed.put_back(centres)
            return placed.put_back(rows.put_back(centres) @ np.linalg.inv(matrix))

        self.cluster_centers_ = put_back(partition.centres)
        self.labels_ = partition.labels
        self.n_iter_, self.converged_ = partition.n_iter, partition.converged
        self.n_features_in_ = placed.X.shape[1]
        self._pooled = isinstance(self.covariance, str)
        self.whitening_ = (
            None
            if matrix is None
            else np.ldexp(matrix * placed.unit, -placed.powers[:, np.newaxis])
        )
        self.inertia_ = float(rows.in_squared_units(partition.within))
        kept = np.array([put_back(centres) for centres in partition.kept])
        self.trajectory_ = Trajectory.of(
            partition.steps, rows, kept if self.keep_steps else None, self.whitening_
        )

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_init=(self.n_init == "auto" or is_whole(self.n_init, 1), "'auto' or 1 or more"),
            max_iter=(is_whole(self.max_iter, 1), "a whole number of 1 or more"),
            tol=(is_number(self.tol) and self.tol >= 0, "a number >= 0"),
            algorithm=(self.algorithm in ("lloyd", "elkan"), "'lloyd' or 'elkan'"),
            criterion=(self.criterion in get_args(Criterion), f"one of {get_args(Criterion)}"),
            init=(not isinstance(self.init, str) or self.init in STARTS, f"one of {STARTS}"),
            keep_steps=(is_flag(self.keep_steps), "True or False"),
            covariance=(
                not isinstance(self.covariance, str) or self.covariance == "pooled",
                "None, 'pooled' or a matrix",
            ),
        )
