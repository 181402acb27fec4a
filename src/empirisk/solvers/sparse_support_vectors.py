"""The linear support vector machine with an L1 penalty (Bradley & Mangasarian 1998).

    minimise over b, b0:   sum_i v_i max(0, 1 - y_i (b0 + x_i'b)) + strength |b|_1

A linear programme: an interior-point method finds which rows are on the margin and which
coefficients are zero, and the rest are linear equations. Of many columns only some are looked at: a
column joins them when its pull, |sum_i v_i a_i y_i x_ij|, exceeds the strength.
"""

from dataclasses import replace

import numpy as np

from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.faces import Face, duality_gap, on_face
from empirisk.solvers.hinge_penalties import SumOfAbsolutes
from empirisk.solvers.interior_point import InteriorPoint
from empirisk.solvers.margin_risk import Arrival
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.support_vectors import COLD, ENOUGH, FIRST_LOOK, LEAST_GAP, OPTIMAL, WARM

FEW_COLUMNS = 200
FIRST_COLUMNS = 100
OUTSIDE = 1e-8  # relative excess over the strength at which a column joins


class SparseSupportVectors:
    """The optima [b, b0] (or b) of one problem; the next one begins at the last."""

    def __init__(self, rows: MarginRows, sign: Floats, max_iter: int) -> None:
        self.rows, self.sign, self.max_iter = rows, sign, max_iter
        # From here on all coefficients are zero; a larger strength would only cost digits.
        self.strongest = 2 * float(np.max(rows.share @ np.abs(rows.X))) or 1.0
        self.face: Face | None = None
        q = rows.X.shape[1]
        self.columns = np.arange(q)
        if q > FEW_COLUMNS:
            pull = np.abs(self._pull(_multiplier_at_zero(rows, sign)))
            self.columns = np.sort(np.argsort(-pull, kind="stable")[:FIRST_COLUMNS])
        self.part = self._take_columns()

    def at(self, strength: float) -> Arrival:
        """The optimum at a strength."""
        strength, t = min(strength, self.strongest), 0
        while True:
            self.face, steps, exact = self._solve(strength, self.max_iter - t)
            t += steps
            if t >= self.max_iter or not self._join(self.face, strength):
                break
        whole = self._on_all_columns(self.face)
        gap = duality_gap(self.rows, self.sign, strength, whole)
        if exact and t < self.max_iter:
            return Arrival(whole.point, t, True, OPTIMAL)
        reason = f"the gap between the problem and its dual is {gap:.1e}"
        return Arrival(whole.point, t, gap <= ENOUGH * self.rows.finest, reason)

    def _solve(self, strength: float, max_iter: int) -> tuple[Face, int, bool]:
        """The optimum with these columns, the steps, and whether its conditions hold."""
        start, mu = np.zeros(self.part.n_coefficients), COLD
        if self.face is not None:
            exact = on_face(self.part, self.sign, strength, self.face)
            if exact is not None:
                return exact, 1, True
            start, mu = self.face.point, WARM
        penalty = SumOfAbsolutes(strength, len(self.columns))
        inside = InteriorPoint(self.part, self.sign, penalty, start, mu)
        t, look, least = 0, FIRST_LOOK, LEAST_GAP * self.rows.finest
        while t < max_iter and inside.gap() > least and inside.step():
            check_deadline()
            t += 1
            if inside.gap() <= look:
                look *= 1e-2
                exact = on_face(self.part, self.sign, strength, _seen(inside, penalty))
                if exact is not None:
                    return exact, t, True
        return _seen(inside, penalty), t, False

    def _join(self, face: Face, strength: float) -> bool:
        """Whether columns with too strong a pull had to join."""
        pull = np.abs(self._pull(face.multiplier))
        pull[self.columns] = 0.0
        strongest = np.argsort(-pull, kind="stable")[: len(self.columns)]
        new = strongest[pull[strongest] > strength * (1 + OUTSIDE)]
        if not len(new):
            return False
        columns = np.sort(np.append(self.columns, new))
        self.face = _spread(face, np.searchsorted(columns, self.columns), len(columns))
        self.columns = columns
        self.part = self._take_columns()
        return True

    def _on_all_columns(self, face: Face) -> Face:
        return _spread(face, self.columns, self.rows.X.shape[1])

    def _pull(self, multiplier: Floats) -> Floats:
        return (self.rows.share * self.sign * multiplier) @ self.rows.X

    def _take_columns(self) -> MarginRows:
        if len(self.columns) == self.rows.X.shape[1]:
            return self.rows
        return replace(self.rows, X=np.ascontiguousarray(self.rows.X[:, self.columns]))


def _spread(face: Face, place: Ints, q: int) -> Face:
    """The face with its columns at these places among q, the coefficients of the others zero."""
    k = len(place)
    signs, point = np.zeros(q), np.zeros(q + len(face.point) - k)
    signs[place], point[place], point[q:] = face.signs, face.point[:k], face.point[k:]
    return face._replace(signs=signs, point=point)


def _seen(inside: InteriorPoint, penalty: SumOfAbsolutes) -> Face:
    """The face as it looks from inside."""
    signs, point = penalty.signs(), inside.point.copy()
    point[: len(signs)][signs == 0] = 0.0
    return Face(*inside.sides(), signs, point, inside.a)


def _multiplier_at_zero(rows: MarginRows, sign: Floats) -> Floats:
    """The multipliers where all coefficients are zero, equal ones within a class."""
    if not rows.fit_intercept:
        return np.ones(len(sign))
    positive = float(rows.share[sign > 0].sum())
    less = min(positive, 1 - positive)
    return np.where(sign > 0, less / max(positive, 1e-300), less / max(1 - positive, 1e-300))
