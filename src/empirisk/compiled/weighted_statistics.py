"""Statistics of rows for many weightings of them at once: the bootstrap's inner loops.

A row of weight w is w copies of the row. Each statistic takes as many passes over the rows as the
textbook does, so that nothing is lost by subtraction.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

SMALL = 1e-14  # variances below this, of values of size 1, are computed with more care
TINY = 2.0**-1022  # the least normal number


@compiled
def weighted_quantiles(values, order, weights, q, tied, out):
    """out[b, j] = the middle of the interval of q-quantiles of values[:, j] under weights[b].

    `order[j]` sorts column j. Shares of the weight within `tied` of q are on it.
    """
    n, k = values.shape
    for b in range(weights.shape[0]):
        for j in range(k):
            total = 0.0
            for i in range(n):
                total += weights[b, order[j, i]]
            least, beyond = (q - tied) * total, (q + tied) * total
            cumulative, low = 0.0, -1
            for i in range(n):
                row = order[j, i]
                cumulative += weights[b, row]
                if low < 0 and cumulative > 0.0 and cumulative >= least:
                    low = row
                if cumulative > beyond or cumulative == total:
                    first, last = values[low, j], values[row, j]
                    out[b, j] = first if first == last else 0.5 * first + 0.5 * last
                    break


@compiled
def weighted_deviations(values, weights, means, totals, out):
    """out[b, j] = the standard deviation of values[:, j], of size about 1, under weights[b]."""
    n, k = values.shape
    for b in range(weights.shape[0]):
        for j in range(k):
            squares = 0.0
            for i in range(n):
                squares += weights[b, i] * (values[i, j] - means[b, j]) ** 2
            out[b, j] = np.sqrt(squares / totals[b])
            if squares < SMALL * totals[b]:
                spread, _, square, _, _ = scaled_moments(values[:, j], values[:, j], weights[b])
                out[b, j] = spread * np.sqrt(square)


@compiled
def weighted_correlations(values, weights, means, totals, out):
    """out[b] = the correlation of two columns under weights[b]; NaN where one is constant."""
    n = values.shape[0]
    for b in range(weights.shape[0]):
        xx, yy, xy = 0.0, 0.0, 0.0
        for i in range(n):
            weight, dx, dy = weights[b, i], values[i, 0] - means[b, 0], values[i, 1] - means[b, 1]
            xx += weight * dx * dx
            yy += weight * dy * dy
            xy += weight * dx * dy
        if min(xx, yy) < SMALL * totals[b]:
            _, _, xx, yy, xy = scaled_moments(values[:, 0], values[:, 1], weights[b])
        out[b] = np.nan
        if xx > 0.0 and yy > 0.0:
            out[b] = max(-1.0, min(1.0, xy / np.sqrt(xx) / np.sqrt(yy)))


@compiled
def scaled_moments(x, y, weights):
    """Ranges of x and y, and mean squares xx, yy, xy about the means in units of the ranges.

    For rows that are nearly equal: no rounding passes for spread, and no square vanishes.
    """
    low_x, high_x, low_y, high_y, total = np.inf, -np.inf, np.inf, -np.inf, 0.0
    for i in range(x.size):
        if weights[i] > 0.0:
            low_x, high_x = min(low_x, x[i]), max(high_x, x[i])
            low_y, high_y = min(low_y, y[i]), max(high_y, y[i])
            total += weights[i]
    range_x, range_y = high_x - low_x, high_y - low_y
    unit_x, unit_y = max(range_x, TINY), max(range_y, TINY)
    mean_x, mean_y = 0.0, 0.0
    for i in range(x.size):
        if weights[i] > 0.0:
            mean_x += weights[i] * ((x[i] - low_x) / unit_x) / total
            mean_y += weights[i] * ((y[i] - low_y) / unit_y) / total
    xx, yy, xy = 0.0, 0.0, 0.0
    for i in range(x.size):
        if weights[i] > 0.0:
            dx, dy = (x[i] - low_x) / unit_x - mean_x, (y[i] - low_y) / unit_y - mean_y
            xx += weights[i] * dx * dx / total
            yy += weights[i] * dy * dy / total
            xy += weights[i] * dx * dy / total
    return range_x, range_y, xx, yy, xy


@compiled
def merge(whole, part, copies):
    """Add `copies` times the moments of a part to those of a whole (Chan, Golub & LeVeque 1983).

    Moments: weight, mean of x, mean of y, and the sums of xx, yy and xy about the means. Sums of
    squares are only ever added up: nothing cancels.
    """
    weight = copies * part[0]
    if weight > 0.0:
        total = whole[0] + weight
        dx, dy = part[1] - whole[1], part[2] - whole[2]
        share = weight / total
        between = whole[0] * share
        whole[0] = total
        whole[1] += share * dx
        whole[2] += share * dy
        whole[3] += copies * part[3] + between * dx * dx
        whole[4] += copies * part[4] + between * dy * dy
        whole[5] += copies * part[5] + between * dx * dy


@compiled
def unit_moments(x, y, weight, unit, out):
    """out[u] = the moments (see `merge`) of the rows of unit u."""
    row = np.zeros(6)
    row[0] = 1.0
    out[:] = 0.0
    for i in range(x.size):
        row[1], row[2] = x[i], y[i]
        merge(out[unit[i]], row, weight[i])


@compiled
def leave_one_out_moments(moments, copies, out):
    """out[u] = the moments of all units, unit v taken copies[v] times, without one copy of u."""
    units = copies.size
    whole = np.zeros(6)
    for u in range(units):
        out[u] = whole
        merge(whole, moments[u], copies[u])
    whole[:] = 0.0
    for u in range(units - 1, -1, -1):
        merge(out[u], moments[u], copies[u] - 1.0)
        merge(out[u], whole, 1.0)
        merge(whole, moments[u], copies[u])
