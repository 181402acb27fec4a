"""What bagged classifiers and regressors share: draws, members, out-of-bag rows."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import _is_fitted, _num_samples, check_is_fitted

from empirisk.learners.ensembles.bag_door import checked_table, kept_rows
from empirisk.learners.ensembles.bag_settings import checked_settings, columns_drawn, row_draws
from empirisk.learners.ensembles.bag_soundness import check_bag
from empirisk.learners.ensembles.bagged_trees import TreeMembers, are_trees, fit_tree
from empirisk.learners.ensembles.columns import names_in
from empirisk.learners.ensembles.judged import (
    asked_loss,
    forget_judgement,
    note_judgement,
    tell,
)
from empirisk.learners.ensembles.members import AnyMembers, Training, fit_any, kind_of_workers
from empirisk.learners.ensembles.one_estimator import OneEstimator
from empirisk.learners.ensembles.warm_start import refuse_other_classes, refuse_other_training
from empirisk.losses import Loss
from empirisk.risk.axis import Axis, Freedom, Output
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.bagging.path import BaggedPathMixin
from empirisk.risk.bagging.same_rows import target_key
from empirisk.risk.plans.groups import group_codes
from empirisk.risk.problem import Problem
from empirisk.risk.suitable_loss import common_loss
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn
from empirisk.runtime.targets import check_target, coded, has_columns

N_VALUES = 8


class Bagging(OneEstimator, BaggedPathMixin):
    """One estimator fitted to many draws of the rows, and of the columns."""

    axis: ClassVar[Axis | None] = Axis(("max_features",), larger="richer", scale="integer")

    n_estimators: int
    max_samples: Any
    max_features: Any
    bootstrap: bool
    bootstrap_features: bool
    oob_score: Any
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    block_size: int | None
    estimators_: list[Any]
    _columns: Ints | None
    _seeds: Ints
    _votes: bool

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            Handed on to the members as it is.
        y : array-like of shape (n,)
            Labels or numbers; (n, outputs) where a regressor takes several.
        sample_weight : array-like of shape (n,), optional
        groups : array-like of shape (n,), optional
            Rows that belong together: a member draws all of a group, or nothing of it.

        Returns
        -------
        self
        """
        prototype = self._prototype()
        self._refuse_other_tasks(prototype)
        checked_settings(self)
        classifier = is_classifier(self)
        X = checked_table(self, X, prototype, reset=not self._goes_on())
        many = get_tags(prototype).target_tags.multi_output and has_columns(y)
        target, weight = check_target(
            self, y, X, sample_weight, classifier=classifier, multi_output=many
        )
        rows, X, target, weight, labels = kept_rows(X, target, weight, groups)
        unit = group_codes(labels, len(target))
        codes: Array = target
        classes, learner = None, self
        if classifier:
            codes, classes = coded(target)
            learner = self.for_classes(classes)
        n_classes = 0 if classes is None else len(classes)
        training = learner._training(
            learner._designed(X), codes, weight if sample_weight is not None else None, unit,
            n_classes, self.max_features, getattr(self, "feature_names_in_", None),
        )  # fmt: skip
        if classes is not None:
            refuse_other_classes(self, classes)
            self.classes_, self.n_classes_ = classes, n_classes
        self._add_members(training, _num_samples(y), rows)
        self._judge(X, target, weight if sample_weight is not None else None, training)
        return self

    def members_of(self, X: Any) -> AnyMembers:
        """The members, to be asked one by one about rows of X, which is prepared once.

        Returns
        -------
        object
            `scores(b, rows)` are member b's predictions of these rows of X: numbers, or a column
            for each class of `classes_` with its probabilities (with votes as 0 and 1 where it has
            none, or where votes count).
        """
        check_is_fitted(self)
        return self._asked(checked_table(self, X, self.estimator_, reset=False))

    @property
    def estimators_samples_(self) -> list[Ints]:
        """The rows that each member drew, in order, with repeats; drawn again when asked for."""
        check_is_fitted(self)
        if not hasattr(self, "_draws"):
            raise AttributeError("a model that was loaded from a file does not know its rows")
        return [self._drawn_rows(self._draws.counts(int(seed))) for seed in self._seeds]

    @property
    def estimators_features_(self) -> list[Ints]:
        """The columns of each member, in order."""
        check_is_fitted(self)
        if self._columns is None:
            return [np.arange(self.n_features_in_) for _ in self.estimators_]
        return list(self._columns)

    @property
    def own_loss(self) -> Loss | None:
        """The loss at which the members aim by their parameters, if not the usual one."""
        return common_loss([self._prototype()])

    @property
    def freedom(self) -> Freedom:  # type: ignore[override]  # found where others say it
        """Bagged trees smooth."""
        return "smoother" if are_trees(self._prototype()) else None

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """1, 2, 4, ... columns, and all; of more than eight such numbers the largest."""
        p = X.shape[1]
        return sorted({min(2**k, p) for k in range(p.bit_length() + 1)})[-N_VALUES:]

    @property
    def own_plan(self) -> str | None:
        """By out-of-bag rows, but for blocks of a time series, which are no groups of a plan."""
        return None if self.block_size is not None else super().own_plan

    def fit_design(
        self,
        X: Any,
        y: Array,
        sample_weight: Floats,
        groups: Ints | None,
        *,
        n_classes: int,
        bag: OutOfBag | None = None,
    ) -> Self:
        """Fit to a design, as `BaggedPathMixin` asks for it."""
        self._refuse_other_tasks(self._prototype())
        checked_settings(self)
        weight = None if (sample_weight == 1).all() else sample_weight
        names = names_in(X)
        training = self._training(X, y, weight, groups, n_classes, self.max_features, names)
        self._add_members(training, len(y), None)
        self.n_features_in_ = X.shape[1]
        if n_classes:
            self.classes_, self.n_classes_ = np.arange(n_classes), n_classes
        if bag is not None:
            self._tell(bag, X)
        return self

    def predict_design(self, X: Any, output: Output) -> Array:
        """The mean over the members, or the class of the most."""
        scores = self._asked(X).mean(self.n_jobs)
        return scores.argmax(axis=1) if output == "value" and is_classifier(self) else scores

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted bag belongs together."""
        if _is_fitted(self):
            check_bag(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._prototype()).target_tags.multi_output
        return tags

    def _members_vote(self) -> bool:
        return False

    def _training(
        self,
        X: Any,
        y: Array,
        weight: Floats | None,
        unit: Ints | None,
        n_classes: int,
        max_features: Any,
        names: Array | None,
    ) -> Training:
        p = X.shape[1]
        return Training(
            clone(self._prototype()),
            X,
            y,
            row_draws(self, len(y), weight, unit),
            columns_drawn(max_features, p, self.bootstrap_features),
            n_classes,
            p,
            names,
            unit,
        )

    def _add_members(self, training: Training, n: int, rows: Ints | None) -> None:
        """Fit the members, or those that are new: an earlier fit may go on."""
        before, key = 0, target_key(training.y) if rows is None else None
        if self._goes_on():
            before = len(self.estimators_)
            refuse_other_training(self, training, n, key)
        seeds = spawn(self.random_state, self.n_estimators)[before:]
        members, columns = self._fit_members(training, seeds)
        if before:
            members = self.estimators_ + members
            seeds = [*self._seeds.tolist(), *seeds]
            if columns is not None and self._columns is not None:
                columns = np.concatenate([self._columns, columns])
        self.estimator_, self.estimators_ = training.estimator, members
        self._columns, self._seeds = columns, np.array(seeds, dtype=np.int64)
        self._draws, self._rows, self._n_samples = training.draws, rows, n
        self._target_key, self._votes = key, self._members_vote()

    def _goes_on(self) -> bool:
        """Whether fitting adds to the members that there are."""
        return bool(self.warm_start) and hasattr(self, "estimators_")

    def _fit_members(
        self, training: Training, seeds: Sequence[int]
    ) -> tuple[list[Any], Ints | None]:
        fit = fit_tree if are_trees(training.estimator) else fit_any
        kind: Any = kind_of_workers(training.estimator)
        work = partial(training.member, fit)
        found = parallel(work, track(seeds, "members"), n_jobs=self.n_jobs, kind=kind)
        columns = None
        if training.columns is not None:
            drawn = [columns for _, columns in found if columns is not None]
            columns = np.reshape(drawn, (len(seeds), training.columns.size)).astype(np.int64)
        return [member for member, _ in found], columns

    def _judge(self, X: Any, y: Array, weight: Floats | None, training: Training) -> None:
        forget_judgement(self)
        if not self.oob_score:
            return
        problem = Problem.of(self, X, y, loss=asked_loss(self.oob_score), sample_weight=weight)
        bag = OutOfBag(training.draws.n, training.draws.units, problem)
        self._tell(bag, training.X)
        note_judgement(self, bag, problem, self._rows, self._n_samples)

    def _tell(self, bag: OutOfBag, X: Any) -> None:
        tell(bag, self._asked(X), self._draws, self._seeds.tolist(), n_jobs=self.n_jobs)

    def _asked(self, X: Any) -> AnyMembers:
        n_classes = self.n_classes_ if is_classifier(self) else 0
        return asked(self.estimator_, self.estimators_, self._columns, X, n_classes, self._votes)

    def _mean(self, X: Any) -> Floats:
        return self.members_of(X).mean(self.n_jobs)

    def _drawn_rows(self, counts: Ints) -> Ints:
        rows = np.arange(len(counts)) if self._rows is None else self._rows
        return np.repeat(rows, counts)

    def _designed(self, X: Any) -> Any:
        prototype = self._prototype()
        return prototype.design(X) if are_trees(prototype) else X


def asked(
    estimator: Any, members: list[Any], columns: Ints | None, X: Any, n_classes: int, votes: bool
) -> AnyMembers:
    """The members and the rows of X, which is a design, or a table that was checked."""
    if are_trees(estimator):
        return TreeMembers(members, columns, X, n_classes, votes, estimator)
    return AnyMembers(members, columns, X, n_classes, votes)
