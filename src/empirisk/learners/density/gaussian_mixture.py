"""Mixtures of Gaussians, fitted by EM."""

import sys
from typing import Any, ClassVar, Literal, Self
from warnings import warn

from sklearn.utils import Tags

from empirisk.learners.density.covariance_structures import STRUCTURES, CovarianceFloor
from empirisk.learners.density.fitted_gaussians import FittedGaussians
from empirisk.learners.density.gaussian_model import GaussianParameters
from empirisk.learners.density.gaussian_starts import (
    PreparedRows,
    given_parameters,
)
from empirisk.learners.density.mixture import (
    check_number_of_components,
    observed_rows,
)
from empirisk.learners.density.mixture_soundness import check_gaussian_mixture
from empirisk.learners.density.mixture_starts import STARTS
from empirisk.learners.density.scouting import best_of_starts, drawn_scouts, model_of
from empirisk.learners.density.tiled_rows import Place, TiledRows
from empirisk.learners.team import Team
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.errors import RankWarning
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import check_parameters, is_number
from empirisk.runtime.streams import spawn
from empirisk.solvers.em import Ascent, em

AUTO_STARTS, AUTO_STARTS_ALONG_A_LINE = 20, 40


class GaussianMixture(FittedGaussians):
    """A mixture of Gaussians, f(x) = sum_k a_k N(x; m_k, S_k): maximise sum_i w_i log f(x_i).

    The number k of a row's component is its hidden part. EM takes in turn its posterior
    probabilities r_ik = a_k N(x_i; m_k, S_k) / f(x_i), and the weights, means and covariances of
    rows that are shared out by them; the likelihood never falls, and ends at a local maximum. Of
    several starts the one with the largest likelihood is kept. Of a row with missing values (NaN)
    the observed ones are used: in the E-step the others have their conditional moments, so that
    what is maximised is the likelihood of what was observed.

    Complexity axis: `n_components`; `Tuned(GaussianMixture())` chooses it by the likelihood of
    rows held out, `number_of_components` by BIC, ICL or AIC.

    Parameters
    ----------
    n_components : int
        At most one for each different row; scikit-learn goes on, with components that coincide.
    covariance_type : {"full", "tied", "diag", "spherical", "sieve"}
        Each component its own covariance matrix; one matrix for all; independent features; one
        variance for each component; and the sieve of Grenander, one variance for all components,
        whose weights are equal.
    tol : float
        EM stops where a step gains less than this for each row. scikit-learn's 1e-3 stops far
        from the maximum.
    reg_covar : float
        No covariance is less than this share of the covariance of all rows. scikit-learn adds
        the number to the variances, which swamps data of a small scale and does nothing for those
        of a large one; here it has no unit, and it changes nothing where no component collapses.
        0 means 1e-12.
    max_iter : int
        Steps at most.
    n_init : "auto" or int
        How many starts; "auto" is 20, 40 for a single feature, where components close around
        equal values most easily, and 1 where the start is not drawn. Of more than 20,000 rows (or
        200 for each component and feature, if that is more) half as many are drawn to try all
        starts on; the best five ends, as far as they differ, are followed on all rows for some
        steps, and the best three of these to their end.
    init_params : {"auto", "kmeans", "k-means++", "random_from_data", "random", "hierarchical"}
        Rows are dealt to components by k-means; by the nearest of rows that k-means++ or chance
        draws; by random probabilities; by Ward's hierarchy, which draws nothing up to 2000 rows.
        Features are brought to one variance before, unless components are spheres. "auto" takes
        these five in turn, the second time equal groups along the first principal component in
        place of the hierarchy; then ten more starts, of rows without correlations (for spheres, of
        one variance), as each way of telling what is near hides some maxima from the others.
    weights_init, means_init, precisions_init : arrays, optional
        Parameters to start from, as in scikit-learn; without precisions, rows are dealt to the
        nearest mean.
    random_state : None, int, RandomState or Generator
    warm_start : bool
        Start where the last `fit` ended; it has converged where the first step gains less than
        `tol` on the last one of that fit.
    verbose : int
        Above 0, a line on stderr for each fit.
    verbose_interval : int
        As in scikit-learn; not used.
    keep_steps : bool
        Whether `trajectory_` keeps the parameters of each step, for pictures.
    n_jobs : int or None
        Threads: starts are shared out, or the rows of a single start. No bit depends on it.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
    covariances_, precisions_, precisions_cholesky_ : arrays
        In scikit-learn's form: (n_components, n_features, n_features) if full, (n_features,
        n_features) if tied, (n_components, n_features) if diagonal, (n_components,) if spherical;
        (1,) for the sieve.
    converged_ : bool
    n_iter_ : int
        Steps from the best start.
    lower_bound_ : float
        The mean log-likelihood of a row at the last E-step; `lower_bounds_` at each.
    trajectory_ : EMTrajectory
        `trajectory_.plot()`, and `trajectory_.plot_steps(X)` with `keep_steps`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A start that ends with a component held up by the floor goes behind all that do not: its
    likelihood grows without bound as the component closes around a few rows, and says nothing.
    Who writes `weights_`, `means_` and `covariances_`, fitted or not, has the density of those.

    References
    ----------
    A. Dempster, N. Laird and D. Rubin (1977), Maximum likelihood from incomplete data via EM.
    S. Ingrassia (2004), A likelihood-based constrained algorithm for multivariate normal mixtures.
    C. Biernacki, G. Celeux and G. Govaert (2003), Choosing starting values for the EM algorithm.
    R. Little and D. Rubin (2002), Statistical analysis with missing data, section 11.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(1.0, 1.0, (300, 1)), rng.normal(6.0, 0.5, (100, 1))])
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> order = mixture.means_[:, 0].argsort()
    >>> mixture.weights_[order].round(2), mixture.means_[order, 0].round(1)
    (array([0.75, 0.25]), array([1., 6.]))
    >>> mixture.predict_proba([[3.0], [5.0]])[:, order].round(2)
    array([[1.  , 0.  ],
           [0.01, 0.99]])
    """

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical", "sieve"] = "full",
        tol: float = 1e-6,
        reg_covar: float = 1e-6,
        max_iter: int = 1000,
        n_init: int | Literal["auto"] = "auto",
        init_params: str = "auto",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        keep_steps: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.keep_steps = keep_steps
        self.n_jobs = n_jobs

    def _prepared(self, X: Floats, weight: Floats) -> PreparedRows:
        """Centre, scale and tile, once for all numbers of components and starts."""
        structure, names = self._structure(), column_names(X)
        X, weight = observed_rows(X, weight)
        weight = weight / weight.max()
        place = Place.of(X, weight, common=structure.common_unit, names=names)
        tiled = TiledRows.of(X, place, Team(self.n_jobs))
        with one_blas_thread():
            floor = CovarianceFloor.of(
                self.reg_covar, tiled.covariance(weight), diagonal=structure.diagonal
            )
        return PreparedRows(X, weight, tiled, floor)

    def _fit_rows(self, rows: PreparedRows) -> Self:
        """The best of all starts."""
        check_number_of_components(self.n_components, rows.X)
        with one_blas_thread():
            found = self._ascent(rows)
        if self.verbose:
            print(f"GaussianMixture: {found}", file=sys.stderr)
        self._take(found, rows)
        return self

    def _ascent(self, rows: PreparedRows) -> Ascent[GaussianParameters]:
        """EM from the start that was given, or from those that are drawn."""
        limits: dict[str, Any] = {
            "tol": self.tol,
            "max_iter": self.max_iter,
            "keep_steps": self.keep_steps,
        }
        model, K = model_of(rows, self._structure()), int(self.n_components)
        last = self._last_end(rows, model) if self.warm_start else None
        if last is not None:
            return em(model, last, since=self.lower_bound_ - self._log_volume(rows), **limits)
        given = given_parameters(
            self, rows.tiled.place, rows.tiled.whole(rows.X), rows.weight, model
        )
        if given is not None:
            return em(model, given, **limits)
        *seeds, seed = spawn(self.random_state, self._number_of_starts(rows.X.shape[1]) + 1)
        return best_of_starts(
            rows, model.structure, K, self.init_params, seeds, drawn_scouts(rows, K, seed),
            n_jobs=self.n_jobs, **limits,
        )  # fmt: skip

    def _warn(self, rows: PreparedRows) -> None:
        super()._warn(rows)
        if self._has_collapsed(rows):
            warn(
                "a component has closed around a few rows, or rows in a plane, and only "
                f"reg_covar={self.reg_covar} keeps its covariance from vanishing: its likelihood "
                "says nothing; give fewer components, a larger reg_covar, or another "
                "covariance_type",
                RankWarning,
            )

    def _has_collapsed(self, rows: PreparedRows) -> bool:
        """Whether the floor holds up a component, other than in the plane of all rows."""
        held_up = self._structure().at_floor(self._placed_covariances, rows.floor)
        return held_up and not rows.floor.in_a_plane

    def _number_of_starts(self, p: int) -> int:
        if self.n_components == 1:
            return 1
        if self.n_init == "auto":
            if self.init_params == "hierarchical":
                return 1
            return AUTO_STARTS if p > 1 else AUTO_STARTS_ALONG_A_LINE
        return int(self.n_init)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(
            self,
            covariance_type=(
                isinstance(self.covariance_type, str) and self.covariance_type in STRUCTURES,
                f"one of {tuple(STRUCTURES)}",
            ),
            init_params=(self.init_params in ("auto", *STARTS), f"'auto' or one of {STARTS}"),
            reg_covar=(is_number(self.reg_covar) and 0 <= self.reg_covar < 1, "0 <= number < 1"),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file is a mixture."""
        check_gaussian_mixture(self)
