"""The learning curve: honest and training risk of a learner at growing numbers of rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.charts.learning_curve import draw_learning_curve
from empirisk.losses import Loss
from empirisk.risk.foreign import fit_foreign, foreign_prediction, share_out
from empirisk.risk.intervals.interval import Interval, interval, widening
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.intervals.rare_losses import with_doubts
from empirisk.risk.learning_curves.crossed_errors import errors_of_means
from empirisk.risk.learning_curves.extrapolation import Extrapolation, extrapolate
from empirisk.risk.learning_curves.nested_subsets import (
    Split,
    checked_sizes,
    plans_of,
    rows_for_two_classes,
    splits_of,
)
from empirisk.risk.learning_curves.risk_at_size import RiskAtSize
from empirisk.risk.plans.fingerprints import digest
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import refuse_part_of_one_class
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import settled, spawn


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Risks at growing numbers of training rows.

    Attributes
    ----------
    sizes : array
        Training rows; with groups the mean number, since groups stay whole.
    estimates : tuple of RiskAtSize
        The honest risk of the procedure at each size.
    training_risk : array
        The mean loss on the rows that trained: too good.
    standard_error, correlation : array
        Of the risks, whose errors all sizes share in part.
    n : int
        All rows there are.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X[:, 0] + rng.normal(size=200)
    >>> curve = risk.learning_curve(LinearRegression(), X, y, sizes=[20, 60, 180])
    >>> print(curve.sizes, curve.risk.round(2), curve.training_risk.round(2))
    [ 20.  60. 180.] [1.49 1.1  0.99] [0.75 0.92 0.93]
    """

    sizes: Floats
    estimates: tuple[RiskAtSize, ...]
    training_risk: Floats
    standard_error: Floats
    correlation: Floats
    n: int

    @property
    def risk(self) -> Floats:
        return np.array([estimate.value for estimate in self.estimates])

    def extrapolate(
        self, *, bayes_risk: float | None = None, n_draws: int = 1000, random_state: Any = 0
    ) -> Extrapolation:
        """Carry the curve on as a + b n^-c, to say what more rows would bring.

        Parameters
        ----------
        bayes_risk : float, optional
            The risk that no model can beat, such as the variance of the noise, where it is known.
        n_draws : int
            Curves drawn from the errors of the risks, for the band.
        random_state

        Raises
        ------
        DataError
            There are too few sizes, or the risks do not follow such a curve.
        """
        return extrapolate(
            self.sizes,
            self.risk,
            self.standard_error,
            self.correlation,
            of=self.estimates[-1],
            n=self.n,
            bayes_risk=bayes_risk,
            n_draws=n_draws,
            random_state=random_state,
        )

    @property
    def sentence(self) -> str:
        """The ends of the curve, and what more rows would bring."""
        first, last = self.estimates[0], self.estimates[-1]
        text = (
            f"From {self.sizes[0]:.0f} to {self.sizes[-1]:.0f} training rows the {last.loss} risk "
            f"goes from {first.value:.4g} to {last.value:.4g}, the training risk from "
            f"{self.training_risk[0]:.4g} to {self.training_risk[-1]:.4g}."
        )
        try:
            return f"{text} {self.extrapolate().sentence}"
        except DataError as refusal:
            text = f"{text} It is not carried on: {refusal}."
        heard = last.cautions
        return f"{text} Each risk has an interval; but {', and '.join(heard)}." if heard else text

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None, *, bayes_risk: float | None = None) -> Any:
        """Honest risk with intervals and training risk; carried on to 10 n where that is valid."""
        further = None
        try:
            carried = self.extrapolate(bayes_risk=bayes_risk)
            n = np.geomspace(self.sizes[0], 10 * self.n, 50)
            further = (n, *carried.band(n))
        except DataError:
            pass
        return draw_learning_curve(
            self.sizes,
            self.risk,
            [estimate.interval for estimate in self.estimates],
            self.training_risk,
            label=f"{self.estimates[0].loss} risk",
            further=further,
            bayes_risk=bayes_risk,
            ax=ax,
        )


def learning_curve(
    learner: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[Any] | None = None,
    cv: Any = None,
    test_size: float | None = None,
    repeats: int = 2,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LearningCurve:
    """The risk of a learner at growing numbers of training rows.

    Every training part is put in a random order, classes evenly mixed and groups whole; the models
    of all sizes come from the first rows of that order, and predict the rows held out. Of a plan
    in time order they come from the latest rows, in the order that they have.

    Parameters
    ----------
    learner : estimator, ours or not
    X, y, sample_weight, groups
    sizes : sequence, optional
        Numbers of training rows, or shares of the largest; by default eight, in equal ratios.
    cv : as in `cross_validate`
        Ten folds unless given.
    test_size : float, optional
        Keep this share of the rows apart as test rows, instead of cross-validation.
    repeats : int
        How often all of it is done, with other folds (where they are drawn) and other orders.
    loss, level
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=300)
    >>> curve = learning_curve(LinearRegression(), X, y, sizes=[20, 40, 80, 160, 270])
    >>> print(curve.risk.round(2), curve.training_risk.round(2))
    [0.9  0.75 0.65 0.6  0.59] [0.44 0.5  0.55 0.56 0.55]
    >>> print(curve.extrapolate().verdict, "|", curve.extrapolate(bayes_risk=0.25).verdict)
    not more data | a better model
    """
    if not is_whole(repeats, 1):
        raise ParameterError(f"repeats is {repeats!r}; give 1 or more")
    problem = Problem.of(learner, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    problem = problem.typed(learner)
    random_state = settled(random_state)
    plan_seed, order_seed = spawn(0 if random_state is None else random_state, 2)
    plans = plans_of(problem, cv, test_size, repeats, plan_seed)
    largest = min(len(plan.train(s)) for plan in plans for s in range(plan.n_splits))
    rows = checked_sizes(sizes, largest, problem)
    splits = splits_of(problem, plans, rows, order_seed, seeded=random_state is not None)
    work = partial(_split_losses, learner, problem)
    found = share_out(work, track(splits, "training parts"), n_jobs=n_jobs)
    return _curve(problem, plans, splits, found, level)


def _split_losses(learner: Any, problem: Problem, split: Split) -> tuple[Floats, Floats]:
    """Losses of the test rows (rows, sizes), and the training risk at each size."""
    held_out, training = [], []
    for train in split.trains:
        check_deadline()
        part = problem.rows(train)
        if part.classes is not None and part.target is not None:
            _refuse_one_class(problem, split, train)
        model = fit_foreign(learner, part, split.seed)
        held_out.append(_losses(model, problem, split.test))
        training.append(np.average(_losses(model, problem, train), weights=part.weight))
    return np.stack(held_out, axis=1), np.array(training)


def _refuse_one_class(problem: Problem, split: Split, train: Ints) -> None:
    """Where the largest training set has two classes, it is the size that is at fault."""
    assert problem.target is not None
    present, all_present = (np.unique(problem.target[some]) for some in (train, split.trains[-1]))
    if len(present) < 2 <= len(all_present):
        raise PlanError(
            f"a training set of {len(train)} row(s) has one class only: give larger sizes, here of "
            f"about {rows_for_two_classes(problem)} rows or more, or leave sizes out"
        )
    refuse_part_of_one_class(present, problem)


def _losses(model: Any, problem: Problem, rows: Ints) -> Floats:
    X = _safe_indexing(problem.X, rows)
    prediction = foreign_prediction(model, X, problem, problem.loss.output)
    return problem.row_losses(prediction, rows)


def _curve(
    problem: Problem,
    plans: list[Plan],
    splits: list[Split],
    found: list[tuple[Floats, Floats]],
    level: float,
) -> LearningCurve:
    losses = np.concatenate([held_out for held_out, _ in found])
    sizes = np.array([[len(train) for train in s.trains] for s in splits]).mean(axis=0)
    tables = _tables(problem, plans, splits, losses, sizes)
    with np.errstate(invalid="ignore"):  # infinite losses: their error is infinite all the same
        widths = np.array([widening(table) for table in tables])
    error, correlation = errors_of_means(
        losses,
        tables[0].weight,
        tables[0].unit,
        tables[0].split,
        widths,
        same_rows=plans[0].kind == "holdout",
    )
    key = digest(*(plan.fingerprint for plan in plans))
    estimates = tuple(
        replace(
            RiskAtSize.of(
                table,
                loss=str(problem.loss),
                estimates="the procedure at this n",
                fingerprint=digest(key, sizes[j : j + 1]),
                level=level,
                found=_interval(table, level, float(error[j])),
            ),
            rows=float(sizes[j]),
        )
        for j, table in enumerate(tables)
    )
    training = np.mean([risk for _, risk in found], axis=0)
    return LearningCurve(sizes, estimates, training, error, correlation, problem.n)


def _tables(
    problem: Problem, plans: list[Plan], splits: list[Split], losses: Floats, sizes: Floats
) -> list[LossTable]:
    """The held-out losses at each size of the training sets, on the same rows."""
    row = np.concatenate([split.test for split in splits])
    kind, groups = plans[0].kind, plans[0].groups
    repeated = len(plans) > 1 and kind in ("kfold", "grouped", "leave_one_out")
    weight, units = problem.weight[row], row if groups is None else groups[row]
    split = np.repeat(np.arange(len(splits)), [len(each.test) for each in splits])
    tables = [
        LossTable(
            losses=np.ascontiguousarray(losses[:, j]),
            weight=weight,
            unit=units,
            split=split,
            n_train=size,
            kind="repeated" if repeated else kind,
            bounds=problem.loss.bounds,
        )
        for j, size in enumerate(sizes)
    ]
    return [with_doubts(table, problem.loss) for table in tables]


def _interval(table: LossTable, level: float, error: float) -> Interval:
    """The interval of the rows, drawn out by what the training sets add to its error."""
    found = interval(table, level)
    if found.ends is None or not found.standard_error:
        return found
    factor = max(error / found.standard_error, 1.0)
    low = max(found.centre - factor * (found.centre - found.ends[0]), table.bounds[0])
    high = min(found.centre + factor * (found.ends[1] - found.centre), table.bounds[1])
    reason = f"{found.reason}; other training sets of {table.n_train:.0f} rows add to the error"
    return replace(
        found, ends=(low, high), standard_error=factor * found.standard_error, reason=reason
    )
