"""Populations of numbers: a regression function f and noise about it, Y = f(X) + noise."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.losses import Absolute, Loss, Quantile, RegressionLoss, Squared
from empirisk.risk.populations.bayes_rule import BayesRegressor
from empirisk.risk.populations.features import (
    Drawn,
    Features,
    Jointly,
    Sampler,
    as_features,
    as_rows,
    check_function,
)
from empirisk.risk.populations.noise import Noise, Scale, as_noise
from empirisk.risk.populations.population import Population
from empirisk.risk.populations.true_risk import Known
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.scalars import real_numbers

NODES = 501  # quantiles that stand for the noise where a loss has no formula for its Bayes rule
ROWS_AT_ONCE = 1024

Function = Callable[[Any], Any]
"""From X to a number for each row."""


class RegressionPopulation(Population):
    """A population whose target is a number."""

    task: ClassVar[Literal["regression", "classification"]] = "regression"

    def regression_function(self, X: Any) -> Floats:
        """f(x) = E[Y | X = x]."""
        raise NotImplementedError

    def noise_variance(self, X: Any) -> Floats | None:
        """Var(Y | X = x); None where it is not known."""
        raise NotImplementedError

    def bayes_rule(self, loss: Loss | str | None = None) -> BayesRegressor:
        """The predictor with the least risk: of the squared loss, the regression function."""
        return BayesRegressor(self, self.loss_of(loss))


class Regression(RegressionPopulation):
    """Y = f(X) + noise, for any function f of any number of features.

    Parameters
    ----------
    function : callable
        f, from X of shape (n, p) to n numbers.
    features : Features or callable, optional
        The distribution of X: `Uniform`, `Gaussian`, `Points`, or a function sampler(n, rng) that
        draws n rows. By default one feature, uniform on [0, 1].
    noise : Noise, float or callable
        A number is the standard deviation of Gaussian noise; a function of X as well, which then
        differs from x to x. `StudentT(3)` has heavy tails.

    Examples
    --------
    >>> population = Regression(lambda X: np.sin(6 * X[:, 0]), noise=0.5)
    >>> X, y = population.sample(100, random_state=0)
    >>> print(population.bayes_risk("absolute"))
    The absolute risk of this model is 0.3989, 95 % interval 0.3989 to 0.3989 (exact: ...).
    >>> flat = population.true_risk(lambda X: np.zeros(len(X)), random_state=0)
    >>> round(float(flat.value), 2), bool(flat.standard_error < 0.002)
    (0.77, True)
    """

    def __init__(
        self,
        function: Function,
        features: Features | Sampler | None = None,
        noise: Noise | Scale = 1.0,
    ) -> None:
        check_function(function, "function", "of X")
        self.function = function
        self.features = as_features(features)
        self.noise = as_noise(noise)

    def regression_function(self, X: Any) -> Floats:
        return values_at(self.function, X, "the regression function")

    def noise_variance(self, X: Any) -> Floats:
        return self.noise.variance(X)

    def draw_targets(self, X: Any, rng: np.random.Generator) -> Floats:
        return self.regression_function(X) + self.noise.draw(X, rng)

    def best_action(self, X: Any, loss: Loss) -> Floats:
        """f(x), the conditional median or quantile, or the best of any loss by its own search.

        The last from 501 quantiles of the noise, and so approximate.
        """
        centre = self.regression_function(X)
        if isinstance(loss, Squared):
            return centre
        if isinstance(loss, Absolute | Quantile):
            level = loss.q if isinstance(loss, Quantile) else 0.5
            return centre + self.noise.quantile(X, level)
        assert isinstance(loss, RegressionLoss)
        return self._searched_action(centre, self.noise.scale_at(X), loss)

    def _searched_action(self, centre: Floats, scale: Floats, loss: RegressionLoss) -> Floats:
        nodes = self.noise.law.ppf((np.arange(NODES) + 0.5) / NODES) - self.noise.centre
        action = np.empty(len(centre))
        for block in slices(len(centre), ROWS_AT_ONCE):
            check_deadline()
            c, s = centre[block], scale[block]
            alike = np.zeros(len(c), dtype=bool)
            if self.noise.is_constant:
                alike = _is_of_the_difference(loss, s[0] * nodes, c)
            found = np.empty(len(c))
            if alike.any():
                found[alike] = c[alike] + loss.bayes_action(s[0] * nodes)
            if not alike.all():
                y = c[~alike, None] + s[~alike, None] * nodes
                found[~alike] = loss.bayes_action(y)
            action[block] = found
        return action

    def expected_loss(self, X: Any, prediction: Array, loss: Loss) -> Floats | None:
        return self.noise.expected_loss(X, prediction - self.regression_function(X), loss)

    def known_bayes_risk(self, loss: Loss) -> Known | None:
        """Where the noise is the same at all x, so is the least expected loss."""
        if not (self.noise.is_constant and isinstance(loss, Squared | Absolute | Quantile)):
            return None
        anywhere = np.zeros((1, 1))
        best = np.zeros(1)
        if not isinstance(loss, Squared):
            best = self.noise.quantile(anywhere, loss.q if isinstance(loss, Quantile) else 0.5)
        least = self.noise.expected_loss(anywhere, best, loss)
        if least is None:
            return None
        return Known(float(least[0]), "the noise is the same at all x")


class SampledRegression(RegressionPopulation):
    """Your own joint sampler of (X, y), and the regression function that belongs to it.

    Risks are Monte Carlo; the squared loss alone has a Bayes rule, for nothing else of Y given x
    is known.

    Parameters
    ----------
    sampler : callable
        sampler(n, rng) gives X and y with n rows; X may be a data frame.
    regression_function : callable
        From X to E[Y | x] of each row.
    noise_variance : callable, optional
        From X to Var(Y | x) of each row, where it is known.

    Examples
    --------
    >>> def counts(n, rng):
    ...     X = rng.uniform(size=(n, 2))
    ...     return X, rng.poisson(np.exp(X[:, 0]))
    >>> population = SampledRegression(counts, lambda X: np.exp(X[:, 0]))
    >>> round(float(population.bayes_risk(random_state=0).value), 1)      # e - 1
    1.7
    """

    def __init__(
        self,
        sampler: Callable[[int, np.random.Generator], tuple[Any, Any]],
        regression_function: Function,
        *,
        noise_variance: Function | None = None,
    ) -> None:
        check_function(regression_function, "regression_function", "of X")
        if noise_variance is not None:
            check_function(noise_variance, "noise_variance", "of X")
        self.sampler = Jointly(sampler)
        self.function = regression_function
        self.variance = noise_variance
        self.features = Drawn(self.sampler)

    def regression_function(self, X: Any) -> Floats:
        return values_at(self.function, X, "the regression function")

    def noise_variance(self, X: Any) -> Floats | None:
        if self.variance is None:
            return None
        variance = values_at(self.variance, X, "the noise variance")
        if not (variance >= 0).all():
            raise ParameterError(
                f"the noise variance is {variance.min():.4g} at some x; a variance is 0 or more"
            )
        return variance

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Floats]:
        X, y = self.sampler.draw(n, rng)
        return X, checked_values(y, n, "the sampler's y")

    def draw_targets(self, X: Any, rng: np.random.Generator) -> Floats:
        raise ParameterError(
            "a joint sampler draws X and y together, and cannot draw y for a given X: for a fixed "
            "design describe the population by Regression(function, features, noise)"
        )

    def best_action(self, X: Any, loss: Loss) -> Floats:
        if isinstance(loss, Squared):
            return self.regression_function(X)
        raise ParameterError(
            f"the Bayes rule of the {loss} loss needs the distribution of Y given x, and a sampler "
            "with its regression function shows only the mean: take Regression(...)"
        )

    def expected_loss(self, X: Any, prediction: Array, loss: Loss) -> Floats | None:
        variance = self.noise_variance(X)
        if variance is None or not isinstance(loss, Squared):
            return None
        return variance + np.square(prediction - self.regression_function(X))


def _is_of_the_difference(loss: RegressionLoss, y: Floats, shifts: Floats) -> Array:
    """Where L(y + c, a + c) = L(y, a): there the best action is f(x) plus one number.

    For each shift c by itself, so that no prediction depends on the rows beside it.
    """
    c, some, a = shifts[:, None, None], y[:: len(y) // 20], y[:: len(y) // 5, None]
    alike = np.isclose(loss(some + c, a + c), loss(some, a), rtol=1e-6)
    return np.asarray(alike.all(axis=(1, 2)))


def values_at(function: Function, X: Any, what: str) -> Floats:
    """One finite number for each row of X."""
    return checked_values(function(as_rows(X)), _num_samples(X), what)


def checked_values(given: Any, n: int, what: str) -> Floats:
    """n finite numbers."""
    values = real_numbers(given, what)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ParameterError(
            f"{what} gave an array of shape {values.shape} for {n} rows, or numbers that are not "
            "finite; wanted one finite number for each row"
        )
    return values
