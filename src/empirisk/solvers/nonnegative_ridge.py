"""Ridge with coefficients that must not be negative, for more columns than rows.

Minimise over b >= 0

    |y - Xb|^2 / 2 + ridge |b|^2 / 2

through its dual, which has an unknown for each row and no constraint:

    minimise over v   ridge |v|^2 / 2 + |max(X'v, 0)|^2 / 2 - y'v,   and b = max(X'v, 0)

That is convex and quadratic in pieces, so that Newton's method, with shorter steps where a whole
one would lead up, ends at the minimum after a few of them (Mangasarian 2002, A finite Newton method
for classification problems).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from empirisk.data.scaling import power_of_two
from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.deadlines import check_deadline

STEPS = 100
HALVINGS = 40
REFINEMENTS = 3
DESCENT = 1e-4  # the part of the descent that the slope promises at which a step will do
SMALLEST, LARGEST = 1e-15, 1e100
"""Ridges on columns of length 1: smaller ones are lost in rounding, larger ones are infinite."""
EXACT = 1e-12
"""Slope of the objective along a column, relative to |x_j| |y|, that rounding may leave."""

Factor = tuple[Floats, bool]


class Solved(NamedTuple):
    """For each ridge: coefficients, trace of the hat matrix, and whether these are exact.

    They are not where the ridge is so small that v, the residuals divided by it, is too large.
    """

    coef: Floats
    trace: Floats
    exact: Bools


def nonnegative_ridge(columns: Floats, y: Floats, ridges: Floats) -> Solved:
    """The minimisers at all ridges; the design is given as the rows of `columns` (p, n).

    Examples
    --------
    >>> nonnegative_ridge(np.eye(3)[:, :2], np.array([2.0, -1.0]), np.array([1.0])).coef
    array([[1., 0., 0.]])
    """
    p, n = columns.shape
    found = Solved(
        np.zeros((len(ridges), p)), np.zeros(len(ridges)), np.zeros(len(ridges), dtype=bool)
    )
    length = np.sqrt(np.einsum("ji,ji->j", columns, columns))
    size, unit = power_of_two(length.max(initial=0.0)), power_of_two(np.sqrt(y @ y))
    columns, y, allowed = columns / size, y / unit, EXACT * length / size
    with np.errstate(over="ignore", under="ignore"):
        ridges = np.clip(ridges / size / size, 0.0, LARGEST)
    v = np.zeros(n)
    for at in np.argsort(-ridges, kind="stable"):
        ridge = float(ridges[at])
        if ridge < SMALLEST:
            break
        try:
            v = _newton(columns, y, ridge, v)
            used = columns @ v > 0
            factor = _factor(columns[used], ridge)
        except LinAlgError:  # the ridge is lost in rounding
            break
        coef = np.zeros(p)
        coef[used] = _refined(columns[used], y, ridge, v, factor)
        slope = columns @ (y - coef @ columns) - ridge * coef
        slope = np.where(used, np.abs(slope), slope)
        found.exact[at] = bool((coef >= 0).all() and (slope <= allowed).all())
        found.coef[at] = coef * (unit / size)
        inverse = cho_solve(factor, np.eye(n), check_finite=False)
        found.trace[at] = max(n - ridge * float(np.trace(inverse)), 0.0)
    return found


def _newton(columns: Floats, y: Floats, ridge: float, v: Floats) -> Floats:
    """The minimiser of the dual, from v on."""

    def objective(v: Floats, b: Floats) -> float:
        return float(ridge / 2 * (v @ v) + b @ b / 2 - y @ v)

    b = np.maximum(columns @ v, 0.0)
    for _ in range(STEPS):
        check_deadline()
        slope = ridge * v + b @ columns - y
        move = cho_solve(_factor(columns[b > 0], ridge), -slope, check_finite=False)
        before, steepness, step = objective(v, b), float(slope @ move), 1.0
        for _ in range(HALVINGS):
            new = v + step * move
            after = np.maximum(columns @ new, 0.0)
            if objective(new, after) <= before + DESCENT * step * steepness:
                break
            step /= 2
        else:
            return v  # it is at the minimum, to rounding
        same = bool(np.array_equal(after > 0, b > 0))
        v, b = new, after
        if same and step == 1.0:
            break
    return v


def _refined(used: Floats, y: Floats, ridge: float, v: Floats, factor: Factor) -> Floats:
    """The coefficients of the columns in use: X'v has lost digits where v is large.

    With the slope s of the objective along them, the way to its minimum is, by the formula of
    Woodbury, (X'X + ridge)^-1 s = (s - X'(XX' + ridge)^-1 X s) / ridge.
    """
    coef = used @ v
    for _ in range(REFINEMENTS):
        slope = used @ (y - coef @ used) - ridge * coef
        coef += (slope - used @ cho_solve(factor, slope @ used, check_finite=False)) / ridge
    return coef


def _factor(used: Floats, ridge: float) -> Factor:
    """The Cholesky factor of the Hessian: of XX' of the columns in use, and the ridge."""
    hessian = used.T @ used
    hessian[np.diag_indices_from(hessian)] += ridge
    return cho_factor(hessian, check_finite=False)
