"""The model of the chosen value, fitted on all rows."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from empirisk.data.encode import Encoder
from empirisk.data.raw_columns import with_rows
from empirisk.data.table import Table
from empirisk.risk.foreign import at_value, fit_foreign
from empirisk.risk.learner import learner_of
from empirisk.risk.out_of_fold import OutOfFold
from empirisk.runtime.column_names import column_names


def fit_best(losses: OutOfFold, j: int, X: Any, seed: int | None) -> Any:
    """The estimator at the chosen value, fitted on all rows.

    Of a learner without steps before it this is a model of the path on all rows, by which the
    training risk was found, where that has the bits of a new fit; and, of a learner of numbers,
    where it came along with the plan.
    """
    work, classes = losses.work, losses.work.problem.classes
    if losses.judges is not None:
        return _out_of_bag_best(losses, j, X)
    came_along = losses.path is not None and classes is None
    if losses.whole is None or not (came_along or _same_as_fit(losses)):
        estimator = at_value(work.estimator, work.axis, losses.values[j])
        model = fit_foreign(estimator, work.problem, seed)
        _forget_made_up_names(model, X)
        return model
    model = losses.whole.path.at(j)
    if classes is not None:
        model = model.with_labels(classes)
    _note_columns(model, X)
    return model


def _note_columns(model: Any, X: Any) -> None:
    """Their names, also of a Table, which scikit-learn does not know."""
    table = X.to_arrow() if isinstance(X, Table) else with_rows(X)
    validate_data(model, table, skip_check_array=True)


def _forget_made_up_names(model: Any, X: Any) -> None:
    """An encoder has met an array as a table, whose columns have names: the user gave none."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, Encoder) and not isinstance(X, Table) and column_names(X) is None:
        first.__dict__.pop("feature_names_in_", None)


def _same_as_fit(losses: OutOfFold) -> bool:
    """Whether a fit would give the model of the path; not where parameters speak of labels."""
    assert losses.whole is not None
    work, learner = losses.work, learner_of(losses.work.estimator)
    bare = learner is work.estimator and work.problem.coded(learner) is learner
    return bare and getattr(losses.whole.path, "same_as_fit", False)


def _out_of_bag_best(losses: OutOfFold, j: int, X: Any) -> Any:
    """The ensemble that was judged at the chosen value; one fitted to codes gets its labels."""
    assert losses.path is not None
    work, model = losses.work, losses.path.at(j)
    if losses.rung == "generic":
        return model
    if work.problem.classes is not None:
        model = model.with_labels(work.problem.classes)
        given = at_value(work.estimator, work.axis, losses.values[j]).get_params(deep=False)
        own = ("random_state",) if "random_state" in given else ()
        model.set_params(**{name: given[name] for name in given if name not in own})
    _note_columns(model, X)
    return model
