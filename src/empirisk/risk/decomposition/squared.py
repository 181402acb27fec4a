"""Squared loss: noise + squared bias + variance, in estimates that are unbiased and add up.

At a point x with regression function f and predictions h_1, ..., h_M of M training sets, their mean
h and their variance V = sum_m (h_m - h)^2 / (M - 1),

    1/M sum_m (h_m - f)^2 = [(h - f)^2 - V/M] + V.

The bracket is an unbiased estimate of the squared bias, since (h - f)^2 is too large by V/M on
average; it may come out negative where the bias is small.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from empirisk.charts.bias_variance import draw_mean_prediction
from empirisk.data.scaling import power_of_two
from empirisk.risk.decomposition.parts import Decomposition, Parts
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class SquaredDecomposition(Decomposition):
    """Expected squared risk = noise + squared bias + variance.

    `parts` and `standard_error` have "noise", "bias_squared", "variance" and "total"; `pointwise`
    also "mean_prediction" and "truth", the regression function.

    Examples
    --------
    >>> from empirisk import LinearRegression, risk
    >>> sine = risk.populations.sine(noise=0.3)
    >>> found = risk.bias_variance(LinearRegression(), sine, 20, n_sets=20, random_state=0)
    >>> sorted(found.parts), round(found.noise, 2)
    (['bias_squared', 'noise', 'total', 'variance'], 0.09)
    """

    summands: ClassVar[tuple[str, ...]] = ("noise", "bias_squared", "variance")
    words: ClassVar[dict[str, str]] = {
        "risk": "squared risk",
        "noise": "noise",
        "bias_squared": "squared bias",
        "variance": "variance",
        "total": "total",
        "prediction": "y",
    }

    @property
    def noise(self) -> float:
        """E Var(Y | X), the Bayes risk: no learner can avoid it."""
        return self.parts["noise"]

    @property
    def bias_squared(self) -> float:
        """E (f(X) - mean prediction)^2."""
        return self.parts["bias_squared"]

    @property
    def variance(self) -> float:
        """E Var(prediction | X) over training sets."""
        return self.parts["variance"]

    @property
    def excess(self) -> float:
        """Squared bias + variance: how far the risk is above the Bayes risk."""
        return self.bias_squared + self.variance

    @property
    def sentence(self) -> str:
        said = " + ".join(self._said(name) for name in self.summands)
        return f"The squared risk of {self.learner} is {self.total:.4g} = {said} ({self.setting})."

    def plot_predictions(self, ax: Any = None) -> Any:
        """The mean prediction against x, with one standard deviation, beside the truth."""
        return draw_mean_prediction(
            self.one_feature(),
            self.pointwise["mean_prediction"],
            np.sqrt(self.pointwise["variance"]),
            self.pointwise["truth"],
            label=self.words["prediction"],
            ax=ax,
        )


class SquaredAccounts:
    """Sums of predictions and of their squares, less a pilot's predictions and in a common unit.

    Without the pilot, a variance that is small beside the bias would be lost in rounding.
    """

    result_class: type[SquaredDecomposition] = SquaredDecomposition

    def __init__(self, truth: Floats, noise: Floats, pilot: Array) -> None:
        sizes = (np.abs(truth), np.abs(pilot), np.sqrt(noise[np.isfinite(noise)]))
        largest = max((float(size.max()) for size in sizes if size.size), default=0.0)
        self.unit = float(power_of_two(largest))
        self.truth = truth
        self.noise = noise[:, None] / self.unit / self.unit
        self.pilot = pilot / self.unit
        self.gap = self.pilot - truth[:, None] / self.unit

    def summarise(self, prediction: Array, present: Array | None = None) -> Array:
        """Counts, sums and sums of squares; of the points `present`, where not all are."""
        deviation = prediction / self.unit - self.pilot
        counted = np.ones(deviation.shape)
        if present is not None:
            counted = np.broadcast_to(present[:, None], deviation.shape).astype(float)
            deviation = np.where(counted > 0, deviation, 0.0)
        return np.stack([counted, deviation, np.square(deviation)])

    def parts(self, sums: Array) -> dict[str, Floats]:
        """NaN at points with fewer than two predictions."""
        count, first, second = sums
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = first / count
            squares = np.maximum(second - count * np.square(mean), 0.0)
            variance = np.where(count >= 2, squares / (count - 1), np.nan)
            bias_squared = np.square(self.gap + mean) - variance / count
        noise = np.broadcast_to(self.noise, variance.shape)
        return {
            "noise": noise,
            "bias_squared": bias_squared,
            "variance": variance,
            "total": noise + bias_squared + variance,
        }

    def result(self, parts: Parts, j: int, **told: Any) -> SquaredDecomposition:
        found = self.result_class.at_value(parts, j, **told)
        count, first, _ = parts.sums[:, :, j]
        with np.errstate(invalid="ignore"):
            mean = (self.pilot[:, j] + first / count) * self.unit
        found.pointwise.update(mean_prediction=mean, truth=self.truth)
        return found
