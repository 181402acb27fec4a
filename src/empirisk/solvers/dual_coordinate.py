"""The linear support vector machine by dual coordinate descent: for many columns, and small C.

The dual of the problem of `support_vectors`, in multipliers alpha_i = v_i a_i / strength:

    minimise |sum_i alpha_i y_i x_i|^2 / 2 - sum_i alpha_i   within 0 <= alpha_i <= v_i / strength

subject to sum_i alpha_i y_i = 0, the condition of the intercept. That one is met by the method of
multipliers: its violation is penalised by kappa / 2 times its square, and the intercept, which is
its multiplier, goes on from where it is when the penalised problem is solved.
"""

import numpy as np

from empirisk.compiled.dual_coordinate import dual_sweep
from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.sides import Sided

SEED = 0  # of the order of the rows: the optimum does not depend on it
FIRST_TOLERANCE, LEAST_TOLERANCE = 0.1, 1e-8


class DualAscent:
    """The iterate: multipliers, and the b that they give."""

    def __init__(
        self, rows: MarginRows, sign: Floats, strength: float, start: Sided | None
    ) -> None:
        """Begin with the a_i of another strength: the alpha_i grow or shrink as their box does."""
        self.rows, self.sign = rows, sign
        n, q = rows.X.shape
        square = np.einsum("ij,ij->i", rows.X, rows.X)
        # So much that one solution can move the intercept as far as it may have to go: by about 1,
        # when the multipliers sum to 1 / strength.
        self.kappa = float(rows.share @ square) + strength if rows.fit_intercept else 0.0
        self.square = square + self.kappa
        self.upper = rows.share / strength
        self.alpha, self.b = np.zeros(n), np.zeros(q + 1)
        if start is not None:
            self.alpha = start.multiplier * self.upper
            pull = self.alpha * sign
            self.b[:q] = pull @ rows.X
            self.b[q] = start.point[-1] + self.kappa * pull.sum() if rows.fit_intercept else 0.0
        self.active = np.arange(n)
        self.m, self.high, self.low = n, np.inf, -np.inf
        self.sweeps = self.drawn = 0
        self.tolerance = FIRST_TOLERANCE

    def run(self, most_sweeps: int) -> bool:
        """Sweep until the penalised problem is solved to the tolerance; False if it is not.

        The next call goes on with a better intercept, or a smaller tolerance.
        """
        if self.sweeps:
            self._move_intercept()
        while self.sweeps < most_sweeps and self.tolerance >= LEAST_TOLERANCE:
            check_deadline()
            if self._sweep():
                return True
        return False

    def sides(self) -> tuple[Bools, Bools]:
        """Which rows seem to lie inside the margin, and which on it."""
        return self.alpha >= self.upper, (self.alpha > 0) & (self.alpha < self.upper)

    def _move_intercept(self) -> None:
        move = self.kappa * float(self.alpha @ self.sign)
        self.b[-1] += move
        if abs(move) <= self.tolerance:
            self.tolerance /= 3

    @property
    def point(self) -> Floats:
        return self.b.copy() if self.rows.fit_intercept else self.b[:-1].copy()

    def _sweep(self) -> bool:
        """One sweep; whether the penalised problem is solved to the tolerance, by all rows."""
        whole = self.m == len(self.alpha)
        before = self.m
        self.m, highest, lowest = dual_sweep(
            self.rows.X, self.sign, self.upper, self.square, self.kappa, self.alpha, self.b,
            self.active, self.m, self.high, self.low, SEED, self.drawn,
        )  # fmt: skip
        self.sweeps += 1
        self.drawn += before
        if max(highest, 0.0) - min(lowest, 0.0) <= self.tolerance:
            self.m, self.high, self.low = len(self.alpha), np.inf, -np.inf
            return whole
        self.high = highest if highest > 0 else np.inf
        self.low = lowest if lowest < 0 else -np.inf
        return False
