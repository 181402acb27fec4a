"""The lasso and the elastic net at one penalty, from the Gram matrix.

Minimise over b of length m

    square / 2 - right'b + b'(gram + diag(ridge)) b / 2 + sum_j threshold_j |b_j|

Cyclic coordinate descent on the coefficients that are not zero, or want not to be, finds the
support and the signs within a few sweeps. With these given the problem is a linear system, and one
solution of it is the exact minimiser; if a sign changes on the way there, the step ends where it
does. Both kinds of step only ever lower the objective.
"""

import numpy as np

from empirisk.compiled.cholesky_updating import append_column, delete_column, solve_factored
from empirisk.compiled.decorator import compiled

FEW = 4  # sweeps between two solutions of the linear system
MANY = 20  # sweeps between two looks at the other coefficients where there is no such solution
DEPENDENT = 1e-10  # share of a column's squared length that the others must leave
ROUNDING = 1e-14


@compiled
def lasso_on_gram(
    gram,
    right,
    ridge,
    threshold,
    positive,
    square,
    tol,
    max_iter,
    coef,
    gradient,
    factor,
    order,
    size,
    part,
    place,
    compact,
):
    """Minimise, from `coef` on, in place.

    `gradient` becomes right - (gram + ridge) coef. `factor` is the Cholesky factor for the columns
    order[:size[0]], kept from one penalty to the next. `part` (m, m), `place` (2, m) and `compact`
    (5, m) are room to work in. Returns sweeps, duality gap and whether the minimum was reached:
    exactly, or where columns depend on one another to a gap of tol * square.
    """
    m = right.size
    diagonal = np.empty(m)
    for j in range(m):
        diagonal[j] = gram[j, j]
    correlate(gram, right, ridge, coef, gradient)
    sweeps, solvable = 0, True
    while True:
        k = gather(
            gram, diagonal, ridge, threshold, positive, square, coef, gradient, part, place, compact
        )
        settled = k == 0
        for _ in range(m):
            if k == 0 or sweeps >= max_iter:
                break
            for t in range(FEW if solvable else MANY):
                moved = sweep(part, k, positive, compact)
                sweeps += 1
                if not moved and t > 0:
                    break
            if not solvable:
                break
            done = solve_support(part, k, positive, compact, place, factor, order, size)
            if done < 0:
                solvable = False
            elif done == 1:
                settled = True
                break
        for a in range(k):
            coef[place[0, a]] = compact[0, a]
        correlate(gram, right, ridge, coef, gradient)
        gap = duality_gap(diagonal, right, threshold, positive, square, coef, gradient)
        if settled and not violated(diagonal, threshold, positive, square, coef, gradient):
            return sweeps, gap, True
        if gap <= (ROUNDING if solvable else tol) * square:
            return sweeps, gap, True
        if sweeps >= max_iter:
            return sweeps, gap, gap <= tol * square


@compiled
def correlate(gram, right, ridge, coef, gradient):
    """gradient = right - (gram + diag(ridge)) coef."""
    m = right.size
    gradient[:] = right
    for j in range(m):
        if coef[j] != 0.0:
            gradient[j] -= ridge[j] * coef[j]
            for i in range(m):
                gradient[i] -= gram[j, i] * coef[j]


@compiled
def excess(j, diagonal, threshold, positive, square, gradient):
    """By how much the gradient of a coefficient at zero exceeds its threshold, less rounding."""
    slope = gradient[j] if positive else abs(gradient[j])
    return slope - threshold[j] - ROUNDING * 10 * np.sqrt(diagonal[j] * square)


@compiled
def violated(diagonal, threshold, positive, square, coef, gradient):
    """Whether a coefficient at zero should not be there."""
    for j in range(coef.size):
        if coef[j] == 0.0 and excess(j, diagonal, threshold, positive, square, gradient) > 0.0:
            return True
    return False


@compiled
def gather(
    gram, diagonal, ridge, threshold, positive, square, coef, gradient, part, place, compact
):
    """What is not zero, or wants not to be, side by side; returns how many there are.

    `part` becomes their Gram matrix, place[0] their indices (and place[1] the way back), and the
    rows of `compact` coefficients, gradients and thresholds.
    """
    k = 0
    for j in range(coef.size):
        place[1, j] = -1
        wants = excess(j, diagonal, threshold, positive, square, gradient) > 0.0
        if diagonal[j] + ridge[j] > 0.0 and (coef[j] != 0.0 or wants):
            place[0, k], place[1, j] = j, k
            compact[0, k], compact[1, k], compact[2, k] = coef[j], gradient[j], threshold[j]
            k += 1
    for a in range(k):
        j = place[0, a]
        for c in range(k):
            part[a, c] = gram[j, place[0, c]]
        part[a, a] += ridge[j]
    return k


@compiled
def sweep(part, k, positive, compact):
    """One cyclic pass over k coordinates; whether one of them left zero, or came to it."""
    coef, gradient, threshold = compact[0], compact[1], compact[2]
    changed = False
    for a in range(k):
        old, curvature = coef[a], part[a, a]
        slope = gradient[a] + curvature * old
        new = 0.0
        if slope > threshold[a]:
            new = (slope - threshold[a]) / curvature
        elif slope < -threshold[a] and not positive:
            new = (slope + threshold[a]) / curvature
        if new != old:
            move = new - old
            coef[a] = new
            for c in range(k):
                gradient[c] -= part[a, c] * move
            changed |= (new == 0.0) != (old == 0.0)
    return changed


@compiled
def solve_support(part, k, positive, compact, place, factor, order, size):
    """Go to the exact minimiser for the support and the signs as they are.

    Returns 1 if it was reached, 0 if a sign changed on the way, -1 if columns depend on one
    another. A threshold of 0 leaves the sign free.
    """
    coef, threshold, x, rest = compact[0], compact[2], compact[3], compact[4]
    if not fit_factor(part, k, coef, place, factor, order, size, rest):
        return -1
    s = size[0]
    residual_on_support(compact, place, order, s, x)
    solve_factored(factor, s, x)
    step, blocking = 1.0, -1
    for i in range(s):
        a = place[1, order[i]]
        bound = positive or threshold[a] > 0.0
        if bound and np.sign(coef[a] + x[i]) != np.sign(coef[a]) and -coef[a] / x[i] < step:
            step, blocking = -coef[a] / x[i], a
    if blocking < 0:
        move_support(part, k, compact, place, order, s, x, 1.0)
        residual_on_support(compact, place, order, s, x)  # once more for what rounding has left
        solve_factored(factor, s, x)
        move_support(part, k, compact, place, order, s, x, 1.0)
        return 1
    if not clip_support(part, k, positive, compact, place, order, s):
        move_support(part, k, compact, place, order, s, x, step)
        shift(part, k, compact, blocking, -coef[blocking])
        coef[blocking] = 0.0
    return 0


@compiled
def residual_on_support(compact, place, order, s, x):
    """What is missing in  gradient = threshold * sign  on the support."""
    for i in range(s):
        a = place[1, order[i]]
        x[i] = compact[1, a] - np.sign(compact[0, a]) * compact[2, a]


@compiled
def shift(part, k, compact, a, move):
    """coef[a] += move, and the gradients follow."""
    compact[0, a] += move
    for c in range(k):
        compact[1, c] -= part[a, c] * move


@compiled
def move_support(part, k, compact, place, order, s, x, step):
    for i in range(s):
        shift(part, k, compact, place[1, order[i]], step * x[i])


@compiled
def clip_support(part, k, positive, compact, place, order, s):
    """The whole step, with coefficients that changed their sign put to zero, if that is a descent.

    It ends many coefficients at once where the step to the first change of sign would end one.
    """
    x = compact[3]
    before = compact[:2, :k].copy()
    for i in range(s):
        a = place[1, order[i]]
        new, bound = before[0, a] + x[i], positive or compact[2, a] > 0.0
        clipped = bound and np.sign(new) != np.sign(before[0, a])
        shift(part, k, compact, a, -before[0, a] if clipped else x[i])
        if clipped:
            compact[0, a] = 0.0
    change = 0.0
    for a in range(k):
        slope = 0.5 * (before[1, a] + compact[1, a])
        change -= slope * (compact[0, a] - before[0, a])
        change += compact[2, a] * (abs(compact[0, a]) - abs(before[0, a]))
    if change < 0.0:
        return True
    compact[:2, :k] = before
    return False


@compiled
def fit_factor(part, k, coef, place, factor, order, size, column):
    """Bring the factor to the columns of the support; False if one depends on the others."""
    s = size[0]
    for i in range(s - 1, -1, -1):
        a = place[1, order[i]]
        if a < 0 or coef[a] == 0.0:
            delete_column(factor, s, i)
            order[i : s - 1] = order[i + 1 : s].copy()
            s -= 1
    kept = np.zeros(k, dtype=np.bool_)
    for i in range(s):
        kept[place[1, order[i]]] = True
    size[0] = s
    for a in range(k):
        if coef[a] == 0.0 or kept[a]:
            continue
        for i in range(s):
            column[i] = part[a, place[1, order[i]]]
        if not append_column(factor, s, column, part[a, a], DEPENDENT):
            return False
        order[s] = place[0, a]
        s += 1
        size[0] = s
    return True


@compiled
def duality_gap(diagonal, right, threshold, positive, square, coef, gradient):
    """Objective less the best dual objective along the residual r.

    With the dual point s r, s as large as |x_j'r| s <= threshold_j allows, it is

        (1 - s)^2 |r|^2 / 2 + sum_j threshold_j |b_j| - s gradient'b

    in which nothing large cancels. A coefficient that is free of penalty adds what it alone could
    still gain. `diagonal` holds the squared lengths of the columns.
    """
    correlation, norm, fitted, gained, largest = 0.0, 0.0, 0.0, 0.0, np.inf
    for j in range(coef.size):
        slope = gradient[j] if positive else abs(gradient[j])
        if threshold[j] == 0.0:
            if diagonal[j] > 0.0 and slope > 0.0:
                gained += slope * slope / (2.0 * diagonal[j])
        elif slope > 0.0 and slope * largest > threshold[j]:
            largest = threshold[j] / slope
        norm += threshold[j] * abs(coef[j])
        fitted += right[j] * coef[j]
        correlation += gradient[j] * coef[j]
    residual = max(square - fitted - correlation, 0.0)
    best = 1.0 + correlation / residual if residual > 0.0 else 1.0
    s = max(min(best, largest), 0.0)
    return max((1.0 - s) ** 2 * residual / 2.0 + norm - s * correlation, 0.0) + gained
