"""The lasso and the elastic net at one penalty, from the Gram matrix.

Minimise over b of length m

    square / 2 - right'b + b'(gram + diag(ridge)) b / 2 + sum_j threshold_j |b_j|

From the minimiser at the last penalty the next one is reached by walking through all changes of the
support between them (`walk`). Where these are many, as from zero, a few sweeps of coordinate
descent and the solution of a linear system for the support they find come first (`descend`). What
ends the search is that the optimality conditions hold to rounding: the minimiser is exact.

Coordinate descent alone, and with a linear system after every few sweeps, lost: where the support
nears the number of rows they take hundreds of sweeps for the few changes that a walk makes.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.lasso_support import solve_support
from empirisk.compiled.lasso_walk import walk

SWEEPS = 4  # of coordinate descent between two solutions of the linear system
ROUNDS = 5  # of both before a walk
SHORT = 0.8  # ratio of two penalties from which on the support may have changed a lot
SOME, MANY = (
    32,
    8,
)  # coefficients that may want to leave zero: some, and an eighth of those that did
ROUNDING = 1e-14
NO_BOUND = 1e-8  # the gap of columns free of penalty may be that part of what is left to gain


@compiled
def lasso_path_on_gram(
    gram,
    right,
    ridges,
    start,
    thresholds,
    positive,
    square,
    tol,
    max_iter,
    coef,
    gradient,
    factor,
    order,
    size,
    coefs,
    gaps,
    iterations,
    reached,
):
    """Minimise at one penalty after the other, a row of `ridges` and `thresholds` each, in place.

    The minimisers are written to `coefs`; `coef` stays at the last. In one go without the
    interpreter, for which threads would wait at every penalty.
    """
    for v in range(len(thresholds)):
        for j in range(coef.size):
            if v > 0 and ridges[v, j] != ridges[v - 1, j]:
                size[0] = 0  # the factor is that of another matrix
        iterations[v], gaps[v], reached[v] = lasso_on_gram(
            gram,
            right,
            ridges[v],
            start if v == 0 else thresholds[v - 1],
            thresholds[v],
            positive,
            square,
            tol,
            max_iter,
            coef,
            gradient,
            factor,
            order,
            size,
        )
        for j in range(coef.size):
            coefs[v, j] = coef[j]


@compiled(inner=True, makes_arrays=True)
def lasso_on_gram(
    gram,
    right,
    ridge,
    start,
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
):
    """Minimise, from `coef` on, in place.

    `gradient` becomes right - (gram + ridge) coef. `start` are the thresholds of which `coef` is
    the minimiser, if it is one. `factor`, `order` and `size` are those of `lasso_support`. Returns
    iterations, duality gap and whether the minimum was reached: exactly, or where that fails to a
    gap of tol * square.
    """
    m = right.size
    diagonal, negligible = np.empty(m), ROUNDING * square
    for j in range(m):
        diagonal[j] = gram[j, j]
        if threshold[j] == 0.0 and diagonal[j] > 0.0:
            negligible = ROUNDING * NO_BOUND * square
    correlate(gram, right, ridge, coef, gradient)
    iterations, settled = 0, False
    walking = near_enough(start, ridge, diagonal, threshold, positive, square, coef, gradient)
    while True:
        if walking:
            settled = walk(
                gram, ridge, start, threshold, positive, coef, gradient, factor, order, size
            )
            correlate(gram, right, ridge, coef, gradient)
            iterations += 1
            settled &= solve_support(
                gram, ridge, threshold, positive, coef, gradient, factor, order, size
            )
        if not settled:
            done, settled = descend(
                gram,
                diagonal,
                ridge,
                threshold,
                positive,
                max_iter - iterations,
                coef,
                gradient,
                factor,
                order,
                size,
            )
            iterations += done
            correlate(gram, right, ridge, coef, gradient)
        gap = duality_gap(diagonal, right, threshold, positive, square, coef, gradient)
        exact = settled and not violated(diagonal, threshold, positive, square, coef, gradient)
        if exact or gap <= negligible:
            return iterations, gap, True
        if iterations >= max_iter:
            return iterations, gap, gap <= tol * square
        walking, start = True, threshold


@compiled(inner=True)
def descend(
    gram,
    diagonal,
    ridge,
    threshold,
    positive,
    most,
    coef,
    gradient,
    factor,
    order,
    size,
):
    """Sweeps and solutions for the support in turn; how many sweeps, and whether that was it."""
    sweeps = 0
    for _ in range(ROUNDS):
        for t in range(SWEEPS):
            if sweeps >= most:
                return sweeps, False
            moved = sweep(gram, diagonal, ridge, threshold, positive, coef, gradient)
            sweeps += 1
            if not moved and t > 0:
                break
        if solve_support(gram, ridge, threshold, positive, coef, gradient, factor, order, size):
            return sweeps, True
    return sweeps, False


@compiled(inner=True)
def near_enough(start, ridge, diagonal, threshold, positive, square, coef, gradient):
    """Whether the support will not change much: the step is short, or few columns ask for it.

    With a squared penalty descent needs few sweeps, and a walk pays only for few columns.
    """
    short, step, asking = True, False, -SOME
    for j in range(coef.size):
        step |= threshold[j] < start[j]
        short &= threshold[j] >= SHORT * start[j] and ridge[j] == 0.0
        if coef[j] != 0.0:
            asking -= 1 / MANY
        elif excess(j, diagonal, threshold, positive, square, gradient) > 0.0:
            asking += 1
    return (step and short) or asking <= 0


@compiled(inner=True)
def correlate(gram, right, ridge, coef, gradient):
    """gradient = right - (gram + diag(ridge)) coef."""
    m = right.size
    for j in range(m):
        gradient[j] = right[j] - ridge[j] * coef[j]
    for i in range(m):
        if coef[i] != 0.0:
            for j in range(m):
                gradient[j] -= gram[i, j] * coef[i]


@compiled(inner=True)
def excess(j, diagonal, threshold, positive, square, gradient):
    """By how much the gradient of a coefficient at zero exceeds its threshold, less rounding."""
    slope = gradient[j] if positive else abs(gradient[j])
    return slope - threshold[j] - ROUNDING * 10 * np.sqrt(diagonal[j] * square)


@compiled(inner=True)
def violated(diagonal, threshold, positive, square, coef, gradient):
    """Whether a coefficient at zero should not be there."""
    for j in range(coef.size):
        if coef[j] == 0.0 and excess(j, diagonal, threshold, positive, square, gradient) > 0.0:
            return True
    return False


@compiled(inner=True)
def sweep(gram, diagonal, ridge, threshold, positive, coef, gradient):
    """One cyclic pass over the coefficients; whether one of them left zero, or came to it."""
    m = coef.size
    changed = False
    for j in range(m):
        old, curvature = coef[j], diagonal[j] + ridge[j]
        if curvature <= 0.0:
            continue
        slope = gradient[j] + curvature * old
        new = 0.0
        if slope > threshold[j]:
            new = (slope - threshold[j]) / curvature
        elif slope < -threshold[j] and not positive:
            new = (slope + threshold[j]) / curvature
        if new != old:
            move = new - old
            coef[j] = new
            for c in range(m):
                gradient[c] -= gram[j, c] * move
            gradient[j] -= ridge[j] * move
            changed |= (new == 0.0) != (old == 0.0)
    return changed


@compiled
def duality_gap(diagonal, right, threshold, positive, square, coef, gradient):
    """Objective less the best dual objective along the residual r.

    With the dual point s r, s as large as |x_j'r| s <= threshold_j allows, it is

        (1 - s)^2 |r|^2 / 2 + sum_j threshold_j |b_j| - s gradient'b

    in which nothing large cancels. A coefficient that is free of penalty adds what it alone could
    still gain: then this is an estimate, no bound. `diagonal` holds the squared lengths of the
    columns.
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
