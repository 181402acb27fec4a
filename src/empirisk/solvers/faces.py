"""The hinge risk with an L1 penalty from the face of its optimum.

The problem is a linear programme. If it is known which rows lie inside the margin, on it and beyond
it, and which coefficients are positive, negative and zero, the optima and their multipliers are the
solutions of two systems of linear equations.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq

from empirisk.runtime.arrays import Bools, Floats
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.sides import middle_intercept

EXACT = 1e-9  # how well the conditions must hold
ROUNDING = 1e-15  # of sums of rows, which have the size 1


class Face(NamedTuple):
    """What is known of the optimum, and values near it.

    Attributes
    ----------
    short, on : arrays of shape (n,)
        Which rows lie inside the margin (z < 1) and on it (z = 1).
    signs : array of shape (q,)
        Of the coefficients: -1, 0 or +1.
    point : array
        [b, b0], or b.
    multiplier : array of shape (n,)
        The a_i in [0, 1].
    """

    short: Bools
    on: Bools
    signs: Floats
    point: Floats
    multiplier: Floats


def on_face(rows: MarginRows, sign: Floats, strength: float, face: Face) -> Face | None:
    """The optimum next to the point; None if the conditions of the optimum do not hold there."""
    used = np.flatnonzero(face.signs)
    edge = rows.X[np.ix_(np.flatnonzero(face.on), used)]
    if rows.fit_intercept:
        edge = np.hstack([edge, np.ones((len(edge), 1))])
        used = np.append(used, rows.X.shape[1])
    point = np.zeros_like(face.point)
    point[used] = face.point[used]
    point[used] += _least(edge, sign[face.on] - edge @ point[used])
    multiplier = face.short.astype(float)
    multiplier[face.on] = face.multiplier[face.on]
    wanted = strength * np.append(face.signs, 0.0)[used]
    pull = rows.back(rows.share * sign * multiplier)
    weight = (rows.share * sign)[face.on]
    multiplier[face.on] += _least(edge.T, wanted - pull[used]) / weight
    found = face._replace(point=point, multiplier=multiplier)
    return _settled(rows, sign, found) if is_optimal(rows, sign, strength, found) else None


def is_optimal(rows: MarginRows, sign: Floats, strength: float, face: Face) -> bool:
    """Whether the conditions of the optimum hold."""
    margin, q = sign * rows.score(face.point), rows.X.shape[1]
    a, b = face.multiplier, face.point[:q]
    pull = rows.back(rows.share * sign * a)
    slack = EXACT * strength + ROUNDING
    return bool(
        (np.abs(margin[face.on] - 1) <= EXACT).all()
        and (margin[face.short] <= 1 + EXACT).all()
        and (margin[~face.short & ~face.on] >= 1 - EXACT).all()
        and (a >= -EXACT).all()
        and (a <= 1 + EXACT).all()
        and (b * face.signs >= -EXACT * np.abs(b).max(initial=0.0)).all()
        and (np.abs(pull[:q]) <= strength + slack).all()
        and (np.abs(pull[:q] - strength * face.signs)[face.signs != 0] <= slack).all()
        and (np.abs(pull[q:]) <= slack).all()
    )


def duality_gap(rows: MarginRows, sign: Floats, strength: float, face: Face) -> float:
    """The objective minus a lower bound of its minimum: the sum of v_i a_i, the a_i having been
    made smaller until no column pulls more than the strength, and the intercept not at all."""
    point, a = face.point, np.clip(face.multiplier, 0.0, 1.0)
    if rows.fit_intercept:
        positive, negative = (float(rows.share[side] @ a[side]) for side in (sign > 0, sign < 0))
        less = min(positive, negative)
        a = a * np.where(sign > 0, less / max(positive, 1e-300), less / max(negative, 1e-300))
    b = point[: rows.X.shape[1]]
    pull = float(np.abs((rows.share * sign * a) @ rows.X).max())
    a = a * min(1.0, strength / max(pull, 1e-300))
    loss = np.maximum(0.0, 1 - sign * rows.score(point))
    return float(rows.share @ (loss - a)) + strength * float(np.abs(b).sum())


def _settled(rows: MarginRows, sign: Floats, face: Face) -> Face:
    """With multipliers within [0, 1], and of several best intercepts the middle."""
    point = face.point
    if rows.fit_intercept:
        score = rows.X @ point[:-1]
        point = np.append(point[:-1], middle_intercept(score, sign, rows.share))
    return face._replace(point=point, multiplier=np.clip(face.multiplier, 0.0, 1.0))


def _least(matrix: Floats, right: Floats) -> Floats:
    """The shortest least-squares solution."""
    if not matrix.size:
        return np.zeros(matrix.shape[1])
    return lstsq(matrix, right, lapack_driver="gelsy", check_finite=False)[0]
