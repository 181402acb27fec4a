"""The members of a bag: one estimator fitted to many draws of the rows, and asked one by one."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from empirisk.learners.ensembles.columns import columns_of, for_columns
from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.runtime.arrays import Array, Floats, Ints, slice_if_in_a_row
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import stream
from empirisk.runtime.streams import seed32, spawn

THREADED = ("empirisk", "sklearn")
"""Packages whose estimators do most of their work without the interpreter's lock."""

COLUMNS = 0x5851F42D4C957F2D  # keeps the draws of columns apart from those of rows


@dataclass(frozen=True, eq=False)
class Training:
    """What all members are fitted to.

    `y` are floats or class codes 0..n_classes-1, `X` as the way of fitting takes it; `columns` are
    the draws of columns, None where each member has all; `names` those of a frame.
    """

    estimator: Any
    X: Any
    y: Array
    draws: Draws
    columns: Draws | None
    n_classes: int
    n_features: int
    names: Array | None = None
    groups: Ints | None = None

    def member(self, fit: Any, seed: int) -> tuple[Any, Ints | None]:
        """The member with this seed, fitted, and its columns."""
        columns = None
        if self.columns is not None:
            counts = self.columns.counts(seed ^ COLUMNS)
            columns = np.repeat(np.arange(self.n_features), counts)
        weight = self.draws.member_weight(self.draws.counts(seed))
        member = fresh(self.estimator, self._random_states, seed)
        if columns is not None:
            member = for_columns(member, columns, self.names, self.n_features)
        return fit(member, self, weight, columns), columns

    @cached_property
    def _random_states(self) -> list[str]:
        return random_states(self.estimator)


def random_states(estimator: Any) -> list[str]:
    """The parameters that are a random_state, of the estimator or of a part of it."""
    return sorted(
        name
        for name in estimator.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )


def fresh(estimator: Any, random_states: list[str], seed: int) -> Any:
    """A clone; each random_state in it has a seed of its own, as in scikit-learn's ensembles."""
    # Of a tree no parameter is changed: what they hold need not be copied.
    member = copy(estimator) if isinstance(estimator, DecisionTree) else clone(estimator)
    seeds = map(seed32, spawn(seed, len(random_states)))
    for name, own in zip(random_states, seeds, strict=True):
        if name == "random_state":
            member.random_state = own
        else:
            member.set_params(**{name: own})
    return member


def fit_any(member: Any, training: Training, weight: Floats, columns: Ints | None) -> Any:
    """Fit to drawn rows and columns.

    A draw may have one class where there are several; for an estimator that refuses it comes
    `OneClass`.
    """
    rows, arguments = rows_to_fit(member, weight)
    if training.groups is not None and has_fit_parameter(member, "groups"):
        arguments["groups"] = training.groups[rows]
    X, y = columns_of(rows_of(training.X, rows), columns), training.y[rows]
    try:
        member.fit(X, y, **arguments)
    except ValueError:
        if training.n_classes < 2 or (y != y[0]).any():
            raise
        return OneClass().fit(X, y)
    return member


def rows_to_fit(member: Any, weight: Floats) -> tuple[Ints, dict[str, Any]]:
    """The rows of positive weight, and arguments of `fit` with their weights, where they matter.

    For an estimator that takes no weights these are copies of rows.
    """
    names, rows = weight_arguments(member), np.flatnonzero(weight > 0)
    if names is None:
        return np.repeat(rows, _copies(weight[rows], member)), {}
    alike = bool((weight[rows] == 1).all())
    return rows, {} if alike else dict.fromkeys(names, weight[rows])


def rows_of(X: Any, rows: Ints) -> Any:
    """These rows of a table; all of them, in order, are the table itself."""
    if len(rows) == _num_samples(X) and isinstance(slice_if_in_a_row(rows), slice):
        return X
    return _safe_indexing(X, rows)


def predictions(member: Any, X: Any) -> Array:
    """What a member predicts: a label or a number for each row."""
    found = np.asarray(member.predict(X))
    if found.size != _num_samples(X):
        raise DataError(
            f"{type(member).__name__} gives an array of shape {found.shape} for "
            f"{_num_samples(X)} rows of X; one number or label is wanted for each"
        )
    return found.reshape(-1)


def predicted_numbers(member: Any, X: Any) -> Floats:
    """A finite number for each row."""
    found = predictions(member, X).astype(np.float64, copy=False)
    if not np.isfinite(found).all():
        name = type(member).__name__
        raise DataError(f"{name} predicts NaN or infinity for some rows: give another estimator")
    return found


class OneClass(ClassifierMixin, BaseEstimator):
    """The constant of a draw with one class, whatever X is."""

    def fit(self, X: Any, y: Array) -> Self:
        self.n_features_in_, self.classes_ = X.shape[1], y[:1]
        return self

    def predict(self, X: Any) -> Array:
        return np.repeat(self.classes_, _num_samples(X))

    def predict_proba(self, X: Any) -> Floats:
        return np.ones((_num_samples(X), 1))


class AnyMembers:
    """Fitted members, to be asked about the rows of X, which is as it came in."""

    def __init__(
        self, members: list[Any], columns: Ints | None, X: Any, n_classes: int, votes: bool
    ) -> None:
        self.members, self.columns, self.X = members, columns, X
        self.n_classes, self.votes = n_classes, votes

    def __len__(self) -> int:
        return len(self.members)

    def scores(self, b: int, rows: Ints | None = None) -> Array:
        """Member b's predictions of these rows of X, None for all.

        Of classes: probabilities, or its votes as 0 and 1, a column for each class.
        """
        if rows is not None and not len(rows):
            return np.zeros((0, self.n_classes) if self.n_classes else 0)
        member, X = self.members[b], self._seen(b, rows)
        if not self.n_classes:
            return np.asarray(member.predict(X), dtype=float)
        if self.votes or not hasattr(member, "predict_proba"):
            return np.eye(self.n_classes)[np.asarray(member.predict(X), dtype=np.int64)]
        found = np.zeros((_num_samples(X), self.n_classes))
        found[:, np.asarray(member.classes_, dtype=np.int64)] = member.predict_proba(X)
        return found

    def mean(self, n_jobs: int | None) -> Floats:
        """The mean of the scores over the members, added up in their order."""
        return mean_of(self.scores, len(self), n_jobs)

    def decisions(self, n_jobs: int | None) -> Floats:
        """The mean of the decision functions, of those members that decide between classes."""
        able = [b for b, member in enumerate(self.members) if _decides(member)]
        if not able:
            raise DataError("no member has a decision function: the draw of each has one class")
        return mean_of(lambda i: self._decision(able[i]), len(able), n_jobs)

    def _decision(self, b: int) -> Floats:
        """(rows,) for two classes, else (rows, classes).

        A class that the member does not know has the lowest score of those that it knows.
        """
        member = self.members[b]
        scores = np.asarray(member.decision_function(self._seen(b, None)), dtype=float)
        known = np.asarray(member.classes_, dtype=np.int64)
        if len(known) == self.n_classes:
            return scores
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        found = np.repeat(scores.min(axis=1)[:, None], self.n_classes, axis=1)
        found[:, known] = scores
        return found

    def _seen(self, b: int, rows: Ints | None) -> Any:
        X = self.X if rows is None else _safe_indexing(self.X, rows)
        return columns_of(X, None if self.columns is None else self.columns[b])


def _decides(member: Any) -> bool:
    """Whether a member has a decision function, and more than one class to decide between."""
    return hasattr(member, "decision_function") and len(member.classes_) > 1


def mean_of(scores: Any, n: int, n_jobs: int | None) -> Floats:
    """The mean of scores(0), ..., scores(n - 1), added up in this order."""
    with np.errstate(over="ignore"):
        total = _total(scores, n, n_jobs)
    if np.isfinite(total).all():
        return total / n
    return _total(lambda i: scores(i) / n, n, n_jobs)  # a sum that overflows


def _total(scores: Any, n: int, n_jobs: int | None) -> Floats:
    total: Any = None
    for found in stream(scores, range(n), n_jobs=n_jobs):
        if total is None:
            total = np.array(found, dtype=float)
        else:
            total += found
    return total


def weight_arguments(estimator: Any) -> list[str] | None:
    """The arguments of `fit` that take weights; None where some part of it takes none.

    Of a pipeline every step has to: one that does not would not see the copies.
    """
    if not isinstance(estimator, Pipeline):
        return ["sample_weight"] if has_fit_parameter(estimator, "sample_weight") else None
    steps = [(n, step) for n, step in estimator.steps if step not in (None, "passthrough")]
    if not all(has_fit_parameter(step, "sample_weight") for _, step in steps):
        return None
    return [f"{name}__sample_weight" for name, _ in steps]


def refuse_without_weights(estimator: Any) -> None:
    """Raise a ParameterError where some part of an estimator to be boosted takes no weights."""
    if weight_arguments(estimator) is None:
        raise ParameterError(
            f"estimator is {estimator!r:.60}, and its fit, or that of one of its steps, takes no "
            "sample_weight, by which boosting says which rows count: give an estimator that takes "
            "weights, such as a tree"
        )


def kind_of_workers(estimator: Any) -> str:
    """Threads, where all of an estimator is of this library or of scikit-learn, else processes."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    homes = {type(part).__module__.split(".")[0] for part in parts if hasattr(part, "get_params")}
    return "threads" if homes <= set(THREADED) else "processes"


def _copies(weight: Floats, member: Any) -> Ints:
    if (weight == np.floor(weight)).all():
        return weight.astype(np.int64)
    raise ParameterError(
        f"the rows have weights that are no whole numbers, such as {weight[weight % 1 > 0][0]:g}, "
        f"and {type(member).__name__} takes no sample_weight: give one that does, or whole "
        "numbers; a bag can draw rows with replacement instead (bootstrap=True, without groups)"
    )
