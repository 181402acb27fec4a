"""The losses of boosted regressions."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from empirisk.learners.ensembles.boosting.boosting_loss import BoostingLoss, Link, OwnLoss
from empirisk.learners.ensembles.boosting.leaf_steps import huber_steps, leaf_quantiles
from empirisk.losses.weighted import weighted_mean, weighted_quantile
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real


@dataclass(frozen=True)
class SquaredError(BoostingLoss):
    """(y - f)^2 / 2. Each round fits a tree to the residuals; leaves have their means."""

    kernel: ClassVar[Any] = "squared"
    gain_power: ClassVar[int] = 2
    constant_curvature: ClassVar[bool] = True

    def value(self, y: Array, raw: Floats) -> Floats:
        """(y - f)^2 / 2."""
        return 0.5 * (y - raw) ** 2

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """f - y."""
        return raw - y

    def initial(self, y: Array, sample_weight: Floats) -> float:
        """The mean."""
        return float(weighted_mean(y, sample_weight))


@dataclass(frozen=True)
class PinballLoss(BoostingLoss):
    """max(q r, (q - 1) r) with r = y - f. Leaves have the q-quantiles of their residuals."""

    q: float = 0.5
    constant_curvature: ClassVar[bool] = True

    def value(self, y: Array, raw: Floats) -> Floats:
        """max(q r, (q - 1) r)."""
        return np.where(y < raw, 1 - self.q, self.q) * np.abs(y - raw)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """-q below y, 1 - q above it, 0 on it."""
        return np.where(raw < y, -self.q, np.where(raw > y, 1 - self.q, 0.0))

    def initial(self, y: Array, sample_weight: Floats) -> float:
        """The q-quantile."""
        return float(weighted_quantile(y, sample_weight, self.q))

    def leaf_steps(self, y: Array, raw: Floats, weight: Any, leaf: Any, newton: Floats) -> Floats:
        """The q-quantiles of the residuals."""
        return leaf_quantiles(y - raw, weight, leaf, len(newton), self.q)


@dataclass(frozen=True)
class AbsoluteError(PinballLoss):
    """|y - f|. Leaves have the medians of their residuals."""

    q: float = 0.5

    def value(self, y: Array, raw: Floats) -> Floats:
        """|y - f|."""
        return np.abs(y - raw)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """The sign of f - y."""
        return np.sign(raw - y)


@dataclass(frozen=True)
class HuberLoss(BoostingLoss):
    """r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2), with r = y - f.

    In each round delta is the `alpha`-quantile of the absolute residuals (Friedman 2001).
    """

    alpha: float = 0.9
    delta: float = 1.0
    constant_curvature: ClassVar[bool] = True
    gain_power: ClassVar[int] = 2

    def value(self, y: Array, raw: Floats) -> Floats:
        """r^2 / 2, or delta (|r| - delta / 2)."""
        size = np.abs(y - raw)
        clipped = np.minimum(size, self.delta)
        return clipped * (size - 0.5 * clipped)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """-r, no farther from 0 than delta."""
        return np.clip(raw - y, -self.delta, self.delta)

    def for_round(self, y: Array, raw: Floats, weight: Floats) -> "HuberLoss":
        """With delta as the alpha-quantile of the absolute residuals."""
        size, one_leaf = np.abs(y - raw), np.zeros(len(y), np.int64)
        return replace(self, delta=float(leaf_quantiles(size, weight, one_leaf, 1, self.alpha)[0]))

    def initial(self, y: Array, sample_weight: Floats) -> float:
        """The constant of least loss, with delta by the residuals from the median."""
        median = float(weighted_quantile(y, sample_weight, 0.5))
        loss = self.for_round(y, np.full(len(y), median), sample_weight)
        weight = sample_weight / sample_weight.sum()

        def slope(f: float) -> float:
            return float(weight @ loss.gradient(y, np.array(f)))

        low, high = float(y.min()), float(y.max())
        if not slope(low) < 0 < slope(high):
            return median  # all values are equal, or delta is 0
        return float(brentq(slope, low, high, xtol=1e-14 * (high - low)))

    def leaf_steps(self, y: Array, raw: Floats, weight: Any, leaf: Any, newton: Floats) -> Floats:
        """The median of the residuals, and the mean of those clipped around it."""
        return huber_steps(y - raw, weight, leaf, len(newton), self.delta)


@dataclass(frozen=True)
class PoissonDeviance(BoostingLoss):
    """exp(f) - y f, up to a term of y; exp(f) predicts.

    Newton's step of a leaf is r - 1, where r is what the sum of its y has to that of exp(f). The
    best step is log r: it is taken where r > 1, and where Newton's falls short of it that is.
    """

    link: ClassVar[Link] = "log"
    wanted: ClassVar[str] = "values >= 0 that are not all 0"
    gain_power: ClassVar[int] = 1
    curvature_power: ClassVar[int] = 1

    def value(self, y: Array, raw: Floats) -> Floats:
        """exp(f) - y f."""
        return np.exp(raw) - y * raw

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """exp(f) - y."""
        return np.exp(raw) - y

    def curvature(self, y: Array, raw: Floats) -> Floats:
        """exp(f)."""
        return np.exp(raw)

    def derivatives(self, y: Array, raw: Floats) -> tuple[Floats, Floats]:
        mean = np.exp(raw)
        return mean - y, mean

    def allows(self, y: Array) -> bool:
        return bool(y.min() >= 0 and y.max() > 0)

    def initial(self, y: Array, sample_weight: Floats) -> float:
        """The logarithm of the mean."""
        return float(np.log(weighted_mean(y, sample_weight)))

    def leaf_steps(self, y: Array, raw: Floats, weight: Any, leaf: Any, newton: Floats) -> Floats:
        """log(1 + v) of Newton's step v > 0, which is log r without a penalty."""
        return np.where(newton > 0, np.log1p(np.maximum(newton, 0.0)), newton)

    @property
    def keeps_order(self) -> bool:
        return True


@dataclass(frozen=True)
class GammaDeviance(BoostingLoss):
    """f + y exp(-f), up to a term of y; exp(f) predicts.

    Newton's step of a leaf is 1 - 1 / r, where r is the mean of y exp(-f) in it, and far too long
    for small r. Leaves have the best step, log r.
    """

    link: ClassVar[Link] = "log"
    wanted: ClassVar[str] = "values above 0"

    def value(self, y: Array, raw: Floats) -> Floats:
        """f + y exp(-f)."""
        return raw + y * np.exp(-raw)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """1 - y exp(-f)."""
        return 1 - y * np.exp(-raw)

    def curvature(self, y: Array, raw: Floats) -> Floats:
        """y exp(-f)."""
        return y * np.exp(-raw)

    def derivatives(self, y: Array, raw: Floats) -> tuple[Floats, Floats]:
        ratio = y * np.exp(-raw)
        return 1 - ratio, ratio

    def allows(self, y: Array) -> bool:
        return bool(y.min() > 0)

    def initial(self, y: Array, sample_weight: Floats) -> float:
        """The logarithm of the mean."""
        return float(np.log(weighted_mean(y, sample_weight)))

    def leaf_steps(self, y: Array, raw: Floats, weight: Any, leaf: Any, newton: Floats) -> Floats:
        """-log(1 - v) of Newton's step v < 1, which is log r without a penalty."""
        return -np.log1p(-np.minimum(newton, 1 - 1e-15))

    @property
    def keeps_order(self) -> bool:
        return True


PLAIN = {
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "poisson": PoissonDeviance,
    "gamma": GammaDeviance,
}
NAMES = (*PLAIN, "huber", "quantile")


def regression_loss(loss: Any, quantile: Any = None, alpha: Any = 0.9) -> BoostingLoss:
    """The loss that a name and its parameters mean, or a user's own.

    Examples
    --------
    >>> regression_loss("quantile", quantile=0.8)
    PinballLoss(q=0.8)
    """
    if not isinstance(loss, str):
        return OwnLoss(loss)
    if loss in PLAIN:
        return PLAIN[loss]()
    if loss == "quantile":
        return PinballLoss(_level("quantile", quantile, ends=True))
    if loss == "huber":
        return HuberLoss(_level("alpha", alpha, ends=False))
    raise ParameterError(
        f"loss is {loss!r}; it must be one of {', '.join(NAMES)}, or a loss of your own"
    )


def _level(name: str, value: Any, *, ends: bool) -> float:
    level = real(value)
    if level is None or not (0 <= level <= 1 if ends else 0 < level < 1):
        raise ParameterError(
            f"{name} is {value!r}; the loss needs a number from 0 to 1"
            + ("" if ends else ", without these")
        )
    return level
