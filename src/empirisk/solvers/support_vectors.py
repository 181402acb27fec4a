"""The linear support vector machine: hinge loss and squared norm, by an interior-point method.

    minimise over b, b0:   sum_i v_i max(0, 1 - y_i (b0 + x_i'b)) + strength |b|^2 / 2

With slacks s_i = max(0, 1 - z_i) of the margins z_i and multipliers a_i in [0, 1] the optimum is

    strength b = sum_i v_i a_i y_i x_i,   sum_i v_i a_i y_i = 0,
    a_i t_i = 0,  (1 - a_i) s_i = 0,      t_i = z_i - 1 + s_i >= 0.

Newton's method follows the points where these products are mu instead, mu falling to 0 (Mehrotra
1992); each step is a system of p + 1 equations and costs n p^2, whatever the strength. Then it is
known which rows are on the margin and which inside it, and b is solved to the last digit.
"""

from dataclasses import dataclass

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.dual_coordinate import LEAST_TOLERANCE, DualAscent
from empirisk.solvers.margin_risk import Arrival
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.newton import solve_downhill
from empirisk.solvers.sides import from_sides

FIRST_LOOK = 1e-5  # mu at which the sides of the rows are first tried
LEAST_GAP = 1e-15  # of mu, in units of the loss
ENOUGH = 1e-9  # a gap at which the point is good, should the exact solution not be found
TO_BOUNDARY = 0.995
MOST_COLUMNS = 1000  # with more, the systems cost more than sweeps
STRONG = 1e-3  # of the mean square of the rows; with such a strength few sweeps are enough
FEW_SWEEPS = 60


def support_vectors(rows: MarginRows, sign: Floats, strength: float, max_iter: int) -> Arrival:
    """The minimum; [b, b0], or b without an intercept."""
    square = float(rows.share @ np.einsum("ij,ij->i", rows.X, rows.X))
    many = rows.X.shape[1] > MOST_COLUMNS
    if many or strength >= STRONG * square:
        ascent = DualAscent(rows, sign, strength)
        found = ascent.run(max_iter if many else FEW_SWEEPS)
        if found is not None:
            return Arrival(found, ascent.sweeps, True, "the conditions of the optimum hold")
        if many:
            done = ascent.tolerance < LEAST_TOLERANCE
            return Arrival(ascent.point, ascent.sweeps, done, f"{ascent.sweeps} sweeps were made")
    return _from_inside(InteriorPoint(rows, sign, strength), max_iter)


def _from_inside(inside: "InteriorPoint", max_iter: int) -> Arrival:
    t, look = 0, FIRST_LOOK
    while t < max_iter and inside.mu() > LEAST_GAP and inside.step():
        check_deadline()
        t += 1
        if inside.mu() <= look:
            look *= 1e-3
            exact = inside.exact()
            if exact is not None:
                return Arrival(exact, t, True, "the conditions of the optimum hold")
    gap = 2 * inside.mu()
    reason = f"the gap between the problem and its dual is {gap:.1e}"
    return Arrival(inside.point, t, gap <= ENOUGH, reason)


class InteriorPoint:
    """The iterate: a point, multipliers a and c = 1 - a, slacks s and t, all four positive."""

    def __init__(self, rows: MarginRows, sign: Floats, strength: float) -> None:
        self.rows, self.sign, self.strength = rows, sign, strength
        n = len(sign)
        self.point = np.zeros(rows.X.shape[1] + rows.fit_intercept)
        self.margin = np.zeros(n)
        self.a, self.c = np.full(n, 0.5), np.full(n, 0.5)
        self.s, self.t = np.full(n, 1.5), np.full(n, 0.5)

    def mu(self) -> float:
        return float(self.rows.share @ (self.a * self.t + self.c * self.s)) / 2

    def exact(self) -> Floats | None:
        """The optimum, if the sides of the rows can be told by now."""
        short = self.c < self.s
        on = ~short & (self.a > self.t)
        return from_sides(self.rows, self.sign, self.strength, short=short, on=on)

    def step(self) -> bool:
        """One step of predictor and corrector; whether it moved."""
        a, c, s, t, q = self.a, self.c, self.s, self.t, self.rows.X.shape[1]
        pull = 1 / (s / c + t / a)
        curvature = self.rows.scatter(self.rows.share * pull)
        curvature[np.arange(q), np.arange(q)] += self.strength
        mu = self.mu()
        zero = np.zeros(len(a))
        guess = self._direction(curvature, pull, zero, zero)
        reach = self._reach(guess)
        ahead = (a + reach * guess.a) @ (self.rows.share * (t + reach * guess.t))
        ahead += (c - reach * guess.a) @ (self.rows.share * (s + reach * guess.s))
        target = mu * (ahead / (2 * mu)) ** 3
        move = self._direction(
            curvature, pull, target - guess.a * guess.t, target + guess.a * guess.s
        )
        length = min(1.0, TO_BOUNDARY * self._reach(move))
        if not (length > 1e-10 and np.isfinite(move.point).all()):
            return False
        self.point = self.point + length * move.point
        self.margin = self.sign * self.rows.score(self.point)
        self.a, self.c = a + length * move.a, c - length * move.a
        self.s, self.t = s + length * move.s, t + length * move.t
        return True

    def _direction(self, curvature: Floats, pull: Floats, at: Floats, cs: Floats) -> "Move":
        """Towards a t = `at` and c s = `cs`, and to where the linear conditions hold."""
        a, c, s, t, share = self.a, self.c, self.s, self.t, self.rows.share
        q = self.rows.X.shape[1]
        off = t - (self.margin - 1 + s)
        drive = (at / a - t) - (cs / c - s) + off
        right = self.rows.back(share * self.sign * (a + pull * drive))
        right[:q] -= self.strength * self.point[:q]
        point = solve_downhill(curvature, right)
        of_a = pull * (drive - self.sign * self.rows.score(point))
        return Move(point, of_a, (cs - c * s + s * of_a) / c, (at - a * t - t * of_a) / a)

    def _reach(self, move: "Move") -> float:
        """The longest step that keeps all four positive."""
        longest = np.inf
        for now, change in (
            (self.a, move.a),
            (self.c, -move.a),
            (self.s, move.s),
            (self.t, move.t),
        ):
            falling = change < 0
            if falling.any():
                longest = min(longest, float(np.min(now[falling] / -change[falling])))
        return min(longest, 1.0 / TO_BOUNDARY)


@dataclass(frozen=True, eq=False)
class Move:
    """A direction: of the point, of a, of s and of t."""

    point: Floats
    a: Floats
    s: Floats
    t: Floats
