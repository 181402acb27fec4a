"""Losses for numbers: squared, absolute, quantile; each with its derivative and its Bayes rule."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.loss import Loss, LossTask
from empirisk.losses.minimise import golden_section
from empirisk.losses.weighted import (
    checked_sample,
    midpoint,
    weighted_mean,
    weighted_quantile,
)
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number


class RegressionLoss(Loss):
    """A loss of numbers. One of your own needs only `name` and `__call__`.

    Examples
    --------
    >>> from empirisk import LinearRegression, risk
    >>> class Cubed(RegressionLoss):
    ...     name = "cubed"
    ...     def __call__(self, y, prediction):
    ...         return np.abs(np.subtract(y, prediction)) ** 3
    >>> X = np.arange(20.0)[:, np.newaxis]
    >>> y = X[:, 0] + np.tile([1.0, -1.0], 10)
    >>> round(risk.cross_validate(LinearRegression(), X, y, loss=Cubed(), random_state=0).value, 2)
    1.43
    """

    task: ClassVar[LossTask] = "regression"

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """The derivative in the prediction; at a kink, the subgradient nearest to 0."""
        raise NotImplementedError(f"{type(self).__name__} gives no derivative")

    def bayes_action(self, sample: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """The number with the least mean loss, for each sample along the last axis.

        A loss that does not know better searches between the least and the largest value, by
        golden section, which is right where it is convex in the prediction and 0 at y.

        Parameters
        ----------
        sample : array-like of shape (draws,) or (..., draws)
            Draws from the predictive distribution of y, or the values it can take.
        sample_weight : array-like of shape (draws,) or that of sample, optional
            Weights of the draws, or the probabilities of the values; a draw of weight w counts
            as w draws.
        """
        values, weight = checked_sample(sample, sample_weight)
        low = values.min(axis=-1, where=weight > 0, initial=np.inf)
        high = values.max(axis=-1, where=weight > 0, initial=-np.inf)

        def mean_loss(action: Array) -> Array:
            return weighted_mean(self(values, action[..., None]), weight)

        return golden_section(mean_loss, low, midpoint(low, high), high)[0][()]

    def bayes_risk(self, sample: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """The mean loss of the Bayes action, for each sample along the last axis."""
        values, weight = checked_sample(sample, sample_weight)
        action = self.bayes_action(values, weight)
        return weighted_mean(self(values, action[..., None]), weight)

    def best_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_classes: int = 0
    ) -> float:
        """The number with the least weighted mean loss on y."""
        return float(self.bayes_action(np.ravel(np.asarray(y)), sample_weight))


@dataclass(frozen=True)
class Squared(RegressionLoss):
    """(y - prediction)^2. Its Bayes rule is the mean.

    Infinite only where the square is larger than the largest double.

    Examples
    --------
    >>> loss = Squared()
    >>> loss([1.0, 2.0], [1.0, 4.0])
    array([0., 4.])
    >>> loss.derivative([1.0, 2.0], [1.0, 4.0])
    array([0., 4.])
    >>> loss.best_constant([0.0, 1.0, 5.0])
    2.0
    """

    name: ClassVar[str] = "squared"

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """(y - prediction)^2."""
        with np.errstate(over="ignore"):
            error = np.subtract(y, prediction, dtype=float)
            return np.multiply(error, error, out=error if isinstance(error, np.ndarray) else None)

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """2 (prediction - y)."""
        return 2.0 * np.subtract(prediction, y, dtype=float)

    def bayes_action(self, sample: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """The mean of each sample along the last axis."""
        return weighted_mean(*checked_sample(sample, sample_weight))


@dataclass(frozen=True)
class Absolute(RegressionLoss):
    """|y - prediction|. Its Bayes rule is the median.

    Where every point between two values is a median, the rule takes their midpoint.

    Examples
    --------
    >>> loss = Absolute()
    >>> loss([1.0, 2.0], [1.0, 4.0])
    array([0., 2.])
    >>> loss.derivative([1.0, 2.0], [1.0, 4.0])      # 0 at the kink
    array([0., 1.])
    >>> loss.best_constant([0.0, 1.0, 5.0, 9.0]), loss.best_constant([0.0, 1.0], [1, 3])
    (3.0, 1.0)
    """

    name: ClassVar[str] = "absolute"

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """|y - prediction|."""
        return np.abs(np.subtract(y, prediction, dtype=float))

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """The sign of prediction - y, 0 where they are equal."""
        return np.sign(np.subtract(prediction, y, dtype=float))

    def bayes_action(self, sample: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """The median of each sample along the last axis; of an interval of medians, its middle."""
        return weighted_quantile(*checked_sample(sample, sample_weight), 0.5)


@dataclass(frozen=True)
class Quantile(RegressionLoss):
    """The pinball loss max(q r, (q - 1) r), r = y - prediction. Its Bayes rule is the q-quantile.

    A prediction below y costs q per unit, one above it 1 - q. So `Quantile(0.5)` is *half* the
    absolute loss, as scikit-learn's `mean_pinball_loss` has it.
    Where every point between two values is a q-quantile, the rule takes their midpoint.

    Parameters
    ----------
    q : float
        The level, strictly between 0 and 1.

    Examples
    --------
    >>> loss = Quantile(0.9)
    >>> loss([0.0, 0.0], [-1.0, 1.0])
    array([0.9, 0.1])
    >>> loss.best_constant([1.0, 2.0, 3.0, 4.0])
    4.0
    """

    q: float
    name: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        if not (is_number(self.q) and 0 < self.q < 1):
            raise ParameterError(f"Quantile(q={self.q!r}): q must lie strictly between 0 and 1")

    def __str__(self) -> str:
        return f"quantile({self.q})"

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """max(q r, (q - 1) r) with r = y - prediction."""
        residual = np.subtract(y, prediction, dtype=float)
        return np.where(residual < 0, 1 - self.q, self.q) * np.abs(residual)

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """-q below y, 1 - q above it, 0 on it."""
        residual = np.subtract(y, prediction, dtype=float)
        return np.where(residual > 0, -self.q, np.where(residual < 0, 1 - self.q, 0.0))

    def bayes_action(self, sample: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """The q-quantile of each sample along the last axis; of an interval, its middle."""
        return weighted_quantile(*checked_sample(sample, sample_weight), self.q)
