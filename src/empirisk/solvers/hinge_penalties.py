"""Penalties of the hinge risk as its interior-point method sees them."""

from typing import NamedTuple

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.solvers.interior_point import longest


class SquaredNorm:
    """strength |b|^2 / 2. It is smooth: it has no variables of its own."""

    n_products = 0

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def centre(self, b: Floats, mu: float) -> None:
        """Nothing is to be done."""

    def products(self, move: None = None, length: float = 0.0) -> float:
        """There are none."""
        return 0.0

    def curvature(self) -> float:
        return self.strength

    def slope(self, b: Floats, mu: float, guess: None) -> Floats:
        return self.strength * b

    def direction(self, b: Floats, of_b: Floats, mu: float, guess: None) -> None:
        return None

    def reach(self, move: None) -> float:
        return np.inf

    def go(self, move: None, length: float) -> None:
        """Nothing moves."""


class OwnMove(NamedTuple):
    """A direction of u, v and g."""

    u: Floats
    v: Floats
    g: Floats


class SumOfAbsolutes:
    """strength |b|_1 = strength sum_j (u_j + v_j), where b_j = u_j - v_j.

    Its slope is strength g_j with -1 <= g_j <= 1; at the optimum u_j (1 - g_j) = v_j (1 + g_j) = 0.
    """

    n_products = 2

    def __init__(self, strength: float, q: int) -> None:
        self.strength, self.q = strength, q

    def centre(self, b: Floats, mu: float) -> None:
        m = self._share(mu)
        root = np.hypot(b, m)
        self.u, self.v = 0.5 * (m + root + b), 0.5 * (m + root - b)
        self.below, self.above = m / self.u, m / self.v  # 1 - g and 1 + g
        self.g = 0.5 * (self.above - self.below)
        self.before = self.u, self.v, self.below, self.above

    def products(self, move: OwnMove | None = None, length: float = 0.0) -> float:
        u, v, below, above = self.u, self.v, self.below, self.above
        if move is not None:
            u, v = u + length * move.u, v + length * move.v
            below, above = below - length * move.g, above + length * move.g
        return float(self.strength * (u @ below + v @ above))

    def curvature(self) -> Floats:
        return self.strength / (self.u / self.below + self.v / self.above)

    def slope(self, b: Floats, mu: float, guess: OwnMove | None) -> Floats:
        return self.strength * (self.g + self._free(b, mu, guess) * self._stiffness())

    def direction(self, b: Floats, of_b: Floats, mu: float, guess: OwnMove | None) -> OwnMove:
        of_g = self._stiffness() * (of_b + self._free(b, mu, guess))
        of_u, of_v = self._targets(mu, guess)
        u = of_u / self.below - self.u + self.u * of_g / self.below
        v = of_v / self.above - self.v - self.v * of_g / self.above
        return OwnMove(u, v, of_g)

    def reach(self, move: OwnMove) -> float:
        return min(
            longest(self.u, move.u),
            longest(self.v, move.v),
            longest(self.below, -move.g),
            longest(self.above, move.g),
        )

    def go(self, move: OwnMove, length: float) -> None:
        self.before = self.u, self.v, self.below, self.above
        self.u, self.v = self.u + length * move.u, self.v + length * move.v
        self.g = self.g + length * move.g
        self.below, self.above = self.below - length * move.g, self.above + length * move.g

    def signs(self) -> Floats:
        """-1, 0 or +1: what the coefficients are about to become, by the last step."""
        u, v, below, above = self.before
        positive = self.u * below > self.below * u
        negative = self.v * above > self.above * v
        return np.where(positive, 1.0, 0.0) - np.where(negative & ~positive, 1.0, 0.0)

    def _share(self, mu: float) -> float:
        """The products of all coefficients together count as much as those of all rows."""
        return mu / self.q / self.strength

    def _stiffness(self) -> Floats:
        return 1 / (self.u / self.below + self.v / self.above)

    def _targets(self, mu: float, guess: OwnMove | None) -> tuple[Floats | float, Floats | float]:
        """What u (1 - g) and v (1 + g) are to become."""
        m = self._share(mu)
        return (m, m) if guess is None else (m + guess.u * guess.g, m - guess.v * guess.g)

    def _free(self, b: Floats, mu: float, guess: OwnMove | None) -> Floats:
        of_u, of_v = self._targets(mu, guess)
        return b - of_u / self.below + of_v / self.above
