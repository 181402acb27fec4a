"""Gradients and curvatures of the losses by the score of a row, and the same as whole numbers.

    SQUARED    (f - y)^2 / 2                  f - y            1
    LOG        log(1 + e^f) - y f             p - y            p (1 - p)      p = 1 / (1 + e^-f)
    SOFTMAX    log sum_k e^f_k - f_y          p_k - 1{y = k}   2 p_k (1 - p_k) = 2 |g| (1 - |g|)

The scores of all classes move at once, and their curvature is a matrix, which twice its diagonal
bounds (Gershgorin): that is what SOFTMAX has, so that steps do not add up to more than they should.

Loops have no branch but for the loss, and the exponential is written out, so that they are
vectorised.
"""

from math import frexp, ldexp

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.exponential import exponential

GIVEN, SQUARED, LOG, SOFTMAX = range(4)
BLOCK = 1024  # rows whose numbers stay in the cache


@compiled(inner=True)
def derive(kind, points, y, weight, gradient, curvature):
    """Write gradients and curvatures of some rows; of constant curvatures there are none.

    points are the scores, but for SOFTMAX (`derive_class`). weight may be empty.
    """
    n = gradient.size
    if kind == SQUARED:
        for i in range(n):
            gradient[i] = points[i] - y[i]
        for i in range(curvature.size):
            curvature[i] = 1.0
    elif kind == LOG:
        for i in range(n):
            p = 1.0 / (1.0 + exponential(-points[i]))
            gradient[i] = p - y[i]
            curvature[i] = p * (1.0 - p)
    if kind != GIVEN:
        weigh(weight, gradient, curvature)


@compiled(inner=True)
def derive_class(points, weight, gradient, curvature):
    """As `derive`, for SOFTMAX: points are the gradients of some rows without weights."""
    for i in range(points.size):
        size = abs(points[i])
        gradient[i] = points[i]
        curvature[i] = 2.0 * size * (1.0 - size)
    weigh(weight, gradient, curvature)


@compiled(inner=True)
def weigh(weight, gradient, curvature):
    """Times the weights, if there are some."""
    for i in range(weight.size):
        gradient[i] *= weight[i]
    for i in range(min(weight.size, curvature.size)):
        curvature[i] *= weight[i]


@compiled(inner=True)
def largest(values):
    """The largest absolute value, in four parts that need not wait for each other."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    n = np.uint64(values.size)
    k = np.uint64(0)
    while k + np.uint64(4) <= n:
        a, b = abs(values[k]), abs(values[k + np.uint64(1)])
        c, d = abs(values[k + np.uint64(2)]), abs(values[k + np.uint64(3)])
        one, two = a if a > one else one, b if b > two else two
        three, four = c if c > three else three, d if d > four else four
        k += np.uint64(4)
    while k < n:
        a = abs(values[k])
        one = a if a > one else one
        k += np.uint64(1)
    return max(max(one, two), max(three, four))


@compiled(inner=True)
def unit(most, bits):
    """The power of two by which numbers up to `most` become whole numbers of so many bits."""
    if not 0.0 < most < np.inf:
        return 1.0
    _, exponent = frexp(most)
    return ldexp(1.0, min(max(bits - exponent, -1000), 1000))


@compiled
def derive_classes(scores, y, weight, gradients, most, start, end):
    """gradients[k, i] = e^scores[k, i] / sum_k e^scores[k, i] - 1{y[i] = k} for rows start..end.

    most[k] = the largest gradient and the largest curvature of these rows, with their weights, of
    class k.
    """
    K = scores.shape[0]
    total, room = np.empty(BLOCK), np.empty((2, BLOCK))
    most[:] = 0.0
    for first in range(start, end, BLOCK):
        last = min(first + BLOCK, end)
        highs, g, h = total[: last - first], room[0, : last - first], room[1, : last - first]
        highest(scores, first, last, highs)
        for k in range(K):
            exponentials(scores[k, first:last], highs, gradients[k, first:last])
        for i in range(highs.size):
            highs[i] = 0.0
        for k in range(K):
            add(gradients[k, first:last], highs)
        for k in range(K):
            divide_by(gradients[k, first:last], highs)
        for i in range(first, last):
            gradients[np.int64(y[i]), i] -= 1.0
        for k in range(K):
            derive_class(gradients[k, first:last], weight[first:last], g, h)
            most[k, 0], most[k, 1] = max(most[k, 0], largest(g)), max(most[k, 1], largest(h))


@compiled(inner=True)
def highest(scores, first, last, most):
    """most = the largest score of each row."""
    for i in range(most.size):
        most[i] = -np.inf
    for k in range(scores.shape[0]):
        here = scores[k, first:last]
        for i in range(most.size):
            most[i] = here[i] if here[i] > most[i] else most[i]


@compiled(inner=True)
def exponentials(scores, most, shares):
    """shares = e^(scores - most)."""
    for i in range(most.size):
        shares[i] = exponential(scores[i] - most[i])


@compiled(inner=True)
def add(values, total):
    """total += values."""
    for i in range(total.size):
        total[i] += values[i]


@compiled(inner=True)
def divide_by(values, total):
    """values /= total."""
    for i in range(total.size):
        values[i] /= total[i]
