"""The Kullback-Leibler divergence of densities: exact for Gaussians, else estimated from rows.

KL(f, g) = E_f[log f(X) - log g(X)] >= 0,  0 only where f = g; infinite where g is 0 and f not
"""

import warnings
from copy import copy
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial import cKDTree
from scipy.special import digamma, gammaln, ndtri
from sklearn.utils.validation import check_is_fitted

from empirisk.data.scaling import power_of_two
from empirisk.learners.density.class_conditional import log_density
from empirisk.learners.density.parametric_density import GAUSSIAN, ParametricDensity
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import check_level, is_whole
from empirisk.runtime.streams import spawn
from empirisk.runtime.targets import check_weights

Method = Literal["closed form", "Monte Carlo", "nearest neighbours"]
N_DRAWS = 10_000


@dataclass(frozen=True)
class Divergence:
    """An estimate of KL(f, g).

    Attributes
    ----------
    value : float
    standard_error : float or None
        None where the value is exact, or infinite.
    interval : (float, float) or None
        At `level`, by the normal distribution; its lower end is at least 0. None where there is no
        standard error, and for nearest neighbours, whose bias it would not cover.
    level : float
    method : {"closed form", "Monte Carlo", "nearest neighbours"}
    n : int
        How many rows it is the mean of; 0 for a closed form.
    """

    value: float
    standard_error: float | None
    interval: tuple[float, float] | None
    level: float
    method: Method
    n: int

    def __str__(self) -> str:
        if self.interval is None:
            return f"The Kullback-Leibler divergence is {self.value:.4g} ({self.method})."
        low, high = self.interval
        return (
            f"The Kullback-Leibler divergence is {self.value:.4g}, {100 * self.level:g} % interval "
            f"{low:.4g} to {high:.4g} ({self.method}, {self.n} rows)."
        )


def kl_divergence(
    f: Any,
    g: Any,
    *,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    random_state: Any = None,
) -> Divergence:
    """KL(f, g) of two fitted densities, or of the unknown density of rows and a fitted one.

    Of two Gaussians (`ParametricDensity`) it is a formula. Of other densities it is the mean of
    log f - log g over rows drawn from f, with its standard error. If f is an array of rows, which
    must have taken no part in fitting g, their own density is unknown: what is missing is its
    entropy, and that is estimated from the distances to nearest neighbours (Kozachenko & Leonenko
    1987). Its bias vanishes slowly in many dimensions. To say which of several densities is nearer
    to the rows no entropy is needed: use `compare`, whose differences are paired.

    Parameters
    ----------
    f : fitted density with score_samples and sample, or array-like of shape (n, p)
    g : fitted density with score_samples
    n_draws : int
        How many rows are drawn from f.
    level : float
        Of the interval.
    random_state : int, RandomState or None

    Returns
    -------
    Divergence

    Examples
    --------
    >>> f = ParametricDensity().fit([[-1.0], [1.0]])       # N(0, 1)
    >>> g = ParametricDensity().fit([[-1.0], [3.0]])       # N(1, 4)
    >>> kl_divergence(f, g).value
    0.4431471805599453
    >>> print(kl_divergence(f, ParametricDensity("logistic").fit([[-2.0], [0.0], [2.0]]),
    ...     random_state=0))
    The Kullback-Leibler divergence is 0..., 95 % interval 0... to 0... (Monte Carlo, 10000 rows).
    """
    check_level(level)
    if not hasattr(g, "score_samples"):
        raise ParameterError(
            f"g is {type(g).__name__}; give a fitted density: only f may be an array of rows"
        )
    if not hasattr(f, "score_samples"):
        return _of_rows(f, g, level)
    if _is_gaussian(f) and _is_gaussian(g):
        _refuse_other_columns(f, g)
        return Divergence(_of_gaussians(f, g), None, None, level, "closed form", 0)
    if not is_whole(n_draws, 2):
        raise ParameterError(f"n_draws is {n_draws!r}; give a whole number of 2 or more")
    _refuse_other_columns(f, g)
    rows = _drawn(f, int(n_draws), random_state)
    with warnings.catch_warnings():  # rows that are drawn have no names
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        with np.errstate(invalid="ignore"):  # `_mean` refuses what is no number
            ratio = log_density(f, rows) - log_density(g, rows)
    return _mean(ratio, level, "Monte Carlo")


def entropy(X: Any, *, sample_weight: Any = None) -> float:
    """The differential entropy -E log f(X) of the unknown density f of rows.

    From the distances r_i of n rows in p dimensions to their nearest neighbours (Kozachenko &
    Leonenko 1987): p mean log r_i + log(n - 1) - psi(1) + log of the volume of the unit ball. Rows
    that stand twice have no density: they are refused.

    Parameters
    ----------
    X : array-like of shape (n, p)
    sample_weight : array-like of shape (n,), optional
        How much a row counts in the mean. It makes no copies, which would stand twice: n is the
        number of rows of positive weight.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(4000, 1))
    >>> bool(abs(entropy(rows) - 0.5 * np.log(2 * np.pi * np.e)) < 0.1)
    True
    """
    rows = numbers(X, "entropy")
    weight = check_weights(sample_weight, len(rows))
    kept = rows[weight > 0]
    return float(np.average(_entropy_terms(kept), weights=weight[weight > 0]))


def _of_rows(X: Any, g: Any, level: float) -> Divergence:
    rows = numbers(X, "kl_divergence")
    terms = 0.0 - _entropy_terms(rows) - log_density(g, rows)
    return replace(_mean(terms, level, "nearest neighbours"), interval=None)


def _entropy_terms(rows: Floats) -> Floats:
    """Of each row, so that their mean is the entropy."""
    n, p = rows.shape
    if n < 2:
        raise DataError(f"{n} row(s) have no neighbours: give two or more")
    unit = float(power_of_two(np.abs(rows).max()))
    distance = cKDTree(rows / unit).query(rows / unit, k=2)[0][:, 1]
    if not distance.all():
        raise DataError(
            f"row {int(np.flatnonzero(distance == 0)[0])} stands twice: rows that repeat have no "
            "density, and their entropy is minus infinity; leave copies out"
        )
    ball = p / 2 * np.log(np.pi) - gammaln(p / 2 + 1)
    return p * (np.log(distance) + np.log(unit)) + np.log(n - 1) - digamma(1) + ball


def _refuse_other_columns(f: Any, g: Any) -> None:
    """Densities of one space have as many columns, and of one name where both know theirs."""
    for density in (f, g):
        if hasattr(density, "fit"):
            check_is_fitted(density)
    p, q = (getattr(density, "n_features_in_", None) for density in (f, g))
    if p is not None and q is not None and p != q:
        raise DataError(
            f"one density has {p} columns, the other {q}; they must be of the same space"
        )
    names, others = (getattr(density, "feature_names_in_", None) for density in (f, g))
    if names is not None and others is not None and list(names) != list(others):
        raise DataError(
            f"one density has the columns {', '.join(map(str, names))}, the other "
            f"{', '.join(map(str, others))}; they must be of the same space, in the same order"
        )


def _drawn(f: Any, n: int, random_state: Any) -> Floats:
    if not hasattr(f, "sample"):
        raise ParameterError(
            f"{type(f).__name__} has no sample, and no rows can be drawn from it: give rows of it "
            "in its place"
        )
    seed = spawn(random_state, 1)[0] % 2**32
    if "random_state" in signature(f.sample).parameters:
        found: Any = f.sample(n, random_state=seed)
    else:  # scikit-learn's mixtures draw by a parameter of their own
        found = copy(f).set_params(random_state=seed).sample(n)
    return numbers(found[0] if isinstance(found, tuple) else found, "kl_divergence")


def _mean(terms: Floats, level: float, method: Method) -> Divergence:
    """The mean; it is infinite if a single row is impossible under g."""
    value = float(terms.mean())
    if value == np.inf:
        return Divergence(np.inf, None, None, level, method, len(terms))
    if not np.isfinite(value):
        raise DataError(
            f"the mean of log f - log g is {value}: g is infinite at a row, or f is 0 at a row of "
            "its own"
        )
    error = float(terms.std(ddof=1) / np.sqrt(len(terms)))
    away = float(ndtri((1 + level) / 2)) * error
    ends = max(0.0, value - away), max(0.0, value + away)
    return Divergence(value, error, ends, level, method, len(terms))


def _is_gaussian(density: Any) -> bool:
    return isinstance(density, ParametricDensity) and density.family == GAUSSIAN


def _of_gaussians(f: ParametricDensity, g: ParametricDensity) -> float:
    """(tr(T^-1 S) + d' T^-1 d - p + log |T| / |S|) / 2, in units of the deviations of g."""
    ratio = f.scale_ / g.scale_
    S = _correlations(f) * ratio[:, None] * ratio
    factor = cho_factor(_correlations(g), lower=True)
    away = (g.mean_ - f.mean_) / g.scale_
    trace = float(np.trace(cho_solve(factor, S)))
    square = float(away @ cho_solve(factor, away))
    logs = 2 * np.log(np.diagonal(factor[0])).sum() - np.linalg.slogdet(S)[1]
    return max(0.0, float(trace + square - len(away) + logs) / 2)


def _correlations(density: ParametricDensity) -> Array:
    """After shrinkage, and with no variance below the floor."""
    found = density._gaussian()
    variances = found.shrunk(np.array([float(density.shrinkage)]))[:, 0]
    return (found.axes * variances) @ found.axes.T
