"""Runs of numbers that lie side by side: copied, added, cleared.

They are views, whose places are counted from 0: with places that might be negative, as sums of
several numbers, loops are not vectorised, and take ten times as long.
"""

from empirisk.compiled.decorator import compiled


@compiled(leaf=True, signatures=2)
def copy_run(to, source):
    """to = source."""
    for i in range(to.size):
        to[i] = source[i]


@compiled(leaf=True, signatures=2)
def add_run(to, source):
    """to += source."""
    for i in range(to.size):
        to[i] += source[i]


@compiled(leaf=True, signatures=2)
def add_share(to, share, source):
    """to += share * source."""
    for i in range(to.size):
        to[i] += share * source[i]


@compiled(leaf=True, signatures=2)
def shift_run(to, source, b):
    """to = source + b."""
    for i in range(to.size):
        to[i] = source[i] + b


@compiled(leaf=True, signatures=2)
def clear_run(to):
    """to = 0."""
    for i in range(to.size):
        to[i] = 0


@compiled(leaf=True, signatures=2)
def sum_run(values):
    """The sum, of eight partial sums: one alone would wait for each addition."""
    kind = values.dtype.type
    a, b, c, d = kind(0.0), kind(0.0), kind(0.0), kind(0.0)
    e, f, g, h = kind(0.0), kind(0.0), kind(0.0), kind(0.0)
    for i in range(0, values.size - 7, 8):
        eight = values[i : i + 8]
        a += eight[0]
        b += eight[1]
        c += eight[2]
        d += eight[3]
        e += eight[4]
        f += eight[5]
        g += eight[6]
        h += eight[7]
    for i in range(values.size - values.size % 8, values.size):
        a += values[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
