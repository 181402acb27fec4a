"""The linear support vector machine from the sides of its rows.

If it is known which rows lie inside the margin (z < 1, full multiplier), on it (z = 1) and beyond
it (z > 1, no multiplier), what is left is a system of linear equations.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, lstsq, solve

from empirisk.runtime.arrays import Bools, Floats
from empirisk.solvers.margin_rows import MarginRows

SPARE = 50  # rows on the margin beyond one for each coefficient: there may be copies
MOST_SINGULAR = 500  # size of a singular system that is worth its singular values
MOST_REPAIRS = 20
ON_MARGIN = 1e-9  # how well the conditions must hold
FLAT = 1e-12  # a slope of this size is that of rounded shares, which sum to 1, unless
LEAST_FLAT = 1e-15  # there are shares as small


class Sided(NamedTuple):
    """An optimum [b, b0] (or b), the sides of the rows there, and their multipliers in [0, 1]."""

    point: Floats
    short: Bools
    on: Bools
    multiplier: Floats


def from_sides(
    rows: MarginRows, sign: Floats, strength: float, *, short: Bools, on: Bools
) -> Sided | None:
    """The optimum, given which rows lie on the margin (z = 1), and which inside it (z < 1).

    Where the solution puts some of them elsewhere they are moved, in place, and it is solved again.
    None if that does not come to an end soon.
    """
    for _ in range(MOST_REPAIRS):
        if on.sum() > rows.X.shape[1] + SPARE:
            return None
        pulled = rows.back(np.where(short, rows.share * sign, 0.0))
        b, b0, multiplier = _solve_sides(rows, sign, strength, on, pulled)
        score = rows.X @ b
        if rows.fit_intercept and not on.any():
            if abs(pulled[-1]) > max(ON_MARGIN * rows.finest, LEAST_FLAT):
                return None
            b0 = middle_intercept(score, sign, rows.share)
        margin = sign * (score + b0)
        if (np.abs(margin[on] - 1) > ON_MARGIN).any():
            return None
        was_on = np.flatnonzero(on)
        enter = (short & (margin > 1 + ON_MARGIN)) | (~short & ~on & (margin < 1 - ON_MARGIN))
        slack = ON_MARGIN + LEAST_FLAT / rows.share[on]  # sums of shares are rounded
        leave, stretched = was_on[multiplier < -slack], was_on[multiplier > 1 + slack]
        if not (enter.any() or len(leave) or len(stretched)):
            if rows.fit_intercept:
                b = np.append(b, middle_intercept(score, sign, rows.share))
            every = short.astype(float)
            every[on] = np.clip(multiplier, 0.0, 1.0)
            return Sided(b, short, on, every)
        on[leave] = on[stretched] = False
        on |= enter
        short[stretched] = True
        short &= ~on
    return None


def _solve_sides(
    rows: MarginRows, sign: Floats, strength: float, on: Bools, pulled: Floats
) -> tuple[Floats, float, Floats]:
    """b, b0 and the multipliers of the rows on the margin.

    With r_i = v_i a_i y_i on the margin: strength b = pulled + X'r, x_i'b + b0 = y_i, and the r_i
    sum to minus what pulls the intercept.
    """
    edge, sign = rows.X[on], sign[on]
    m, q = edge.shape
    if m == 0:
        return pulled[:q] / strength, 0.0, np.zeros(0)
    size = m + rows.fit_intercept
    system = np.zeros((size, size))
    system[:m, :m] = edge @ edge.T
    system[:m, m:] = system[m:, :m] = 1.0
    right = np.zeros(size)
    right[:m] = strength * sign - edge @ pulled[:q]
    right[m:] = -pulled[q:]
    found = _solution(system, right)
    b = (pulled[:q] + edge.T @ found[:m]) / strength
    b0 = float(found[m] / strength) if rows.fit_intercept else 0.0
    return b, b0, found[:m] * sign / rows.share[on]


def _solution(system: Floats, right: Floats) -> Floats:
    """Of a symmetric system; of a singular one, which copies make, the solution of least norm.

    A large singular one gets none: zeros, which fail the conditions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            return solve(system, right, assume_a="sym", check_finite=False)
        except (LinAlgError, LinAlgWarning):
            if len(right) > MOST_SINGULAR:
                return np.zeros(len(right))
            return lstsq(system, right, check_finite=False)[0]


def middle_intercept(score: Floats, sign: Floats, share: Floats) -> float:
    """The b0 with the least hinge risk when x_i'b = score_i; of several, the middle.

    As a function of b0 the risk is convex and piecewise linear: its slope begins at minus the
    share of the class +1 and grows by v_i where row i comes to the margin.

    Examples
    --------
    >>> middle_intercept(np.zeros(2), np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
    0.0
    """
    kink = sign - score
    order = np.argsort(kink, kind="stable")
    slope = np.cumsum(share[order]) - share[sign > 0].sum()
    flat = max(min(FLAT, 1e-3 * float(share.min())), LEAST_FLAT)
    j = min(int(np.searchsorted(slope, -flat)), len(kink) - 1)
    least = kink[order[j]]
    if slope[j] <= flat and j + 1 < len(kink):
        return float(0.5 * least + 0.5 * kink[order[j + 1]])
    return float(least)
