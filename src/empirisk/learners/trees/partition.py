"""The partition of the plane of two features by a tree: rectangles, and the order of the splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.partition import SplitLine
from empirisk.data.coded_column import CodedColumn
from empirisk.data.column import whole_and_part
from empirisk.data.large_integers import places_of_integers
from empirisk.learners.trees.conditions import levels_to_left
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.column_names import no_column
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole


@dataclass(frozen=True, eq=False)
class Partition:
    """Rectangles low < x <= high of two features, one for each leaf that the plane meets.

    Attributes
    ----------
    features : tuple of two int
    fixed : array of shape (p,)
        Where the other features stand, as trees compare them.
    leaf : int array of shape (m,)
        The node that each rectangle belongs to.
    low, high : arrays of shape (m, 2)
    lines : list of SplitLine
        The splits of the plane; their order counts all splits of the tree from 1.
    """

    features: tuple[int, int]
    fixed: Floats
    leaf: Ints
    low: Floats
    high: Floats
    lines: list[SplitLine]

    @classmethod
    def of(
        cls, tree: Tree, columns: Sequence[CodedColumn], features: tuple[int, int], fixed: Floats
    ) -> "Partition":
        """Walk down the tree with the whole plane, and cut it where a split does."""
        whole = np.full(2, -np.inf), np.full(2, np.inf)
        waiting = [(0, *whole)]
        found: list[tuple[int, Floats, Floats]] = []
        lines = []
        while waiting:
            node, low, high = waiting.pop()
            right, j = int(tree.children_right[node]), int(tree.feature[node])
            if right < 0:
                found.append((node, low, high))
            elif j not in features:
                goes_left = _goes_left(tree, columns[j], node, fixed[j])
                waiting.append((node + 1 if goes_left else right, low, high))
            else:
                axis, at = features.index(j), float(tree.threshold[node])
                middle = min(max(at, low[axis]), high[axis])
                if middle < high[axis]:
                    waiting.append((right, _with(low, axis, middle), high))
                if middle > low[axis]:
                    waiting.append((node + 1, low, _with(high, axis, middle)))
                order = int(tree.split_order[node]) + 1
                lines.append(SplitLine(order, axis, at, low[1 - axis], high[1 - axis]))
        return cls(
            features,
            fixed,
            np.array([node for node, _, _ in found]),
            np.array([low for _, low, _ in found]),
            np.array([high for _, _, high in found]),
            sorted(lines),
        )


def _with(corner: Floats, axis: int, value: float) -> Floats:
    moved = corner.copy()
    moved[axis] = value
    return moved


def _goes_left(tree: Tree, column: CodedColumn, node: int, place: float) -> bool:
    if np.isnan(place):
        return bool(tree.missing_go_to_left[node])
    if column.kind == "category":
        return bool(levels_to_left(tree, node, len(column.values))[int(place)])
    return bool(place <= tree.cut[node])


def chosen_features(model: Any, features: Sequence[Any] | None) -> tuple[int, int]:
    """Two features by name or number; unless given, the two numbers that matter most."""
    columns = model.columns_
    numbers = [j for j, column in enumerate(columns) if column.kind != "category"]
    if features is None:
        if len(numbers) < 2:
            raise DataError(
                f"the tree has {len(numbers)} feature(s) that are numbers, and a plane needs two: "
                "draw the tree itself with plot()"
            )
        importance = model.tree_.compute_feature_importances()
        best = sorted(numbers, key=lambda j: (-importance[j], j))[:2]
        return min(best), max(best)
    alone = isinstance(features, str) or not hasattr(features, "__len__")
    if alone or len(features) != 2:
        raise ParameterError(f"features is {features!r}; give two names or numbers of columns")
    first, second = (feature_number(columns, feature) for feature in features)
    for j in (first, second):
        if columns[j].kind == "category":
            raise DataError(
                f"column {columns[j].name!r} is a category; the plane is drawn of two numbers"
            )
    if first == second:
        raise ParameterError(f"features is {features!r}; give two different columns")
    return first, second


def feature_number(columns: Sequence[CodedColumn], feature: Any) -> int:
    """The number of a column that is given by its name or number."""
    names = [column.name for column in columns]
    if feature in names:
        return names.index(feature)
    if is_whole(feature, 0) and feature < len(names):
        return int(feature)
    raise ParameterError(no_column(feature, names))


def fixed_places(model: Any, places: Floats, at: Mapping[Any, Any] | None) -> Floats:
    """Where all features stand: as given, else at the median, or the commonest level."""
    fixed = np.array([_middle(column, places[:, j]) for j, column in enumerate(model.columns_)])
    if at is not None and not isinstance(at, Mapping):
        raise ParameterError(f"at is {at!r:.60}; give a dict of columns and their values")
    for feature, value in (at or {}).items():
        j = feature_number(model.columns_, feature)
        fixed[j] = _given_place(model.columns_[j], value)
    return fixed


def _middle(column: CodedColumn, places: Floats) -> float:
    seen = places[~np.isnan(places)]
    if not len(seen):
        return np.nan
    if column.kind == "category":
        return float(np.bincount(seen.astype(np.int64)).argmax())
    return float(np.sort(seen)[(len(seen) - 1) // 2])  # the lower one of two


def _given_place(column: CodedColumn, value: Any) -> float:
    if value is None or value != value:
        return np.nan
    if column.kind == "category":
        if value not in column.values:
            raise ParameterError(
                f"column {column.name!r} has no level {value!r}; it has {column.values[:10]}"
            )
        return float(column.values.index(value))
    if column.kind == "integer":
        return float(places_of_integers(np.array([value]), column.values)[0])
    if column.calendar is not None and not isinstance(value, int | float | np.number):
        since = np.datetime64(value) - np.datetime64(0, "D")
        return float(whole_and_part(since, np.timedelta64(1, "D")))
    return float(value)
