"""The learner behind the steps of a pipeline, and the axis that it declares."""

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from empirisk.risk.axis import Axis, PathMixin


def learner_of(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def declared_axis(estimator: Any) -> Axis | None:
    """The axis that a learner of this library declares, also behind the steps of a pipeline."""
    learner = learner_of(estimator)
    return learner.axis if isinstance(learner, PathMixin) else None


def along_axis(estimator: Any, axis: Axis | None) -> Any:
    """An estimator as it is fitted where several values of its learner's own axis are tried."""
    learner = learner_of(estimator)
    if axis is None or not isinstance(learner, PathMixin) or not learner.settings_along_axis:
        return estimator
    own = None if learner.axis is None else learner.axis.params
    if tuple(name.rpartition("__")[2] for name in axis.params) != own:
        return estimator
    model = clone(estimator)
    learner_of(model).set_params(**learner.settings_along_axis)
    return model


def owner_of(estimator: Any, axis: Axis) -> Any:
    """What has the parameters of an axis: of a pipeline all of it, if they name its steps."""
    named = all(name in estimator.get_params() for name in axis.params)
    return estimator if named else learner_of(estimator)
