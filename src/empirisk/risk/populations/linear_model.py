"""The linear model Y = a + b'X + noise, in which the risk of a linear rule is known exactly."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses import Absolute, Loss, Quantile, Squared
from empirisk.risk.populations.bayes_rule import BayesRegressor
from empirisk.risk.populations.features import Features, Gaussian, Sampler
from empirisk.risk.populations.linear_rules import (
    DRAWS,
    JUDGED_BY,
    Affine,
    affine,
    is_linear,
    judged_by_draws,
)
from empirisk.risk.populations.noise import Noise, Normal, Scale
from empirisk.risk.populations.regression import Regression
from empirisk.risk.populations.true_risk import Known, prediction_of
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, real_numbers


class LinearModel(Regression):
    """Y = intercept + coef'X + noise.

    The squared risk of a linear rule h(x) = c + d'x is in closed form: with the mean m and the
    covariance S of X,

        R(h) = E Var(Y | X) + (c - a + (d - b)'m)^2 + (d - b)'S(d - b).

    With Gaussian X and noise, Y - h(X) is Gaussian, and the other losses have closed forms too.

    Parameters
    ----------
    coef : array-like of shape (p,)
    intercept : float
    features : Features or callable, optional
        The distribution of X; by default p independent standard normal features.
    noise : Noise, float or callable
        As in `Regression`.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> population = LinearModel([1.0, -2.0], noise=0.5)
    >>> model = LinearRegression().fit(*population.sample(50, random_state=0))
    >>> risk = population.true_risk(model)
    >>> risk.method, bool(risk.value > population.bayes_risk().value == 0.25)
    ('exact', True)
    """

    def __init__(
        self,
        coef: ArrayLike,
        intercept: float = 0.0,
        *,
        features: Features | Sampler | None = None,
        noise: Noise | Scale = 1.0,
    ) -> None:
        given = real_numbers(coef, "coef")
        if (
            given.ndim != 1
            or not len(given)
            or not np.isfinite(given).all()
            or not is_number(intercept)
        ):
            raise ParameterError(
                f"coef is {coef!r} and intercept {intercept!r}; wanted a vector and a number, "
                "all finite"
            )
        rule = Affine(float(intercept), given)
        features = Gaussian(n_features=len(given)) if features is None else features
        super().__init__(rule, features, noise)
        self.coef, self.intercept = given, rule.intercept
        mean = self.features.mean
        if mean is not None and len(mean) != len(given):
            raise ParameterError(
                f"there are {len(given)} coefficients and {len(mean)} features; give as many of "
                "one as of the other"
            )

    def known_risk(self, predictor: Any, loss: Loss, *, judged: bool = False) -> Known | None:
        """Of a linear rule: the formula above, or that of the Gaussian Y - h(X)."""
        if not self.noise.is_constant:
            return None
        gaussian = isinstance(self.noise, Normal) and isinstance(self.features, Gaussian)
        if not (gaussian or isinstance(loss, Squared)):
            return None
        linear = is_linear(predictor) or self._is_own(predictor)
        if not (linear or judged):
            return None
        rule = affine(
            lambda X: prediction_of(predictor, X, loss, None),
            self.features,
            DRAWS if linear else JUDGED_BY,
        )
        if rule is None:
            return None
        what = "a linear rule" if linear else f"a rule {judged_by_draws()}"
        mean, covariance = self.features.mean, self.features.covariance
        assert mean is not None
        assert covariance is not None
        gap = rule.coef - self.coef
        offset = rule.intercept - self.intercept + gap @ mean
        anywhere, spread = np.zeros((1, 1)), gap @ covariance @ gap
        if isinstance(loss, Squared):
            value = self.noise.variance(anywhere)[0] + offset**2 + spread
            return Known(float(value), f"{what} in a linear model")
        residual = Normal(float(np.sqrt(self.noise.variance(anywhere)[0] + spread)))
        value = residual.expected_loss(anywhere, np.array([offset]), loss)
        if value is None:
            return None
        return Known(float(value[0]), f"{what} in a linear model, all of it Gaussian")

    def _is_own(self, predictor: Any) -> bool:
        """Whether it is the Bayes rule under a loss that moves the mean by one number."""
        return (
            isinstance(predictor, BayesRegressor)
            and predictor.population is self
            and isinstance(predictor.loss, Squared | Absolute | Quantile)
        )
