"""Importance that trees tell of themselves: the impurity that splits by each feature take away."""

from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from empirisk.risk.importances.features import Features
from empirisk.risk.importances.result import Importance
from empirisk.risk.importances.words import of_impurity
from empirisk.risk.learner import learner_of
from empirisk.risk.predictor import columns_behind, name_of
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError


def impurity_of(model: Any) -> tuple[Floats, bool]:
    """The shares (members, columns) of the members of a bagged ensemble, or (1, columns) of one.

    The second says whether there are members, drawn alike, over which an error can be had. Members
    that never split count as in scikit-learn's forests: not at all, unless none splits.
    """
    learner = learner_of(model)
    check_is_fitted(learner)
    if hasattr(type(learner), "estimators_samples_") and hasattr(learner, "estimators_"):
        members = list(learner.estimators_)
        if all(hasattr(member, "feature_importances_") for member in members):
            shares = np.array([_in_place(learner, b, m) for b, m in enumerate(members)])
            split = shares.any(axis=1)
            return (shares[split] if split.any() else shares), True
    if not hasattr(learner, "feature_importances_"):
        raise ParameterError(
            f"{name_of(learner)} tells no feature_importances_: permute the columns instead, "
            "how='test', 'out_of_bag', 'out_of_fold' or 'retrain'"
        )
    return np.asarray(learner.feature_importances_, dtype=float)[None], False


def _in_place(ensemble: Any, b: int, member: Any) -> Floats:
    """The shares of a member, at the columns that it sees."""
    found = np.asarray(member.feature_importances_, dtype=float)
    columns = getattr(ensemble, "estimators_features_", None)
    if columns is None:
        return found
    full = np.zeros(ensemble.n_features_in_)
    np.add.at(full, np.asarray(columns[b]), found)
    return full


def summed(shares: Floats, columns: list[Ints]) -> Floats:
    """(members, groups): the impurity that a group of columns takes away adds up."""
    return np.stack([shares[:, group].sum(axis=1) for group in columns], axis=1)


def mean_over_members(shares: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """The mean over members, its standard error and interval: of the members alone, not the rows.

    A forest of very many trees, grown on the same rows, has the mean inside the interval.
    """
    n, groups = shares.shape
    mean = shares.mean(axis=0)
    if n < 2:
        return mean, np.full(groups, np.nan), np.full((groups, 2), np.nan)
    error = shares.std(axis=0, ddof=1) / np.sqrt(n)
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * error
    return mean, error, np.clip(np.stack([mean - half, mean + half], axis=1), 0.0, 1.0)


def by_impurity(model: Any, X: Any, features: Any, level: float) -> Importance:
    """The importance that a fitted model of trees tells of itself."""
    shares, has_members = impurity_of(model)
    names = columns_behind(model, shares.shape[1])
    if isinstance(features, str) and len(getattr(X, "shape", ())) != 2:
        raise DataError("features='correlated' are found in the columns of X: give it, too")
    found = Features.of(features, X if isinstance(features, str) else shares, names)
    of_groups = summed(shares, found.columns)
    values, error, ends = mean_over_members(of_groups, level)
    return Importance(
        names=found.names,
        values=values,
        standard_error=error,
        interval=ends,
        level=level,
        repeats=of_groups,
        baseline=None,
        columns=found.members,
        quantity="share of the impurity taken away",
        how="impurity",
        **of_impurity(
            len(shares) if has_members else 0, one_tree=hasattr(learner_of(model), "tree_")
        ),
    )
