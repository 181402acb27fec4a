"""From one minimiser of the lasso to another through all changes of the support between them.

While the thresholds move along a straight line, the minimiser moves along straight lines too, from
one coefficient that comes to zero, or gradient that comes to its threshold, to the next (homotopy:
Osborne, Presnell & Turlach 2000).
"""

import numpy as np

from empirisk.compiled.cholesky_updating import solve_lower, solve_upper
from empirisk.compiled.decorator import compiled
from empirisk.compiled.lasso_support import drop, enter, fit_factor, leave_dependence

TIE = 1e-10  # relative difference of two rates that rounding may have made
NEAR = 0.8  # columns whose gradient is below this part of the threshold are not watched
MOST = 4  # times as many changes of the support as there are columns: then it goes in circles


@compiled(inner=True, makes_arrays=True)
def walk(gram, ridge, start, threshold, positive, coef, gradient, factor, order, size):
    """Follow the minimiser to `threshold`, in place; False if it was lost.

    `coef` is the minimiser for the thresholds  sign_j gradient_j  on its support and the larger of
    start_j and |gradient_j| elsewhere: there the way begins. `gradient` is not kept up to date.
    """
    m = coef.size
    fit_factor(gram, ridge, threshold, positive, coef, gradient, factor, order, size)
    at, rate, sign = begin(
        gram, ridge, start, threshold, positive, coef, gradient, factor, order, size
    )
    near, watched = watch(gram, threshold, positive, sign, gradient)
    forward, x, move, change = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    known, left = 0, 1.0  # how much of `forward` is up to date, how much of the way is left
    for _ in range(MOST * m):
        s = size[0]
        for i in range(known, s):
            forward[i] = -rate[order[i]] * sign[order[i]]
        solve_lower(factor, s, s - known, forward)
        for i in range(s):
            x[i] = forward[i]
        solve_upper(factor, s, x)
        for j in range(m):
            move[j] = 0.0
        for i in range(s):
            move[order[i]] = x[i]
        step, leaving = first_zero(left, threshold, positive, sign, coef, order, x, s)
        for a in range(watched):
            if sign[near[a]] == 0.0:
                change[near[a]] = -np.dot(gram[near[a], :m], move)
        step, entering, side = first_at_threshold(
            step, at, rate, positive, sign, near, watched, gradient, change
        )
        for i in range(s):
            coef[order[i]] += step * x[i]
        for a in range(watched):
            gradient[near[a]] += step * change[near[a]]
        for j in range(m):
            at[j] += step * rate[j]
        left -= step
        known = s
        if entering >= 0:
            sign[entering] = side
            if enter(gram, ridge, entering, factor, order, s):
                size[0] = s + 1
                continue
            leaving = leave_dependence(
                entering, side, threshold, positive, sign, coef, factor, order, s
            )
        if leaving < 0:
            return entering < 0
        j = order[leaving]
        coef[j], gradient[j], sign[j] = 0.0, sign[j] * at[j], 0.0
        if at[j] < 0.0:  # the start was no minimiser
            return False
        known, s = leaving, drop(factor, order, s, leaving)
        size[0] = s
        watched = list_once(near, watched, j)
        if entering >= 0:
            if not enter(gram, ridge, entering, factor, order, s):
                return False
            size[0] = s + 1
    return False


@compiled(inner=True, makes_arrays=True)
def begin(gram, ridge, start, threshold, positive, coef, gradient, factor, order, size):
    """Thresholds of which `coef` is the minimiser, their change, and the signs of the support.

    A coefficient that is free of penalty has a threshold too on the way, and may have either sign.
    """
    m = coef.size
    at, rate, sign = np.empty(m), np.empty(m), np.zeros(m)
    for j in range(m):
        at[j] = max(gradient[j] if positive else abs(gradient[j]), start[j])
        free = threshold[j] == 0.0 and not positive
        if coef[j] != 0.0:
            sign[j] = 1.0 if free else np.sign(coef[j])
        elif free and gradient[j] != 0.0 and enter(gram, ridge, j, factor, order, size[0]):
            sign[j] = 1.0
            size[0] += 1
        if sign[j] != 0.0:
            at[j] = sign[j] * gradient[j]
        rate[j] = threshold[j] - at[j]
    return at, rate, sign


@compiled(inner=True, makes_arrays=True)
def watch(gram, threshold, positive, sign, gradient):
    """Indices of coefficients at zero that may leave it, and how many they are."""
    near, watched = np.empty(sign.size, dtype=np.int64), 0
    for j in range(sign.size):
        slope = gradient[j] if positive else abs(gradient[j])
        bound = positive or threshold[j] > 0.0
        if sign[j] == 0.0 and bound and gram[j, j] > 0.0 and slope >= NEAR * threshold[j]:
            near[watched] = j
            watched += 1
    return near, watched


@compiled(inner=True)
def list_once(near, watched, j):
    """Note column j in near[:watched], unless it is there; returns how many are noted."""
    for a in range(watched):
        if near[a] == j:
            return watched
    near[watched] = j
    return watched + 1


@compiled(inner=True)
def first_zero(left, threshold, positive, sign, coef, order, x, s):
    """How far to go until a coefficient comes to zero, and its place in `order`; -1: none does."""
    step, leaving = left, -1
    for i in range(s):
        j = order[i]
        if (positive or threshold[j] > 0.0) and x[i] * sign[j] < 0.0:
            way = max(-coef[j] / x[i], 0.0)
            if way < step:
                step, leaving = way, i
    return step, leaving


@compiled(inner=True)
def first_at_threshold(step, at, rate, positive, sign, near, watched, gradient, change):
    """How far, at most `step`, until a gradient comes to its threshold, whose, and its sign."""
    entering, side = -1, 0.0
    for a in range(watched):
        j = near[a]
        if sign[j] != 0.0:
            continue
        least = TIE * (abs(rate[j]) + abs(change[j]))
        closing = change[j] - rate[j]
        if closing > least and at[j] - gradient[j] < step * closing:
            step, entering, side = max(at[j] - gradient[j], 0.0) / closing, j, 1.0
        closing = -change[j] - rate[j]
        if not positive and closing > least and at[j] + gradient[j] < step * closing:
            step, entering, side = max(at[j] + gradient[j], 0.0) / closing, j, -1.0
    return step, entering, side
