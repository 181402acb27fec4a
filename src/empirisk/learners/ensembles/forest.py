"""What forests of classification and regression trees share."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags

from empirisk.data.coded_column import CodedColumn
from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import code_table, table_of
from empirisk.learners.class_codes import codes_among
from empirisk.learners.ensembles.draws import Draws, draws_of
from empirisk.learners.ensembles.forest_growing import ForestGrowing
from empirisk.learners.ensembles.forest_soundness import check_forest
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.ensembles.judged import asked_loss, forget_judgement, note_judgement, tell
from empirisk.learners.ensembles.single_trees import MembersOf, SingleTrees
from empirisk.learners.ensembles.warm_start import (
    refuse_other_columns,
    refuse_other_rows,
    warn_nothing_new,
)
from empirisk.learners.soundness import has_state
from empirisk.risk.axis import Axis, Output
from empirisk.risk.bagging.out_of_bag import bagged_problem
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.bagging.path import BaggedPathMixin
from empirisk.risk.bagging.same_rows import target_key
from empirisk.risk.plans.groups import group_codes
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_flag, whole
from empirisk.runtime.streams import spawn
from empirisk.runtime.targets import check_target, has_columns

MOST_VALUES = 6  # of max_features, by default
SUBSAMPLE = "balanced_subsample"


class Forest(SingleTrees, BaggedPathMixin, BaseEstimator):
    """The mean of many trees, each grown on a bootstrap of the rows."""

    axis: ClassVar[Axis | None] = Axis(("max_features",), larger="richer", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"

    n_estimators: int
    n_jobs: int | None
    max_features: Any
    bootstrap: bool
    max_samples: Any
    oob_score: Any
    warm_start: bool
    random_state: Any
    columns_: list[CodedColumn]
    classes_: Array

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, p)
            NaN and None are missing values. A sparse matrix is made dense, here and to predict.
        y : array-like of shape (n,)
            Labels, or numbers; of a regressor also (n, outputs).
        sample_weight : array-like of shape (n,), optional
        groups : array-like of shape (n,), optional
            A tree draws whole groups of rows.

        Returns
        -------
        self
        """
        classifier = is_classifier(self)
        table = table_of(X, self, reset=not self._goes_on())
        target, weight = check_target(
            self, y, table, sample_weight, classifier=classifier, multi_output=has_columns(y)
        )
        classes = None
        if classifier:
            classes = np.unique(target[weight > 0])
            target, _ = codes_among(target, classes)  # those of weight 0 may be none of them
        coding = code_table(table, self, n_jobs=self.n_jobs)
        unit = group_codes(groups, len(target))
        learner = self if classes is None else self.for_classes(classes)
        n_classes = 0 if classes is None else len(classes)
        growing = learner._growing(coding, target, weight, n_classes, unit)
        if self._goes_on():
            self._refuse_other(growing, classes)
        self._write(self._grown(growing), growing, classes)
        forget_judgement(self)
        if self.oob_score:
            self._judge(X, y, sample_weight, groups, coding.places())
        return self

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted forest belongs together."""
        if has_state(self):
            check_forest(self)

    def design(self, X: Any) -> RankCoding:
        """X in codes, which all trees and folds share."""
        return code_table(table_of(X, self, reset=None), self)

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """Numbers of features, evenly on a log scale, from 1 to all of them."""
        p = len(X.columns) if isinstance(X, RankCoding) else X.shape[1]
        return np.unique(np.geomspace(1, p, MOST_VALUES).round().astype(int)).tolist()

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
        """Grow on codes, as `BaggedPathMixin` asks for it."""
        coding = X if isinstance(X, RankCoding) else self.design(X)
        growing = self._growing(coding, y, sample_weight, n_classes, groups)
        self._write(self._grown(growing), growing, np.arange(n_classes) if n_classes else None)
        if bag is not None:
            self._tell(bag, coding.places())
        return self

    def predict_design(self, X: Any, output: Output) -> Array:
        """Predictions of rows in codes; class codes where the output is "value"."""
        scores = self._mean_scores(X.places())
        return scores.argmax(axis=1) if output == "value" and is_classifier(self) else scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _shape(self, y: Array, classes: Array | None) -> None:
        """Note the classes, or the outputs, that trees speak of."""

    @abstractmethod
    def _scores(self, value: Floats) -> Floats:
        """Values of the trees as predictions: (rows,), (rows, outputs) or (rows, classes)."""

    def _class_factors(self, y: Array, weight: Floats, n_classes: int) -> Floats | None:
        """Factors of the weights of classes."""
        return None

    def _growing(
        self, coding: RankCoding, y: Array, weight: Floats, n_classes: int, unit: Ints | None
    ) -> ForestGrowing:
        """What the trees of this forest share, of values or class codes y."""
        for name in ("bootstrap", "warm_start"):
            if not is_flag(getattr(self, name)):
                raise ParameterError(f"{name} is {getattr(self, name)!r}; give True or False")
        draws = None
        if self.bootstrap:
            given = None if (weight == 1.0).all() else weight
            draws = Draws(len(y), draws_of(self.max_samples, len(y), given, unit=unit), True,
                          given, unit)  # fmt: skip
        elif self.max_samples is not None:
            raise ParameterError(
                f"max_samples is {self.max_samples!r} and bootstrap is False: rows are drawn with "
                "bootstrap=True alone"
            )
        return ForestGrowing(
            tree=self._tree(),
            coding=coding,
            y=y,
            weight=weight,
            n_classes=n_classes,
            draws=draws,
            factors=self._class_factors(y, weight, n_classes),
            balanced=self.bootstrap and getattr(self, "class_weight", None) == SUBSAMPLE,
        )

    def _grown(self, growing: ForestGrowing) -> ForestTrees:
        """The trees; with `warm_start`, those that there were and new ones after them."""
        n = whole(self.n_estimators)
        if n is None or n < 1:
            raise ParameterError(
                f"n_estimators is {self.n_estimators!r}; it must be a whole number from 1"
            )
        before = [self.trees_] if self._goes_on() else []
        so_far = sum(map(len, before))
        if n == so_far:
            warn_nothing_new(n, stacklevel=4)
        if n < so_far:
            raise ParameterError(
                f"n_estimators is {n} and the forest has {so_far} trees: with warm_start=True give "
                "as many at least"
            )
        if not before:
            self._seed = spawn(self.random_state, 1)[0]
        seeds = spawn(self._seed, n)[so_far:]
        return ForestTrees.joined(chain(before, growing.grown(seeds, self.n_jobs)), n)

    def _goes_on(self) -> bool:
        """Whether fitting adds to the trees that there are."""
        return bool(self.warm_start) and hasattr(self, "trees_")

    def _write(self, trees: ForestTrees, growing: ForestGrowing, classes: Array | None) -> Self:
        """The fitted attributes."""
        self.trees_, self._draws = trees, growing.draws
        self._criterion = growing.tree.criterion
        self._n_samples = len(growing.y)
        self._target_key = target_key(growing.y, growing.weight)
        self.columns_ = [column.for_flat_trees() for column in growing.coding.columns]
        self.n_features_in_ = len(self.columns_)
        self._shape(growing.y, classes)
        self._note_members(growing)
        return self

    def _note_members(self, growing: ForestGrowing) -> None:
        """Which rows are in the leaves, if it is to be kept."""

    def _refuse_other(self, growing: ForestGrowing, classes: Array | None) -> None:
        """Trees of other rows, columns, levels, classes, outputs or criteria stay apart."""
        before = self._grown_tree().criterion
        if growing.tree.criterion != before:
            raise ParameterError(
                f"criterion is {growing.tree.criterion!r}, and with warm_start=True there are "
                f"trees that were grown by {before!r}: give the same, or set warm_start=False"
            )
        if classes is None:
            same = growing.y.reshape(len(growing.y), -1).shape[1] == self.trees_.value.shape[1]
        else:
            same = np.array_equal(classes, self.classes_)
        if not same:
            raise DataError(
                "y has other classes, or another number of outputs, than before: fit anew with "
                "warm_start=False"
            )
        key = target_key(growing.y, growing.weight)
        refuse_other_rows(self, len(growing.y), growing.draws, key)
        refuse_other_columns(self.columns_, growing.coding.columns)

    def _judge(self, X: Any, y: Any, sample_weight: Any, groups: Any, places: Floats) -> None:
        """By the rows out of bag."""
        loss = asked_loss(self.oob_score)
        if self._draws is None:
            raise ParameterError(
                "oob_score needs rows that trees do not draw: give bootstrap=True, or use "
                "risk.cross_validate"
            )
        problem = bagged_problem(self, X, y, loss, sample_weight, groups)
        bag = OutOfBag(problem.n, group_codes(problem.groups, problem.n), problem)
        self._tell(bag, places, problem.kept)
        note_judgement(self, bag, problem, problem.kept, len(places))

    def _tell(self, bag: OutOfBag, places: Floats, kept: Ints | None = None) -> None:
        """Hand to a bag what each tree says of the rows that it did not draw."""
        assert self._draws is not None
        seeds = spawn(self._seed, len(self.trees_))
        members = MembersOf(self, places)
        tell(bag, members, self._draws, seeds, kept=kept, n_jobs=self.n_jobs)
