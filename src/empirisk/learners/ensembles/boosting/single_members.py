"""The single weak learners of a fitted sum."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from empirisk.learners.ensembles.boosting.any_rounds import StagedMembers
from empirisk.learners.ensembles.boosting.tree_rounds import StagedTrees
from empirisk.learners.ensembles.forest_members import ForestMembers
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.errors import DataError


def members_of(learner: Any) -> Sequence[Any]:
    """Estimators in the order in which they were fitted."""
    stages = learner.stages_
    if isinstance(stages, StagedMembers):
        return stages.members
    if isinstance(stages, StagedTrees):
        return ForestMembers(_Trees(learner))
    raise DataError(
        "the weak learners are lines in one column and no estimators: see selected_ and coef_path_"
    )


class _Trees:
    """The trees of a sum, as `ForestMembers` asks for them."""

    def __init__(self, learner: Any) -> None:
        self._learner, self._tree = learner, learner._prototype()
        self.trees_, self.criterion = learner.stages_.trees, self._tree.criterion

    def _member(self, b: int, tree: Tree) -> Any:
        learner, member = self._learner, clone(self._tree)
        member.tree_, member.columns_, member._split_alphas = tree, learner.columns_, None
        member.n_features_in_, member.n_outputs_ = learner.n_features_in_, 1
        member.max_features_ = member._features_drawn(learner.n_features_in_)
        if hasattr(learner, "feature_names_in_"):
            member.feature_names_in_ = learner.feature_names_in_
        return member
