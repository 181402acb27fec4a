"""The hinge risk with a penalty, by an interior-point method.

    minimise over b, b0:   sum_i v_i max(0, 1 - y_i (b0 + x_i'b)) + penalty(b)

With slacks s_i = max(0, 1 - z_i) of the margins z_i and multipliers a_i in [0, 1] the optimum is

    sum_i v_i a_i y_i x_i is a slope of the penalty at b,   sum_i v_i a_i y_i = 0,
    a_i t_i = 0,  (1 - a_i) s_i = 0,      t_i = z_i - 1 + s_i >= 0.

Newton's method follows the points where v_i a_i t_i and v_i (1 - a_i) s_i are mu / n instead, mu
falling to 0 (Mehrotra 1992); each step is a system of p + 1 equations and costs n p^2, whatever the
penalty. That the products are taken with the weights keeps rows of tiny weight away from their
bounds until the heavy ones are settled.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from empirisk.runtime.arrays import Bools, Floats
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.newton import solve_downhill

TO_BOUNDARY = 0.995
LEAST_FALL = 0.1  # share of the gap that a whole step must take away
PLAIN = 0.2  # share of mu that a step without correction aims at
LEAST_SHARE = 1e-20  # of the mean weight; rows with less are not seen in any sum


class HingePenalty(Protocol):
    """What the method must know of a penalty; `move` is whatever `direction` gave."""

    n_products: int
    """How many products mu its own are, in sum; those of the rows are 2."""

    def centre(self, b: Floats, mu: float) -> None:
        """Begin at b, its own products being mu."""

    def products(self, move: Any = None, length: float = 0.0) -> float:
        """The sum of its own products that fall to 0, after a step."""

    def curvature(self) -> Floats | float:
        """What it adds to the diagonal of the system."""

    def slope(self, b: Floats, mu: float, guess: Any) -> Floats:
        """Its slope at b, with what the next step adds to it whatever its direction."""

    def direction(self, b: Floats, of_b: Floats, mu: float, guess: Any) -> Any:
        """How its own variables move when b does."""

    def reach(self, move: Any) -> float:
        """The longest step that keeps them positive."""

    def go(self, move: Any, length: float) -> None:
        """Take the step."""


@dataclass(frozen=True, eq=False)
class Move:
    """A direction: of the point, of a, of s, of t, and of the penalty's own variables."""

    point: Floats
    a: Floats
    s: Floats
    t: Floats
    own: Any


class InteriorPoint:
    """The iterate: a point, multipliers a and c = 1 - a, slacks s and t, all four positive."""

    def __init__(
        self, rows: MarginRows, sign: Floats, penalty: HingePenalty, start: Floats, mu: float
    ) -> None:
        self.rows, self.sign, self.penalty = rows, sign, penalty
        self.point, self.q = start.copy(), rows.X.shape[1]
        self.margin = sign * rows.score(start)
        self.unit = 1 / np.maximum(len(sign) * rows.share, LEAST_SHARE)
        # The positive solution of a t = m, c s = m, t - s = z - 1.
        m, beyond = mu * self.unit, self.margin - 1
        root = np.hypot(beyond, 2 * m)
        self.s, self.t = m + 0.5 * (root - beyond), m + 0.5 * (root + beyond)
        self.a, self.c = m / self.t, m / self.s
        self.before = self.a, self.c, self.s, self.t
        penalty.centre(start[: self.q], mu)

    def gap(self, move: "Move | None" = None, length: float = 0.0) -> float:
        """Between the problem and its dual, once the linear conditions hold; after a step."""
        a, c, s, t, own = self.a, self.c, self.s, self.t, None
        if move is not None:
            a, c, own = a + length * move.a, c - length * move.a, move.own
            s, t = s + length * move.s, t + length * move.t
        return float(self.rows.share @ (a * t + c * s)) + self.penalty.products(own, length)

    def sides(self) -> tuple[Bools, Bools]:
        """Which rows seem to lie inside the margin, and which on it, by the last step.

        Whichever of two factors whose product goes to 0 goes there itself falls faster, relative
        to its size (El-Bakry, Tapia & Zhang 1994). Sizes alone would not tell: with a weak penalty
        some multipliers are tiny.
        """
        a, c, s, t = self.before
        short = self.c * s < self.s * c
        return short, ~short & (self.a * t > self.t * a)

    def step(self) -> bool:
        """One step of predictor and corrector; whether it moved."""
        a, c, s, t, share = self.a, self.c, self.s, self.t, self.rows.share
        pull = 1 / (s / c + t / a)
        system = self.rows.scatter(share * pull)
        system[np.arange(self.q), np.arange(self.q)] += self.penalty.curvature()
        gap = self.gap()
        mu = gap / (2 + self.penalty.n_products)
        guess = self._direction(system, pull, 0.0, None)
        ahead = self.gap(guess, self._reach(guess)) / gap
        move = self._direction(system, pull, mu * ahead**3, guess)
        length = min(1.0, TO_BOUNDARY * self._reach(move))
        if self.gap(move, length) > (1 - LEAST_FALL * length) * gap:
            # The guess was no good, and correcting by it can go round in circles.
            move = self._direction(system, pull, PLAIN * mu, None)
            length = min(1.0, TO_BOUNDARY * self._reach(move))
        if not (length > 1e-10 and np.isfinite(move.point).all()):
            return False
        self.before = a, c, s, t
        self.point = self.point + length * move.point
        self.margin = self.sign * self.rows.score(self.point)
        self.a, self.c = a + length * move.a, c - length * move.a
        self.s, self.t = s + length * move.s, t + length * move.t
        self.penalty.go(move.own, length)
        return True

    def _direction(self, system: Floats, pull: Floats, mu: float, guess: Move | None) -> Move:
        """Towards products v a t = mu / n, and to where the linear conditions hold.

        A guess of the direction tells the products of changes that the next step will bring.
        """
        a, c, s, t, share = self.a, self.c, self.s, self.t, self.rows.share
        m = mu * self.unit
        at = m if guess is None else m - guess.a * guess.t
        cs = m if guess is None else m + guess.a * guess.s
        own = None if guess is None else guess.own
        off = t - (self.margin - 1 + s)
        drive = (at / a - t) - (cs / c - s) + off
        right = self.rows.back(share * self.sign * (a + pull * drive))
        b = self.point[: self.q]
        right[: self.q] -= self.penalty.slope(b, mu, own)
        point = _solution(system, right)
        of_a = pull * (drive - self.sign * self.rows.score(point))
        return Move(
            point,
            of_a,
            (cs - c * s + s * of_a) / c,
            (at - a * t - t * of_a) / a,
            self.penalty.direction(b, point[: self.q], mu, own),
        )

    def _reach(self, move: Move) -> float:
        """The longest step that keeps all four positive, and the penalty's own variables."""
        return min(
            self.penalty.reach(move.own),
            longest(self.a, move.a),
            longest(self.c, -move.a),
            longest(self.s, move.s),
            longest(self.t, move.t),
            1.0 / TO_BOUNDARY,
        )


def _solution(system: Floats, right: Floats) -> Floats:
    """Of a positive definite system.

    Near the end it is ill conditioned, but the directions that matter are known well (Wright 1999):
    nothing is regularised as long as there is a Cholesky factor.
    """
    scale = 1 / np.sqrt(np.maximum(np.diagonal(system), 1e-300))
    unit = system * scale * scale[:, np.newaxis]
    try:
        factor = cho_factor(unit, lower=True, check_finite=False)
    except LinAlgError:
        return solve_downhill(system, right)
    found = cho_solve(factor, right * scale, check_finite=False)
    found += cho_solve(factor, right * scale - unit @ found, check_finite=False)
    return found * scale


def longest(now: Floats, change: Floats) -> float:
    """The longest step along `change` that keeps positive numbers positive.

    Examples
    --------
    >>> longest(np.array([1.0, 2.0]), np.array([-4.0, 1.0]))
    0.25
    """
    with np.errstate(divide="ignore"):
        fastest = float(np.min(change / now))
    return -1.0 / fastest if fastest < 0 else np.inf
