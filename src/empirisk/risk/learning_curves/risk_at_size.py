"""`RiskAtSize`: the risk of a procedure at another number of training rows than there are."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.errors import PlanError


@dataclass(frozen=True, eq=False, repr=False)
class RiskAtSize(RiskEstimate):
    """A `RiskEstimate` of the procedure that fits a model to `rows` rows, infinity for ever more.

    Such are the estimates of a learning curve, and of its extrapolation.
    """

    rows: float = np.inf

    @property
    def subject(self) -> str:
        """The procedure, with its number of training rows."""
        if np.isinf(self.rows):
            return "the procedure in the limit of many rows"
        return f"the procedure at n = {self.rows:.0f}"

    def __sub__(self, other: Self) -> Self:
        """The difference of two risks at the same number of rows."""
        if isinstance(other, RiskAtSize) and self.rows != other.rows:
            raise PlanError(
                f"{self.subject} and {other.subject} have training sets of different sizes: "
                "subtract risks of two learners at one size"
            )
        return replace(super().__sub__(other), rows=self.rows)
