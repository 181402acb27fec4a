"""How any scikit-learn estimator is fitted and asked, whatever it knows of weights and classes."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, has_fit_parameter

from empirisk.losses import Reconstruction
from empirisk.risk.axis import Axis, Output
from empirisk.risk.learner import owner_of
from empirisk.risk.predictor import name_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.deadlines import call_with_timeout, time_left
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.streams import seed32

Item = TypeVar("Item")
Result = TypeVar("Result")


def at_value(estimator: Any, axis: Axis | None, value: Any) -> BaseEstimator:
    """A clone with the axis set to the value; in a pipeline, that of its last step.

    A parameter of another step is named with the step, as in "basisexpansion__degree".
    """
    model = clone(estimator)
    if axis is not None:
        owner_of(model, axis).set_params(**axis.settings(value))
    return model


def fit_foreign(estimator: Any, problem: Problem, seed: int | None) -> Any:
    """A fitted clone; the weights go to the estimator, or to every step of a pipeline that can."""
    model = seeded(clone(estimator), seed)
    arguments = _fit_arguments(model, problem)
    model.fit(problem.X, problem.y, **arguments)
    return model


def foreign_prediction(model: Any, X: Any, problem: Problem, output: Output) -> Array:
    """Predictions (rows,) or (rows, classes), in the codes of the problem."""
    if output == "density":  # may be 0, at an infinite loss
        losses = _for_each_row(losses_of_rows(model, X, output), X, model)
        _checked(np.where(losses == np.inf, 0.0, losses), model)
        return losses
    if output in ("reconstruction", "entries"):
        return _checked(_for_each_row(losses_of_rows(model, X, output), X, model), model)
    if output == "value":
        if not hasattr(model, "predict"):
            raise ParameterError(
                f"{name_of(model)} has no predict: give a classifier or a regressor, or put one "
                "behind it, as in make_pipeline(Encoder(), Ridge())"
            )
        prediction = _for_each_row(model.predict(X), X, model)
        if problem.classes is None:
            return _shaped(_checked(prediction, model), model, problem)
        return _codes(_labels(prediction, model), problem.classes, model)
    if output == "score" and not hasattr(model, "predict_proba"):
        return _scores(model, X, problem)
    if not hasattr(model, "predict_proba"):
        raise ParameterError(
            f"the loss {problem.loss.name!r} needs class probabilities, and "
            f"{name_of(model)} has no predict_proba: use the loss 'zero_one'"
        )
    probabilities = _checked(_for_each_row(model.predict_proba(X), X, model), model)
    return _columns(probabilities, 1 - probabilities, model, problem)


def losses_of_rows(model: Any, X: Any, output: Output) -> Array:
    """The loss of each row by the model itself, which has no labels to compare with.

    Of a pipeline it is that of the last step, on rows as the steps before hand them on.
    """
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        return losses_of_rows(model.steps[-1][1], model[:-1].transform(X), output)
    if hasattr(model, "losses_of_rows"):
        return model.losses_of_rows(X, output)
    if output == "density" and hasattr(model, "score_samples"):
        return 0.0 - np.asarray(model.score_samples(X), dtype=float)
    if output == "reconstruction" and hasattr(model, "inverse_transform"):
        rows = np.asarray(X.toarray() if issparse(X) else X, dtype=float)
        return Reconstruction()(rows, model.inverse_transform(model.transform(X)))
    raise ParameterError(
        f"{name_of(model)} gives no {output!r} of rows: give an encoder and decoder, such as PCA, "
        "a density with score_samples, or a loss that compares predictions with y"
    )


def _scores(model: Any, X: Any, problem: Problem) -> Array:
    """Scores by the decision function, whose sign tells two classes apart."""
    if not hasattr(model, "decision_function"):
        raise ParameterError(
            f"{name_of(model)} has neither predict_proba nor decision_function, and so no scores "
            "to put the rows in order"
        )
    scores = _checked(_for_each_row(model.decision_function(X), X, model), model)
    return _columns(scores, -scores, model, problem)


def mean_loss(model: Any, problem: Problem) -> float:
    """The empirical risk of a fitted predictor on a problem: on its training rows, too good."""
    prediction = foreign_prediction(model, problem.X, problem, problem.loss.output)
    losses = problem.row_losses(prediction)
    return float(np.average(losses, weights=problem.weight))


def foreign_training_risk(
    estimator: Any, axis: Axis | None, problem: Problem, seed: int | None, value: Any
) -> float:
    """The mean loss on the rows that trained, at one value."""
    return mean_loss(fit_foreign(at_value(estimator, axis, value), problem, seed), problem)


def align(prediction: Array, present: Ints, n_classes: int, output: Output) -> Array:
    """From the classes that were present to all classes: codes mapped, absent columns zero."""
    if output == "value":
        return present[prediction]
    if len(present) == n_classes:
        return prediction
    full = np.zeros((*prediction.shape[:-1], n_classes))
    full[..., present] = prediction
    return full


def seeded(estimator: Any, seed: int | None) -> Any:
    """Give the split's seed to every part whose random_state is None."""
    if seed is None:
        return estimator
    unset = {
        name: seed32(seed)
        for name, value in estimator.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**unset) if unset else estimator


def under_deadline(work: Any) -> Any:
    """Where there is a deadline, foreign code runs in a process that can be ended."""
    return work if np.isinf(time_left()) else partial(call_with_timeout, work)


def share_out(
    work: Callable[[Item], Result], items: Iterable[Item], *, n_jobs: int | None
) -> list[Result]:
    """Foreign work on each item, in processes; under a deadline a thread waits for each of them."""
    kind: Literal["threads", "processes"] = "processes" if np.isinf(time_left()) else "threads"
    return parallel(under_deadline(work), items, n_jobs=n_jobs, kind=kind)


def takes_weights(estimator: Any) -> bool:
    """Whether `fit` takes the weights of rows."""
    return _takes(estimator, "sample_weight")


def _takes(estimator: Any, argument: str) -> bool:
    return hasattr(estimator, "fit") and has_fit_parameter(estimator, argument)


def _fit_arguments(model: Any, problem: Problem) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    last, learner = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    if problem.groups is not None and _takes(learner, "groups"):
        arguments[f"{last}__groups" if last else "groups"] = problem.groups
    if not problem.weighted:
        return arguments
    if isinstance(model, Pipeline):
        takers = [name for name, step in model.steps if takes_weights(step)]
        if last not in takers:
            _refuse_weights(learner)
        return arguments | {f"{name}__sample_weight": problem.weight for name in takers}
    if not takes_weights(model):
        _refuse_weights(model)
    return {**arguments, "sample_weight": problem.weight}


def _refuse_weights(model: Any) -> None:
    raise ParameterError(
        f"{name_of(model)} takes no sample_weight: leave the weights out, or repeat the rows"
    )


def _columns(found: Array, opposite: Array, model: Any, problem: Problem) -> Array:
    """A column for each class of the problem; a function has them in the order of the labels.

    Of two classes one column will do, that of the second: the first is its opposite.
    """
    assert problem.classes is not None
    known = np.asarray(getattr(model, "classes_", problem.classes))
    if len(known) == 2 and found.size == len(found):
        found = np.column_stack([opposite, found])
    if found.ndim != 2 or found.shape[1] != len(known):
        raise DataError(
            f"{name_of(model)} gives an array of shape {found.shape} for {len(known)} classes "
            f"({known.tolist()[0]!r:.60} to {known.tolist()[-1]!r:.60}): a column is wanted for "
            "each, in sorted order"
        )
    present = _codes(known, problem.classes, model)
    return align(found, present, problem.n_classes, "probability")


def _for_each_row(prediction: Any, X: Any, model: Any) -> Array:
    prediction, n = np.asarray(prediction), _num_samples(X)
    if prediction.ndim == 0 or len(prediction) != n:
        raise DataError(
            f"{name_of(model)} gives an array of shape {prediction.shape} for {n} rows of X; an "
            "entry is wanted for each row"
        )
    return prediction


def _labels(prediction: Array, model: Any) -> Array:
    if prediction.size != len(prediction):
        raise DataError(
            f"{name_of(model)} predicts an array of shape {prediction.shape} where a label is "
            "wanted for each row: return labels, such as classes[scores.argmax(axis=1)]"
        )
    return prediction.reshape(-1)


def _codes(labels: Any, classes: Array, model: Any) -> Ints:
    labels = np.asarray(labels)
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strange = classes[codes] != labels
    if strange.any():
        stranger = labels[strange].tolist()[0]
        raise DataError(f"{name_of(model)} knows a class {stranger!r:.60} that y does not have")
    return codes


def _checked(prediction: Array, model: Any) -> Array:
    if prediction.dtype.kind not in "biuf":
        first = prediction.reshape(-1).tolist()[0]
        raise DataError(f"{name_of(model)} predicts {first!r:.60} where numbers are wanted")
    if not np.isfinite(prediction).all():
        row = int(np.flatnonzero(~np.isfinite(prediction).reshape(len(prediction), -1).all(1))[0])
        raise DataError(f"{name_of(model)} predicted NaN or infinity, first for held-out row {row}")
    return prediction


def _shaped(prediction: Array, model: Any, problem: Problem) -> Array:
    """As the target is shaped: some estimators return a column where a row of numbers went in."""
    assert problem.target is not None
    shape = (len(prediction), *problem.target.shape[1:])
    if prediction.size != np.prod(shape):
        raise DataError(
            f"{name_of(model)} predicts an array of shape {prediction.shape}; the target "
            f"asks for {shape}"
        )
    return prediction.reshape(shape)
