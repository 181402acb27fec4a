"""The lasso once its support and its signs are given: a linear system.

The factor is the Cholesky factor of gram + diag(ridge) for the columns order[:size[0]], kept from
one step, and one penalty, to the next.
"""

import numpy as np

from empirisk.compiled.cholesky_updating import (
    append_column,
    delete_column,
    factorise,
    solve_factored,
    solve_upper,
)
from empirisk.compiled.decorator import compiled

DEPENDENT = 1e-10  # share of a column's squared length that the others must leave
MANY = 4  # the part of the support that is new from which on a new factor costs less: a fourth


@compiled(inner=True)
def shift(gram, ridge, move, coef, gradient):
    """coef += move, and gradient = right - (gram + diag(ridge)) coef follows."""
    m = move.size
    for i in range(m):
        if move[i] != 0.0:
            coef[i] += move[i]
            for j in range(m):
                gradient[j] -= gram[i, j] * move[i]
            gradient[i] -= ridge[i] * move[i]


@compiled(inner=True, makes_arrays=True)
def solve_support(gram, ridge, threshold, positive, coef, gradient, factor, order, size):
    """Go to the exact minimiser for the support and the signs as they are.

    Returns whether it was reached, or a sign changed on the way. A threshold of 0 leaves the sign
    free.
    """
    m = coef.size
    fit_factor(gram, ridge, threshold, positive, coef, gradient, factor, order, size)
    s = size[0]
    x, move = np.empty(s), np.zeros(m)
    for i in range(s):
        x[i] = gradient[order[i]] - np.sign(coef[order[i]]) * threshold[order[i]]
    solve_factored(factor, s, x)
    step, blocking = 1.0, -1
    for i in range(s):
        j = order[i]
        move[j] = x[i]
        bound = positive or threshold[j] > 0.0
        changes = np.sign(coef[j] + x[i]) != np.sign(coef[j])
        if bound and changes and -coef[j] / x[i] < step:
            step, blocking = -coef[j] / x[i], j
    if blocking >= 0 and clip_step(gram, ridge, threshold, positive, coef, gradient, move):
        return False
    for j in range(m):
        move[j] *= step
    if blocking >= 0:
        move[blocking] = -coef[blocking]
    shift(gram, ridge, move, coef, gradient)
    return blocking < 0


@compiled(inner=True, makes_arrays=True)
def clip_step(gram, ridge, threshold, positive, coef, gradient, move):
    """The whole step, with coefficients that changed their sign put to zero, if that is a descent.

    It ends many coefficients at once where the step to the first change of sign would end one.
    """
    m = coef.size
    clipped, old_coef, old_gradient = move.copy(), coef.copy(), gradient.copy()
    for j in range(m):
        bound = positive or threshold[j] > 0.0
        if bound and np.sign(coef[j] + move[j]) != np.sign(coef[j]):
            clipped[j] = -coef[j]
    shift(gram, ridge, clipped, coef, gradient)
    gain = 0.0
    for j in range(m):
        gain += 0.5 * (old_gradient[j] + gradient[j]) * clipped[j]
        gain -= threshold[j] * (abs(coef[j]) - abs(old_coef[j]))
    if gain > 0.0:
        return True
    for j in range(m):
        coef[j], gradient[j] = old_coef[j], old_gradient[j]
    return False


@compiled(inner=True, makes_arrays=True)
def fit_factor(gram, ridge, threshold, positive, coef, gradient, factor, order, size):
    """Bring the factor to the columns of the support.

    Where one depends on the others there is a direction in which the fit does not change; along it
    the penalty falls until a coefficient is zero, and that one leaves the support.
    """
    m, s = coef.size, size[0]
    for i in range(s - 1, -1, -1):
        if coef[order[i]] == 0.0:
            s = drop(factor, order, s, i)
    kept, used = np.zeros(m, dtype=np.bool_), 0
    for i in range(s):
        kept[order[i]] = True
    for j in range(m):
        used += coef[j] != 0.0
    if MANY * (used - s) > used and used > MANY and fit_whole(gram, ridge, coef, factor, order):
        size[0] = used
        return
    before, swapped = coef.copy(), False
    for j in range(m):
        if kept[j]:
            continue
        while coef[j] != 0.0 and not enter(gram, ridge, j, factor, order, s):
            swapped = True
            way = fall(j, threshold, coef, factor, order, s)
            i = leave_dependence(j, way, threshold, positive, np.sign(coef), coef, factor, order, s)
            if i >= 0:
                s = drop(factor, order, s, i)
        if coef[j] != 0.0:
            s += 1
    size[0] = s
    if swapped:
        move = np.empty(m)
        for j in range(m):
            move[j] = coef[j] - before[j]
        shift(gram, ridge, move, before, gradient)


@compiled(inner=True, makes_arrays=True)
def fit_whole(gram, ridge, coef, factor, order):
    """The factor for the support, all columns at once; False if one depends on the others."""
    support = np.flatnonzero(coef)
    matrix = np.empty((support.size, support.size))
    for a in range(support.size):
        for b in range(support.size):
            matrix[a, b] = gram[support[a], support[b]]
        matrix[a, a] += ridge[support[a]]
    if not factorise(matrix, factor, DEPENDENT):
        return False
    for a in range(support.size):
        order[a] = support[a]
    return True


@compiled(inner=True, makes_arrays=True)
def enter(gram, ridge, j, factor, order, s):
    """Put column j behind the s of the factor; False if it depends on them."""
    column = np.empty(s)
    for i in range(s):
        column[i] = gram[j, order[i]]
    order[s] = j
    return append_column(factor, s, column, gram[j, j] + ridge[j], DEPENDENT)


@compiled(inner=True)
def drop(factor, order, s, i):
    """Take the i-th of s columns out of the factor; how many are left."""
    delete_column(factor, s, i)
    for c in range(i, s - 1):
        order[c] = order[c + 1]
    return s - 1


@compiled(inner=True, makes_arrays=True)
def cancelling(factor, s):
    """What the columns of the factor add to one of the next column, which `enter` found dependent,
    so that nothing is left."""
    x = np.empty(s)
    for i in range(s):
        x[i] = -factor[i, s]
    solve_upper(factor, s, x)
    return x


@compiled(inner=True)
def fall(j, threshold, coef, factor, order, s):
    """In which direction of coefficient j, those of the factor cancelling it, the penalty falls."""
    x = cancelling(factor, s)
    slope = threshold[j] * np.sign(coef[j])
    for i in range(s):
        slope += threshold[order[i]] * np.sign(coef[order[i]]) * x[i]
    if slope == 0.0:
        return -np.sign(coef[j])
    return -np.sign(slope)


@compiled(inner=True, makes_arrays=True)
def leave_dependence(j, way, threshold, positive, sign, coef, factor, order, s):
    """Move coefficient j that way, those of the factor cancelling it, until one of them is zero.

    `sign` is that of the coefficients, also of those that are about to leave zero. Returns the
    place in `order` of the one that came to zero, or -1 if it was j itself.
    """
    x = cancelling(factor, s)
    step, blocking = np.inf, -1
    if way * coef[j] < 0.0:
        step = abs(coef[j])
    for i in range(s):
        c = order[i]
        bound = positive or threshold[c] > 0.0
        if bound and way * x[i] * sign[c] < 0.0 and abs(coef[c] / x[i]) < step:
            step, blocking = abs(coef[c] / x[i]), i
    if step == np.inf:  # only columns that are free of penalty: these can do without j
        way, step = -np.sign(coef[j]), abs(coef[j])
    for i in range(s):
        coef[order[i]] += way * step * x[i]
    if blocking < 0:
        coef[j] = 0.0
    else:
        coef[j] += way * step
        coef[order[blocking]] = 0.0
    return blocking
