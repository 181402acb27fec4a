"""Sums of kernels over rows in leaves, for groups of targets that lie together.

A leaf is left out of the sum at t where its kernels are at most a share of what the sum is at
least: if, at least m away from t,

    k(m) <= share L / W,    L = sum over leaves of w k(furthest point of the leaf),

so that all leaves left out have at most the share of the sum. Kernels of bounded support, and rows
beyond it, leave nothing out. All kernels are positive but those of higher order; for these the
share is one of the sum of their absolute values.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.densities.kernels import (
    EXPONENTIAL,
    GAUSSIAN,
    GAUSSIAN4,
    GAUSSIAN4_2,
    add_kernels,
)
from empirisk.compiled.exponential import exponential

LEAST = 1e-250
"""Sums below it are found again from the nearest row: exp(x) is that of -700 at least."""


@compiled
def group_sums(
    T, group_ends, columns, ends, lows, highs, weight, kind, shape, rate, share, begin, end, logs
):
    """Logarithms of sums at targets T for groups begin..end; minus infinity for sums <= 0.

    T lies group by group. Rows lie leaf by leaf, given by columns (columns, rows), as are the lows
    and highs of leaves; `rate` turns squared distances into bandwidths.
    """
    n_leaves, p = ends.size, columns.shape[0]
    masses = leaf_masses(weight, ends)
    total = masses.sum()
    near, far, mass = np.empty(n_leaves), np.empty(n_leaves), np.empty(n_leaves)
    leaves, every = np.empty(n_leaves, np.int64), np.arange(n_leaves)
    least, most = np.empty(p), np.empty(p)
    largest = np.diff(ends).max() if n_leaves > 1 else 0
    sums, d2 = np.empty(max(ends[0], largest)), np.empty(max(ends[0], largest))
    for group in range(begin, end):
        start = 0 if group == 0 else group_ends[group - 1]
        for j in range(p):
            least[j] = T[start : group_ends[group], j].min()
            most[j] = T[start : group_ends[group], j].max()
        leaf_distances(least, most, lows, highs, every, near, far)
        _, cut = cut_off(kind, near, far, masses, total, rate, share)
        count = 0
        for b in range(n_leaves):
            leaves[count], mass[count] = b, masses[b]
            count += 1 if near[b] <= cut else 0
        for q in range(start, group_ends[group]):
            leaf_distances(T[q], T[q], lows, highs, leaves[:count], near[:count], far[:count])
            offset, cut = cut_off(kind, near[:count], far[:count], mass[:count], total, rate, share)
            sums[:] = 0.0
            for c in range(count):
                if near[c] <= cut:
                    first = 0 if leaves[c] == 0 else ends[leaves[c] - 1]
                    last = ends[leaves[c]]
                    here = d2[: last - first]
                    scaled_distances(kind, T[q], columns, first, rate, offset, here)
                    add_kernels(kind, shape, weight[first:last], here, sums[: last - first])
            logs[q] = logarithm(sums.sum(), kind, rate, offset)
            if np.isnan(logs[q]):
                logs[q] = far_sum(T[q], columns, weight, kind, rate)


@compiled(inner=True, makes_arrays=True)
def leaf_masses(weight, ends):
    """The weight of each leaf."""
    masses = np.empty(ends.size)
    begin = 0
    for b in range(ends.size):
        masses[b] = weight[begin : ends[b]].sum()
        begin = ends[b]
    return masses


@compiled(inner=True)
def leaf_distances(least, most, lows, highs, leaves, near, far):
    """The least and the largest squared distance of a point of a box from one of each leaf."""
    near[:] = 0.0
    far[:] = 0.0
    for j in range(least.size):
        low, high, a, z = lows[j], highs[j], least[j], most[j]
        for c in range(leaves.size):
            gap = max(max(low[leaves[c]] - z, a - high[leaves[c]]), 0.0)
            span = max(high[leaves[c]] - a, z - low[leaves[c]])
            near[c] += gap * gap
            far[c] += span * span


@compiled(inner=True)
def cut_off(kind, near, far, masses, total, rate, share):
    """(the squared distance of the nearest leaf, that beyond which leaves are left out)."""
    if kind != GAUSSIAN and kind != EXPONENTIAL and kind != GAUSSIAN4 and kind != GAUSSIAN4_2:
        return 0.0, 1.0 / rate  # beyond the support
    offset, known, lost = np.inf, 0.0, np.inf
    for b in range(near.size):
        offset = min(offset, near[b])
    tail = EXPONENTIAL if kind == EXPONENTIAL else GAUSSIAN
    here = exponent_of(tail, rate, offset)
    for b in range(near.size):
        exponent = exponent_of(tail, rate, far[b]) - here
        known += masses[b] * exponential(-exponent)
        lost = min(lost, exponent)
    # Where exponents are too large for exp, the nearest leaf, of the least weight, is known.
    known = np.log(known) if lost < 600.0 else np.log(masses.min()) - lost
    allowed = here + np.log(total / share) - known
    if kind == EXPONENTIAL:
        return offset, allowed * allowed / rate
    if kind == GAUSSIAN:
        return offset, 2.0 * allowed / rate
    return 0.0, (2.0 * allowed + 40.0) / rate  # a polynomial before the Gaussian


@compiled(inner=True)
def exponent_of(kind, rate, d2):
    """What stands behind the minus sign of the exponent; 0 for kernels that have none."""
    if kind == GAUSSIAN:
        return 0.5 * rate * d2
    return np.sqrt(rate * d2) if kind == EXPONENTIAL else 0.0


@compiled(inner=True, signatures=2)  # `kind` and `first` are numbers in `far_sum`
def scaled_distances(kind, t, columns, first, rate, offset, d2):
    """Squared distances of rows from t in bandwidths; for kernels with exponents, these."""
    for j in range(t.size):
        x, here = columns[j, first : first + d2.size], t[j]
        if j == 0:
            for i in range(d2.size):
                d2[i] = (x[i] - here) * (x[i] - here)
        else:
            for i in range(d2.size):
                d2[i] += (x[i] - here) * (x[i] - here)
    if kind == GAUSSIAN:
        for i in range(d2.size):
            d2[i] = 0.5 * rate * (d2[i] - offset)
    elif kind == EXPONENTIAL:
        here = np.sqrt(rate * offset)
        for i in range(d2.size):
            d2[i] = np.sqrt(rate * d2[i]) - here
    else:
        for i in range(d2.size):
            d2[i] *= rate


@compiled(inner=True)
def logarithm(found, kind, rate, offset):
    """log of a sum; NaN where it is too small to be known."""
    if kind in (GAUSSIAN, EXPONENTIAL):
        return np.log(found) - exponent_of(kind, rate, offset) if found > LEAST else np.nan
    return np.log(found) if found > 0.0 else -np.inf


@compiled(inner=True, makes_arrays=True)
def far_sum(t, columns, weight, kind, rate):
    """log of the sum at one target, however far it is from all rows."""
    d2 = np.empty(weight.size)
    scaled_distances(-1, t, columns, 0, 1.0, 0.0, d2)
    nearest = d2.min()
    here = exponent_of(kind, rate, nearest)
    found = 0.0
    for i in range(d2.size):
        if kind == GAUSSIAN:
            exponent = 0.5 * rate * (d2[i] - nearest)
        else:
            exponent = exponent_of(kind, rate, d2[i]) - here
        if exponent < 700.0:
            found += weight[i] * np.exp(-exponent)
    return np.log(found) - here
