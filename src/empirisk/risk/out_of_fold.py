"""The engine: a plan applied to a learner gives a matrix of losses, held-out rows by values.

Risk curves, comparisons, selection and pictures are computed from this matrix, never by another
path through the data; intervals, too, beside what a fit to all rows tells of its degrees of
freedom, of the influence of its rows and of their losses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from empirisk.losses import Log
from empirisk.risk.axis import Axis, Path
from empirisk.risk.choosing import Rule, check_rule, simplest_within
from empirisk.risk.estimate import Estimand, RiskEstimate
from empirisk.risk.foreign import at_value
from empirisk.risk.intervals.degrees_of_freedom import freedom_by_name, freedom_of, smoother_freedom
from empirisk.risk.intervals.influence import Influence
from empirisk.risk.intervals.loss_table import LossTable, standard_errors
from empirisk.risk.intervals.other_loss import has_sides, with_other_loss
from empirisk.risk.intervals.rare_losses import with_doubts
from empirisk.risk.intervals.refits import REFITTING, Refits, refitted
from empirisk.risk.intervals.timid import TIMID, are_timid, is_penalised
from empirisk.risk.judges import Judges
from empirisk.risk.learner import along_axis, declared_axis, learner_of, owner_of
from empirisk.risk.plans.out_of_bag import OutOfBagPlan
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import one_at_a_time
from empirisk.risk.work import Rung, Whole, Work
from empirisk.runtime.arrays import Array, Bools, Floats, Ints, slice_if_in_a_row
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.streams import spawn

COMPARED_FOLDS = ("kfold", "grouped", "repeated")
CHOSEN_ANEW = (
    "each training part chooses by itself, and simulated intervals at 90 % of the 0-1 loss covered "
    "84 to 90 % where the rivals had little in common"
)


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Losses of held-out rows (entries) for all values of a learner's axis.

    Attributes
    ----------
    values : sequence
        Along the axis; (None,) for a learner taken as it is.
    complexity : array
        Increasing from simple to rich.
    plan : Plan
    row, split : int arrays
        Of each entry, ordered by split, then row; repeats give several entries per row.
    losses : array of shape (entries, values)
    weight : array
        The weight of each entry's row.
    rung : {"plan", "path", "generic"}
        How the predictions were found, and `why` not faster.
    above : array of shape (entries, values), or None
        Of an absolute or quantile loss, whether the target lies above the prediction.
    work : Work
        What was asked; `path` is the path fitted on all rows where it came along, and `judges` are
        those of an out-of-bag plan.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import Plan, Ridge, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 2))
    >>> problem = risk.Problem.of(Ridge(), X, X[:, 0])
    >>> plan = Plan.of(5, X, problem.target)
    >>> found = risk.out_of_fold(Ridge(), problem, plan, values=[10.0, 0.1])
    >>> found.losses.shape, found.rung, found.complexity
    ((30, 2), 'plan', array([0., 1.]))
    """

    values: Sequence[Any]
    complexity: Floats
    plan: Plan
    row: Ints
    split: Ints
    losses: Floats
    weight: Floats
    rung: Rung
    why: str
    work: Work = field(repr=False)
    above: Bools | None = field(default=None, repr=False)
    path: Path | None = field(default=None, repr=False)
    judges: Judges | None = field(default=None, repr=False)

    @cached_property
    def risk(self) -> Floats:
        """The pooled mean loss at each value."""
        return (self.weight / self.weight.sum()) @ self.losses

    @cached_property
    def standard_error(self) -> Floats:
        """Per-row standard error at each value; NaN where it is unknown."""
        return standard_errors(self.losses, self.weight, self.unit, self.risk)

    @property
    def unit(self) -> Ints:
        """The group of each entry's row, or the row itself: what was sampled independently."""
        return self.row if self.plan.groups is None else self.plan.groups[self.row]

    @cached_property
    def whole(self) -> Whole | None:
        """The path on all rows; None where models are not kept, foreign or one at a time."""
        known = self.path is not None or (
            self.work.has_path and not one_at_a_time(self.work.estimator)
        )
        return self.work.whole(self.values, self.path) if known else None

    def degrees_of_freedom(self, j: int) -> float | None:
        """Of the learner at the j-th value when all rows train; None where they are not known."""
        estimator, problem = self.work.estimator, self.work.problem
        freedom = freedom_of(estimator)
        if freedom == "smoother" or self.judges is not None:
            return smoother_freedom(self.plan.n)
        if freedom is None or not self.work.has_path:
            settled = at_value(estimator, self.work.axis, self.values[j])
            return freedom_by_name(settled, problem.X, self.plan.n)
        if freedom == "columns" and self.rung == "plan" and problem.design is not None:
            # Without a fit: a plan-wide rung declines columns that depend on one another. Constant
            # ones, which least squares drops instead, are counted all the same.
            return problem.design.shape[1] + float(getattr(estimator, "fit_intercept", True))
        assert self.whole is not None
        return float(self.whole.path.degrees_of_freedom[j])

    def table(self, j: int) -> LossTable:
        """The losses at the j-th value as intervals want them."""
        once = self.plan.judges_one_model
        influence = None if once else self._influence(j)
        through = None if influence is None else influence.through
        table = LossTable(
            losses=np.ascontiguousarray(self.losses[:, j]),
            weight=self.weight,
            unit=self.unit,
            split=self.split,
            n_train=self.plan.n_train,
            kind=self.plan.kind,
            bounds=self.work.problem.loss.bounds,
            degrees_of_freedom=None if once else self.degrees_of_freedom(j),
            is_best=not once and self._chooses_anew,
            how="" if self.judges is None else self.judges.how,
            doubts=() if once else self._doubts(j),
            through=None if through is None else through[self.row],
            shift=0.0 if influence is None else influence.rise * self._fewer,
        )
        loss, y = self.work.problem.loss, self.work.problem.target
        if self.above is not None and not once:
            assert y is not None
            table = with_other_loss(table, loss, y[self.row], self.above[:, j])
        return with_doubts(table, loss)

    def _beside(self, j: int) -> Floats | None:
        """The losses of the model of all rows where folds are compared and fitted one by one.

        That costs a fit more where the model is not there yet, so none is made where the degrees of
        freedom are known.
        """
        compared = self.plan.kind in COMPARED_FOLDS and self.rung == "path"
        if not compared or freedom_of(self.work.estimator) is not None or self.whole is None:
            return None
        losses = self.work.training_losses(self.values, self.whole, j)
        return losses[self.row] if np.isfinite(losses).all() else None

    def _influence(self, j: int) -> Influence | None:
        """How rows move the risk through the model at the j-th value; None where not known."""
        if not (self.work.has_path and learner_of(self.work.estimator).has_influence):
            return None
        assert self.whole is not None
        problem = self.work.problem
        return self.whole.path.influence(j, problem.loss, problem.weight)  # type: ignore[attr-defined]

    @property
    def _fewer(self) -> float:
        """By which share of themselves the training rows are fewer than all."""
        return self.plan.n / self.plan.n_train - 1

    @property
    def _chooses_anew(self) -> bool:
        """Whether each training part chooses, by mistakes or costs; by squares intervals cover."""
        chooses = getattr(learner_of(self.work.estimator), "chooses", False)
        problem = self.work.problem
        return bool(chooses and problem.n_classes and problem.loss.output == "value")

    def _doubts(self, j: int) -> tuple[str, ...]:
        """What intervals at the j-th value do not guarantee for a reason the losses do not show."""
        learner = learner_of(self.work.estimator)
        found = () if self.judges is None else self.judges.doubts(self.work.problem)
        if self._chooses_anew:
            return (*found, CHOSEN_ANEW)
        if not self.work.has_path and self._are_timid(j):
            return (*found, TIMID)
        if not (self.work.has_path and learner.has_doubts):
            return found
        assert self.whole is not None
        output = self.work.problem.loss.output
        return (*found, *self.whole.path.doubts(j, output))  # type: ignore[attr-defined]

    def _are_timid(self, j: int) -> bool:
        problem = self.work.problem
        if not (isinstance(problem.loss, Log) and problem.n_classes == 2):
            return False
        assert problem.target is not None
        return is_penalised(self.work.estimator) and are_timid(
            self.losses[:, j], problem.target[self.row], self.weight
        )

    def estimate(self, j: int = 0, method: str = "auto", *, level: float = 0.95) -> RiskEstimate:
        """The risk at the j-th value."""
        table = replace(self.table(j), beside=self._beside(j))
        once = self.plan.judges_one_model
        estimand: Estimand = "this model" if once else "the procedure at this n"
        found = None
        if isinstance(method, str) and method in REFITTING:
            again = partial(self._losses_again, self.values[j])
            work = self.work
            refits = Refits(table, self.plan, work.problem, again, work.random_state)
            found = refitted(refits, method, level)
        return RiskEstimate.of(
            table,
            loss=str(self.work.problem.loss),
            estimates=estimand,
            fingerprint=self.plan.fingerprint,
            level=level,
            method=method,
            found=found,
        )

    def _losses_again(self, value: Any, problem: Problem, plan: Plan) -> Floats:
        """At one value, on other rows or another plan that is a partition: (repeats, rows)."""
        losses = np.empty((plan.repeats, plan.n))
        with one_blas_thread():
            held_out = replace(self.work, problem=problem).held_out(plan, [value])[0]

            def enter(r: int, rows: Ints, prediction: Array) -> None:
                losses[r, rows] = problem.losses(rows, prediction)[:, 0]

            held_out.hand_to(enter)
        _refuse_nan(losses.T, [value] * plan.repeats, np.arange(plan.n))
        return losses

    def choose(self, rule: Rule = "best") -> int:
        """The value with the least risk, or the simplest within one standard error of it.

        Ties go to the simpler.
        """
        check_rule(rule)
        best = int(np.argmin(self.risk))
        if not np.isfinite(self.risk[best]):
            raise DataError(
                "the risk is infinite at every value: the losses are too large for floating-point "
                "numbers; measure the columns in larger units"
            )
        slack = np.nan_to_num(self.standard_error[best]) if rule == "one_se" else 0.0
        return int(simplest_within(self.risk, self.complexity, slack))

    def predictions(self, j: int) -> Array:
        """Held-out predictions at the j-th value, one for each entry, found on the same plan.

        Class codes where the loss asks for a class, probabilities where it asks for those.
        """
        blocks: list[tuple[Ints, Array]] = []

        def keep(r: int, rows: Ints, prediction: Array) -> None:
            place = self.plan.place[r, rows]
            known = place >= 0  # out of bag at this value, a row may not be so at all of them
            blocks.append((place[known], prediction[known, 0]))

        self.work.held_out(self.plan, [self.values[j]])[0].hand_to(keep)
        places, columns = zip(*blocks, strict=True)
        found = np.empty_like(np.concatenate(columns))
        found[np.concatenate(places)] = np.concatenate(columns)
        return found

    def training_risk(self) -> Floats:
        """The mean loss on the training rows themselves when all rows train: too good."""
        return self.work.training_risk(self.values, self.whole)


def out_of_fold(
    estimator: Any,
    problem: Problem,
    plan: Plan,
    *,
    values: Sequence[Any] | None = None,
    axis: Axis | None = None,
    rung: Rung | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OutOfFold:
    """Apply a plan to an estimator and keep the loss of every held-out row at every value.

    Parameters
    ----------
    estimator : estimator or Pipeline
    problem : Problem
    plan : Plan
    values : sequence, optional
        Values of the axis; None takes the estimator as it is.
    axis : Axis, optional
        For an estimator that declares none itself.
    rung : {"plan", "path", "generic"}, optional
        Forces a rung instead of the fastest exact one.
    random_state
        Seeds each split for estimators whose own random_state is None.
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, Plan, risk
    >>> X = np.arange(12.0)[:, np.newaxis]
    >>> problem = risk.Problem.of(LinearRegression(), X, X[:, 0] ** 2)
    >>> found = out_of_fold(LinearRegression(), problem, Plan.of(4, X, problem.target))
    >>> found.row.tolist() == list(range(12)), found.losses.shape
    (True, (12, 1))
    """
    axis = axis if axis is not None else declared_axis(estimator)
    as_it_is = values is None
    if values is None:
        values = current_value(estimator, axis)
    else:
        estimator = along_axis(estimator, axis)
    complexity = np.zeros(1) if axis is None or as_it_is else axis.complexity(values)
    if isinstance(plan, OutOfBagPlan):  # all values, and all later questions, see the same draws
        random_state = spawn(random_state, 1)[0] if random_state is None else random_state
    work = Work(estimator, axis, problem, rung, random_state, n_jobs).designed()
    check_deadline()
    with one_blas_thread():
        held_out, used, why = work.held_out(plan, values)
        if isinstance(plan, OutOfBagPlan):
            assert held_out.judges is not None
            plan = plan.judged(held_out.judges.members)
        row, split = plan.entries
        losses = np.empty((len(row), len(values)))
        y = problem.target
        above = np.empty(losses.shape, bool) if has_sides(problem.loss, y) else None

        def enter(r: int, rows: Ints, prediction: Array) -> None:
            place = slice_if_in_a_row(plan.place[r, rows])
            losses[place] = work.problem.losses(rows, prediction)
            if above is not None and y is not None:
                above[place] = y[rows, np.newaxis] > prediction

        held_out.hand_to(enter, n_jobs=n_jobs)
    weight = problem.weight[row]
    found = OutOfFold(
        values, complexity, plan, row, split, losses, weight, used, why, work, above, held_out.path,
        held_out.judges,
    )  # fmt: skip
    if np.isnan(found.risk).any():  # as it is where a loss is
        _refuse_nan(losses, values, row)
    return found


def current_value(estimator: Any, axis: Axis | None) -> Sequence[Any]:
    """The one value at which an estimator stands; None without an axis."""
    if axis is None:
        return (None,)
    parts = tuple(owner_of(estimator, axis).get_params()[name] for name in axis.params)
    return (parts if len(parts) > 1 else parts[0],)


def _refuse_nan(losses: Floats, values: Sequence[Any], row: Ints) -> None:
    if np.isnan(losses).any():
        entry, j = np.argwhere(np.isnan(losses))[0]
        raise DataError(f"the loss of row {row[entry]} at value {values[j]!r} is not a number")
