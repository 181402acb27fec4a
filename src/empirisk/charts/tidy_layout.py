"""Places for the boxes of a binary tree: parents amid their children, nothing overlaps.

Subtrees are drawn on their own and then pushed together until their outlines are a gap apart, so
equal subtrees look equal (Reingold & Tilford 1981).
"""

from collections.abc import Sequence

import numpy as np

from empirisk.runtime.arrays import Floats, Ints


def tidy_layout(parent: Sequence[int], breadth: Floats, gap: float) -> Floats:
    """Centres of boxes across the tree, the leftmost edge at 0.

    Parameters
    ----------
    parent : sequence of int
        Of each node in preorder, -1 of the root; each has no children or two, the left one first.
    breadth : array
        Of each box, across the tree.
    gap : float
        Between boxes of one level.

    Examples
    --------
    >>> tidy_layout([-1, 0, 0], np.array([4.0, 2.0, 2.0]), gap=1.0)
    array([2.5, 1. , 4. ])
    """
    n = len(parent)
    children: list[list[int]] = [[] for _ in range(n)]
    for node in range(1, n):
        children[parent[node]].append(node)
    shift = np.zeros(n)  # of a node from its parent
    outlines: list[tuple[list[float], list[float]]] = [([], [])] * n
    for node in range(n - 1, -1, -1):  # children come before their parents
        half = float(breadth[node]) / 2
        low, high = [-half], [half]
        if children[node]:
            left, right = children[node]
            apart = _distance(outlines[left][1], outlines[right][0], gap)
            shift[left], shift[right] = -apart / 2, apart / 2
            low += _joined(outlines[left][0], outlines[right][0], -apart / 2, apart / 2)
            high += _joined(outlines[right][1], outlines[left][1], apart / 2, -apart / 2)
            outlines[left] = outlines[right] = ([], [])
        outlines[node] = (low, high)
    centre = np.zeros(n)
    for node in range(1, n):
        centre[node] = centre[parent[node]] + shift[node]
    return centre - (centre - breadth / 2).min()


def levels_of(parent: Sequence[int]) -> Ints:
    """The number of steps from the root to each node, in preorder."""
    level = np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):
        level[node] = level[parent[node]] + 1
    return level


def _distance(inner: list[float], outer: list[float], gap: float) -> float:
    """How far the right root must be from the left one: on all levels that both have."""
    return max(a - b for a, b in zip(inner, outer, strict=False)) + gap


def _joined(near: list[float], far: list[float], a: float, b: float) -> list[float]:
    """The outline on one side: of the near subtree, and below it of the far one."""
    return [x + a for x in near] + [x + b for x in far[len(near) :]]
