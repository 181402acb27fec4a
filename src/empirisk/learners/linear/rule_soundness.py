"""Whether a linear rule or a basis that was read from a file is one that a fit leaves."""

from typing import Any

import numpy as np

from empirisk.learners.soundness import has_state, require
from empirisk.runtime.scalars import is_number, is_whole

Shape = tuple[int, ...]


def check_rule(rule: Any, columns: int | None = None) -> None:
    """Raise a DataError unless coefficients and intercepts belong together; flat ones are a row.

    Of a basis there is a coefficient for each of its columns, else for each feature.
    """
    if not has_state(rule):
        return
    p, coef = columns or _width(rule), np.asarray(vars(rule).get("coef_"))
    flat = coef.ndim == 1
    outputs = 1 if flat else len(np.atleast_1d(coef))
    require(_are_numbers(coef, {(p,) if flat else (outputs, p)}), rule, "coef_")
    require(_are_numbers(vars(rule).get("intercept_"), {(), (outputs,)}), rule, "intercept_")


def check_linear_classifier(rule: Any) -> None:
    """Raise a DataError unless there is a score for each class, or for the second of two."""
    if not has_state(rule):
        return
    p, classes = _width(rule), np.asarray(vars(rule).get("classes_"))
    require(classes.ndim == 1 and classes.size > 1, rule, "classes_")
    m = 1 if classes.size == 2 else classes.size
    coef: set[Shape] = {(m, p)}
    if m == 1:  # flat where somebody wrote it so
        coef.add((p,))
    parts: dict[str, set[Shape]] = {"coef_": coef, "intercept_": {(), (1,), (m,)}}
    beside: dict[str, set[Shape]] = {"_offset": {(m,)}, "_centre": {(p,)}}
    for name, shapes in (parts | beside).items():
        there = name in vars(rule) or name in parts
        require(not there or _are_numbers(vars(rule).get(name), shapes), rule, name)


def check_basis_read(basis: Any) -> None:
    """Raise an error unless a basis can be asked for a row."""
    if not has_state(basis):
        return
    p = _width(basis)
    for name in ("low_", "high_"):
        require(_are_numbers(vars(basis).get(name), {(p,)}), basis, name)
    row = basis.expand(np.ascontiguousarray(basis.low_[None]))
    require(np.isfinite(row).all(), basis, "a function")


def _width(thing: Any) -> int:
    p: Any = vars(thing).get("n_features_in_")
    require(is_whole(p, 1), thing, "n_features_in_")
    return int(p)


def _are_numbers(value: Any, shapes: set[Shape]) -> bool:
    """Whether it is a number, where () is a shape, or an array of numbers of one of the shapes."""
    if not isinstance(value, np.ndarray):
        return () in shapes and is_number(value)
    return value.dtype.kind in "fiu" and value.shape in shapes and not np.isnan(value).any()
