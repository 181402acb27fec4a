"""The range of each feature in training, the interval on which basis functions are defined."""

from typing import NamedTuple, Self

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError


class TrainingRange(NamedTuple):
    """The least and the largest value of each feature."""

    low: Floats
    high: Floats

    @property
    def middle(self) -> Floats:
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> Floats:
        """Half the width; 0 of a feature that is constant in training."""
        return self.high / 2 - self.low / 2

    def of_feature(self, j: int) -> Self:
        return type(self)(self.low[j], self.high[j])

    def scaled(self, X: Floats) -> Floats:
        """In units in which each range is -1..1; zero where it is a single value.

        Examples
        --------
        >>> TrainingRange(np.array([0.0, 5.0]), np.array([4.0, 5.0])).scaled(np.array([[3.0, 6.0]]))
        array([[0.5, 0. ]])
        """
        half = self.half
        return np.where(half > 0, X - self.middle, 0.0) / np.where(half > 0, half, 1.0)

    def outside(self, X: Floats) -> bool:
        """Whether any row lies outside in any feature."""
        return bool(((self.low > X) | (self.high < X)).any())

    def refuse_outside(self, X: Floats) -> None:
        """Complain of the first row that lies outside."""
        row, j = np.argwhere((self.low > X) | (self.high < X))[0]
        raise DataError(
            f"row {row} has {X[row, j]} in feature {j}, outside of its training range "
            f"{self.low[j]} to {self.high[j]}: leave it out, or choose another extrapolation"
        )
