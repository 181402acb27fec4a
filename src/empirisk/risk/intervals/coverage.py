"""How often the intervals of many training sets contain the risk that they are for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from empirisk.charts.coverage import draw_coverage
from empirisk.runtime.arrays import Bools, Floats


class Share(NamedTuple):
    """A share of training sets, with its Monte Carlo error; NaN of none.

    The error of all or none is that of the share which two more sets would give, one of each kind:
    that none of 100 missed does not show that none would.
    """

    value: float
    standard_error: float

    @classmethod
    def of(cls, hit: Bools) -> "Share":
        if not len(hit):
            return cls(np.nan, np.nan)
        share, n = float(hit.mean()), len(hit)
        seen = share if 0 < share < 1 else (n * share + 1) / (n + 2)
        return cls(share, float(np.sqrt(seen * (1 - seen) / n)))

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} ± {100 * self.standard_error:.1f} %"


@dataclass(frozen=True, eq=False)
class Coverage:
    """The intervals of many training sets from a population in which true risks are known.

    Attributes
    ----------
    value, low, high : arrays
        The estimate of each training set and the ends of its interval, NaN where it had none.
    flagged : bool array
        Whether the estimate came with a caution.
    risk : array
        The true risk of the model fitted to each training set.
    level : float
        What the intervals promise.
    loss : str
    about : str
        What the training sets are and where they come from.
    caveat : str
        What this does not show.
    """

    value: Floats
    low: Floats
    high: Floats
    flagged: Bools
    risk: Floats
    level: float
    loss: str
    about: str
    caveat: str = ""

    @property
    def given(self) -> Bools:
        """Where there was an interval."""
        return np.isfinite(self.low)

    @cached_property
    def expected_risk(self) -> float:
        """Of the procedure at this n: the mean of the models' true risks."""
        return float(self.risk.mean())

    @property
    def of_procedure(self) -> Share:
        """Of the intervals given, those that contain the expected risk of the procedure."""
        return Share.of(self.contains(self.expected_risk)[self.given])

    @property
    def of_model(self) -> Share:
        """Of the intervals given, those that contain the risk of the model of the same rows."""
        return Share.of(self.contains(self.risk)[self.given])

    @property
    def width(self) -> float:
        """The mean width of the intervals given."""
        return float((self.high - self.low)[self.given].mean()) if self.given.any() else np.nan

    @property
    def bias(self) -> float:
        """The mean of the estimates less the expected risk."""
        return float(self.value.mean()) - self.expected_risk

    def contains(self, risk: Floats | float) -> Bools:
        """Whether each interval contains the risk; without an interval it does not."""
        return np.asarray((self.low <= risk) & (risk <= self.high))

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        text = f"Of {len(self.risk)} {self.about}, "
        lacking = int((~self.given).sum())
        if lacking == len(self.risk):
            return f"{text}none gave an interval."
        if lacking:
            text += f"{lacking} gave no interval; of the others, "
        text += (
            f"{self.of_procedure} had a {100 * self.level:g} % interval that contains the "
            f"{self.loss} risk of the procedure, {self.expected_risk:.4g}, and {self.of_model} one "
            f"that contains the risk of the model fitted; the mean width is {self.width:.3g}"
        )
        if self.flagged.any():
            text += f", and {100 * self.flagged.mean():.0f} % came with a caution"
        return f"{text}. {self.caveat}".strip()

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The intervals of the training sets about the expected risk of the procedure."""
        return draw_coverage(
            self.low, self.high, self.value, self.expected_risk, label=f"{self.loss} risk", ax=ax
        )
