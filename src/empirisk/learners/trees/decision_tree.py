"""What classification and regression trees share: growing, pruning, walking down."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import Bunch, Tags
from sklearn.utils.validation import _is_fitted, check_is_fitted

from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import check_places, code_table, table_of
from empirisk.learners.trees.early_stopping import StoppedPath
from empirisk.learners.trees.growth import grow_tree
from empirisk.learners.trees.limits import features_drawn, limits_of
from empirisk.learners.trees.monotone import checked_signs
from empirisk.learners.trees.pruning import PruningSequence
from empirisk.learners.trees.readable import ReadableTree
from empirisk.learners.trees.soundness import check_fitted
from empirisk.learners.trees.targets import Problem
from empirisk.learners.trees.terms import Limits
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_path import TreePath
from empirisk.risk.axis import Axis, PathMixin
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag
from empirisk.runtime.sparse_form import sparse_form
from empirisk.runtime.streams import spawn
from empirisk.runtime.targets import check_target, coded, has_columns


class DecisionTree(ReadableTree, PathMixin, BaseEstimator):
    """A tree of binary splits, grown greedily and pruned by cost complexity."""

    axis: ClassVar[Axis | None] = Axis(("ccp_alpha",), larger="simpler", scale="log")
    has_doubts: ClassVar[bool] = True
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"

    criterion: str
    splitter: str
    max_features: Any
    random_state: Any
    ccp_alpha: float
    monotonic_cst: Any
    early_stopping: bool
    tree_: Tree

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow, and prune at `ccp_alpha`.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, p)
            NaN and None are missing values. A sparse matrix is made dense, here and to predict.
        y : array-like of shape (n,)
            Labels or numbers; of a `DecisionTreeRegressor` also (n, outputs).
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it; with `early_stopping` it is held out, or
            not, as one.

        Returns
        -------
        self
        """
        coding, y, weight, classes = self._training_set(X, y, sample_weight)
        n_classes = 0 if classes is None else len(classes)
        learner = self if classes is None else self.for_classes(classes)
        return learner._path(coding, y, weight, [self.ccp_alpha], n_classes).write(0, self, classes)

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted tree belongs together."""
        if _is_fitted(self):
            check_fitted(self)

    def design(self, X: Any) -> RankCoding:
        """X in codes, which all folds share."""
        return code_table(table_of(X, self, reset=None), self)

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """The pruning sequence of all rows: an alpha for each of its trees, richest first."""
        coding = X if isinstance(X, RankCoding) else self.design(X)
        n_classes = int(y.max()) + 1 if is_classifier(self) else 0
        tree = self._path(coding, y, sample_weight, [0.0], n_classes).tree
        return self._pruning(tree, n_classes).grid()

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> TreePath:
        """All values from one growth."""
        coding = X if isinstance(X, RankCoding) else self.design(X)
        return self._path(coding, y, sample_weight, values, n_classes)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The alphas at which the tree that `fit` grows loses a branch, and its risks.

        With `early_stopping`, the tree that was stopped; its risks are on the rows it grew on.

        Returns
        -------
        Bunch
            `ccp_alphas`, from 0, and `impurities`: the risk of the tree from each alpha on.
        """
        learner = clone(self)
        coding, y, weight, classes = learner._training_set(X, y, sample_weight)
        n_classes = 0 if classes is None else len(classes)
        learner = learner if classes is None else learner.for_classes(classes)
        tree = learner._path(coding, y, weight, [0.0], n_classes).tree
        return learner._pruning(tree, n_classes).path()

    def apply(self, X: Any) -> Ints:
        """The number of the leaf that each row comes to."""
        places = check_places(self, X)
        return self.tree_.apply(places).astype(np.int64)

    def decision_path(self, X: Any) -> Any:
        """Sparse, of shape (rows, nodes): 1 where a row passes a node."""
        places = check_places(self, X)
        return sparse_form(self.tree_.decision_path(places))

    def get_depth(self) -> int:
        """The largest number of splits above a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """The impurity that splits by each feature take away, as parts of the sum."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _problem(self, coding: RankCoding, y: Array, weight: Floats, n_classes: int) -> Problem:
        """What the grower is given."""

    @abstractmethod
    def _node_risks(self, tree: Tree, n_classes: int) -> Floats:
        """The risk of each node, were it a leaf, as a part of the whole."""

    def _path(
        self, coding: RankCoding, y: Array, weight: Floats, values: Sequence[Any], n_classes: int
    ) -> TreePath:
        if not is_flag(self.early_stopping):
            raise ParameterError(f"early_stopping is {self.early_stopping!r}; give True or False")
        grow = StoppedPath if self.early_stopping else TreePath
        return grow(self, coding, y, weight, values, n_classes)

    def _training_set(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[RankCoding, Array, Floats, Array | None]:
        """Codes, target and weights of the rows of positive weight."""
        classifier = is_classifier(self)
        X = table_of(X, self, reset=True)
        target, weight = check_target(
            self, y, X, sample_weight, classifier=classifier, multi_output=self._many_outputs(y)
        )
        coding = code_table(X, self)
        if not (weight > 0).all():
            kept = np.flatnonzero(weight > 0)
            coding, target, weight = coding[kept], target[kept], weight[kept]
        if not classifier:
            return coding, target, weight, None
        codes, classes = coded(target)
        return coding, codes, weight, classes

    def _many_outputs(self, y: Any) -> bool:
        """Whether y may have two dimensions."""
        return self.criterion == "squared_error" or has_columns(y)

    def _grown(
        self,
        coding: RankCoding,
        y: Array,
        weight: Floats,
        n_classes: int,
        **changes: Any,
    ) -> Tree:
        """The tree before pruning; `changes` are made to the limits."""
        problem = self._problem(coding, y, weight, n_classes)
        limits = limits_of(self, problem.weight, weight, len(coding.columns))
        plain = n_classes == 0 or problem.weight is weight
        changes = {"min_gain": problem.gain_of(limits.min_gain), **changes}
        limits = Limits(**{**vars(limits), **changes})
        random = self._draws_thresholds()
        drawn = random or limits.max_features < len(coding.columns)
        tree = grow_tree(
            coding,
            problem.target if plain else problem.with_copies(y, weight),
            limits,
            seed=spawn(self.random_state, 1)[0] if drawn else 0,
            random=random,
            monotone=checked_signs(self.monotonic_cst, coding, problem.target),
            gain_scale=problem.gain_scale,
        )
        return problem.in_units(tree)

    def _pruning(self, tree: Tree, n_classes: int) -> PruningSequence:
        return PruningSequence.of(tree, self._node_risks(tree, n_classes))

    def _draws_thresholds(self) -> bool:
        if self.splitter not in ("best", "random"):
            raise ParameterError(f"splitter is {self.splitter!r}; it must be 'best' or 'random'")
        return self.splitter == "random"

    def _features_drawn(self, p: int) -> int:
        return features_drawn(self.max_features, p)
