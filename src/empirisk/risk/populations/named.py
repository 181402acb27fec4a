"""Populations of the lecture notes and of the literature, ready made.

All are `Regression` or `GaussianClasses` with their parameters filled in.
"""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from empirisk.risk.populations.features import Features, Sampler, Uniform
from empirisk.risk.populations.gaussian_classes import GaussianClasses
from empirisk.risk.populations.noise import Noise, Scale
from empirisk.risk.populations.regression import Regression
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, is_whole, real_numbers


def polynomial(
    coefficients: ArrayLike,
    *,
    features: Features | Sampler | None = None,
    noise: Noise | Scale = 1.0,
) -> Regression:
    """Y = c_0 + c_1 x + ... + c_d x^d + noise, of one feature, by default uniform on [-1, 1].

    Parameters
    ----------
    coefficients : sequence of float
        c_0, c_1, ..., c_d.
    features : Features or callable, optional
        The distribution of X, as in `Regression`.
    noise : Noise, float or callable
        As in `Regression`: a number is the standard deviation of Gaussian noise.

    Examples
    --------
    >>> polynomial([1.0, 0.0, 2.0]).regression_function([[0.5]])
    array([1.5])
    """
    given = real_numbers(coefficients, "coefficients")
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise ParameterError(
            f"coefficients is {coefficients!r}; wanted a vector of finite numbers, constant first"
        )
    return Regression(
        partial(_polynomial, given), Uniform(-1, 1) if features is None else features, noise
    )


def sine(
    *,
    cycles: float = 1.0,
    features: Features | Sampler | None = None,
    noise: Noise | Scale = 0.3,
) -> Regression:
    """Y = sin(2 pi cycles x) + noise, of one feature, by default uniform on [0, 1].

    Parameters
    ----------
    cycles : float
        How often the curve goes up and down as x goes from 0 to 1.
    features : Features or callable, optional
        The distribution of X, as in `Regression`.
    noise : Noise, float or callable
        As in `Regression`: a number is the standard deviation of Gaussian noise.

    Examples
    --------
    >>> sine().regression_function([[0.25], [0.75]])
    array([ 1., -1.])
    """

    if not is_number(cycles):
        raise ParameterError(f"cycles is {cycles!r}; give a number")
    return Regression(partial(_sine, cycles), features, noise)


def friedman(n_features: int = 10, *, noise: Noise | Scale = 1.0) -> Regression:
    """Y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise (Friedman 1991).

    Features are uniform on [0, 1]; those beyond the fifth do not matter.

    Parameters
    ----------
    n_features : int
        5 or more.
    noise : Noise, float or callable
        As in `Regression`: a number is the standard deviation of Gaussian noise.

    Examples
    --------
    >>> friedman().sample(3, random_state=0)[0].shape
    (3, 10)
    """
    if not is_whole(n_features, 5):
        raise ParameterError(f"n_features is {n_features!r}; this function has five or more")
    return Regression(_friedman, Uniform(0, 1, n_features=n_features), noise)


def two_gaussians(distance: float = 2.0) -> GaussianClasses:
    """N(2 - distance/2, 1/2) and N(2 + distance/2, 1/2), equally likely: boundary 2.

    Separability B/W is 2 at distance 2, with Bayes risk 0.07865, and 1/2 at distance 1, with
    0.23975.

    Examples
    --------
    >>> round(two_gaussians(1.0).bayes_risk().value, 5)
    0.23975
    """
    if not is_number(distance):
        raise ParameterError(f"distance is {distance!r}; give a number")
    return GaussianClasses([[2 - distance / 2], [2 + distance / 2]], 0.5)


def _polynomial(coefficients: Floats, X: Array) -> Floats:
    return np.polynomial.polynomial.polyval(np.asarray(X)[:, 0], coefficients)


def _sine(cycles: float, X: Array) -> Floats:
    return np.sin(2 * np.pi * cycles * np.asarray(X)[:, 0])


def _friedman(X: Array) -> Floats:
    x1, x2, x3, x4, x5 = np.asarray(X)[:, :5].T
    return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
