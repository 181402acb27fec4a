"""Whether what was read from a file is a sum of weak learners: no walk may leave its trees."""

from typing import Any

import numpy as np

from empirisk.learners.ensembles.bagged_trees import are_trees
from empirisk.learners.ensembles.boosting.any_rounds import StagedMembers
from empirisk.learners.ensembles.boosting.column_rounds import StagedColumns
from empirisk.learners.ensembles.boosting.tree_rounds import StagedTrees
from empirisk.learners.ensembles.forest_soundness import check_columns
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.errors import DataError


def check_sum(learner: Any) -> None:
    """Raise a DataError unless the parts of a fitted sum belong together."""
    stages, p = learner.stages_, learner.n_features_in_
    columns = _columns_of_the_sum(learner)
    check_array("_start", learner._start, np.float64, (columns,))
    if not np.isfinite(learner._start).all():
        raise DataError("_start is not finite")
    rounds = learner.n_estimators_
    if type(rounds) is not int or type(p) is not int or len(stages.weights) != rounds * columns:
        raise DataError(f"there are not {columns} members for each of the rounds")
    _check_kind(learner)
    if isinstance(stages, StagedTrees):
        check_columns(stages.trees, learner.columns_, p)
    elif isinstance(stages, StagedColumns):
        if stages.n_columns != p:
            raise DataError(f"the lines are of {stages.n_columns} columns, and not of {p}")
    elif any(getattr(member, "n_features_in_", p) != p for member in stages.members):
        raise DataError(f"a member has not {p} features")


def _check_kind(learner: Any) -> None:
    """The members are of the kind that the learner asks for."""
    prototype = learner._fitted_prototype()
    kind: type = StagedMembers
    if isinstance(prototype, str):
        kind = StagedColumns
    elif are_trees(prototype):
        kind = StagedTrees
    if type(learner.stages_) is not kind:
        raise DataError(f"stages_ are not a {kind.__name__}, which the estimator asks for")


def _columns_of_the_sum(learner: Any) -> int:
    if not hasattr(learner, "classes_"):
        return 1
    K = learner.n_classes_
    if type(K) is not int or K < 2 or np.shape(learner.classes_) != (K,):
        raise DataError("n_classes_ is not the number of classes_")
    return 1 if K == 2 else K
