"""What AdaBoost for classes and for numbers share: parameters, the door, the members, the path."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from empirisk.data.table_door import code_table, table_of
from empirisk.learners.ensembles.bag_door import checked_table, kept_rows
from empirisk.learners.ensembles.boosting.ada_boost_members import Asked, asked
from empirisk.learners.ensembles.boosting.ada_boost_soundness import check_ada_boost
from empirisk.learners.ensembles.boosting.number_of_rounds import (
    checked_rate,
    checked_rounds,
    rounds_grid,
)
from empirisk.learners.ensembles.boosting.samme import Boosted
from empirisk.learners.ensembles.boosting.weak_learners import are_flat_trees
from empirisk.learners.ensembles.forest_members import ForestMembers
from empirisk.learners.ensembles.members import fresh, random_states, refuse_without_weights
from empirisk.learners.ensembles.one_estimator import OneEstimator
from empirisk.risk.axis import Axis, Output, Path
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import number_of_workers
from empirisk.runtime.streams import spawn
from empirisk.runtime.targets import check_target, coded


class AdaBoost(OneEstimator):
    """Weak learners fitted in rounds, each to rows that are weighted by the errors of the last."""

    axis: ClassVar[Axis | None] = Axis(("n_estimators",), larger="richer", scale="integer")

    n_estimators: int
    learning_rate: float
    n_jobs: int | None
    random_state: Any
    estimator_weights_: Floats
    estimator_errors_: Floats
    _seeds: Ints

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members, round by round.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            Handed on to the weak learner as it is.
        y : array-like of shape (n,)
            Labels or numbers.
        sample_weight : array-like of shape (n,), optional
            The weights of the first round. Where rows are not drawn, a row of weight w counts as w
            copies of it.

        Returns
        -------
        self
        """
        prototype = self._checked()
        classifier = is_classifier(self)
        X = checked_table(self, X, prototype, reset=True)
        target, weight = check_target(self, y, X, sample_weight, classifier=classifier)
        _, X, target, weight, _ = kept_rows(X, target, weight, None)
        labels = None
        if classifier:
            target, labels = coded(target)
        found = self._boosted(self._designed(X), target, weight, labels, self.n_estimators)
        return self._write(found, self.n_estimators, labels)

    @property
    def estimators_(self) -> Sequence[Any]:
        """The members, fitted estimators; trees of this library are made when asked for."""
        check_is_fitted(self)
        if not hasattr(self, "trees_"):
            return self._members
        tree, seeds = self.estimator_, self._seeds.tolist()
        own = random_states(tree)
        classes = getattr(self, "classes_", None)
        return ForestMembers(self, self.trees_, lambda b: fresh(tree, own, seeds[b]), classes)

    @property
    def feature_importances_(self) -> Floats:
        """Those of the members, weighted as in the vote: the impurity that splits by each feature
        take away, as parts of the sum."""
        check_is_fitted(self)
        weights = self.estimator_weights_
        if not weights.any():
            weights = np.ones(len(weights))
        if hasattr(self, "trees_"):
            each = self.trees_.importances()
        elif all(hasattr(member, "feature_importances_") for member in self._members):
            each = np.array([member.feature_importances_ for member in self._members])
        else:
            raise AttributeError(
                f"{type(self.estimator_).__name__} has no feature_importances_: "
                "risk.importance measures those of any model"
            )
        return weights @ each / weights.sum()

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """1, 2, ..., n_estimators rounds, thinned out evenly on a log scale where they are many."""
        return rounds_grid(checked_rounds(self.n_estimators))

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> "AdaBoostPath":
        """All numbers of rounds from one fit with the most."""
        self._checked()
        return AdaBoostPath(self, X, y, sample_weight, values, n_classes)

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted ensemble belongs together."""
        if self.__sklearn_is_fitted__():
            check_ada_boost(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_weights_")

    @abstractmethod
    def _rounds(
        self, X: Any, y: Array, weight: Floats, labels: Array | None, seeds: list[int]
    ) -> Boosted:
        """A member for each seed, or fewer, fitted to a design and, of classes, codes of labels."""

    @abstractmethod
    def _needs_weights(self) -> bool:
        """Whether the weak learner has to take weights."""

    @abstractmethod
    def _staged(self, members: Asked, stages: Ints, output: Output) -> Array:
        """(rows, stages) or (rows, stages, classes): predictions of the first members."""

    def _boosted(
        self, X: Any, y: Array, weight: Floats, labels: Array | None, rounds: int
    ) -> Boosted:
        return self._rounds(X, y, weight, labels, spawn(self.random_state, rounds))

    def _write(self, found: Boosted, rounds: int, labels: Array | None) -> Self:
        found.write(self, rounds)
        self.estimator_ = clone(self._prototype())
        if labels is not None:
            self.classes_, self.n_classes_ = labels, len(labels)
        return self

    def _checked(self) -> Any:
        """The weak learner; raises a ParameterError where a parameter has no meaning."""
        checked_rounds(self.n_estimators)
        number_of_workers(self.n_jobs)
        checked_rate(self.learning_rate)
        prototype = self._prototype()
        self._refuse_other_tasks(prototype)
        if self._needs_weights():
            refuse_without_weights(prototype)
        return prototype

    def _asked(self, X: Any) -> Asked:
        check_is_fitted(self)
        return asked(self, checked_table(self, X, self.estimator_, reset=False))

    def _last_stage(self) -> Ints:
        return np.array([len(self.estimator_weights_)])

    def _designed(self, X: Any) -> Any:
        prototype = self._prototype()
        if not are_flat_trees(prototype):
            return X
        return code_table(table_of(X, prototype, reset=None), prototype, n_jobs=self.n_jobs)


class AdaBoostPath(Path):
    """An ensemble after all numbers of rounds: the path of a learner along `n_estimators`."""

    def __init__(
        self,
        learner: Any,
        X: Any,
        y: Array,
        weight: Floats,
        values: Sequence[Any],
        n_classes: int,
    ) -> None:
        self.learner = learner
        self.values = [checked_rounds(value) for value in values]
        self.labels = np.arange(n_classes) if n_classes else None
        self.n_features = X.shape[1]
        self.found = learner._boosted(X, y, weight, self.labels, max(self.values))
        self.longest = self._at(max(self.values))

    @property
    def same_as_fit(self) -> bool:
        """Not of members that know labels: they were fitted to codes."""
        labelled = self.labels is not None and not hasattr(self.longest, "trees_")
        return self.found.nested and not labelled

    def predict_path(self, X: Any, output: Output) -> Array:
        """One pass over the members, with a stop at each number of rounds."""
        n = len(self.found.weights)
        stages, place = np.unique(np.minimum(self.values, n), return_inverse=True)
        staged = self.longest._staged(asked(self.longest, X), stages, output)
        return staged[:, place]

    def at(self, j: int) -> Any:
        """The fitted learner at the j-th number of rounds."""
        return self._at(self.values[j])

    def _at(self, rounds: int) -> Any:
        learner = clone(self.learner).set_params(n_estimators=rounds)
        learner.n_features_in_ = self.n_features
        return learner._write(self.found, rounds, self.labels)
