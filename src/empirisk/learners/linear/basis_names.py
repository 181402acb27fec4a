"""Names for the columns that a basis gives."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from empirisk.learners.linear.bases import Family, NaturalSplines, Nothing, Steps
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole


def names_of_inputs(expansion: Any, given: Any) -> list[str]:
    """The names of the features: those given, those of training, or x0, x1, ..."""
    known = getattr(expansion, "feature_names_in_", None)
    if given is None:
        given = [f"x{j}" for j in range(expansion.n_features_in_)] if known is None else known
    if known is not None and list(given) != list(known):
        raise DataError("input_features is not equal to feature_names_in_")
    if len(given) != expansion.n_features_in_:
        raise DataError(
            f"input_features should have length equal to number of features "
            f"({expansion.n_features_in_}), got {len(given)}"
        )
    return [str(name) for name in given]


def names_of_functions(functions: Sequence[Any]) -> Array:
    """Their own names; function2 for the third if it has none, or that of one before it.

    Examples
    --------
    >>> names_of_functions([np.sin, lambda X: X[:, 0] ** 2, np.cos, np.sin])
    array(['sin', 'function1', 'cos', 'function3'], dtype=object)
    """
    names: list[str] = []
    for j, function in enumerate(functions):
        name = str(getattr(function, "__name__", "<"))
        if name.startswith("<") or name in names:
            name = f"function{j}"
        while name in names:
            name += "_"
        names.append(name)
    return np.array(names, dtype=object)


def number_of_feature(expansion: Any, feature: Any) -> int:
    """The number of a feature that is given by name or number; -1 is the last one."""
    names, p = names_of_inputs(expansion, None), expansion.n_features_in_
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if is_whole(feature, -p) and feature < p:
        return int(feature) % p
    raise ParameterError(
        f"feature is {feature!r}; give a number from 0 to {p - 1}, or one of the names "
        f"{', '.join(names)}"
    )


def names_of_terms(powers: Ints, features: list[str]) -> Array:
    """P2(x0) P1(x1) for the powers (2, 1).

    Examples
    --------
    >>> names_of_terms(np.array([[1, 0], [2, 1]]), ["x0", "x1"])
    array(['P1(x0)', 'P2(x0) P1(x1)'], dtype=object)
    """
    return np.array(
        [" ".join(f"P{term[j]}({features[j]})" for j in np.flatnonzero(term)) for term in powers],
        dtype=object,
    )


def names_of_family(feature: str, family: Family, knots: Floats) -> list[str]:
    """Regions by their ends, splines by number."""
    if isinstance(family, Nothing):
        return [f"constant({feature})"]
    if isinstance(family, Steps):
        cuts = knots.tolist()
        between = [f"{low!r} < {feature} <= {high!r}" for low, high in pairwise(cuts)]
        return [*between, *(f"{feature} > {cut!r}" for cut in cuts[-1:])]
    word = "natural" if isinstance(family, NaturalSplines) else "spline"
    return [f"{word}{j + 1}({feature})" for j in range(family.size)]
