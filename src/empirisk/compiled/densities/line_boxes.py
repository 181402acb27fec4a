"""Sums of Gaussian kernels on a line by moments of boxes, with a bound of the relative error.

Boxes of width s (in bandwidths) have centres c. With t - c = D and x - c = e,

    exp(-(t - x)^2 / 2) = exp(-D^2 / 2) exp(-e^2 / 2) exp(D e),

and the last factor is expanded to TERMS terms: what is left out is at most a^TERMS / TERMS! exp(a)
of it, a = |D| s / 2 (Lagrange's remainder, divided by the least that exp(D e) can be). All terms of
the sum over rows are positive, so that this is a bound of the error of the sum relative to it. The
factor exp(-e^2 / 2) has a remainder of its own, (s^2 / 8)^6 / 6!. Boxes beyond a reach r of the box
of t are left out: W exp(-r^2 / 2) is at most the share of a lower bound of the sum that is allowed.

Where there are many rows, they are first counted in BINS bins of each box, by their moments of
orders 0 to 3 about the centre of the bin: a row at e from it stands for the cubic of
exp(-(D - e)^2 / 2) in e, whose error is at most |He4(D)| e^4 / 24 of it for a D in between, and
|He4(D)| <= D^4 + 6 D^2 + 3.

Where there are many targets, the sum times exp(f^2 / 2), f = t - centre, is interpolated in each
target box between its values at NODES Chebyshev nodes. It is a sum of positive multiples of
exp(f D), |D| <= r + s/2, so that the error is at most a^NODES exp(2 a) / (NODES! 2^(NODES - 1)) of
it, a as above.

C. Yang, R. Duraiswami, N. Gumerov, L. Davis (2003), Improved fast Gauss transform.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.exponential import exponential

TERMS = 12
NODES = 10
BINS = 32
AT_ONCE = 256


@compiled
def add_moments(x, weight, low, width, bandwidth, moments):
    """Add w exp(-e^2/2) e^k of rows x to the moments (boxes, TERMS); no weights are ones."""
    last = moments.shape[0] - 1
    inverse, unit = 1.0 / width, 1.0 / bandwidth
    weighted = weight.size > 0
    boxes, offsets, factors = np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, x.size, AT_ONCE):
        n = min(AT_ONCE, x.size - start)
        here = x[start : start + n]
        for i in range(n):
            box = min(int((here[i] - low) * inverse), last)
            e = (here[i] - (low + (box + 0.5) * width)) * unit
            y = -0.5 * e * e
            boxes[i] = box
            offsets[i] = e
            factors[i] = 1 + y * (1 + y * (0.5 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120)))))
        if weighted:
            for i in range(n):
                factors[i] *= weight[start + i]
        for i in range(n):
            e, g0 = offsets[i], factors[i]
            into = moments[boxes[i]]
            e2 = e * e
            e4 = e2 * e2
            g1, g2 = g0 * e, g0 * e2
            g3 = g1 * e2
            into[0] += g0
            into[1] += g1
            into[2] += g2
            into[3] += g3
            h0, h1, h2, h3 = g0 * e4, g1 * e4, g2 * e4, g3 * e4
            into[4] += h0
            into[5] += h1
            into[6] += h2
            into[7] += h3
            into[8] += h0 * e4
            into[9] += h1 * e4
            into[10] += h2 * e4
            into[11] += h3 * e4


@compiled
def add_bin_moments(x, weight, low, width, bandwidth, moments):
    """Add w e^k, k = 0..3, of rows x to the moments (bins, 4); `width` is that of a bin."""
    last = moments.shape[0] - 1
    inverse, unit = 1.0 / width, 1.0 / bandwidth
    bins, offsets = np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE)
    masses = np.ones(AT_ONCE)
    for start in range(0, x.size, AT_ONCE):
        n = min(AT_ONCE, x.size - start)
        here = x[start : start + n]
        for i in range(n):
            place = min(int((here[i] - low) * inverse), last)
            bins[i] = place
            offsets[i] = (here[i] - (low + (place + 0.5) * width)) * unit
        if weight.size > 0:
            masses[:n] = weight[start : start + n]
        for i in range(n):
            e, m = offsets[i], masses[i]
            into = moments[bins[i]]
            me, e2 = m * e, e * e
            into[0] += m
            into[1] += me
            into[2] += m * e2
            into[3] += me * e2


@compiled
def finish_moments(moments, mass):
    """Divide by k!, and copy the first moments: a lower bound of the mass of each box."""
    for box in range(moments.shape[0]):
        mass[box] = moments[box, 0]
        factorial = 1.0
        for k in range(1, TERMS):
            factorial *= k
            moments[box, k] /= factorial


@compiled
def box_reaches(mass, total, share, step, reach, out):
    """How many boxes each target box has to look at on either side; -1 where `reach` is too short.

    Target boxes are those of the rows and `reach` more on either side. `share` is the part of the
    sum that may be left out, `step` the width of a box in bandwidths.
    """
    allowed = np.log(total / share)
    logs = np.log(np.maximum(mass, 1e-300))
    for target in range(out.size):
        place = target - reach
        least = -np.inf
        for box in range(max(place - reach, 0), min(place + reach + 1, mass.size)):
            if mass[box] > 0.0:
                furthest = (abs(box - place) + 1) * step
                least = max(least, logs[box] - 0.5 * furthest * furthest)
        needed = np.sqrt(max(2.0 * (allowed - least), 0.0)) / step
        out[target] = -1 if needed > reach else int(np.ceil(needed))


@compiled
def targets_of_boxes(t, low, width, reach, first, order):
    """Sort targets by their box: order[first[b]:first[b + 1]] are those of target box b.

    The last two boxes are for targets below and above all others. The sort is stable.
    """
    n_targets = first.size - 1
    place = np.empty(t.size, np.int64)
    inverse = 1.0 / width
    for q in range(t.size):
        where = np.floor((t[q] - low) * inverse) + reach
        if where < 0.0:
            place[q] = n_targets - 2
        elif where >= n_targets - 2:
            place[q] = n_targets - 1
        else:
            place[q] = int(where)
    first[:] = 0
    for q in range(t.size):
        first[place[q] + 1] += 1
    for box in range(n_targets):
        first[box + 1] += first[box]
    free = first[:-1].copy()
    for q in range(t.size):
        order[free[place[q]]] = q
        free[place[q]] += 1


@compiled
def box_sums(t, order, first, low, width, bandwidth, moments, mass, reaches, begin, end, out):
    """Sums at t for target boxes begin..end; those with a reach of -1 are left alone."""
    reach = (reaches.size - mass.size) // 2
    for target in range(begin, end):
        start, stop = first[target], first[target + 1]
        if start == stop or reaches[target] < 0:
            continue
        low_box = max(target - reach - reaches[target], 0)
        high_box = min(target - reach + reaches[target] + 1, mass.size)
        here, sums = t[order[start:stop]], np.zeros(stop - start)
        add_boxes(here, low, width, 1.0 / bandwidth, moments, mass, low_box, high_box, sums)
        for q in range(stop - start):
            out[order[start + q]] = sums[q]


@compiled
def interpolated_sums(t, low, width, step, coefficients, reaches, reach, out):
    """Sums at t by a polynomial for each target box, in f / (half a box); NaN without one."""
    inverse, half = 1.0 / width, 0.5 * step
    last = reaches.size - 1
    exponents = np.empty(AT_ONCE)
    for start in range(0, t.size, AT_ONCE):
        n = min(AT_ONCE, t.size - start)
        here, sums = t[start : start + n], out[start : start + n]
        for q in range(n):
            where = np.floor((here[q] - low) * inverse)
            target = int(min(max(where + reach, 0.0), last))
            if target != where + reach or reaches[target] < 0:
                sums[q] = np.nan
                exponents[q] = 0.0
                continue
            u = 2.0 * inverse * (here[q] - (low + (where + 0.5) * width))
            c = coefficients[target]
            v = ((c[9] * u + c[8]) * u + c[7]) * u + c[6]
            v = ((v * u + c[5]) * u + c[4]) * u + c[3]
            sums[q] = ((v * u + c[2]) * u + c[1]) * u + c[0]
            exponents[q] = -0.5 * (u * half) * (u * half)
        for q in range(n):
            sums[q] *= exponential(exponents[q])


@compiled(inner=True)
def add_boxes(t, low, width, unit, moments, mass, low_box, high_box, sums):
    """Add the sums of the rows of some boxes at targets t."""
    for box in range(low_box, high_box):
        if mass[box] == 0.0:
            continue
        centre = low + (box + 0.5) * width
        a = moments[box]
        a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
        a4, a5, a6, a7 = a[4], a[5], a[6], a[7]
        a8, a9, a10, a11 = a[8], a[9], a[10], a[11]
        for q in range(t.size):
            d = (t[q] - centre) * unit
            v = a11 * d + a10
            v = v * d + a9
            v = v * d + a8
            v = v * d + a7
            v = v * d + a6
            v = v * d + a5
            v = v * d + a4
            v = v * d + a3
            v = v * d + a2
            v = v * d + a1
            v = v * d + a0
            sums[q] += v * exponential(-0.5 * d * d)
