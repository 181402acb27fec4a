"""Mixtures of Poisson distributions for counts, fitted by EM."""

import sys
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import Tags

from empirisk.learners.density.mixture import (
    Mixture,
    check_number_of_components,
    observed_rows,
)
from empirisk.learners.density.mixture_soundness import check_poisson_mixture
from empirisk.learners.density.mixture_starts import (
    POOLED,
    STARTS,
    by_place,
    random_responsibilities,
    start_labels,
    way_of_start,
)
from empirisk.learners.density.poisson_model import (
    Counts,
    PoissonModel,
    PoissonParameters,
    joint_of,
    row_constants,
)
from empirisk.learners.team import Team
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.column_names import column_names
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import check_parameters, is_number
from empirisk.runtime.streams import spawn
from empirisk.runtime.validation import check_predict
from empirisk.solvers.em import Ascent, em_from

AUTO_STARTS = 10
FAR = 1e290
MOST_RATE = 1e18  # of NumPy's draws


class PoissonMixture(Mixture):
    """A mixture of independent Poisson counts, f(x) = sum_k a_k prod_j P(x_j; l_kj): maximise
    sum_i w_i log f(x_i).

    Rows come from hidden groups; within a group the counts of features are independent, with the
    rates l_k. EM takes in turn the posterior probabilities of groups and the mean counts of rows
    that are shared out by them. Of a row with missing values (NaN) the observed ones are used.
    Numbers that are no counts are taken as they are: their likelihood is that of x! = Gamma(x + 1).

    Complexity axis: `n_components`; `Tuned(PoissonMixture())` chooses it by the likelihood of rows
    held out, `number_of_components` by BIC, ICL or AIC.

    Parameters
    ----------
    n_components : int
    tol, max_iter, n_init, init_params, random_state, verbose, n_jobs
        As in `GaussianMixture`; rows are dealt to components by the square roots of counts, whose
        variances are about equal.
    rate_floor : float
        No rate is less than this share of the mean of its feature: a count that a component has
        never seen is improbable, not impossible.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    rates_ : array of shape (n_components, n_features)
    converged_, n_iter_, lower_bound_, lower_bounds_
        As in `GaussianMixture`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    G. McLachlan and D. Peel (2000), Finite mixture models.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.poisson([2.0, 9.0], (200, 2)), rng.poisson([8.0, 1.0], (100, 2))])
    >>> mixture = PoissonMixture(2, random_state=0).fit(X)
    >>> order = mixture.weights_.argsort()
    >>> mixture.weights_[order].round(2), mixture.rates_[order].round(1)
    (array([0.33, 0.67]), array([[8.3, 1. ],
           [2. , 8.8]]))
    """

    feature_scaling: ClassVar[Literal["each", "common"] | None] = None

    def __init__(
        self,
        n_components: int = 1,
        *,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_init: int | Literal["auto"] = "auto",
        init_params: str = "auto",
        rate_floor: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.rate_floor = rate_floor
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Floats, Ints]:
        """Rows drawn from the mixture, and their components, in the order of components."""
        labels, rng = self._drawn_components(n_samples, random_state)
        return poisson_counts(self.rates_[labels], rng), labels

    def _prepared(self, X: Floats, weight: Floats) -> Counts:
        refuse_negative(X, self)
        X, weight = observed_rows(X, weight)
        return Counts.of(X, weight / weight.max())

    def _fit_rows(self, rows: Counts) -> Self:
        """The best of all starts."""
        check_number_of_components(self.n_components, rows.X)
        model = PoissonModel(rows, float(self.rate_floor))
        with one_blas_thread():
            found = em_from(
                model, self._starts(rows, model), tol=self.tol, max_iter=self.max_iter,
                n_jobs=self.n_jobs,
            )  # fmt: skip
        if self.verbose:
            print(f"PoissonMixture: {found}", file=sys.stderr)
        self._take(found)
        return self

    def _take(self, found: Ascent[PoissonParameters]) -> None:
        self.weights_, self.rates_ = found.parameters
        self.converged_, self.n_iter_ = found.converged, found.n_iter
        self.lower_bound_, self.lower_bounds_ = found.log_likelihood, found.log_likelihoods
        self.n_features_in_ = self.rates_.shape[1]

    def _starts(self, rows: Counts, model: PoissonModel) -> list[PoissonParameters]:
        """The parameters of all starts: rows dealt to components, a tenth of all rates pooled."""
        K, team = int(self.n_components), Team(self.n_jobs)
        seen = np.ones_like(rows.X) if rows.observed is None else rows.observed
        roots = np.sqrt(np.where(seen > 0, rows.X, rows.center))
        starts = []
        for number, seed in enumerate(spawn(self.random_state, self._number_of_starts())):
            way, _ = way_of_start(self.init_params, number)
            if way == "random" and K > 1:
                share = random_responsibilities(len(roots), K, seed)
            else:
                share = np.eye(K)[start_labels(roots, rows.weight, K, way, seed, team)]
            share = share * rows.weight[:, np.newaxis]
            shares, rates = model.m_step((share.sum(axis=0), share.T @ rows.X, share.T @ seen))
            rates = (1 - POOLED) * rates + POOLED * rows.center
            order = by_place(rates)
            shares, rates = shares[order], rates[order]
            starts.append(PoissonParameters(np.maximum(shares, 1e-10), rates))
        return starts

    def _number_of_starts(self) -> int:
        if self.n_components == 1:
            return 1
        if self.n_init == "auto":
            return 1 if self.init_params == "hierarchical" else AUTO_STARTS
        return int(self.n_init)

    def _log_joint(self, X: Any) -> Floats:
        counts = self._counts(X)
        return self._joint(counts) + row_constants(counts)[:, np.newaxis]

    def _log_posterior(self, X: Any) -> Floats:
        return self._joint(self._counts(X))  # numbers also where all components give 0

    def _counts(self, X: Any) -> Counts:
        X = check_predict(self, X, allow_nan=True)
        refuse_negative(X, self)
        X = np.minimum(X, FAR)  # whose products are numbers
        return Counts.of(X, np.ones(len(X)), self.weights_ @ self.rates_)

    def _joint(self, counts: Counts) -> Floats:
        with one_blas_thread():
            return joint_of(counts, PoissonParameters(self.weights_, self.rates_), slice(None))

    def _n_parameters(self) -> int:
        return self.rates_.size + len(self.weights_) - 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(
            self,
            init_params=(
                self.init_params in ("auto", *STARTS), f"'auto' or one of {STARTS}"
            ),
            rate_floor=(
                is_number(self.rate_floor) and 0 < self.rate_floor < 1, "0 < number < 1"
            ),
        )  # fmt: skip

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        return tags

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file is a mixture."""
        check_poisson_mixture(self)


def poisson_counts(rates: Floats, rng: np.random.Generator) -> Floats:
    """Counts of these rates; where they are beyond whole numbers, Gaussian ones."""
    counts = rng.poisson(np.minimum(rates, MOST_RATE)).astype(float)
    huge = rates > MOST_RATE
    counts[huge] = rates[huge] + np.sqrt(rates[huge]) * rng.standard_normal(int(huge.sum()))
    return counts


def refuse_negative(X: Floats, estimator: Any) -> None:
    """Counts are not negative."""
    with np.errstate(invalid="ignore"):
        negative = np.flatnonzero((X < 0).any(axis=0))
    if len(negative):
        name, column, names = type(estimator).__name__, int(negative[0]), column_names(X)
        told = column if names is None else repr(names[column])
        raise DataError(
            f"Negative values in data passed to {name}: column {told} has some, and counts are 0 "
            "or more; leave it out, or take a GaussianMixture for numbers"
        )
