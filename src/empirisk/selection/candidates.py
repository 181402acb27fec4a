"""The rivals: their names, and how each takes part in a comparison or a selection."""

from collections.abc import Mapping, Sequence
from typing import Any

from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from empirisk.data.encode import Encoder
from empirisk.learners.baseline import Baseline
from empirisk.losses import Loss
from empirisk.risk.axis import PathMixin
from empirisk.risk.learner import learner_of
from empirisk.risk.suitable_loss import WITHOUT_LABELS
from empirisk.runtime.errors import ParameterError
from empirisk.selection.no_columns import NoColumns

Candidates = Mapping[str, Any] | Sequence[Any]


def named(candidates: Candidates | Any) -> dict[str, Any]:
    """Candidates by name; those without one are called by their class, numbered where needed."""
    if isinstance(candidates, Mapping):
        rivals = dict(candidates)
        for estimator in rivals.values():
            _refuse_no_estimator(estimator)
    else:
        several = isinstance(candidates, Sequence) and not isinstance(candidates, str)
        given = candidates if several else [candidates]
        rivals = {}
        for estimator in given:
            _refuse_no_estimator(estimator)
            rivals[_new_name(type(learner_of(estimator)).__name__, rivals)] = estimator
    if not rivals:
        raise ParameterError("no candidates: give at least one estimator")
    kinds = {is_classifier(estimator) for estimator in rivals.values()}
    if len(kinds) > 1:
        raise ParameterError("some candidates are classifiers and some are not")
    return rivals


def settled(rivals: dict[str, Any]) -> dict[str, Any]:
    """Candidates of a selection; what a learner leaves open is set as suits one.

    A parameter that is None is set by the learner's `settings_as_candidate`: neighbours, say, are
    looked for among standardised columns unless the user says otherwise.
    """
    return {name: _settled(estimator) for name, estimator in rivals.items()}


def _settled(estimator: Any) -> Any:
    learner = learner_of(estimator)
    settings = getattr(learner, "settings_as_candidate", {})
    unset = {name: value for name, value in settings.items() if getattr(learner, name) is None}
    if not unset:
        return estimator
    model = clone(estimator)
    learner_of(model).set_params(**unset)
    return model


def with_baseline(rivals: dict[str, Any], loss: Loss, X: Any) -> dict[str, Any]:
    """The best constant first, unless one is there: what no learner may lose against.

    Where the others read a table through an `Encoder`, or as it is, the constant has an `Encoder`;
    of other rows that are no numbers, as texts for steps of scikit-learn, it only learns how many.
    Without labels there is none, and all rivals must have the same rows to reconstruct.
    """
    if loss.task in WITHOUT_LABELS:
        _refuse_predictors(rivals, loss)
        _refuse_other_rows(rivals)
        return rivals
    if any(isinstance(learner_of(estimator), Baseline) for estimator in rivals.values()):
        return rivals
    encoders = [
        estimator.steps[0][1]
        for estimator in rivals.values()
        if isinstance(estimator, Pipeline) and isinstance(estimator.steps[0][1], Encoder)
    ]
    if not encoders and any(takes_tables(estimator) for estimator in rivals.values()):
        encoders = [Encoder()]
    constant: Any = Baseline(loss)
    if encoders and not issparse(X):
        constant = make_pipeline(clone(encoders[0]), constant)
    elif not _takes(constant, X):
        constant = make_pipeline(NoColumns(), constant)
    return {_new_name("Baseline", rivals): constant, **rivals}


def _takes(learner: PathMixin, X: Any) -> bool:
    try:
        learner.design(X)
    except (TypeError, ValueError):
        return False
    return True


def _refuse_predictors(rivals: dict[str, Any], loss: Loss) -> None:
    for name, estimator in rivals.items():
        if get_tags(estimator).target_tags.required:
            raise ParameterError(
                f"{name!r} predicts y, and the loss {loss.name!r} judges rows without a target: "
                "compare learners of one task"
            )


def _refuse_other_rows(rivals: dict[str, Any]) -> None:
    """A distance or a density in other units is no risk to compare."""
    first, *others = (
        [str(step) for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
        for estimator in rivals.values()
    )
    for name, steps in zip(list(rivals)[1:], others, strict=True):
        if steps != first:
            raise ParameterError(
                f"{name!r} is judged on rows that its steps {steps} have made, and "
                f"{next(iter(rivals))!r} on those of {first}: give all the same steps"
            )


def takes_tables(estimator: Any) -> bool:
    """Whether an estimator takes categories and missing values as they are."""
    tags = get_tags(estimator).input_tags
    return bool(tags.categorical and tags.allow_nan)


def _refuse_no_estimator(candidate: Any) -> None:
    if isinstance(candidate, type) or not hasattr(candidate, "fit"):
        raise ParameterError(
            f"a candidate is {candidate!r:.80}; wanted an estimator such as Ridge(), with brackets"
        )


def _new_name(name: str, taken: Mapping[str, Any]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name} {number}" in taken:
        number += 1
    return f"{name} {number}"
