"""What boosted learners of this folder share: doors, designs, the path along the rounds."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from empirisk.data.coded_column import CodedColumn
from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import check_places, code_table, table_of
from empirisk.learners.ensembles.bag_door import checked_table, kept_rows
from empirisk.learners.ensembles.bagged_trees import are_trees
from empirisk.learners.ensembles.boosting.additive_path import AdditivePath, Sum
from empirisk.learners.ensembles.boosting.additive_soundness import check_sum
from empirisk.learners.ensembles.boosting.any_rounds import AnyRounds, StagedMembers
from empirisk.learners.ensembles.boosting.column_rounds import ColumnRounds, StagedColumns
from empirisk.learners.ensembles.boosting.forward_stagewise import Stages, WeakLearner
from empirisk.learners.ensembles.boosting.number_of_rounds import (
    checked_rate,
    checked_rounds,
    rounds_grid,
)
from empirisk.learners.ensembles.boosting.tree_rounds import (
    StagedTrees,
    TreeRounds,
)
from empirisk.learners.ensembles.forest_members import ForestMembers
from empirisk.risk.axis import Axis, PathMixin
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import number_of_workers
from empirisk.runtime.targets import check_target, coded
from empirisk.runtime.validation import check_fit, check_predict

LEAST_SQUARES = "least_squares"
NAME_CATEGORIES = (
    "name the columns of words in categorical_features of its estimator, a tree, or give a data "
    "frame"
)


class AdditiveLearner(PathMixin, BaseEstimator):
    """A sum of weak learners, fitted one after the other."""

    axis: ClassVar[Axis | None] = Axis(("n_estimators",), larger="richer", scale="integer")

    estimator: Any
    n_estimators: int
    learning_rate: float
    n_jobs: int | None
    random_state: Any
    estimator_: Any
    stages_: Stages
    n_estimators_: int
    columns_: list[CodedColumn]
    _start: Floats

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weak learners, one after the other.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
        y : array-like of shape (n,)
            Labels or numbers.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        checked_rate(self.learning_rate)
        checked_rounds(self.n_estimators)
        number_of_workers(self.n_jobs)
        design, y, weight, classes = self._training_set(X, y, sample_weight)
        if classes is not None:
            refuse_one_class(classes, type(self).__name__)
        n_classes = 0 if classes is None else len(classes)
        path = self._path(design, y, weight, [self.n_estimators], n_classes)
        return path.write(0, self, classes)

    @property
    def categorical_features(self) -> Any:
        """Those of the trees, if the weak learners are trees."""
        return getattr(self._prototype(), "categorical_features", None)

    def design(self, X: Any) -> Any:
        """X in codes that all folds and rounds share, in numbers, or as it came in."""
        prototype = self._prototype()
        if isinstance(prototype, str):
            return numbers(X, self)
        if are_trees(prototype):
            return code_table(table_of(X, self, reset=None, remedy=NAME_CATEGORIES), self)
        return checked_table(self, X, prototype, reset=None)

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """1, 2, ... `n_estimators`; of more than 100 so many."""
        return rounds_grid(checked_rounds(self.n_estimators))

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> AdditivePath:
        """All numbers of rounds from one run."""
        checked_rate(self.learning_rate)
        return self._path(X, y, sample_weight, values, n_classes)

    @property
    def feature_scaling(self) -> Literal["each", "common"] | None:  # type: ignore[override]  # found where others say it
        """Trees and lines in one column do not depend on units; of others, as they say."""
        prototype = self._prototype()
        own = "each" if isinstance(prototype, str) else getattr(prototype, "feature_scaling", None)
        return "each" if own == "each" else None

    @property
    def estimators_(self) -> Sequence[Any]:
        """The weak learners, round after round; trees are made when they are asked for."""
        check_is_fitted(self)
        stages = self.stages_
        if isinstance(stages, StagedMembers):
            return stages.members
        if isinstance(stages, StagedTrees):
            return ForestMembers(self, stages.trees, lambda b: clone(self._fitted_prototype()))
        raise AttributeError(
            "the weak learners are lines in one column and no estimators: stages_ has their "
            "columns (selected), slopes and offsets"
        )

    @property
    def feature_importances_(self) -> Floats:
        """Of trees: what splits by each feature take away of the errors of all rounds.

        Squared errors, or absolute ones where these are the criterion of the trees.
        """
        stages = getattr(self, "stages_", None)
        if isinstance(stages, StagedTrees):
            return stages.importances()
        raise AttributeError("only a fitted sum of trees has feature_importances_")

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted sum belongs together."""
        if hasattr(self, "stages_"):
            check_sum(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "stages_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        prototype = self.estimator
        if prototype is None:
            prototype = self._default_estimator()
        if hasattr(prototype, "fit"):
            inner = get_tags(prototype).input_tags
            tags.input_tags.allow_nan = inner.allow_nan
            tags.input_tags.categorical = inner.categorical
            tags.input_tags.sparse = inner.sparse
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _default_estimator(self) -> Any:
        """The weak learner where none was given."""

    @abstractmethod
    def _sum(self, X: Any, y: Array, weight: Floats, rounds: int, n_classes: int) -> Sum:
        """The sum after so many rounds; X as `design` gives it, y values or class codes."""

    @abstractmethod
    def _output(self, f: Floats, output: str) -> Array:
        """What is predicted from the columns f: (rows,), or (rows, classes)."""

    def _prototype(self) -> Any:
        """A tree that shares its coding, "least_squares", or any estimator."""
        given = self._default_estimator() if self.estimator is None else self.estimator
        known = isinstance(given, str) and given == LEAST_SQUARES
        if not known and not (hasattr(given, "fit") and hasattr(given, "predict")):
            raise ParameterError(
                f"estimator is {given!r:.60}; it must be None, 'least_squares', or a regressor "
                "with fit and predict"
            )
        if not known and is_classifier(given):
            raise ParameterError(
                f"estimator is {given!r:.60}, a classifier; {type(self).__name__} fits regressors"
            )
        return given

    def _fitted_prototype(self) -> Any:
        """That of the members, whatever `estimator` is by now; older files lack it."""
        return self.estimator_ if hasattr(self, "estimator_") else self._prototype()

    def _weak(self, X: Any, *, copies: bool, centred: bool = True) -> WeakLearner:
        prototype = self._prototype()
        if isinstance(X, RankCoding):
            return TreeRounds(prototype, X, copies=copies)
        if isinstance(prototype, str):
            return ColumnRounds(X, centred=centred)
        return AnyRounds(prototype, X)

    def _training_set(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Array, Floats, Array | None]:
        """Design, values or class codes, and weights, of the rows of positive weight."""
        prototype, classifier = self._prototype(), is_classifier(self)
        if isinstance(prototype, str):
            data = check_fit(self, X, y, sample_weight, classifier=classifier)
            return data.X, data.y, data.sample_weight, data.classes
        trees = are_trees(prototype)
        if trees:
            table = table_of(X, self, reset=True, remedy=NAME_CATEGORIES)
        else:
            table = checked_table(self, X, prototype, reset=True)
        target, weight = check_target(self, y, table, sample_weight, classifier=classifier)
        _, table, target, weight, _ = kept_rows(
            code_table(table, self) if trees else table, target, weight, None
        )
        if not classifier:
            return table, target, weight, None
        codes, classes = coded(target)
        return table, codes, weight, classes

    def _path(
        self, X: Any, y: Array, weight: Floats, values: Sequence[Any], n_classes: int
    ) -> AdditivePath:
        asked = [checked_rounds(value) for value in values]
        found = self._sum(X, y, weight, max(asked), n_classes)
        columns = None
        if isinstance(X, RankCoding):
            columns = [column.for_flat_trees() for column in X.columns]
        return AdditivePath(self, asked, found, columns, X.shape[1], n_classes)

    def _seen(self, X: Any) -> Any:
        """The door of every prediction: X as the members take it."""
        check_is_fitted(self)
        stages = self.stages_
        if isinstance(stages, StagedColumns):
            return check_predict(self, X)
        if isinstance(stages, StagedTrees):
            return check_places(self, X, remedy=NAME_CATEGORIES)
        assert isinstance(stages, StagedMembers)
        prototype = stages.members[0] if stages.members else self._fitted_prototype()
        table = checked_table(self, X, prototype, reset=False)
        unseen = self.n_estimators_ == 0 and isinstance(table, np.ndarray)
        if unseen and not get_tags(prototype).input_tags.allow_nan:
            return numbers(table, self)  # there is no member to complain
        return table

    def _staged(self, X: Any, rounds: Sequence[int]) -> Iterator[Floats]:
        """f at the rows of X after each of these rounds; overwritten by the next."""
        return self.stages_.staged(self._seen(X), self._start, rounds, self.n_jobs)

    def _last(self, X: Any) -> Floats:
        check_is_fitted(self)
        return next(self._staged(X, [self.n_estimators_]))
