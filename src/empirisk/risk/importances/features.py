"""Which columns are permuted together, and what a group of them is called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from empirisk.data.table import Table
from empirisk.risk.importances.association import correlated_features
from empirisk.runtime.arrays import Ints
from empirisk.runtime.column_names import column_names, default_names
from empirisk.runtime.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Features:
    """Names of features or groups of them, the names of their columns, and the columns' numbers.

    Examples
    --------
    >>> table = Table.of({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    >>> Features.of(["c", ["a", "b"]], table).names
    ('c', 'a + b')
    >>> Features.of({"both": ["a", "c"]}, table).columns
    [array([0, 2])]
    """

    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    columns: list[Ints]

    @classmethod
    def of(cls, features: Any, X: Any, names: list[str] | None = None) -> Self:
        """None is every column alone; "correlated" are groups that go together; else as given."""
        names = names_of(X) if names is None else names
        groups = _groups(features, X, names)
        places = {name: j for j, name in enumerate(names)}
        columns = [_places(group, places, names) for group in groups.values()]
        members = tuple(tuple(names[j] for j in group) for group in columns)
        if not columns:
            raise ParameterError("features is empty: name at least one column, or give None")
        return cls(tuple(groups), members, columns)


def names_of(X: Any) -> list[str]:
    """The names of the columns; x0, x1, ... where they have none."""
    if isinstance(X, Table):
        return list(X.names)
    found = column_names(X)
    if found is None:
        found = getattr(X, "columns", None)  # of pandas, not all of them text
    names = default_names(X.shape[1]) if found is None else [str(name) for name in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the name {twice!r} stands for several columns: rename one of them")
    return names


def _groups(features: Any, X: Any, names: list[str]) -> dict[str, list[Any]]:
    if features is None:
        return {name: [name] for name in names}
    if isinstance(features, str):
        if features != "correlated":
            raise ParameterError(
                f"features is {features!r}; give 'correlated', a list of columns or of groups of "
                "columns, a dict of groups by name, or None for each column alone"
            )
        table = X if isinstance(X, Table) else Table.of(X, names=names)
        return {name: list(group) for name, group in correlated_features(table).items()}
    if isinstance(features, Mapping):
        return {str(name): _listed(group) for name, group in features.items()}
    named = [(_listed(each), each) for each in _listed(features)]
    groups = {" + ".join(_spelled(one, names) for one in group): group for group, _ in named}
    if len(groups) < len(named):
        raise ParameterError("features names a column, or a group of columns, twice")
    return groups


def _listed(group: Any) -> list[Any]:
    alone = isinstance(group, str | int | np.integer) or not isinstance(group, Iterable)
    return [group] if alone else list(group)


def _spelled(column: Any, names: list[str]) -> str:
    is_number = isinstance(column, int | np.integer) and 0 <= column < len(names)
    return names[column] if is_number else str(column)


def _places(group: list[Any], places: dict[str, int], names: list[str]) -> Ints:
    found = []
    for column in group:
        name = _spelled(column, names)
        if name not in places:
            listed = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
            raise ParameterError(f"features names a column {column!r}; there are {listed}")
        found.append(places[name])
    if len(set(found)) < len(found):
        raise ParameterError(f"features names a column twice in one group: {group}")
    if not found:
        raise ParameterError("features has a group without columns: name at least one")
    return np.array(found, dtype=np.int64)
