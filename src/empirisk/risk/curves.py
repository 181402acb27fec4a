"""The risk along a learner's complexity axis: honest beside training risk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.risk_curve import draw_risk_curve
from empirisk.risk.axis import Axis
from empirisk.risk.out_of_fold import OutOfFold
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class RiskPath:
    """The risk at each value of a learner's axis: honest beside training risk.

    Attributes
    ----------
    values : sequence
        Along the axis.
    complexity : array
        Of each value, increasing from simple to rich.
    risk, standard_error : arrays
        The mean loss of held-out rows, and its error.
    training_risk : array
        The mean loss of the training rows: too good.
    chosen : int
        The place of the chosen value.
    axis : Axis or None
    rung, why : str
        How held-out predictions were found: "plan", "path" or "generic"; and why not faster.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import Ridge, Tuned
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> path = Tuned(Ridge(), values=[100.0, 1.0, 0.01]).fit(X, y).path_
    >>> path.values, path.complexity
    ([100.0, 1.0, 0.01], array([0., 1., 2.]))
    >>> bool((path.training_risk < path.risk).all())
    True
    """

    values: Sequence[Any]
    complexity: Floats
    risk: Floats
    standard_error: Floats
    training_risk: Floats
    chosen: int
    axis: Axis | None
    rung: str
    why: str

    @classmethod
    def of(cls, losses: OutOfFold, chosen: int) -> "RiskPath":
        return cls(
            values=losses.values,
            complexity=losses.complexity,
            risk=losses.risk,
            standard_error=losses.standard_error,
            training_risk=losses.training_risk(),
            chosen=chosen,
            axis=losses.work.axis,
            rung=losses.rung,
            why=losses.why,
        )

    def plot(self, ax: Any = None) -> Any:
        """Training risk against honest risk, richer to the right; the choice marked."""
        one = self.axis is not None and len(self.axis.params) == 1
        number = one and all(isinstance(value, int | float | np.number) for value in self.values)
        place: Array = np.array(self.values, dtype=float) if number else self.complexity
        order = np.argsort(place, kind="stable")
        return draw_risk_curve(
            place[order],
            self.risk[order],
            self.standard_error[order],
            self.training_risk[order],
            label=self._label(number),
            scale=self.axis.scale if number and self.axis else "linear",
            chosen=place[self.chosen],
            said=None if number or self.axis is None else self._chosen_in_words(),
            richer_right=not (number and self.axis and self.axis.larger == "simpler"),
            ax=ax,
        )

    def _chosen_in_words(self) -> str:
        value = self.values[self.chosen]
        parts = value if isinstance(value, tuple) else (value,)
        return ", ".join(f"{p:.4g}" if isinstance(p, float) else str(p) for p in parts)

    def _label(self, number: bool) -> str:
        """What stands below the picture: where values are no numbers, their rank."""
        if self.axis is None:
            return "complexity"
        params = ", ".join(self.axis.params)
        return params if number else f"rank of {params}"
