"""The three ways to held-out predictions, from the fastest to the most general.

plan     the learner answers the whole plan at once (`PathMixin.out_of_fold`)
path     one `fit_path` per split gives all values of the axis
generic  one fit per split and value, for any scikit-learn estimator

Each yields (repeat, rows, predictions) in blocks of rows, so that no array of all rows by all
values by all classes is ever built.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from empirisk.risk.axis import Axis, Block, Output, Path, PathMixin
from empirisk.risk.plans import Plan
from empirisk.risk.problem import Problem, learner_of
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.deadlines import call_with_timeout, check_deadline, time_left
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.progress import track
from empirisk.runtime.streams import seed32

BLOCK_NUMBERS = 2**22  # predictions in one block: 32 MB of float64
SPLITS_AT_ONCE = 8  # paths in memory together, to be shared out among threads


def rows_per_block(n_values: int, n_classes: int) -> int:
    return max(1, BLOCK_NUMBERS // (n_values * max(n_classes, 1)))


def plan_rung(
    learner: PathMixin, problem: Problem, plan: Plan, values: Sequence[Any], output: Output
) -> Iterator[Block]:
    """Ask the learner for the whole plan; raises `CannotSubtractError` where it declines."""
    return learner.out_of_fold(
        problem.design,
        problem.target,
        problem.weight,
        plan,
        values,
        n_classes=problem.n_classes,
        output=output,
        rows_per_block=rows_per_block(len(values), problem.n_classes),
    )


def path_rung(
    estimator: Any,
    problem: Problem,
    plan: Plan,
    values: Sequence[Any],
    output: Output,
    *,
    seeds: Sequence[int] | None,
    n_jobs: int | None,
) -> Iterator[Block]:
    """One path per split, splits in parallel batches, blocks in order."""
    fit = partial(_split_path, estimator, problem, plan, values, seeds)
    size = rows_per_block(len(values), problem.n_classes)
    for batch in track(slices(plan.n_splits, SPLITS_AT_ONCE), "folds"):
        splits = range(plan.n_splits)[batch]
        for s, fitted in zip(splits, parallel(fit, splits, n_jobs=n_jobs), strict=True):
            test = plan.test(s)
            for block in slices(len(test), size):
                yield plan.repeat(s), test[block], fitted.predict(test[block], output)


def generic_rung(
    estimator: Any,
    axis: Axis | None,
    problem: Problem,
    plan: Plan,
    values: Sequence[Any],
    output: Output,
    *,
    seeds: Sequence[int] | None,
    n_jobs: int | None,
) -> Iterator[Block]:
    """One fit per split and value, in processes where n_jobs asks for several."""
    work = partial(_split_predictions, estimator, axis, problem, plan, values, output, seeds)
    kind: Any = "processes" if np.isinf(time_left()) else "threads"  # each with its own process
    splits = track(range(plan.n_splits), "folds")
    results = parallel(under_deadline(work), splits, n_jobs=n_jobs, kind=kind)
    for s, predictions in enumerate(results):
        yield plan.repeat(s), plan.test(s), predictions


def fit_all_values(
    estimator: Any, problem: Problem, values: Sequence[Any], seed: int | None
) -> "SplitPath":
    """The path fitted on all rows of the problem."""
    return SplitPath(estimator, problem, np.arange(problem.n), values, seed)


class SplitPath:
    """The steps before the learner and the learner's path, fitted on the training rows.

    A class that the training rows lack is aligned here: it gets probability zero.
    """

    def __init__(
        self, estimator: Any, problem: Problem, train: Ints, values: Sequence[Any], seed: int | None
    ) -> None:
        check_deadline()
        part = problem.rows(train)
        self.problem = problem
        self.learner = seeded(clone(learner_of(estimator)), seed)
        self.steps, X = fit_steps(estimator, part)
        self.present, y = np.arange(0), part.target
        if part.target is not None and problem.classes is not None:
            self.present, y = np.unique(part.target, return_inverse=True)
            refuse_one_class(self.present, problem)
        self.path: Path = self.learner.fit_path(
            self.learner.design(X) if part.design is None else part.design,
            y,
            part.weight,
            values,
            n_classes=len(self.present),
        )

    def predict(self, rows: Ints, output: Output) -> Array:
        prediction = self.path.predict_path(self._design(rows), output)
        if self.problem.classes is None:
            return prediction
        return align(prediction, self.present, self.problem.n_classes, output)

    def _design(self, rows: Ints) -> Any:
        if self.problem.design is not None:
            return _safe_indexing(self.problem.design, rows)
        X = _safe_indexing(self.problem.X, rows)
        for step in self.steps:
            X = step.transform(X)
        return self.learner.design(X)


def fit_steps(estimator: Any, problem: Problem) -> tuple[list[Any], Any]:
    """The steps before the learner, fitted with weights where they take them, and X behind them."""
    steps, X = [], problem.X
    for _, transformer in estimator.steps[:-1] if isinstance(estimator, Pipeline) else ():
        if transformer is None or transformer == "passthrough":
            continue
        fitted = clone(transformer)
        weight = {"sample_weight": problem.weight} if takes_weights(fitted) else {}
        X = fitted.fit(X, problem.y, **weight).transform(X)
        steps.append(fitted)
    return steps, X


def fit_foreign(estimator: Any, problem: Problem, seed: int | None) -> Any:
    """A fitted clone; the weights go to the estimator, or to every step of a pipeline that can."""
    model = seeded(clone(estimator), seed)
    arguments = _fit_arguments(model, problem)
    return model.fit(problem.X, problem.y, **arguments)


def foreign_prediction(model: Any, X: Any, problem: Problem, output: Output) -> Array:
    """Predictions (rows,) or (rows, classes), in the codes of the problem."""
    if output == "value":
        prediction = np.asarray(model.predict(X))
        if problem.classes is None:
            return _checked(prediction, model)
        return _codes(prediction, problem.classes, model)
    if not hasattr(model, "predict_proba"):
        raise ParameterError(
            f"the loss {problem.loss.name!r} needs class probabilities, and "
            f"{type(model).__name__} has no predict_proba: use the loss 'zero_one'"
        )
    probabilities = _checked(np.asarray(model.predict_proba(X)), model)
    assert problem.classes is not None
    present = _codes(model.classes_, problem.classes, model)
    return align(probabilities, present, problem.n_classes, output)


def mean_loss(model: Any, problem: Problem) -> float:
    """The empirical risk of a fitted predictor on a problem: on its training rows, too good."""
    prediction = foreign_prediction(model, problem.X, problem, problem.loss.output)
    losses = problem.losses(np.arange(problem.n), prediction[:, None])[:, 0]
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


def refuse_one_class(present: Ints, problem: Problem) -> None:
    if len(present) < 2:
        label = problem.classes[present[0]]  # type: ignore[index]
        raise PlanError(
            f"a training part has rows of one class only ({label!r}): use fewer or stratified "
            "folds, or more rows of the other classes"
        )


def _split_path(
    estimator: Any,
    problem: Problem,
    plan: Plan,
    values: Sequence[Any],
    seeds: Sequence[int] | None,
    s: int,
) -> SplitPath:
    seed = None if seeds is None else seeds[s]
    return SplitPath(estimator, problem, plan.train(s), values, seed)


def _split_predictions(
    estimator: Any,
    axis: Axis | None,
    problem: Problem,
    plan: Plan,
    values: Sequence[Any],
    output: Output,
    seeds: Sequence[int] | None,
    s: int,
) -> Array:
    """Held-out predictions of one split, a column for each value."""
    train, test = problem.rows(plan.train(s)), _safe_indexing(problem.X, plan.test(s))
    if train.target is not None and train.classes is not None:
        refuse_one_class(np.unique(train.target), problem)
    columns = []
    for value in values:
        check_deadline()
        model = at_value(estimator, axis, value)
        model = fit_foreign(model, train, None if seeds is None else seeds[s])
        columns.append(foreign_prediction(model, test, problem, output))
    return np.stack(columns, axis=1)


def at_value(estimator: Any, axis: Axis | None, value: Any) -> BaseEstimator:
    """A clone with the axis set to the value; in a pipeline, that of its last step."""
    model = clone(estimator)
    if axis is not None:
        learner_of(model).set_params(**axis.settings(value))
    return model


def under_deadline(work: Any) -> Any:
    """Where there is a deadline, foreign code runs in a process that can be ended."""
    return work if np.isinf(time_left()) else partial(call_with_timeout, work)


def takes_weights(estimator: Any) -> bool:
    return hasattr(estimator, "fit") and has_fit_parameter(estimator, "sample_weight")


def _fit_arguments(model: Any, problem: Problem) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if problem.groups is not None and has_fit_parameter(model, "groups"):
        arguments["groups"] = problem.groups
    if not problem.weighted:
        return arguments
    if isinstance(model, Pipeline):
        takers = [name for name, step in model.steps if takes_weights(step)]
        if model.steps[-1][0] not in takers:
            _refuse_weights(model.steps[-1][1])
        return {f"{name}__sample_weight": problem.weight for name in takers}
    if not takes_weights(model):
        _refuse_weights(model)
    return {**arguments, "sample_weight": problem.weight}


def _refuse_weights(model: Any) -> None:
    raise ParameterError(
        f"{type(model).__name__} takes no sample_weight: leave the weights out, or repeat the rows"
    )


def _codes(labels: Any, classes: Array, model: Any) -> Ints:
    labels = np.asarray(labels)
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    if (classes[codes] != labels).any():
        stranger = labels[classes[codes] != labels][0]
        raise DataError(f"{type(model).__name__} knows a class {stranger!r} that y does not have")
    return codes


def _checked(prediction: Array, model: Any) -> Array:
    if not np.isfinite(prediction).all():
        row = int(np.flatnonzero(~np.isfinite(prediction).reshape(len(prediction), -1).all(1))[0])
        raise DataError(
            f"{type(model).__name__} predicted NaN or infinity, first for held-out row {row}"
        )
    return prediction
