"""What is asked of the engine, and the choice of the fastest rung that is exact."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from empirisk.data.encode import Encoder, FoldDesign
from empirisk.risk.axis import Axis, CannotSubtractError, HeldOut, Output, Path, PathMixin
from empirisk.risk.bagging.rung import bagged_rung, own_plan
from empirisk.risk.foreign import foreign_training_risk, seeded, under_deadline
from empirisk.risk.learner import declared_axis, learner_of
from empirisk.risk.plans.out_of_bag import OUT_OF_BAG
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import (
    fit_all_values,
    generic_rung,
    path_rung,
    plan_rung,
    rows_per_block,
)
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.parallel import slices, stream
from empirisk.runtime.streams import spawn

Rung = Literal["plan", "path", "generic"]

SHARES, LEAST_ROWS = 16, 256
"""Of the training rows, to be predicted by threads side by side."""


class Whole(NamedTuple):
    """The path of a learner when all rows train, and its predictions of some of them."""

    path: Path
    predict: Callable[[Ints, Output], Array]


@dataclass(frozen=True, eq=False)
class Work:
    """An estimator on a problem, and how to share out the work; `rung` forces one."""

    estimator: Any
    axis: Axis | None
    problem: Problem
    rung: Rung | None
    random_state: Any
    n_jobs: int | None

    @property
    def has_path(self) -> bool:
        """Whether the learner has a path, along this axis, and may take it."""
        own = self.axis == declared_axis(self.estimator)
        return own and isinstance(learner_of(self.estimator), PathMixin) and self.rung != "generic"

    def designed(self) -> Self:
        """With the design that all folds have in common, where a path is taken."""
        problem = self.problem
        common = problem.designed if self.has_path else problem.typed
        return replace(self, problem=common(self.estimator))

    def held_out(
        self, plan: Plan, values: Sequence[Any], output: Output | None = None
    ) -> tuple[HeldOut, Rung, str]:
        """Held-out predictions by the fastest rung that is exact, which one, and why not faster.

        They are what the loss asks for unless an output is named.
        """
        if plan.kind == OUT_OF_BAG:
            return self._out_of_bag(plan, values)
        estimator, problem = self.estimator, self.problem
        if problem.classes is not None:
            refuse_one_class(problem.classes, "cross-validation")
        output = problem.loss.output if output is None else output
        if not self.has_path:
            problem = replace(problem, design=None)  # an estimator as it is takes X as it is
            blocks = generic_rung(
                estimator, self.axis, problem, plan, values, output,
                seeds=self._seeds(plan), n_jobs=self.n_jobs,
            )  # fmt: skip
            return HeldOut(blocks), "generic", self._why_generic
        why = "asked for"
        if self.rung != "path":
            try:
                return self._whole_plan(plan, values, output), "plan", ""
            except CannotSubtractError as refusal:
                why = str(refusal)
        blocks = path_rung(
            estimator, problem, plan, values, output, seeds=self._seeds(plan), n_jobs=self.n_jobs
        )
        return HeldOut(blocks), "path", why

    @property
    def _why_generic(self) -> str:
        along = f" along {self.axis.params}" if self.axis and declared_axis(self.estimator) else ""
        name = type(learner_of(self.estimator)).__name__
        return f"{name} declares no path{along}" if self.rung is None else "asked for"

    def _out_of_bag(self, plan: Plan, values: Sequence[Any]) -> tuple[HeldOut, Rung, str]:
        """By one ensemble for each value, fitted on all rows with the same seed."""
        problem, output = self.problem, self.problem.loss.output
        why = self._why_generic
        if self.has_path and own_plan(self.estimator) == OUT_OF_BAG and self.rung != "path":
            learner = seeded(clone(self.estimator), self._seed)
            try:
                held_out = plan_rung(learner, problem, plan, values, output)
                return held_out, "plan", "by out-of-bag rows"
            except CannotSubtractError as refusal:
                why = str(refusal)
        size = rows_per_block(len(values), problem.n_classes)
        held_out = bagged_rung(
            self.estimator, self.axis, replace(problem, design=None), values, output,
            rows_per_block=size, seed=self._seed, n_jobs=self.n_jobs,
        )  # fmt: skip
        return held_out, "generic", why

    def _whole_plan(self, plan: Plan, values: Sequence[Any], output: Output) -> HeldOut:
        learner, problem = learner_of(self.estimator), self.problem
        if learner is not self.estimator:
            encoder = self.estimator.steps[0][1]
            alone = len(self.estimator.steps) == 2 and isinstance(encoder, Encoder)
            if not (alone and learner.takes_fold_design):
                raise CannotSubtractError("the steps before the learner are fitted in each fold")
            design = FoldDesign.of(encoder, problem.X, problem.weight)
            problem = replace(problem, design=design)
        return plan_rung(learner, problem, plan, values, output)

    def whole(self, values: Sequence[Any], path: Path | None) -> Whole:
        """The path on all rows: the given one, which came along with a plan, or a new fit."""
        if path is not None:
            design = self.problem.design
            return Whole(path, lambda rows, to: path.predict_path(_safe_indexing(design, rows), to))
        fitted = fit_all_values(self.estimator, self.problem, values, self._seed)
        return Whole(fitted.path, fitted.predict)

    def training_risk(self, values: Sequence[Any], whole: Whole | None) -> Floats:
        """The mean loss at each value on the rows that trained."""
        problem = self.problem
        if whole is None and self.has_path:  # one model at a time
            return np.array([self.training_risk([v], self.whole([v], None))[0] for v in values])
        if whole is None:
            fit = partial(foreign_training_risk, self.estimator, self.axis, problem, self._seed)
            return np.array([under_deadline(fit)(value) for value in values])
        known = getattr(whole.path, "training_risk", None)
        found = None if known is None else known(problem.loss)
        if found is not None:
            return found
        sums = self._by_blocks(whole, values, lambda rows, losses: problem.weight[rows] @ losses)
        return sum(sums, np.zeros(len(values))) / problem.weight.sum()

    def training_losses(self, values: Sequence[Any], whole: Whole, j: int) -> Floats:
        """The loss at the j-th value of each row, all of which trained."""
        # A view would keep all values of its block.
        blocks = self._by_blocks(whole, values, lambda _, losses: losses[:, j].copy())
        return np.concatenate(list(blocks))

    def _by_blocks(
        self, whole: Whole, values: Sequence[Any], use: Callable[[Ints, Floats], Floats]
    ) -> Iterator[Floats]:
        """What is made of the losses at all values on the rows that trained, block by block."""
        problem, output = self.problem, self.problem.loss.output

        def used(block: slice) -> Floats:
            rows = np.arange(problem.n)[block]
            return use(rows, problem.losses(rows, whole.predict(rows, output)))

        few = max(LEAST_ROWS, -(-problem.n // SHARES))
        size = min(few, rows_per_block(len(values), problem.n_classes))
        return stream(used, slices(problem.n, size), n_jobs=self.n_jobs)

    @property
    def _seed(self) -> int | None:
        return None if self.random_state is None else spawn(self.random_state, 1)[0]

    def _seeds(self, plan: Plan) -> list[int] | None:
        return None if self.random_state is None else spawn(self.random_state, plan.n_splits)
