"""What the path to a node asks of each feature: the splits above it, merged."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.data.large_integers import places_of_integers
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Condition:
    """low < x <= high for a number, one of some levels for a category; missing or not.

    Attributes
    ----------
    feature : int
    column : CodedColumn
    low, high : float or int
        -inf and inf where the path does not ask; int for integers beyond 2^53. Where low is inf,
        no number is left, only missing values.
    levels : tuple of int, or None
        Codes of the levels of a category, in order.
    missing : bool
        Whether missing values come here, and levels that training did not see.
    """

    feature: int
    column: CodedColumn
    low: Any = -np.inf
    high: Any = np.inf
    levels: tuple[int, ...] | None = None
    missing: bool = True

    @classmethod
    def anything(cls, feature: int, column: CodedColumn) -> "Condition":
        """What the root asks."""
        levels = tuple(range(len(column.values))) if column.kind == "category" else None
        return cls(feature, column, levels=levels)

    @property
    def level_names(self) -> list[Any]:
        """The levels themselves."""
        return [] if self.levels is None else [self.column.values[code] for code in self.levels]

    @property
    def whole(self) -> bool:
        """Whether all that is not missing passes."""
        if self.levels is not None:
            return len(self.levels) == len(self.column.values)
        return bool(self.low == -np.inf and self.high == np.inf)

    @property
    def nothing(self) -> bool:
        """Whether only missing values pass."""
        return not self.levels if self.levels is not None else bool(self.low == np.inf)

    def holds(self, places: Floats) -> Bools:
        """Which values pass, as trees compare them (`CodedColumn.places`)."""
        if self.levels is not None:
            passed = np.isin(places, self.levels)
        elif self.column.kind == "integer":
            low, high = (_place(self.column, bound) for bound in (self.low, self.high))
            passed = (places > low) & (places <= high)
        else:
            passed = (places > self.low) & (places <= self.high)
        return np.where(np.isnan(places), self.missing, passed)


Conditions = dict[int, Condition]
"""By feature, in the order in which the path meets them."""


def each_node(
    tree: Tree, columns: Sequence[CodedColumn], *, deepest: int | None = None
) -> Iterator[tuple[int, Conditions]]:
    """Each node in preorder, to a depth, with what the path to it asks."""
    waiting: list[tuple[int, Conditions]] = [(0, {})]
    stop = tree.children_right < 0
    if deepest is not None:
        stop |= tree.depth >= deepest
    while waiting:
        node, asked = waiting.pop()
        yield node, asked
        if not stop[node]:
            right = int(tree.children_right[node])
            waiting.append((right, narrowed(tree, columns, node, asked, left=False)))
            waiting.append((node + 1, narrowed(tree, columns, node, asked, left=True)))


def of_nodes(
    tree: Tree, columns: Sequence[CodedColumn], nodes: Iterable[int]
) -> dict[int, Conditions]:
    """What the paths to some nodes ask."""
    parent, found = tree.parent, dict[int, Conditions]()
    for node in nodes:
        asked: Conditions = {}
        for above, left in way_to(parent, node):
            asked = narrowed(tree, columns, above, asked, left=left)
        found[node] = asked
    return found


def way_to(parent: Array, node: int) -> list[tuple[int, bool]]:
    """The nodes above one, from the root, each with whether the way goes left."""
    way = []
    while parent[node] >= 0:
        above = int(parent[node])
        way.append((above, node == above + 1))
        node = above
    return way[::-1]


def narrowed(
    tree: Tree, columns: Sequence[CodedColumn], node: int, asked: Conditions, *, left: bool
) -> Conditions:
    """What is asked on one side of a split, where `asked` is what was asked above it."""
    j = int(tree.feature[node])
    before = asked.get(j) or Condition.anything(j, columns[j])
    missing = before.missing and bool(tree.missing_go_to_left[node]) == left
    if before.levels is not None:
        goes = levels_to_left(tree, node, len(columns[j].values))
        levels = tuple(code for code in before.levels if goes[code] == left)
        after = replace(before, levels=levels, missing=missing)
    elif left:
        after = replace(before, high=min(before.high, bound_of(tree, columns, node)))
    else:
        after = replace(before, low=max(before.low, bound_of(tree, columns, node)))
    return {**asked, j: replace(after, missing=missing)}


def levels_to_left(tree: Tree, node: int, n_levels: int) -> Bools:
    """Which levels of a category a split sends left."""
    missing_left = bool(tree.missing_go_to_left[node])
    goes = np.full(n_levels, missing_left)
    goes[tree.levels_apart(node)] = not missing_left
    return goes


def bound_of(tree: Tree, columns: Sequence[CodedColumn], node: int) -> Any:
    """The threshold of a split; of integers beyond 2^53, the largest one that goes left."""
    column, cut = columns[tree.feature[node]], float(tree.cut[node])
    if column.kind != "integer" or np.isinf(cut):
        return float(tree.threshold[node])
    return last_integer(column.values, cut)


def last_integer(values: Ints, place: float) -> int:
    """The largest integer that stands up to a place (`places_of_integers`)."""
    at = int(np.floor(place))
    low, high = int(values[at]), int(values[min(at + 1, len(values) - 1)])
    while high - low > 1:  # low stands up to the place, high beyond it
        middle = (low + high) // 2
        if places_of_integers(np.array([middle], values.dtype), values)[0] <= place:
            low = middle
        else:
            high = middle
    return low


def _place(column: CodedColumn, bound: Any) -> float:
    if isinstance(bound, float):
        return bound
    return float(places_of_integers(np.array([bound], column.values.dtype), column.values)[0])
