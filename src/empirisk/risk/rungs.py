"""The three ways to held-out predictions, from the fastest to the most general.

plan     the learner answers the whole plan at once (`PathMixin.out_of_fold`)
path     one `fit_path` per split gives all values of the axis
generic  one fit per split and value, for any scikit-learn estimator

Each yields (repeat, rows, predictions) in blocks of rows, so that no array of all rows by all
values by all classes is ever built.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from empirisk.risk.axis import Axis, Block, HeldOut, Output, Path, PathMixin
from empirisk.risk.foreign import (
    align,
    at_value,
    fit_foreign,
    foreign_prediction,
    seeded,
    share_out,
    takes_weights,
)
from empirisk.risk.learner import learner_of
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, PlanError
from empirisk.runtime.parallel import slices, stream
from empirisk.runtime.progress import track

BLOCK_NUMBERS = 2**17  # predictions in one block: 1 MB of float64 stays in the cache
GRID_SEED = 0  # of steps before the learner that draw: a grid is the same every time


def rows_per_block(n_values: int, n_classes: int) -> int:
    """So many that the predictions of a block stay in the cache."""
    return max(1, BLOCK_NUMBERS // (n_values * max(n_classes, 1)))


def plan_rung(
    learner: PathMixin, problem: Problem, plan: Plan, values: Sequence[Any], output: Output
) -> HeldOut:
    """Ask the learner for the whole plan; raises `CannotSubtractError` where it declines."""
    return problem.coded(learner).out_of_fold(
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
    """One path per split, few of them in memory at a time, blocks in order."""
    if one_at_a_time(estimator):
        yield from _value_by_value(estimator, problem, plan, values, output, seeds, n_jobs)
        return
    fit = partial(_split_path, estimator, problem, plan, values, seeds)
    size = rows_per_block(len(values), problem.n_classes)
    paths = stream(fit, range(plan.n_splits), n_jobs=n_jobs, ahead=0)
    for s, fitted in enumerate(track(paths, "folds", plan.n_splits)):
        test = plan.test(s)
        for block in slices(len(test), size):
            yield plan.repeat(s), test[block], fitted.predict(test[block], output)


def one_at_a_time(estimator: Any) -> bool:
    """Whether the models of a path share nothing, neither work nor the steps before the learner."""
    return isinstance(estimator, PathMixin) and not estimator.shares_path


def _value_by_value(
    estimator: Any,
    problem: Problem,
    plan: Plan,
    values: Sequence[Any],
    output: Output,
    seeds: Sequence[int] | None,
    n_jobs: int | None,
) -> Iterator[Block]:
    def predict(s: int) -> Array:
        fit = partial(_split_path, estimator, problem, plan, seeds=seeds, s=s)
        each = [fit(values=[value]).predict(plan.test(s), output) for value in values]
        return np.concatenate(each, axis=1)

    found = stream(predict, range(plan.n_splits), n_jobs=n_jobs, ahead=0)
    for s, predictions in enumerate(track(found, "folds", plan.n_splits)):
        yield plan.repeat(s), plan.test(s), predictions


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
    splits = track(range(plan.n_splits), "folds")
    for s, predictions in enumerate(share_out(work, splits, n_jobs=n_jobs)):
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
        self.learner = problem.coded(seeded(clone(learner_of(estimator)), seed))
        self.complaints = partial(design_of, estimator, problem)
        self.present, y = np.arange(0), part.target
        if part.target is not None and problem.classes is not None:
            self.present, y = np.unique(part.target, return_inverse=True)
            refuse_part_of_one_class(self.present, problem)
            self.learner = self.learner.for_classes(self.present)
        with of_all_rows(self.complaints):
            self.steps, X = fit_steps(estimator, part, seed)
            design = self.learner.design(X) if part.design is None else part.design
        groups = {"groups": part.group} if self.learner.takes_groups else {}
        self.path: Path = self.learner.fit_path(
            design, y, part.weight, values, n_classes=len(self.present), **groups
        )

    def predict(self, rows: Ints, output: Output) -> Array:
        """Of rows of the problem, by their numbers."""
        if self.problem.design is not None:
            return self._of_design(_safe_indexing(self.problem.design, rows), output)
        with of_all_rows(self.complaints):
            return self.predict_at(_safe_indexing(self.problem.X, rows), output)

    def predict_at(self, X: Any, output: Output) -> Array:
        """Of any rows, which the steps before the learner have not seen."""
        for step in self.steps:
            X = step.transform(X)
        return self._of_design(self.learner.design(X), output)

    def _of_design(self, design: Any, output: Output) -> Array:
        prediction = self.path.predict_path(design, output)
        if self.problem.classes is None:
            return prediction
        return align(prediction, self.present, self.problem.n_classes, output)


@contextmanager
def of_all_rows(look: Callable[[], Any]) -> Iterator[None]:
    """Where some rows are refused, `look` at all of them: its complaint counts the user's rows."""
    try:
        yield
    except DataError as refusal:
        fault = refusal
    else:
        return
    look()
    raise fault


def design_of(estimator: Any, problem: Problem) -> Any:
    """X as the learner meets it behind the steps before it, fitted on all rows of the problem."""
    with problem.counting_rows():
        return learner_of(estimator).design(fit_steps(estimator, problem, GRID_SEED)[1])


def fit_steps(estimator: Any, problem: Problem, seed: int | None) -> tuple[list[Any], Any]:
    """The steps before the learner and X behind them, both as `Pipeline.fit` has them.

    Weights, if there are any, go to the steps that take them.
    """
    steps, X = [], problem.X
    for _, transformer in estimator.steps[:-1] if isinstance(estimator, Pipeline) else ():
        if transformer is None or transformer == "passthrough":
            continue
        fitted = seeded(clone(transformer), seed)
        is_weighted = problem.weighted and takes_weights(fitted)
        weight = {"sample_weight": problem.weight} if is_weighted else {}
        if hasattr(fitted, "fit_transform"):  # of a TargetEncoder it is not fit, then transform
            X = fitted.fit_transform(X, problem.y, **weight)
        else:
            X = fitted.fit(X, problem.y, **weight).transform(X)
        steps.append(fitted)
    return steps, X


def default_values(estimator: Any, problem: Problem, n_train: int) -> Sequence[Any]:
    """The learner's own grid, for X as it meets it when all rows of the problem train."""
    design = design_of(estimator, problem) if problem.design is None else problem.design
    return problem.coded(learner_of(estimator)).axis_values(
        design, problem.target, problem.weight, n_train=n_train
    )


def refuse_part_of_one_class(present: Ints, problem: Problem) -> None:
    """Raise a PlanError where a training part has rows of one class only."""
    if len(present) < 2:
        assert problem.classes is not None
        refuse_one_class(problem.classes, "a training part")
        label = problem.classes.tolist()[present[0]]
        others = np.count_nonzero(problem.target != present[0])
        raise PlanError(
            f"a training part has rows of one class only ({label!r:.60}); of all {problem.n} rows, "
            f"{others} of other classes: use fewer or stratified folds, or more rows of those "
            "classes"
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
        refuse_part_of_one_class(np.unique(train.target), problem)
    columns = []
    for value in values:
        check_deadline()
        model, seed = at_value(estimator, axis, value), None if seeds is None else seeds[s]
        with of_all_rows(partial(fit_foreign, model, problem, seed)):
            model = fit_foreign(model, train, seed)
            columns.append(foreign_prediction(model, test, problem, output))
    return np.stack(columns, axis=1)
