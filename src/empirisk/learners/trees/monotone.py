"""Monotone constraints: checked signs, one for each feature."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.compiled.trees import criteria
from empirisk.data.coded_column import CodedColumn
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.terms import Target
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError

ALLOWED = (
    criteria.SQUARED,
    criteria.ABSOLUTE,
    criteria.POISSON,
    criteria.GINI_TWO,
    criteria.ENTROPY_TWO,
    criteria.COST_TWO,
)


def signs_of(monotonic_cst: Any, names: Sequence[str]) -> Array:
    """-1, 0 or 1 for each feature; given in their order, or as a dict of names.

    Examples
    --------
    >>> signs_of({"age": -1}, ["height", "age"])
    array([ 0, -1], dtype=int8)
    """
    names = list(names)
    if isinstance(monotonic_cst, dict):
        strange = [name for name in monotonic_cst if name not in names]
        if strange:
            raise ParameterError(
                f"monotonic_cst names {strange[0]!r}; the columns are {names[:10]}"
            )
        monotonic_cst = [monotonic_cst.get(name, 0) for name in names]
    try:
        signs = np.asarray(monotonic_cst)
    except ValueError:  # lists of several lengths, such as interaction_cst takes
        raise ParameterError(
            f"monotonic_cst is {monotonic_cst!r:.60}; give {len(names)} values -1, 0 or 1, one for "
            "each feature"
        ) from None
    if signs.shape != (len(names),) or not np.isin(signs, (-1, 0, 1)).all():
        raise ParameterError(
            f"monotonic_cst has shape {signs.shape} and values {np.unique(signs)[:5]}; give "
            f"{len(names)} values -1, 0 or 1, one for each feature"
        )
    return signs.astype(np.int8)


def signs_of_columns(monotonic_cst: Any, columns: Sequence[CodedColumn]) -> Array:
    """The same, of columns: a category has no order that a sign could speak of."""
    signs = signs_of(monotonic_cst, [column.name for column in columns])
    for column, sign in zip(columns, signs, strict=True):
        if sign and column.kind == "category":
            raise ParameterError(
                f"monotonic_cst constrains {column.name!r}, a category without an order"
            )
    return signs


def checked_signs(monotonic_cst: Any, coding: RankCoding, target: Target) -> Array | None:
    """How the value, or the probability of the second class, may depend on each feature."""
    if monotonic_cst is None:
        return None
    signs = signs_of_columns(monotonic_cst, coding.columns)
    if not signs.any():
        return None
    if target.kind == criteria.GINI_COST and target.n_sums == 2:
        raise ParameterError(
            "monotonic_cst does not go with cost_growth='gini': use cost_growth='priors', which "
            "lets costs weigh the two classes"
        )
    if target.kind not in ALLOWED:
        raise ParameterError(
            f"monotonic_cst is for one output, and for two classes; here are {target.n_sums}: "
            "leave it out"
        )
    return signs
