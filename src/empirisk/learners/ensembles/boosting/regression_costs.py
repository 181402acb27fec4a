"""What regression losses ask of a weak learner: residuals, or the negative gradient and a step."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from empirisk.losses import (
    Absolute,
    Loss,
    MarginLoss,
    Quantile,
    RegressionLoss,
    Squared,
    as_loss,
)
from empirisk.losses.margin_loss import signs
from empirisk.losses.weighted import weighted_quantile
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError

LONGEST = 2.0**40  # a step along which the loss still falls there has no end


def checked_loss(loss: Any) -> Any:
    """A loss of numbers with a derivative, by name or as it is; of margins, as one of numbers."""
    if isinstance(loss, MarginLoss):
        return OfMargins(loss)
    found = as_loss(loss) if isinstance(loss, str | Loss) else loss
    task = getattr(found, "task", "regression")
    if task != "regression" or not callable(found) or not callable(getattr(found, "derivative", 0)):
        raise ParameterError(
            f"loss is {loss!r}; it must be a loss for numbers, such as 'squared', 'absolute' or "
            "'quantile:0.9', a margin loss such as losses.Logit(), or an object that is called as "
            "loss(y, prediction) and has derivative(y, prediction)"
        )
    return found


@dataclass(frozen=True)
class OfMargins(RegressionLoss):
    """phi(y f), of classes y = -1 and +1 and a discriminant function f.

    Examples
    --------
    >>> from empirisk.losses import Square
    >>> loss = OfMargins(Square())
    >>> loss([1, -1], [0.5, 0.5]), loss.derivative([1, -1], [0.5, 0.5])
    (array([0.25, 2.25]), array([-1.,  3.]))
    """

    phi: MarginLoss
    name: ClassVar[str] = "margin"

    def __str__(self) -> str:
        return f"{self.phi.name} margin"

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """phi(y f)."""
        return self.phi(y, prediction)

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """y phi'(y f)."""
        sign = signs(y)
        return sign * self.phi.derivative(sign * np.asarray(prediction, dtype=float))


class SquaredCost:
    """Residuals, and steps of length 1: L2-boosting.

    Parameters
    ----------
    y, weight : float64 arrays of shape (n,)
    """

    def __init__(self, y: Floats, weight: Floats) -> None:
        self.y, self.weight = y, weight

    def start(self) -> float:
        """The mean."""
        return Squared().best_constant(self.y, self.weight)

    def targets(self, f: Floats) -> list[tuple[Floats, Floats]]:
        return [(self.y - f[:, 0], self.weight)]

    def step(self, f: Floats, h: Floats) -> float:
        return 1.0

    def mean_loss(self, f: Floats) -> float:
        return _mean(Squared()(self.y, f[:, 0]), self.weight)


class GradientCost:
    """The negative derivative of a loss, and the step along the weak learner where it is least.

    Parameters
    ----------
    loss : Loss, or an object with `__call__` and `derivative`
        Convex in the prediction.
    y, weight : float64 arrays of shape (n,)
    """

    def __init__(self, loss: Any, y: Floats, weight: Floats) -> None:
        self.loss, self.y, self.weight = loss, y, weight

    def start(self) -> float:
        """The best constant."""
        if hasattr(self.loss, "best_constant"):
            return float(self.loss.best_constant(self.y, self.weight))
        mean = Squared().best_constant(self.y, self.weight)
        f, ones = np.full((len(self.y), 1), mean), np.ones((len(self.y), 1))
        return mean + self.step(f, ones) - self.step(f, -ones)

    def targets(self, f: Floats) -> list[tuple[Floats, Floats]]:
        return [(-np.asarray(self.loss.derivative(self.y, f[:, 0]), dtype=float), self.weight)]

    def step(self, f: Floats, h: Floats) -> float:
        return line_search(self.loss, self.y, f[:, 0], h[:, 0], self.weight)

    def mean_loss(self, f: Floats) -> float:
        return _mean(np.asarray(self.loss(self.y, f[:, 0])), self.weight)


def line_search(loss: Any, y: Floats, f: Floats, h: Floats, weight: Floats) -> float:
    """The step s >= 0 with the least sum_i w_i L(y_i, f_i + s h_i), for a loss that is convex.

    Of absolute and quantile losses it is a weighted quantile of the (y_i - f_i) / h_i: exact. Of
    others the root of the derivative in s.

    Examples
    --------
    >>> y, zeros, h = np.array([1.0, 2.0, 9.0]), np.zeros(3), np.array([1.0, 1.0, 2.0])
    >>> line_search(Absolute(), y, zeros, h, np.ones(3)), line_search(Squared(), y, zeros, h, h)
    (3.25, 3.9)
    """
    if isinstance(loss, Absolute | Quantile):
        q = loss.q if isinstance(loss, Quantile) else 0.5
        return _quantile_step(q, y - f, h, weight)

    def slope(s: float) -> float:
        with np.errstate(all="ignore"):
            value = float(weight @ (np.asarray(loss.derivative(y, f + s * h)) * h))
        return value if np.isfinite(value) else np.finfo(float).max

    if not slope(0.0) < 0:
        return 0.0
    high = 1.0
    while slope(high) < 0:
        high *= 2.0
        if high > LONGEST:
            return high
    return float(brentq(slope, 0.0, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))


def _quantile_step(q: float, residual: Floats, h: Floats, weight: Floats) -> float:
    """Where h is negative, a residual above the line is one below it in terms of s."""
    some = h != 0
    if not some.any():
        return 0.0
    ratio, pull = residual[some] / h[some], weight[some] * np.abs(h[some])
    up = float(pull[h[some] > 0].sum() / pull.sum())
    level = q * up + (1 - q) * (1 - up)
    return max(float(weighted_quantile(ratio, pull, level)), 0.0)


def _mean(losses: Floats, weight: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(weight @ losses / weight.sum())
