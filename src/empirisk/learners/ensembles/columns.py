"""Some columns of a table for one member, and an estimator that speaks of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.data.column import Column
from empirisk.data.rank_coding import RankCoding
from empirisk.data.raw_columns import chosen_categories, column_names, is_frame
from empirisk.data.table import Table
from empirisk.learners.ensembles.boosting.constraints import interaction_groups
from empirisk.learners.generative.mixed_rows import columns_of_key
from empirisk.learners.trees.monotone import signs_of
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.column_names import default_names


def columns_of(X: Any, columns: Ints | None) -> Any:
    """These columns of an array, a sparse matrix or a frame, in its own type; None is all.

    A column that a frame is to have twice has a number after its name the second time.

    Examples
    --------
    >>> import numpy as np
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


def names_in(X: Any) -> Array | None:
    """The names of the columns of a design: those of a frame, None for an array's.

    Examples
    --------
    >>> import pandas as pd
    >>> from empirisk import DecisionTreeRegressor
    >>> frame = pd.DataFrame({"age": [30, 40], "size": [1.7, 1.8]})
    >>> names_in(frame), names_in(DecisionTreeRegressor().design(frame))
    (array(['age', 'size'], dtype=object), array(['age', 'size'], dtype=object))
    """
    if isinstance(X, RankCoding):
        names = [column.name for column in X.columns]
    elif is_frame(X):
        names = column_names(X)
    else:
        return None
    return None if names == default_names(len(names)) else np.array(names, dtype=object)


def numbered(names: Sequence[str]) -> list[str]:
    """Names that stand once: the second "a" is "a (2)", or the next number that is free.

    Examples
    --------
    >>> numbered(["a", "b", "a"]), numbered(["a", "a", "a (2)"])
    (['a', 'b', 'a (2)'], ['a', 'a (3)', 'a (2)'])
    """
    taken, seen = set(names), dict.fromkeys(names, 0)
    unique = []
    for name in names:
        seen[name] += 1
        if seen[name] == 1:
            unique.append(name)
            continue
        while (other := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        taken.add(other)
        unique.append(other)
    return unique


def for_columns(member: Any, columns: Ints, names: Array | None, p: int) -> Any:
    """The estimator with parameters that speak of these columns: categories, constraints, ...

    So has the one that it hands all its columns on to, as `Tuned` does. Both are changed in place.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(categorical_features=[0, 3], monotonic_cst=[0, 1, -1, 0])
    >>> print(for_columns(tree, np.array([2, 3]), None, 4))
    DecisionTreeRegressor(categorical_features=[1], monotonic_cst=[-1, 0])
    """
    if hasattr(inner := getattr(member, "estimator", None), "get_params"):
        for_columns(inner, columns, names, p)
    asked = member.get_params(deep=False).get  # others speak of the columns of their `estimator`
    categories, signs = asked("categorical_features"), asked("monotonic_cst")
    together = asked("interaction_cst")
    named = default_names(p) if names is None else list(names)
    changes: dict[str, Any] = {}
    if categories is not None and not isinstance(categories, str):
        chosen = chosen_categories(categories, named, p)
        changes["categorical_features"] = [i for i, j in enumerate(columns) if chosen[j]]
    if signs is not None:
        changes["monotonic_cst"] = signs_of(signs, named)[columns].tolist()
    if together is not None and not isinstance(together, str):
        groups = interaction_groups(together, named) or []
        kept = [[i for i, j in enumerate(columns) if j in group] for group in groups]
        changes["interaction_cst"] = [group for group in kept if group]
    if isinstance(distributions := asked("distributions"), Mapping):  # of `NaiveBayes`
        changes["distributions"] = {
            own: name
            for key, name in distributions.items()
            if (own := tuple(i for i, j in enumerate(columns) if j in columns_of_key(key, named)))
        }
    return member.set_params(**changes) if changes else member
