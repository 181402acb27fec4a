"""Least squares on piecewise polynomials of one feature: between two knots a few rows will do.

A cubic is known from its values f at four nodes. With L the Lagrange polynomials of the nodes at
the rows between two knots, W the weights of these rows and sqrt(W) L = Q R,

    |sqrt(W) (y - L f)|^2 = |Q' sqrt(W) y - R f|^2 + what does not depend on f:

for any function that is a cubic there, R and Q' sqrt(W) y stand for all these rows. The cells lie
between the knots of all degrees at once, so that the rows are gone through once, and of each degree
only the values at the nodes are left to be orthogonalised.
"""

from typing import NamedTuple, Self

import numpy as np

from empirisk.data.scaling import power_of_two
from empirisk.learners.linear.bases import Family
from empirisk.learners.linear.nested_columns import Factors, orthogonal
from empirisk.runtime.arrays import Floats

CUBIC = np.array([0.0, 0.25, 0.75, 1.0])
"""Chebyshev's nodes of a cubic on 0..1, whose values bound it there to 5/3 of the largest."""
CONSTANT = np.array([0.0])


class Cells(NamedTuple):
    """What stands for the rows between knots, in cells of k nodes each.

    `nodes` is (cells, k), `factor` (cells, k, k), `along` (cells k, outputs); `weight` is what the
    weights were divided by. Of a cell with fewer rows than nodes some rows of the factor are zero.
    """

    nodes: Floats
    factor: Floats
    along: Floats
    weight: float

    @classmethod
    def of(cls, t: Floats, y: Floats, weight: Floats, knots: Floats, places: Floats) -> Self:
        """From rows with t rising, y (rows, outputs), and all knots; nodes at `places` in 0..1."""
        unit = float(power_of_two(weight.max()))
        t, y, root = _distinct(t, y, weight / unit)
        starts = np.append(0, np.searchsorted(t, np.unique(knots), side="right"))
        ends = np.append(starts[1:], len(t))
        k, outputs = len(places), y.shape[1]
        filled = np.flatnonzero(ends > starts)
        nodes = np.empty((len(filled), k))
        small = np.zeros((len(filled), k, k + outputs))
        for c, cell in enumerate(filled):
            rows = slice(starts[cell], ends[cell])
            nodes[c] = _condense(t[rows], y[rows], root[rows], places, small[c])
        along = small[:, :, k:].reshape(-1, outputs)
        return cls(nodes, np.ascontiguousarray(small[:, :, :k]), along, unit)

    def factorise(self, family: Family, intercept: bool) -> Factors | None:
        """Of the functions of a family, and the constant; None where they depend on others."""
        columns = family.values(self.nodes.ravel())
        if intercept:
            columns = np.concatenate([np.ones((1, columns.shape[1])), columns])
        values = columns.T.reshape(*self.nodes.shape, -1)
        Z = np.asfortranarray((self.factor @ values).reshape(-1, len(columns)))
        found = orthogonal(Z) if Z.shape[0] >= Z.shape[1] else None
        if found is None:
            return None
        Q, R = found
        with np.errstate(over="ignore"):
            along = Q.T @ self.along
        return Factors(Q, R, along, np.ones(family.size), self.weight, intercept)


def _distinct(t: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows of equal t as one, with their mean and the root of the sum of their weights."""
    first = np.append(True, t[1:] != t[:-1])
    if first.all():
        return t, y, np.sqrt(weight)
    starts = np.flatnonzero(first)
    total = np.add.reduceat(weight, starts)
    share = weight / np.repeat(total, np.diff(np.append(starts, len(t))))
    return t[starts], np.add.reduceat(share[:, np.newaxis] * y, starts), np.sqrt(total)


def _condense(t: Floats, y: Floats, root: Floats, places: Floats, out: Floats) -> Floats:
    """Write [R, Q' sqrt(W) y] of one cell, and return its nodes."""
    m, k = len(t), len(places)
    if m <= k:  # the rows themselves
        out[range(m), range(m)] = root
        out[:m, k:] = root[:, np.newaxis] * y
        return np.append(t, np.repeat(t[-1], k - m))
    nodes = t[0] + (t[-1] - t[0]) * places
    weighted = np.empty((m, k + y.shape[1]))
    for j in range(k):
        weighted[:, j] = root * _lagrange(t, nodes, j)
    weighted[:, k:] = root[:, np.newaxis] * y
    out[:] = np.linalg.qr(weighted, mode="r")[:k]
    return nodes


def _lagrange(t: Floats, nodes: Floats, j: int) -> Floats:
    """The product over the other nodes a of (t - a) / (nodes[j] - a)."""
    found = np.ones(len(t))
    for i in range(len(nodes)):
        if i != j:
            found *= (t - nodes[i]) / (nodes[j] - nodes[i])
    return found
