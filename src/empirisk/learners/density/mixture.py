"""Mixtures of distributions f(x) = sum_k a_k f_k(x), fitted by EM: what all of them share."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.learners.density.density_estimator import DensityMixin, weighted_sum
from empirisk.risk.axis import Axis
from empirisk.risk.without_labels import FittedPath
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from empirisk.runtime.scalars import check_parameters, is_number, is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_rows

MOST_COMPONENTS = 20  # of the default grid


class Mixture(DensityMixin, BaseEstimator):
    """Posterior probabilities, likelihoods and criteria of a fitted mixture.

    A learner gives `_log_joint(X)`, log(a_k f_k(x)) of rows and components, `_n_parameters`, and
    `_fit_rows` of rows that were prepared once by `_prepared`.
    """

    axis: ClassVar[Axis | None] = Axis(("n_components",), larger="richer", scale="integer")

    n_components: int
    random_state: Any
    weights_: Floats

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the parameters.

        Parameters
        ----------
        X : array-like of shape (n, p)
            NaN where a value is missing.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        rows, weight = check_rows(self, X, sample_weight, allow_nan=True)
        self._check_parameters()
        prepared = self._prepared(rows, weight)
        self._fit_rows(prepared)
        self._warn(prepared)
        return self

    def design(self, X: Any) -> Floats:
        """X as an array, NaN where a value is missing."""
        return numbers(X, self, allow_nan=True)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Ints:
        """`fit`, and the most probable component of each row."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def predict(self, X: Any) -> Ints:
        """The most probable component of each row, the first of equally probable ones."""
        return self._log_posterior(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Floats:
        """The posterior probability of each component, (m, n_components)."""
        joint = self._log_posterior(X)
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        return joint / joint.sum(axis=1, keepdims=True)

    def score_samples(self, X: Any) -> Floats:
        """log f(x) of each row; of its observed values where some are missing."""
        return np.asarray(logsumexp(self._log_joint(X), axis=1))

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Akaike's criterion, -2 log-likelihood + 2 (free parameters); the least is best."""
        likelihood, _ = self._likelihood(X, sample_weight)
        return -2 * likelihood + 2 * self._n_parameters()

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Schwarz's criterion, -2 log-likelihood + log(n) (free parameters); the least is best.

        n is the weight of the rows that have a value: those that are missing altogether say
        nothing. mclust has it with the other sign.
        """
        likelihood, n = self._likelihood(X, sample_weight)
        return -2 * likelihood + float(np.log(n)) * self._n_parameters()

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """`bic` - 2 sum_i log max_k P(k | x_i): components that overlap are charged for it.

        The integrated completed likelihood of Biernacki, Celeux & Govaert (2000); the least is
        best, where mclust has the other sign.
        """
        joint = self._log_posterior(X)
        weight = self._counted(X, sample_weight)
        certain = joint.max(axis=1) - np.asarray(logsumexp(joint, axis=1))
        return self.bic(X, sample_weight) - 2 * float(weight @ certain)

    def axis_values(
        self, X: Floats, y: Any, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """1, 2, ..., 20, as far as there are 2 (p + 1) rows for each component."""
        return range(1, max(1, min(MOST_COMPONENTS, n_train // (2 * X.shape[1] + 2))) + 1)

    def fit_path(
        self, X: Floats, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> FittedPath:
        """A fit for each number of components, of rows that are prepared once."""
        self._check_parameters()
        return FittedPath(self._fit_each(self._prepared(X, sample_weight), values))

    def _fit_each(self, rows: Any, values: Sequence[Any]) -> list[Self]:
        """A fit to prepared rows for each number of components."""
        return [clone(self).set_params(n_components=value)._fit_rows(rows) for value in values]

    def _likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """The log-likelihood of all rows, and how many they count as."""
        values = self.score_samples(X)
        weight = self._counted(X, sample_weight)
        return weighted_sum(values, weight), float(weight.sum())

    def _counted(self, X: Any, sample_weight: Any) -> Floats:
        """The weights of rows, 0 of those without a value."""
        rows = numbers(X, self, allow_nan=True)
        weight = check_weights(sample_weight, len(rows))
        return np.where(np.isnan(rows).all(axis=1), 0.0, weight)

    def _drawn_components(
        self, n_samples: int, random_state: Any
    ) -> tuple[Ints, np.random.Generator]:
        """The components of rows to draw, in order, and what draws the rows themselves."""
        check_is_fitted(self)
        if not is_whole(n_samples, 1):
            raise ParameterError(f"n_samples is {n_samples!r}; give a whole number of 1 or more")
        rng = generator(spawn(self.random_state if random_state is None else random_state, 1)[0])
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        return np.repeat(np.arange(len(counts)), counts), rng

    def _warn(self: Any, rows: Any) -> None:
        """Say what is doubtful about the fit."""
        if not self.converged_ and self.max_iter > 0 and self.tol > 0:
            warn(
                f"EM has not converged after max_iter={self.max_iter} steps; "
                "give more, or a larger tol",
                ConvergenceWarning,
            )

    def _check_parameters(self) -> None:
        checks: Any = self
        check_parameters(
            self,
            n_init=(checks.n_init == "auto" or is_whole(checks.n_init, 1), "'auto' or 1 or more"),
            max_iter=(is_whole(checks.max_iter, 0), "a whole number >= 0"),
            tol=(is_number(checks.tol) and checks.tol >= 0, "a number >= 0"),
        )

    def _has_collapsed(self, rows: Any) -> bool:
        """Whether the likelihood of the prepared rows that it was fitted to says nothing."""
        return False

    def _log_joint(self, X: Any) -> Floats:
        raise NotImplementedError

    def _log_posterior(self, X: Any) -> Floats:
        """log P(k | x), up to what is the same for all components."""
        return self._log_joint(X)

    def _n_parameters(self) -> int:
        raise NotImplementedError

    def _prepared(self, X: Floats, weight: Floats) -> Any:
        raise NotImplementedError

    def _fit_rows(self, rows: Any) -> Self:
        raise NotImplementedError


def observed_rows(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Rows with a value, and their weights; rows without one say nothing."""
    seen = ~np.isnan(X).all(axis=1)
    if seen.all():
        return X, weight
    if not seen.any():
        raise DataError("X has no row with a value; give rows that are not missing altogether")
    return np.ascontiguousarray(X[seen]), weight[seen]


def check_number_of_components(n_components: Any, X: Floats) -> int:
    """The number of components, at most one for each different row."""
    if not is_whole(n_components, 1):
        raise ParameterError(f"n_components is {n_components!r}; give a whole number of 1 or more")
    n = _num_samples(X)
    if n_components > n:
        raise ParameterError(
            f"n_samples={n} should be >= n_components={n_components}: there are {n} row(s) of "
            "positive weight; give more rows or fewer components"
        )
    different = different_rows(X, int(n_components))
    if different < n_components:
        raise DataError(
            f"X has {different} different row(s), and n_components={n_components} needs as many: "
            "give fewer components"
        )
    return int(n_components)


def different_rows(X: Floats, wanted: int) -> int:
    """How many different rows there are; where the first ones are enough, the others may be more.

    Examples
    --------
    >>> different_rows(np.array([[1.0], [1.0], [2.0]]), 3)
    2
    """
    if np.isnan(X.min(initial=np.inf)):  # which differs from itself
        missing = np.isnan(X)
        X = np.column_stack([np.where(missing, 0.0, X), missing])
    few = len(np.unique(X[: 4 * wanted], axis=0))
    return few if few >= wanted else len(np.unique(X, axis=0))
