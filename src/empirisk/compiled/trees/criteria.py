"""Criteria of splits: what the two sides of a split are worth together, the more the better.

Each criterion is a concave impurity i of a node; the best split has the largest sum of
-(weight times impurity) of its sides. What is the same for all splits of a node is left out:

squared error    sum_k S_k^2 / W, with S the sums of weight times value (centred in the node)
Gini index       the same of class indicators: sum_k W_k^2 / W
entropy          sum_k W_k log(W_k / W)
Poisson deviance S log(S / W)
misclassified    max_k W_k
least cost       -min_i sum_j C(i | j) W_j
generalised Gini -sum_ij C(i | j) W_i W_j / W

Two classes need only the sums of one, like a regression.
"""

from math import log

import numpy as np

from empirisk.compiled.decorator import compiled

# One sum beside the weight: regression and two classes.
SQUARED, GINI_TWO, ENTROPY_TWO, COST_TWO, POISSON = 0, 1, 2, 3, 4
# A sum for each class, a row has one of them.
GINI, ENTROPY, COST, GINI_COST = 10, 11, 12, 13
# A sum for each output.
SQUARED_MANY, POISSON_MANY = 20, 21
# Order statistics.
ABSOLUTE = 30

REFUSED = -np.inf
NO_COUNT = 1e-12

# Rows of `totals`: sums of the node, of its missing values, of the sides of a split, and the copies
# that a unit of each sum stands for. They are np.int64, since Numba would compile a function again
# for each integer that it is called with.
NODE, MISSING, LEFT, RIGHT, COPIES = (np.int64(row) for row in range(5))


@compiled(inner=True)
def x_log_share(x, total):
    """x log(x / total), 0 at x = 0 and where x is nothing beside the total."""
    share = x / total
    return x * log(share) if share > 0.0 else 0.0


@compiled(inner=True)
def worth_of_sum(kind, weight, total, whole, costs):
    """Of one side that has this weight and this sum (of the second of two classes, its weight).

    `whole` is the sum of the node: what rounding leaves of a side without any count is small
    beside it.
    """
    if kind == ENTROPY_TWO:
        return x_log_share(total, weight) + x_log_share(weight - total, weight)
    if kind == COST_TWO:
        return -min(costs[0, 1] * total, costs[1, 0] * (weight - total))
    if kind == POISSON:  # a side without any count would be predicted impossible
        return x_log_share(total, weight) if total > NO_COUNT * whole else REFUSED
    return total * total / weight


@compiled(inner=True)
def worth_of_sums(kind, weight, totals, side, costs):
    """Of one side that has this weight and the sums totals[side] of classes or outputs."""
    worth = 0.0
    n = totals.shape[1]
    if kind == COST:
        worth = REFUSED
        for i in range(n):
            worth = max(worth, -cost_of(i, totals, side, costs))
    elif kind == GINI_COST:
        for i in range(n):
            worth -= cost_of(i, totals, side, costs) * (totals[side, i] / weight)
    elif kind == ENTROPY:
        for k in range(n):
            worth += x_log_share(totals[side, k], weight)
    elif kind == POISSON_MANY:
        for k in range(n):
            total = totals[side, k]
            counted = total > NO_COUNT * totals[NODE, k]
            worth += x_log_share(total, weight) if counted else REFUSED
    else:
        for k in range(n):
            worth += totals[side, k] * totals[side, k]
        worth /= weight
    return worth


@compiled(inner=True)
def copies_of(totals, side, weight, copies):
    """The rows that a side stands for, of this weight, where a row is so many copies of it.

    Classes have factors in weights and sums: a unit of them stands for other numbers of copies.
    """
    number = copies * weight
    for k in range(totals.shape[1]):
        number += totals[COPIES, k] * totals[side, k]
    return number


@compiled(inner=True)
def cost_of(i, totals, side, costs):
    """sum_j C(i | j) W_j: what it costs to predict class i on this side."""
    cost = 0.0
    for j in range(totals.shape[1]):
        cost += costs[i, j] * totals[side, j]
    return cost
