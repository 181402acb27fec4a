"""The model of the chosen value, fitted on all rows."""

from typing import Any

from sklearn.utils.validation import validate_data

from empirisk.risk.foreign import at_value, fit_foreign
from empirisk.risk.out_of_fold import OutOfFold


def fit_best(losses: OutOfFold, j: int, X: Any, seed: int | None) -> Any:
    """The estimator at the chosen value, fitted on all rows.

    Where the path on all rows came along with the plan, of a learner of numbers without steps
    before it, this is one of its models.
    """
    work = losses.work
    if losses.judges is not None:
        return _out_of_bag_best(losses, j, X)
    if losses.path is None or work.problem.classes is not None:
        return fit_foreign(
            at_value(work.estimator, work.axis, losses.values[j]), work.problem, seed
        )
    model = losses.path.at(j)
    validate_data(model, X, skip_check_array=True)  # the names of the columns
    return model


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
    validate_data(model, X, skip_check_array=True)  # the names of the columns
    return model
