"""The linear support vector machine: hinge loss and squared norm, exactly, at several strengths.

    minimise over b, b0:   sum_i v_i max(0, 1 - y_i (b0 + x_i'b)) + strength |b|^2 / 2

Dual coordinate descent (many columns, strong penalties) or an interior-point method finds out
which rows are on the margin and which inside it; then b is solved to the last digit. The next
strength begins with the sides of the rows at the last one: as long as these stay the same, the
linear system alone is solved again.
"""

from dataclasses import replace

import numpy as np

from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.dual_coordinate import LEAST_TOLERANCE, DualAscent
from empirisk.solvers.hinge_penalties import SquaredNorm
from empirisk.solvers.interior_point import InteriorPoint
from empirisk.solvers.margin_risk import Arrival
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.sides import Sided, from_sides, middle_intercept

OPTIMAL = "the conditions of the optimum hold"
COLD, WARM = 1.0, 0.1  # mu to begin with: at zero, and at the optimum of another strength
FIRST_LOOK = 2e-5  # gap at which the sides of the rows are first tried
LEAST_GAP = 2e-15  # in units of the loss of the lightest row
ENOUGH = 1e-9  # in these units: the point is good, should the exact solution not be found
MOST_COLUMNS = 1000  # with more, the systems cost more than sweeps
STRONG = 1e-3  # of the mean square of the rows; with such a strength few sweeps are enough
FEW_SWEEPS = 60
ROUNDED = 1e-13  # of pulls whose sizes add up to 1
ROUNDED_SCORE = 1e-10  # where the margin is 1


class SupportVectors:
    """The optima [b, b0] (or b) of one problem; the next one begins at the last."""

    def __init__(self, rows: MarginRows, sign: Floats, max_iter: int) -> None:
        self.rows, self.sign, self.max_iter = rows, sign, max_iter
        self.square = float(rows.share @ np.einsum("ij,ij->i", rows.X, rows.X))
        self.last: Sided | None = None

    def at(self, strength: float) -> Arrival:
        """The optimum at a strength."""
        arrival = self._found(strength)
        return replace(arrival, point=self._unless_rounded(arrival.point, strength))

    def _unless_rounded(self, point: Floats, strength: float) -> Floats:
        """Without the rounding errors that are left of b where the pulls of all rows cancel, so
        that classes which no line finds have equal scores."""
        b = point[: self.rows.X.shape[1]]
        nothing = np.abs(strength * b).max() <= ROUNDED
        if not nothing or np.abs(self.rows.X @ b).max() > ROUNDED_SCORE:
            return point
        level = np.zeros_like(point)
        if self.rows.fit_intercept:
            level[-1] = middle_intercept(np.zeros(len(self.sign)), self.sign, self.rows.share)
        return level

    def _found(self, strength: float) -> Arrival:
        if self.last is not None:
            found = self._exact(strength, self.last.short.copy(), self.last.on.copy())
            if found is not None:
                return Arrival(found, 1, True, OPTIMAL)
        many = self.rows.X.shape[1] > MOST_COLUMNS
        if many or strength >= STRONG * self.square:
            arrival = self._sweep(strength, many)
            if arrival is not None:
                return arrival
        return self._from_inside(strength)

    def _sweep(self, strength: float, many: bool) -> Arrival | None:
        """By dual coordinate descent; None if few sweeps were not enough, and columns are few."""
        ascent = DualAscent(self.rows, self.sign, strength, self.last)
        while ascent.run(self.max_iter if many else FEW_SWEEPS):
            found = self._exact(strength, *ascent.sides())
            if found is not None:
                return Arrival(found, ascent.sweeps, True, OPTIMAL)
        if not many:
            return None
        done = ascent.tolerance < LEAST_TOLERANCE
        return Arrival(ascent.point, ascent.sweeps, done, f"{ascent.sweeps} sweeps were made")

    def _from_inside(self, strength: float) -> Arrival:
        start = np.zeros(self.rows.n_coefficients) if self.last is None else self.last.point
        mu = COLD if self.last is None else WARM
        inside = InteriorPoint(self.rows, self.sign, SquaredNorm(strength), start, mu)
        t, look, finest = 0, FIRST_LOOK, self.rows.finest
        while t < self.max_iter and inside.gap() > LEAST_GAP * finest and inside.step():
            check_deadline()
            t += 1
            if inside.gap() <= look:
                look *= 1e-3
                found = self._exact(strength, *inside.sides())
                if found is not None:
                    return Arrival(found, t, True, OPTIMAL)
        gap = inside.gap()
        reason = f"the gap between the problem and its dual is {gap:.1e}"
        return Arrival(inside.point, t, gap <= ENOUGH * finest, reason)

    def _exact(self, strength: float, short: Bools, on: Bools) -> Floats | None:
        """The optimum, if the sides of the rows are right or soon repaired."""
        found = from_sides(self.rows, self.sign, strength, short=short, on=on)
        if found is None:
            return None
        self.last = found
        return found.point
