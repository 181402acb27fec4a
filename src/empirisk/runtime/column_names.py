"""The names of the columns of an array, kept beside it while it lives.

An array has no place for names. Who makes one from named columns, the encoder or the door of a
learner, notes them here, and who complains of a column can say which it is. A copy or a view is
another array and has no names, unless someone notes them again.
"""

import weakref
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import count
from typing import Any

from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError

SHOWN = 10  # columns that a complaint lists
NAMED = 5  # columns that a sentence names

_noted: dict[int, tuple[weakref.ref[Array], tuple[str, ...]]] = {}


def name_columns(array: Array, names: Iterable[str] | None) -> Array:
    """The same array, the names of its columns noted; None notes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> X = name_columns(np.zeros((3, 2)), ["height", "weight"])
    >>> column_names(X)
    ('height', 'weight')
    >>> column_names(X[:2]) is None
    True
    """
    if names is not None:
        key = id(array)
        _noted[key] = weakref.ref(array, lambda _: _noted.pop(key, None)), tuple(names)
    return array


def column_names(table: Any) -> tuple[str, ...] | None:
    """The names of the columns of a frame, or those noted for an array; None if it has none."""
    found = _noted.get(id(table))
    if found is not None and found[0]() is table:
        return found[1]
    for attribute in ("columns", "column_names"):  # pyarrow's `columns` are the data themselves
        names = getattr(table, attribute, None)
        if names is not None and all(isinstance(name, str) for name in names):
            return tuple(names)
    return None


def default_names(p: int) -> list[str]:
    """The names of columns that have none, as scikit-learn gives them."""
    return [f"x{j}" for j in range(p)]


def shown_names(table: Any, p: int) -> list[str]:
    """The names of p columns for a picture: those of a frame, else "x0", "x1", ...

    `table` may also be a fitted learner, whose names are those that it was fitted with.

    Examples
    --------
    >>> import numpy as np
    >>> shown_names(np.zeros((3, 2)), 2)
    ['x0', 'x1']
    """
    names = getattr(table, "feature_names_in_", None)
    if names is None:
        names = column_names(table)
    return default_names(p) if names is None else [str(name) for name in names]


def named(columns: Iterable[int], names: Sequence[Any] | None) -> str:
    """The first few columns for a sentence, by name, or by number where they have none.

    Examples
    --------
    >>> named([0, 2], ["height", "weight", "age"])
    "'height', 'age'"
    >>> named(range(7), None)
    '0, 1, 2, 3, 4 and 2 more'
    """
    told = [str(j) if names is None else repr(str(names[j])) for j in columns]
    more = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return ", ".join(told[:NAMED]) + more


def check_names(names: Iterable[Any]) -> list[str]:
    """Names as strings, each of them once."""
    names = [str(name) for name in names]
    places: dict[str, int] = {}
    for j, name in enumerate(names):
        if name in places:
            raise DataError(
                f"the name {name!r} stands for columns {places[name]} and {j} (counted from 0); "
                "rename one of them"
            )
        places[name] = j
    return names


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, those that came before with a number that none of the others has.

    Examples
    --------
    >>> distinct_names(["a", "a", "a (2)", "b"])
    ['a', 'a (3)', 'a (2)', 'b']
    """
    taken = set(names)
    if len(taken) == len(names):
        return list(names)
    seen: set[str] = set()
    result = []
    for name in names:
        if name in seen:
            name = next(new for k in count(2) if (new := f"{name} ({k})") not in taken)
            taken.add(name)
        seen.add(name)
        result.append(name)
    return result


def no_column(name: Any, names: Iterable[Any]) -> str:
    """What to say of a column that is not there, with the one whose name is nearest.

    Examples
    --------
    >>> no_column("agee", ["height", "Age"])
    "there is no column 'agee'; did you mean 'Age'? There are 'height', 'Age'"
    >>> no_column("town", ["height", "Age"])
    "there is no column 'town'; there are 'height', 'Age'"
    """
    names = list(names)
    spelled = {str(each).lower(): each for each in reversed(names)}
    near = get_close_matches(str(name).lower(), spelled, n=1)
    listed = ", ".join(map(repr, names[:SHOWN])) or "none"
    listed += ", ..." if len(names) > SHOWN else ""
    guess = f"did you mean {spelled[near[0]]!r}? There are" if near else "there are"
    return f"there is no column {name!r}; {guess} {listed}"
