"""The parameters at which a tree stops growing, checked, in rows and weights."""

from math import ceil, isfinite, log2, sqrt
from typing import Any

import numpy as np

from empirisk.learners.trees.terms import NEVER, Limits
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real, whole

ROUNDING = 1e-12  # a gain or a weight that is the least to rounding is enough
COUNTABLE = 2.0**53  # sums of whole numbers up to this one are exact


def limits_of(
    learner: Any, weight: Floats, given: Floats, n_features: int, *, copies: bool = True
) -> Limits:
    """The limits that a learner's parameters ask for.

    Where all weights as `given` are whole numbers, a row counts as so many rows, unless `copies`
    says that it does not; else each row counts once. Only `min_weight_fraction_leaf` looks at the
    weights of growth, in which classes have factors: as in scikit-learn.
    """
    total = float(weight.sum())
    counted = copies and counts_rows(given)
    n = float(given.sum()) if counted else float(len(given))
    split = _number(learner, "min_samples_split", least=2, n=n)
    leaf = _number(learner, "min_samples_leaf", least=1, n=n)
    share = _real(learner, "min_weight_fraction_leaf", 0.0, 0.5)
    decrease = _real(learner, "min_impurity_decrease", 0.0, np.inf)
    leaves = getattr(learner, "max_leaf_nodes", None)
    by_weight = counted and weight is given
    by_copies = counted and not by_weight and not bool((given == 1.0).all())
    by_rows = not by_weight and not by_copies
    least = share * total * (1 - ROUNDING)
    return Limits(
        max_depth=_optional(learner, "max_depth", 1, NEVER),
        max_leaves=0 if leaves is None else _optional(learner, "max_leaf_nodes", 2, 0),
        max_features=features_drawn(learner.max_features, n_features),
        min_rows_split=split if by_rows else 2,
        min_rows_leaf=leaf if by_rows else 1,
        min_weight_split=float(split) if by_weight else 0.0,
        min_weight_leaf=max(least, float(leaf) if by_weight else 0.0),
        min_copies_split=float(split) if by_copies else 0.0,
        min_copies_leaf=float(leaf) if by_copies else 0.0,
        min_gain=decrease * (1 - ROUNDING) * total if decrease > 0 else -np.inf,
    )


def counts_rows(given: Floats) -> bool:
    """Whether weights are numbers of copies."""
    return bool((given == np.floor(given)).all()) and float(given.sum()) < COUNTABLE


def features_drawn(max_features: Any, p: int) -> int:
    """How many features are drawn at each node, as in scikit-learn.

    Examples
    --------
    >>> [features_drawn(m, 20) for m in (None, "sqrt", "log2", 0.3, 7)]
    [20, 4, 4, 6, 7]
    """
    if max_features is None:
        return p
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        return max(1, int(sqrt(p) if max_features == "sqrt" else log2(p)))
    number, share = whole(max_features), real(max_features)
    if number is not None and number >= 1:
        return min(number, p)
    if number is None and share is not None and 0 < share <= 1:
        return max(1, int(share * p))
    raise ParameterError(
        f"max_features is {max_features!r}; it must be None, 'sqrt', 'log2', a number of features "
        "from 1, or a share of them between 0 and 1"
    )


def _number(learner: Any, name: str, *, least: int, n: float) -> int:
    """A number of rows, or a share of n rows."""
    value = getattr(learner, name)
    number, share = whole(value), real(value)
    if number is not None and number >= least:
        return number
    if number is None and share is not None and 0 < share <= 1:
        return max(least, ceil(share * n))
    raise ParameterError(
        f"{name} is {value!r}; it must be a number of rows from {least}, or a share of them above "
        "0 and up to 1"
    )


def _real(learner: Any, name: str, low: float, high: float) -> float:
    value = getattr(learner, name)
    number = real(value)
    if number is None or not low <= number <= high or not isfinite(number):
        wanted = f"{low} to {high}" if isfinite(high) else f"{low} on, and finite"
        raise ParameterError(f"{name} is {value!r}; it must be a number from {wanted}")
    return number


def _optional(learner: Any, name: str, least: int, default: int) -> int:
    value = getattr(learner, name)
    if value is None:
        return default
    number = whole(value)
    if number is not None and number >= least:
        return min(number, NEVER)
    raise ParameterError(f"{name} is {value!r}; it must be None or a whole number from {least}")
