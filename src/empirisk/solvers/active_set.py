"""Quadratic functions of coefficients that must not be negative, by active sets.

Minimise over b >= 0

    b'Gb / 2 - right'b

G a Gram matrix with the penalty on its diagonal, of columns of about length 1, as y has. In turn
the minimum for the coefficients in use is found, those that would be negative leave, and the one
along which the function falls most comes in (Lawson & Hanson 1974, Solving Least Squares Problems).
That is slow from zero, and takes a step or two from a point near the minimum.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.deadlines import check_deadline

SLACK = 1e-14  # rounding error of a slope, relative to its terms
ROUNDS = 3  # times as many changes as there are columns: then rounding leads in circles


def settle(gram: Floats, right: Floats, start: Floats) -> tuple[Floats, bool]:
    """The minimiser, from a start that is not negative, and whether it was reached, to rounding.

    Where the next column all but depends on those in use, the search ends before it.

    Examples
    --------
    >>> settle(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, 0.2]), np.array([0.1, 0.3]))
    (array([1., 0.]), True)
    """
    coef = start
    used = coef > 0
    for _ in range(ROUNDS * len(right)):
        check_deadline()
        try:
            best = _minimum(gram, right, used)
        except LinAlgError:
            return coef, True
        negative = used & (best <= 0)
        if negative.any():
            way = coef[negative] / (coef[negative] - best[negative])
            if not way.min() > 0:  # it came in and would leave at once
                return coef, True
            coef = coef + way.min() * (best - coef)
            used = used & (coef > 0) & ~_first(negative, way)
            coef = np.where(used, coef, 0.0)
            continue
        coef = best
        slope = np.where(used, 0.0, right - gram @ coef)
        j = int(slope.argmax())
        if slope[j] <= SLACK * (1.0 + np.abs(gram[j]) @ coef):
            return coef, True
        used = used.copy()
        used[j] = True
    return coef, False


def _minimum(gram: Floats, right: Floats, used: Bools) -> Floats:
    """With all other coefficients zero."""
    best, at = np.zeros(len(right)), np.flatnonzero(used)
    if len(at):
        factor = cho_factor(gram[np.ix_(at, at)], check_finite=False)
        best[at] = cho_solve(factor, right[at], check_finite=False)
    return best


def _first(negative: Bools, way: Floats) -> Bools:
    """The coefficients that come to zero first."""
    first = np.zeros_like(negative)
    first[np.flatnonzero(negative)[way == way.min()]] = True
    return first
