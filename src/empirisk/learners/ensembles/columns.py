"""Some columns of a table for one member, and an estimator that speaks of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.data.column import Column
from empirisk.data.frames import default_names
from empirisk.data.raw_columns import chosen_categories, column_names, is_frame
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Ints


def columns_of(X: Any, columns: Ints | None) -> Any:
    """These columns of an array, a sparse matrix or a frame, in its own type; None is all.

    A column that a frame is to have twice has a number after its name the second time.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    >>> list(columns_of(frame, np.array([0, 2, 2])).columns)
    ['a', 'c', 'c (2)']
    """
    if columns is None:
        return X
    if not is_frame(X):
        return _safe_indexing(X, columns, axis=1)
    names = numbered([column_names(X)[j] for j in columns])
    if isinstance(X, Table):
        picked = [X.columns[j] for j in columns]
        return Table([Column(name, c.kind, c.arrow) for name, c in zip(names, picked, strict=True)])
    if hasattr(X, "iloc"):
        part = X.iloc[:, columns]
        part.columns = names
        return part
    if hasattr(X, "rename_columns"):  # pyarrow
        return X.select(columns.tolist()).rename_columns(names)
    series = [X[:, int(j)].alias(name) for j, name in zip(columns, names, strict=True)]
    return X.select(series)


def numbered(names: Sequence[str]) -> list[str]:
    """Names that stand once: the second "a" is "a (2)".

    Examples
    --------
    >>> numbered(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def for_columns(member: Any, columns: Ints, names: Array | None, p: int) -> Any:
    """The estimator with parameters that speak of these columns: categories, constraints.

    Examples
    --------
    >>> from empirisk import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(categorical_features=[0, 3], monotonic_cst=[0, 1, -1, 0])
    >>> print(for_columns(tree, np.array([2, 3]), None, 4))
    DecisionTreeRegressor(categorical_features=[1], monotonic_cst=[-1, 0])
    """
    categories = getattr(member, "categorical_features", None)
    signs = getattr(member, "monotonic_cst", None)
    if signs is None and (categories is None or isinstance(categories, str)):
        return member
    named = default_names(p) if names is None else list(names)
    changes: dict[str, Any] = {}
    if categories is not None and not isinstance(categories, str):
        chosen = chosen_categories(categories, named, p)
        changes["categorical_features"] = [i for i, j in enumerate(columns) if chosen[j]]
    if isinstance(signs, dict):
        changes["monotonic_cst"] = [signs.get(named[j], 0) for j in columns]
    elif signs is not None and np.shape(signs) == (p,):
        changes["monotonic_cst"] = [signs[j] for j in columns]
    return member.set_params(**changes)
