"""The perceptron: Rosenblatt's rule, until no row is wrong."""

import numpy as np

from empirisk.compiled.perceptron import perceptron_pass
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.streams import generator
from empirisk.solvers.margin_risk import Arrival
from empirisk.solvers.margin_rows import MarginRows

LEAST_SHARE = 1e-7  # of the weight: less is no improvement, but the rounding of sums of weights


def perceptron(
    rows: MarginRows, sign: Floats, weight: Floats, first: Ints, same: Ints, max_iter: int
) -> Arrival:
    """Passes over the distinct rows until none is wrong, or `max_iter` passes.

    Each row that is wrong is added: b <- b + v y x, with its weight v in units of the mean weight
    (the gradient step of the weighted perceptron loss). If some b of norm 1 separates the classes
    by gamma, and no row (with the 1 of the intercept) is longer than R, the weights of all rows
    ever added sum to at most max v (R / gamma)^2 (Novikoff 1962, for v = 1). Where no b separates
    them, the best seen at the end of a pass is returned: the one with the least weight of wrong
    rows (the pocket algorithm, Gallant 1990).

    `first` are the rows that stand for their copies, `same` says for which of them each row is a
    copy; see `distinct_rows`.
    """
    X = np.ascontiguousarray(rows.X[first])
    y, copies = sign[first], np.bincount(same, weight)
    share = copies / copies.mean()
    order = generator(0).permutation(len(first))
    b = np.zeros(X.shape[1] + 1)
    best, least = b.copy(), np.inf
    intercept = float(rows.fit_intercept)
    t, mistakes = 0, np.inf
    while t < max_iter and mistakes > 0:
        check_deadline()
        t += 1
        mistakes = perceptron_pass(X, y, share, order, intercept, b)
        wrong = float(share @ (y * (X @ b[:-1] + b[-1]) <= 0)) / len(share)
        if mistakes == 0 or wrong < least - LEAST_SHARE:
            best, least = b.copy(), wrong
    point = best if rows.fit_intercept else best[:-1]
    reason = f"rows with {least:.3g} of the weight are wrong after {t} pass(es)"
    return Arrival(point, t, least == 0, reason)


def distinct_rows(X: Floats, y: Ints) -> tuple[Ints, Ints]:
    """The first of each set of equal rows (x, y), in an order that depends on their values alone,
    and for each row the number of its set.

    Examples
    --------
    >>> distinct_rows(np.array([[3.0], [1.0], [3.0]]), np.array([0, 0, 0]))
    (array([1, 0]), array([1, 0, 1]))
    """
    order = np.lexsort((*X.T[::-1], y))
    new = np.ones(len(y), dtype=bool)
    new[1:] = (X[order[1:]] != X[order[:-1]]).any(axis=1) | (y[order[1:]] != y[order[:-1]])
    same = np.empty(len(y), dtype=np.int64)
    same[order] = np.cumsum(new) - 1
    return order[new], same
