"""Where the knots of splines and the cuts of step functions lie: at quantiles of the feature."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from empirisk.losses.weighted import TIED, midpoint
from empirisk.runtime.arrays import Floats, Ints


class Spread(NamedTuple):
    """The distinct values of a feature, rising, and the share of the weight up to each.

    `order` are the rows, their values rising.
    """

    value: Floats
    share: Floats
    order: Ints

    @classmethod
    def of(cls, x: Floats, weight: Floats) -> Self:
        """A value of weight w counts as w copies of it."""
        order = np.argsort(x, kind="stable")
        x, total = x[order], np.cumsum(weight[order] / weight.max())
        last = np.append(x[1:] != x[:-1], True)
        return cls(x[last], total[last] / total[-1], order)

    def quantiles(self, number: int) -> Floats:
        """Those that cut the weight into number + 1 equal parts; equal ones are one.

        Each is the middle of the interval of such quantiles.
        """
        level = np.arange(1, number + 1) / (number + 1)
        low = np.searchsorted(self.share, level - TIED, side="left")
        high = np.minimum(np.searchsorted(self.share, level + TIED, "right"), len(self.value) - 1)
        return np.unique(midpoint(self.value[low], self.value[high]))

    def knots(self, number: int) -> Floats:
        """At most so many quantiles, strictly inside the range."""
        found = self.quantiles(number)
        return found[(found > self.value[0]) & (found < self.value[-1])]

    def cuts(self, number: int) -> Floats:
        """At most so many quantiles; values up to a cut belong to the region below it.

        The largest value cuts nothing off; in its place is the middle between it and the next.
        """
        last = midpoint(*self.value[-2:]) if len(self.value) > 1 else self.value[-1]
        return np.unique(np.minimum(self.quantiles(number), last))


def place_knots(basis: str, spreads: Sequence[Spread], degree: int) -> tuple[list[Floats], Ints]:
    """The knots or cuts of each feature, and of B-splines the degree of the pieces.

    So many that the functions are as many as the degree says, or one less than there are distinct
    values.
    """
    size = np.array([min(degree, len(spread.value) - 1) for spread in spreads])
    pieces = np.minimum(size, 3)
    if basis == "steps":
        return [s.cuts(int(m)) for s, m in zip(spreads, size, strict=True)], pieces
    inside = np.maximum(size - (1 if basis == "natural_spline" else pieces), 0)
    return [s.knots(int(m)) for s, m in zip(spreads, inside, strict=True)], pieces
