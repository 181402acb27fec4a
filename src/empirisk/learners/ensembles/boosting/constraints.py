"""Constraints on boosted trees: the direction of features, and which of them may go together."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.learners.trees.monotone import signs_of_columns
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import whole


def monotone_signs(monotonic_cst: Any, columns: Sequence[CodedColumn], n_trees: int) -> Array:
    """-1, 0 or 1 for each feature: how the raw score may depend on it."""
    if monotonic_cst is None:
        return np.zeros(len(columns), np.int8)
    signs = signs_of_columns(monotonic_cst, columns)
    if n_trees > 1 and signs.any():
        raise ParameterError(
            f"monotonic_cst is for one output, and for two classes; here are {n_trees}: leave it "
            "out"
        )
    return signs


def interaction_groups(interaction_cst: Any, names: Sequence[str]) -> list[set[int]] | None:
    """The sets of features that may meet on a way down a tree; None lets all meet.

    Features that no set names are one set more, as in scikit-learn.
    """
    p = len(names)
    if interaction_cst is None:
        return None
    if isinstance(interaction_cst, str):
        groups = _named_groups(interaction_cst, p)
    else:
        groups = [_group(group, names) for group in _listed(interaction_cst)]
    rest = set(range(p)).difference(*groups)
    return [*groups, rest] if rest else groups


def _named_groups(interaction_cst: str, p: int) -> list[set[int]]:
    if interaction_cst == "no_interactions":
        return [{j} for j in range(p)]
    if interaction_cst == "pairwise":
        return [set(pair) for pair in combinations(range(p), 2)]
    raise ParameterError(
        f"interaction_cst is {interaction_cst!r}; it must be None, 'pairwise', 'no_interactions' "
        "or a list of lists of features"
    )


def _listed(interaction_cst: Any) -> list[list[Any]]:
    try:
        if any(isinstance(group, str) for group in interaction_cst):
            raise TypeError
        return [list(group) for group in interaction_cst]
    except TypeError:
        raise ParameterError(
            f"interaction_cst is {interaction_cst!r:.60}; give a list of lists of features, such "
            "as [[0, 1], [2]]"
        ) from None


def _group(group: list[Any], names: Sequence[str]) -> set[int]:
    """Features by number or name as numbers."""
    places = {name: j for j, name in enumerate(names)}
    found = set()
    for feature in group:
        j = places.get(feature) if isinstance(feature, str) else whole(feature)
        if j is None or not 0 <= j < len(names):
            raise ParameterError(
                f"interaction_cst has the feature {feature!r}; the columns are 0 to "
                f"{len(names) - 1}, by name {list(names)[:10]}"
            )
        found.add(j)
    return found
