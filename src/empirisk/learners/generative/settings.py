"""The settings of discriminant analysis, and priors of any classifier by Bayes' rule, checked."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import EmpiriskWarning, ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole

BY_THE_DATA = ("auto", "oas")
"""Shrinkages found from the rows: by Ledoit & Wolf, and by the oracle approximation of Chen."""

CHOLESKY = ("auto", "cholesky", "svd", "lsqr")
SOLVERS = (*CHOLESKY, "eigen")


def checked_shrinkage(value: Any) -> float:
    """The shrinkage as a number; None is 0."""
    if value is None:
        return 0.0
    if not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(
            f"shrinkage is {value!r}; it must be None, 'auto', 'oas', or lie between 0 and 1"
        )
    return float(value)


def checked_share(value: Any, name: str) -> float:
    """A number between 0 and 1."""
    if not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(f"{name} is {value!r}; it must lie between 0 and 1")
    return float(value)


def checked_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not is_flag(value):
        raise ParameterError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def by_cholesky(solver: Any) -> bool:
    """Whether a solver factors by Cholesky where it can; all of them find the same rule."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ParameterError(f"solver is {solver!r}; it must be one of {', '.join(SOLVERS)}")
    return solver in CHOLESKY


def checked_target(value: Any) -> bool:
    """Whether shrinkage is towards a multiple of the identity, or the identity itself."""
    if not isinstance(value, str) or value not in ("scaled", "identity"):
        raise ParameterError(f"target is {value!r}; it must be 'scaled' or 'identity'")
    return value == "scaled"


def checked_tol(value: Any) -> float:
    """The tolerance, checked."""
    if not (is_number(value) and 0 <= value < 1):
        raise ParameterError(f"tol is {value!r}; it must be a number from 0 to below 1")
    return float(value)


def checked_components(value: Any, most: int) -> int:
    """How many coordinates are wanted; None is as many as there are."""
    if value is None:
        return most
    if not (is_whole(value, 1) and value <= most):
        raise ParameterError(
            f"n_components is {value!r}; it must be None or from 1 to {most}, the smaller of the "
            "number of columns and that of classes minus 1"
        )
    return int(value)


def checked_priors(priors: ArrayLike | None, n_classes: int) -> Floats | None:
    """The given shares of the classes, made to sum to one; None if they are to be learned."""
    if priors is None:
        return None
    try:
        given = np.asarray(priors, dtype=float)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"priors is {priors!r:.60}; give {n_classes} numbers, one for each class in their order"
        ) from error
    if given.shape != (n_classes,):
        raise ParameterError(
            f"priors has shape {given.shape}; with {n_classes} classes it needs {n_classes} numbers"
        )
    if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
        raise ParameterError(f"priors are {given}; they must be >= 0, finite and not all 0")
    if abs(given.sum() - 1) > 1e-5:
        warnings.warn(f"priors sum to {given.sum():.6g}: divided by it", EmpiriskWarning)
    return given / given.sum()


def coded_learner(learner: Any, labels: Array) -> Any:
    """A copy of a learner for class codes, which remembers as `_labels` what they stand for.

    Asked again, the labels are codes: some classes of more, and the priors are those of these.
    """
    coded = clone(learner)
    known = getattr(learner, "_labels", None)
    coded._labels = labels if known is None else known[labels]
    if known is not None and learner.priors is not None and len(labels) < len(known):
        given = checked_priors(learner.priors, len(known))
        assert given is not None
        coded.priors = given[labels] / (given[labels].sum() or 1.0)
    return coded
