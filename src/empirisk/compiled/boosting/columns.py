"""Componentwise least squares, round after round, from products of the columns alone.

The columns z_j have length 1, and `correlation` holds z_j'r for the residuals r. A round takes the
column with the largest of them, c in absolute value, and goes rate * c along it: the residuals
lose rate * c z_j, and their products with the other columns lose rate * c times those of z_j. No
row is looked at.
"""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def boost_columns(gram, place, correlation, rate, least, selected, steps, first):
    """Rounds from `first` on, in place; returns the round before which it stops, and why.

    gram[place[j]] are the products of column j with all columns; place[j] is -1 where they are not
    there. selected[t] and steps[t] are the column of round t and its step. It stops after the last
    round (2), before one whose column, selected[t], has no products (1), or where no correlation
    is above `least` (0). Of equal correlations the first is taken.
    """
    for t in range(first, selected.size):
        best, j = least, np.int64(-1)
        for k in range(correlation.size):
            size = abs(correlation[k])
            if size > best:
                best, j = size, np.int64(k)
        if j < 0:
            return t, 0
        selected[t] = j
        if place[j] < 0:
            return t, 1
        steps[t] = rate * correlation[j]
        row, step = place[j], steps[t]
        for k in range(correlation.size):
            correlation[k] -= step * gram[row, k]
    return selected.size, 2


@compiled
def trace_of_hats(gram, selected, rate, inner, trace):
    """trace[t] = trace of the hat matrix after t rounds, without that of the start.

    After t rounds B_t = Z T Z' for the columns Z that were selected so far, numbered in the order
    in which they first were. Round t takes z_a and adds rate z_a z_a' (I - B_t): to row a of T,
    rate (e_a - G_a T), with G = Z'Z. So no matrix has more rows than there are columns.

    `inner` is T, zeros to begin with; `gram` is G.
    """
    d, seen = inner.shape[0], 0
    change = np.empty(d)
    trace[0] = 0.0
    for t in range(selected.size):
        a = selected[t]
        seen = max(seen, a + 1)
        change[:seen] = 0.0
        change[a] = 1.0
        for b in range(seen):
            product = gram[a, b]
            for c in range(seen):
                change[c] -= product * inner[b, c]
        gained = 0.0
        for c in range(seen):
            gained += change[c] * gram[c, a]
            inner[a, c] += rate * change[c]
        trace[t + 1] = trace[t] + rate * gained
