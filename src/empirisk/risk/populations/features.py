"""How the features of a population are distributed: in a box, normally, on points, as you like."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import check_whole, real_numbers
from empirisk.runtime.targets import check_weights

Sampler = Callable[[int, np.random.Generator], Any]
"""From a number of rows and a generator to X, any table that learners take."""


class Features(ABC):
    """The distribution of X.

    Attributes
    ----------
    mean, covariance : arrays of shape (p,) and (p, p), or None where they are not known

    Examples
    --------
    >>> from empirisk.risk.populations import Uniform
    >>> Uniform(0.0, 1.0, n_features=2).mean
    array([0.5, 0.5])
    """

    mean: Floats | None = None
    covariance: Floats | None = None

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """n independent rows."""


class Uniform(Features):
    """Independent features, feature j uniform between low_j and high_j.

    Parameters
    ----------
    low, high : float or array-like of shape (p,)
    n_features : int, optional
        p, where it does not show in `low` and `high`; 1 by default.

    Examples
    --------
    >>> Uniform(-1, 1, n_features=2).covariance
    array([[0.33333333, 0.        ],
           [0.        , 0.33333333]])
    """

    def __init__(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, *, n_features: int | None = None
    ) -> None:
        self.low = _vector(low, "low", n_features, _length(high, "high"))
        self.high = _vector(high, "high", n_features, len(self.low))
        fits, most = len(self.high) == len(self.low), np.finfo(float).max / 2
        if not fits or not (self.high / 2 - self.low / 2 <= most).all():
            raise ParameterError(
                f"low is {low!r:.60} and high {high!r:.60}; wanted numbers or vectors of one "
                "length, at most 1e308 apart"
            )
        if not (self.low < self.high).all():
            raise ParameterError(f"low is {low!r} and high {high!r}; low must be below high")
        self.mean = self.low / 2 + self.high / 2
        with np.errstate(over="ignore"):
            self.covariance = np.diag((self.high - self.low) ** 2 / 12)

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(self.low, self.high, size=(n, len(self.low)))


class Gaussian(Features):
    """X ~ N(mean, covariance).

    Parameters
    ----------
    mean : float or array-like of shape (p,)
    covariance : float, array-like of shape (p,) or (p, p)
        A number or a vector holds the variances of independent features.
    n_features : int, optional
        p, where it does not show in the other two; 1 by default.

    Examples
    --------
    >>> Gaussian(n_features=3).draw(2, np.random.default_rng(0)).shape
    (2, 3)
    """

    mean: Floats
    covariance: Floats

    def __init__(
        self, mean: ArrayLike = 0.0, covariance: ArrayLike = 1.0, *, n_features: int | None = None
    ) -> None:
        self.mean = _vector(mean, "mean", n_features, _length(covariance, "covariance"))
        self.covariance = covariance_matrix(covariance, len(self.mean))
        self._root = covariance_root(self.covariance)

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        with one_blas_thread():
            return self.mean + rng.standard_normal((n, len(self.mean))) @ self._root.T


class Points(Features):
    """X takes the rows of a table, each with its probability: all means are finite sums.

    On such a population every risk is exact.

    Parameters
    ----------
    X : table with rows
    probability : array-like, optional
        Weights, made to sum to one; equal by default.

    Examples
    --------
    >>> Points([[0.0], [1.0]], [1, 3]).mean
    array([0.75])
    """

    def __init__(self, X: Any, probability: ArrayLike | None = None) -> None:
        self.X = as_rows(X)
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        if len(shape) != 2 or not shape[0]:
            raise ParameterError(f"X is {X!r:.60}; give a table with a row for each point")
        weight = check_weights(probability, _num_samples(self.X))
        if not (weight > 0).all():  # what cannot happen costs nothing, even infinity
            self.X, weight = _safe_indexing(self.X, np.flatnonzero(weight)), weight[weight > 0]
        self.probability = weight / weight.sum()
        if isinstance(self.X, np.ndarray) and self.X.ndim == 2 and self.X.dtype.kind in "fiub":
            self.mean = self.probability @ self.X
            deviation = self.X - self.mean
            self.covariance = (self.probability[:, None] * deviation).T @ deviation

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        return _safe_indexing(self.X, rng.choice(len(self.probability), n, p=self.probability))


class Drawn(Features):
    """X as a function of your own draws it, `sampler(n, rng)`: an array or a data frame.

    Examples
    --------
    >>> dice = Drawn(lambda n, rng: rng.integers(1, 7, size=(n, 2)).astype(float))
    >>> dice.draw(3, np.random.default_rng(0)).shape
    (3, 2)
    """

    def __init__(self, sampler: Sampler) -> None:
        check_function(sampler, "sampler", "sampler(n, rng)")
        self.sampler = sampler

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        X = as_rows(self.sampler(n, rng))
        rows = _number_of_rows(X)
        if rows != n:
            raise ParameterError(
                f"the sampler of X was asked for {n} rows and gave {rows}; sampler(n, rng) must "
                "give n"
            )
        return X


class Jointly:
    """A joint sampler of (X, y): as a sampler of X alone, and of both in `draw`."""

    def __init__(self, sampler: Callable[[int, np.random.Generator], Any]) -> None:
        check_function(sampler, "sampler", "sampler(n, rng)")
        self.sampler = sampler

    def __call__(self, n: int, rng: np.random.Generator) -> Any:
        return self.draw(n, rng)[0]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """X and y, of n rows each."""
        drawn = self.sampler(n, rng)
        if not (isinstance(drawn, list | tuple) and len(drawn) == 2):
            raise ParameterError(
                f"the sampler gave {drawn!r:.60}; sampler(n, rng) must give the pair X, y"
            )
        X, y = as_rows(drawn[0]), drawn[1]
        rows, labels = _number_of_rows(X), _number_of_rows(y)
        if not rows == labels == n:
            raise ParameterError(
                f"the sampler was asked for {n} rows and gave {rows} of X and {labels} of y; "
                "sampler(n, rng) must give n of both"
            )
        return X, y


def _number_of_rows(table: Any) -> int | str:
    try:
        return _num_samples(table)
    except TypeError:  # a number, or what has no rows
        return "no rows"


def as_features(features: Features | Sampler | None) -> Features:
    """The features themselves; a function as `Drawn`; None is one feature, uniform on [0, 1]."""
    if features is None:
        return Uniform()
    if isinstance(features, Features):
        return features
    if callable(features):
        return Drawn(features)
    raise ParameterError(
        f"features is {features!r}; give Uniform(...), Gaussian(...), Points(...) or a function "
        "sampler(n, rng)"
    )


def check_function(function: Any, name: str, call: str) -> None:
    """Raise a ParameterError unless it can be called."""
    if not callable(function):
        raise ParameterError(f"{name} is {function!r:.60}; give a function {call}")


def as_rows(X: Any) -> Any:
    """A list of rows as an array; tables as they are."""
    return real_numbers(X, "X") if isinstance(X, list | tuple) else X


def covariance_matrix(covariance: ArrayLike, p: int) -> Floats:
    """A (p, p) matrix from a variance, p variances or a matrix; checked to be one."""
    given = real_numbers(covariance, "covariance")
    matrix = np.diag(np.full(p, given)) if given.ndim == 0 else given
    matrix = np.diag(given) if given.ndim == 1 else matrix
    fits = matrix.shape == (p, p) and np.allclose(matrix, matrix.T, rtol=1e-8, atol=0)
    if not fits or not np.isfinite(matrix).all() or (np.diagonal(matrix) < 0).any():
        raise ParameterError(
            f"a covariance of shape {given.shape} for {p} features; wanted a variance, {p} "
            f"variances, or a symmetric matrix of shape {(p, p)}"
        )
    return matrix


def covariance_root(covariance: Floats) -> Floats:
    """A matrix R with R R' = covariance, which may be singular but not indefinite."""
    if np.array_equal(covariance, np.diag(np.diagonal(covariance))):
        return np.sqrt(covariance)
    with one_blas_thread():
        values, vectors = np.linalg.eigh(covariance)
    if values[0] < -1e-10 * values[-1]:
        raise ParameterError(
            f"the covariance has a negative eigenvalue, {values[0]:.3g}; it must have none"
        )
    return vectors * np.sqrt(np.maximum(values, 0))


def _length(values: ArrayLike, name: str) -> int:
    """How many features a parameter speaks of; 1 where it is a number."""
    return len(np.atleast_1d(real_numbers(values, name)))


def _vector(values: ArrayLike, name: str, n_features: int | None, length: int) -> Array:
    """A number repeated for each feature, or a vector as it is."""
    if n_features is not None:
        check_whole(n_features, "n_features", 1)
    given = real_numbers(values, name)
    p = n_features or length
    if given.ndim == 0:
        given = np.full(p, given)
    if given.ndim != 1 or (n_features is not None and len(given) != n_features):
        raise ParameterError(
            f"{name} has shape {given.shape}; wanted a number or a vector, one for each feature"
        )
    if not np.isfinite(given).all():
        raise ParameterError(f"{name} is {values!r}; its numbers must be finite")
    return given
