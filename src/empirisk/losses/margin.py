"""The margin losses: square, perceptron, hinge, squared hinge, logit, exponential; z = y f(x)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from empirisk.losses.margin_loss import MarginLoss, checked_eta
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError

LOG2 = np.log(2.0)


@dataclass(frozen=True)
class Square(MarginLoss):
    """(1 - z)^2, which is (y - f)^2. Minimiser 2 eta - 1.

    It also penalises margins above 1, which are right.

    Examples
    --------
    >>> Square().value([-1.0, 0.0, 1.0, 3.0])
    array([4., 1., 0., 4.])
    """

    name: ClassVar[str] = "square"
    has_probability: ClassVar[bool] = True

    def value(self, margin: ArrayLike) -> Floats:
        """(1 - z)^2."""
        with np.errstate(over="ignore"):
            return np.square(1.0 - np.asarray(margin, dtype=float))

    def derivative(self, margin: ArrayLike) -> Floats:
        """-2 (1 - z)."""
        return 2.0 * (np.asarray(margin, dtype=float) - 1.0)

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """2."""
        return np.full(np.shape(margin), 2.0)

    def minimiser(self, eta: ArrayLike) -> Floats:
        """2 eta - 1."""
        return 2.0 * checked_eta(eta) - 1.0

    def probability(self, f: ArrayLike) -> Floats:
        """(1 + f) / 2, held to [0, 1]."""
        return np.clip(0.5 * (1.0 + np.asarray(f, dtype=float)), 0.0, 1.0)


@dataclass(frozen=True)
class Perceptron(MarginLoss):
    """max(0, -z): only wrong classifications cost. Derivative -1 for z <= 0.

    Not a surrogate of the 0-1 loss, which it does not bound, and not classification-calibrated:
    f = 0 minimises it.

    Examples
    --------
    >>> Perceptron().value([-2.0, 0.0, 1.0])
    array([2., 0., 0.])
    """

    name: ClassVar[str] = "perceptron"

    def value(self, margin: ArrayLike) -> Floats:
        """max(0, -z)."""
        return np.maximum(0.0, 0.0 - np.asarray(margin, dtype=float))

    def derivative(self, margin: ArrayLike) -> Floats:
        """-1 for z <= 0, else 0."""
        return np.where(np.asarray(margin) <= 0, -1.0, 0.0)

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """0."""
        return np.zeros(np.shape(margin))

    def minimiser(self, eta: ArrayLike) -> Floats:
        """0, whatever eta (at eta = 1 every f >= 0 does as well, at eta = 0 every f <= 0)."""
        return np.zeros_like(checked_eta(eta))


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """max(0, 1 - z), the loss of support vector machines. Derivative -1 for z <= 1.

    Examples
    --------
    >>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
    array([2., 1., 0., 0.])
    """

    name: ClassVar[str] = "hinge"

    def value(self, margin: ArrayLike) -> Floats:
        """max(0, 1 - z)."""
        return np.maximum(0.0, 1.0 - np.asarray(margin, dtype=float))

    def derivative(self, margin: ArrayLike) -> Floats:
        """-1 for z <= 1, else 0."""
        return np.where(np.asarray(margin) <= 1, -1.0, 0.0)

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """0."""
        return np.zeros(np.shape(margin))

    def minimiser(self, eta: ArrayLike) -> Floats:
        """The sign of eta - 1/2: the likelier class; at 1/2, where all of [-1, 1] does, 0."""
        return np.sign(checked_eta(eta) - 0.5)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """max(0, 1 - z)^2: the square loss without its penalty on margins above 1. Minimiser 2 eta - 1.

    Examples
    --------
    >>> SquaredHinge().value([-1.0, 0.0, 1.0, 3.0])
    array([4., 1., 0., 0.])
    """

    name: ClassVar[str] = "squared_hinge"
    has_probability: ClassVar[bool] = True

    def value(self, margin: ArrayLike) -> Floats:
        """max(0, 1 - z)^2."""
        with np.errstate(over="ignore"):
            return np.square(np.maximum(0.0, 1.0 - np.asarray(margin, dtype=float)))

    def derivative(self, margin: ArrayLike) -> Floats:
        """-2 max(0, 1 - z)."""
        return 2.0 * np.minimum(0.0, np.asarray(margin, dtype=float) - 1.0)

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """2 for z <= 1, else 0."""
        return np.where(np.asarray(margin) <= 1, 2.0, 0.0)

    def minimiser(self, eta: ArrayLike) -> Floats:
        """2 eta - 1 (at eta = 1 every f >= 1 does as well, at eta = 0 every f <= -1)."""
        return 2.0 * checked_eta(eta) - 1.0

    def probability(self, f: ArrayLike) -> Floats:
        """(1 + f) / 2, held to [0, 1]."""
        return np.clip(0.5 * (1.0 + np.asarray(f, dtype=float)), 0.0, 1.0)


@dataclass(frozen=True)
class Logit(MarginLoss):
    """log(1 + exp(-z)) / log 2, the loss of logistic regression. Minimiser log(eta / (1 - eta)).

    Divided by log 2 it is 1 at z = 0 and bounds the 0-1 loss; scikit-learn's `log_loss` is
    log 2 times it.

    Examples
    --------
    >>> Logit().value([-1.0, 0.0, 1000.0]).round(3)
    array([1.895, 1.   , 0.   ])
    """

    name: ClassVar[str] = "logit"
    has_probability: ClassVar[bool] = True

    def value(self, margin: ArrayLike) -> Floats:
        """log(1 + exp(-z)) / log 2."""
        return np.logaddexp(0.0, -np.asarray(margin, dtype=float)) / LOG2

    def derivative(self, margin: ArrayLike) -> Floats:
        """-1 / (1 + exp(z)) / log 2."""
        return -expit(-np.asarray(margin, dtype=float)) / LOG2

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """sig(z) sig(-z) / log 2, sig(z) = 1 / (1 + exp(-z))."""
        z = np.asarray(margin, dtype=float)
        return expit(z) * expit(-z) / LOG2

    def minimiser(self, eta: ArrayLike) -> Floats:
        """log(eta / (1 - eta)), infinite at 0 and 1."""
        return logit(checked_eta(eta))

    def probability(self, f: ArrayLike) -> Floats:
        """1 / (1 + exp(-f))."""
        return expit(np.asarray(f, dtype=float))


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """exp(-z), the loss of AdaBoost. Minimiser log(eta / (1 - eta)) / 2.

    Infinite for z < -709.78, where exp(-z) exceeds the largest double.

    Examples
    --------
    >>> Exponential().value([-1.0, 0.0, 1.0]).round(3)
    array([2.718, 1.   , 0.368])
    """

    name: ClassVar[str] = "exponential"
    has_probability: ClassVar[bool] = True

    def value(self, margin: ArrayLike) -> Floats:
        """exp(-z)."""
        with np.errstate(over="ignore"):
            return np.exp(-np.asarray(margin, dtype=float))

    def derivative(self, margin: ArrayLike) -> Floats:
        """-exp(-z)."""
        return -self.value(margin)

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """exp(-z)."""
        return self.value(margin)

    def minimiser(self, eta: ArrayLike) -> Floats:
        """log(eta / (1 - eta)) / 2, infinite at 0 and 1."""
        return 0.5 * logit(checked_eta(eta))

    def probability(self, f: ArrayLike) -> Floats:
        """1 / (1 + exp(-2 f))."""
        return expit(2.0 * np.asarray(f, dtype=float))


NAMED: dict[str, type[MarginLoss]] = {
    loss.name: loss for loss in (Square, Perceptron, Hinge, SquaredHinge, Logit, Exponential)
}


def as_margin_loss(loss: MarginLoss | str) -> MarginLoss:
    """The margin loss of that name, or the loss itself.

    Examples
    --------
    >>> as_margin_loss("hinge")
    Hinge()
    """
    if isinstance(loss, MarginLoss):
        return loss
    if isinstance(loss, str) and loss in NAMED:
        return NAMED[loss]()
    raise ParameterError(f"there is no margin loss {loss!r}; the names are {', '.join(NAMED)}")
