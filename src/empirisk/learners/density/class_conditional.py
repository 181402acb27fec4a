"""A density for each class: how any density is fitted and asked, and Bayes' rule for it."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from empirisk.learners.ensembles.members import rows_to_fit
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, EmpiriskError, ParameterError


def check_density(density: Any) -> None:
    """Raise a ParameterError unless this is a density whose units are those of X."""
    if isinstance(density, type) or not (
        hasattr(density, "fit") and hasattr(density, "score_samples")
    ):
        raise ParameterError(
            f"the density is {density!r:.60}; give an estimator with fit and score_samples, such "
            "as KernelDensity()"
        )
    if isinstance(density, Pipeline):
        raise ParameterError(
            "the density is a Pipeline, whose densities are in the units of its own steps, other "
            "ones for each class, and cannot be compared: put the steps before the classifier, as "
            "in make_pipeline(StandardScaler(), DensityClassifier(...))"
        )


def fit_density(density: Any, X: Floats, weight: Floats, label: Any) -> Any:
    """A clone fitted to the rows of one class; complaints name the class."""
    member = clone(density)
    rows, arguments = rows_to_fit(member, weight)
    try:
        return member.fit(X[rows], **arguments)
    except EmpiriskError as error:
        raise DataError(f"the density of class {label!r}: {error}") from error


def log_density(density: Any, X: Floats) -> Floats:
    """log f(x) of each row: numbers, or infinite."""
    found = np.asarray(density.score_samples(X), dtype=float)
    if found.shape != (len(X),) or np.isnan(found).any():
        raise DataError(
            f"{type(density).__name__} gives "
            + ("NaN" if found.shape == (len(X),) else f"an array of shape {found.shape}")
            + f" as the log densities of {len(X)} rows; a number is wanted for each"
        )
    return found


def log_joint(log_densities: Floats, prior: Floats) -> Floats:
    """log pi_k f_k(x) of arrays (rows, K, V), in a form that always gives probabilities.

    Where all densities are 0 a row has the priors, and where some are infinite the priors of these.
    A class of prior 0 is never predicted.
    """
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)[:, None]
    possible = prior[:, None] > 0
    infinite = (log_densities == np.inf) & possible
    with np.errstate(invalid="ignore"):
        joint = np.where(possible, log_densities + log_prior, -np.inf)
    some = infinite.any(axis=1, keepdims=True)
    joint = np.where(some, np.where(infinite, log_prior, -np.inf), joint)
    nowhere = (joint == -np.inf).all(axis=1, keepdims=True)
    return np.where(nowhere, log_prior, joint)


def by_class(density: Any, labels: Array) -> list[Any]:
    """The density of each class: one for all, or a dict by label."""
    if not isinstance(density, dict):
        check_density(density)
        return [density] * len(labels)
    known = labels.tolist()
    missing = [label for label in known if label not in density]
    if missing:
        raise ParameterError(
            f"density has none for class {missing[0]!r}; it has those of {list(density)!r:.60}: "
            "give one for each class"
        )
    for each in density.values():
        check_density(each)
    return [density[label] for label in known]
