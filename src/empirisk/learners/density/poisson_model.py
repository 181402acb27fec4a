"""Mixtures of Poisson counts as a latent model: the hidden part of a row is its component."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from empirisk.runtime.arrays import Floats

BLOCK = 8192
STIRLING = 30.0  # from here on, the series for x! has all digits


class PoissonParameters(NamedTuple):
    """Weights of components (K,), and rates (K, p)."""

    shares: Floats
    rates: Floats


class Counts(NamedTuple):
    """Rows of counts, 0 where missing, whether they are observed (None: all), and weights.

    `center` is the mean of each column, about which likelihoods are taken: they keep their digits
    where counts are large.
    """

    X: Floats
    observed: Floats | None
    weight: Floats
    center: Floats

    @classmethod
    def of(cls, X: Floats, weight: Floats, center: Floats | None = None) -> "Counts":
        """Of rows that may have NaN."""
        missing = np.isnan(X)
        observed = (~missing).astype(float) if missing.any() else None
        X = np.where(missing, 0.0, X) if observed is not None else X
        if center is None:
            seen = weight.sum() if observed is None else np.maximum(weight @ observed, 1e-300)
            center = weight @ X / seen
        return cls(X, observed, weight, center)


@dataclass(frozen=True, eq=False)
class PoissonModel:
    """The steps of EM; the hidden part of a row is the number of its component."""

    counts: Counts
    floor: float

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.counts.weight.sum())

    @cached_property
    def base(self) -> float:
        """The part of the log-likelihood that no parameter changes, for each row."""
        return float(self.counts.weight @ row_constants(self.counts)) / self.total

    def e_step(self, parameters: PoissonParameters) -> tuple[Any, float]:
        """Expected weights, counts and observations of components; the mean log-likelihood."""
        X, observed, weight, _ = self.counts
        K, p = parameters.rates.shape
        mass, sums, seen, likelihood = np.zeros(K), np.zeros((K, p)), np.zeros((K, p)), 0.0
        for start in range(0, len(X), BLOCK):
            part = slice(start, start + BLOCK)
            joint = joint_of(self.counts, parameters, part)
            density = np.asarray(logsumexp(joint, axis=1))
            likelihood += float(weight[part] @ density)
            share = np.exp(joint - density[:, np.newaxis]) * weight[part, np.newaxis]
            mass += share.sum(axis=0)
            sums += share.T @ X[part]
            if observed is not None:
                seen += share.T @ observed[part]
        seen = np.repeat(mass[:, np.newaxis], p, axis=1) if observed is None else seen
        return (mass, sums, seen), likelihood / self.total + self.base

    def m_step(self, statistics: Any) -> PoissonParameters:
        """Weights, and the mean counts of components, or the floor below them."""
        mass, sums, seen = statistics
        center = self.counts.center
        rates = np.where(seen > 0, sums / np.where(seen > 0, seen, 1.0), center)
        return PoissonParameters(mass / mass.sum(), np.maximum(rates, self.floor * center))


def joint_of(counts: Counts, parameters: PoissonParameters, part: slice) -> Floats:
    """log(a_k f_k(x)) of rows and components, without what is the same for all components."""
    center = counts.center
    ratio = log_ratio(parameters.rates, center)
    with np.errstate(divide="ignore"):
        shares = np.log(parameters.shares)
    gap = parameters.rates - center
    if counts.observed is None:
        return counts.X[part] @ ratio.T + (shares - gap.sum(axis=1))
    return counts.X[part] @ ratio.T + shares - counts.observed[part] @ gap.T


def row_constants(counts: Counts) -> Floats:
    """log f(x) of each row under rates `center`; minus infinity for counts where the rate is 0."""
    X, center = counts.X, counts.center
    terms = (X - center) - X * log_ratio(X, center) + stirling(X)
    terms = np.where((center == 0) & (X > 0), -np.inf, terms)
    return (terms if counts.observed is None else terms * counts.observed).sum(axis=1)


def log_ratio(x: Floats, center: Floats) -> Floats:
    """log(x / center), exact also where they are nearly equal; 0 where either is 0."""
    known = (x > 0) & (center > 0)
    safe = np.where(center > 0, center, 1.0)
    share = np.where(known, (x - center) / safe, 0.0)
    near = np.abs(share) < 0.5
    far = np.log(np.where(known & ~near, x / safe, 1.0))
    return np.where(near, np.log1p(np.where(near, share, 0.0)), far)


def stirling(x: Floats) -> Floats:
    """x log x - x - log x!, without loss of digits where x is large.

    Examples
    --------
    >>> stirling(np.array([0.0, 1.0, 1e200])).round(4)
    array([   0.    ,   -1.    , -231.1774])
    """
    large = np.maximum(x, STIRLING)
    inverse = 1 / large
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    small = np.minimum(x, STIRLING)
    return np.where(
        x >= STIRLING,
        -0.5 * np.log(2 * np.pi * large) - series,
        xlogy(small, small) - small - gammaln(small + 1),
    )
