"""The .632 and .632+ bootstrap estimates of risk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from empirisk.losses import Loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import fit_foreign, foreign_prediction
from empirisk.risk.intervals.cautions import cautions
from empirisk.risk.intervals.interval import Interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.intervals.no_information import no_information_rate
from empirisk.risk.intervals.rare_losses import with_doubts
from empirisk.risk.plans.fingerprints import data_key, digest
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.leave_one_out_bootstrap import (
    LeaveOneOutBootstrap,
    leave_one_out_bootstrap,
)
from empirisk.risk.resampling.sample import Resamples, whole_number
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.scalars import check_level
from empirisk.runtime.streams import settled, spawn

HELD = 0.632  # the share of the rows that a resample holds, 1 - 1/e
LACKED = 0.368
OVERFITTED = 0.5  # where rules that fit their training rows well made .632+ too low, as simulated


def bootstrap_632plus(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    plus: bool = True,
    loss: Loss | str | None = None,
    n_resamples: int = 200,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RiskEstimate:
    """The risk of a procedure by the .632+ bootstrap (Efron & Tibshirani 1997).

    A model of a resample has seen 63.2 % of the rows, so the risk of the rows it lacks (the
    leave-one-out bootstrap, E) is too large, while the training risk T is too small. Between them,

        risk = (1 - w) T + w min(E, G),    w = 0.632 / (1 - 0.368 R),    R = (E - T) / (G - T),

    with R cut to between 0 and 1. The no-information rate G is the mean loss over all pairs of a
    target and a prediction. With `plus=False`, w = 0.632: too low for rules that overfit.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Resamples reach it as counts in `sample_weight`, as repeated rows where it takes none. A
        resample in which there is one class only predicts that class.
    X, y
    plus : bool
        Whether the weight w takes account of overfitting.
    loss : Loss or str, optional
        The one at which the learner aims (`own_loss`), else "squared" for a regressor and
        "zero_one" for a classifier, unless given.
    n_resamples : int
    sample_weight, groups : arrays, optional
        A row of weight w is w copies of it, and one observation in the draw; groups are drawn as a
        whole.
    level : float
        Of the confidence interval, which is one of t on the log scale. Its standard error is that
        of the delta method, with the influence of each row on E as Efron and Tibshirani give it.
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = X[:, 0] + rng.normal(size=100)
    >>> print(bootstrap_632plus(LinearRegression(), X, y, random_state=0))
    The squared risk of the procedure at this n is ..., 95 % interval ... to ... (.632+ bootstrap:
    0.3... of the training risk ... and 0.6... of the risk of rows left out ...).
    """
    check_level(level)
    problem = Problem.of(estimator, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    if problem.target is None:
        raise DataError("the .632 bootstrap is for predictors, and the target y is None: give y")
    problem = problem.typed(estimator)
    resamples, unit, seeds = _plan(problem, n_resamples, random_state)
    training, no_information = _training_losses(estimator, problem, seeds, resamples.seed)
    left_out = leave_one_out_bootstrap(
        estimator,
        problem,
        unit,
        resamples,
        scale=no_information if 0 < no_information < np.inf else 1.0,
        seeds=seeds,
        n_jobs=n_jobs,
    )
    share = problem.weight / problem.weight.sum()
    mixture = Mixture(float(share @ training), left_out.risk, no_information, plus)
    table = LossTable(
        losses=mixture.of_rows(training, left_out.losses),
        weight=problem.weight,
        unit=unit,
        split=np.zeros(problem.n, dtype=np.int64),
        n_train=HELD * problem.n,
        kind="bootstrap",
        bounds=problem.loss.bounds,
        how="each row by the model of all and by those of resamples without it",
    )
    table = with_doubts(table, problem.loss)
    return RiskEstimate.of(
        table,
        loss=str(problem.loss),
        estimates="the procedure at this n",
        fingerprint=digest("bootstrap", data_key(y, sample_weight, groups), str(resamples)),
        level=level,
        found=_interval(mixture, table, _standard_error(mixture, table, training, left_out), level),
    )


def bootstrap_632(estimator: Any, X: Any, y: Any, **options: Any) -> RiskEstimate:
    """`bootstrap_632plus` with the weight 0.632 whatever the overfitting.

    Parameters
    ----------
    estimator, X, y, **options
        As in `bootstrap_632plus`.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> print(bootstrap_632(LinearRegression(), X, X[:, 0] + rng.normal(size=100), random_state=0))
    The squared risk of the procedure at this n is 0.8742, 95 % interval 0.5904 to 1.294 (.632
    bootstrap: 0.37 of the training risk 0.8097 and 0.63 of the risk of rows left out 0.9117).
    """
    return bootstrap_632plus(estimator, X, y, plus=False, **options)


@dataclass(frozen=True)
class Mixture:
    """The training risk and the risk of rows left out, mixed by how much the rule overfits."""

    training: float
    left_out: float
    no_information: float
    plus: bool

    @property
    def capped(self) -> float:
        return min(self.left_out, self.no_information) if self.plus else self.left_out

    @property
    def overfitting(self) -> float:
        """R: 0 where left-out rows do as well as training rows, 1 where nothing was learned."""
        rise, most = self.left_out - self.training, self.no_information - self.training
        if not (np.isfinite(rise) and rise > 0 and most > 0):
            return 0.0
        return min(rise / most, 1.0)

    @property
    def weight(self) -> float:
        return HELD / (1 - LACKED * self.overfitting) if self.plus else HELD

    @property
    def value(self) -> float:
        return (1 - self.weight) * self.training + self.weight * self.capped

    @property
    def slopes(self) -> tuple[float, float]:
        """The derivatives of the value in the training risk and in the risk of left-out rows."""
        w, R = self.weight, self.overfitting if self.plus else 0.0
        return 1 - w - w * LACKED * R * (1 - R) / (1 - LACKED * R), w / (1 - LACKED * R)

    def of_rows(self, training: Floats, left_out: Floats) -> Floats:
        """What each row adds: numbers whose mean is the value."""
        factor = self.capped / self.left_out if 0 < self.left_out < np.inf else 1.0
        return (1 - self.weight) * training + self.weight * factor * left_out

    @property
    def reason(self) -> str:
        name = "no-information rate" if self.capped < self.left_out else "risk of rows left out"
        w = self.weight
        return (
            f"{1 - w:.2f} of the training risk {self.training:.4g} and {w:.2f} of the {name} "
            f"{self.capped:.4g}"
        )


def _plan(
    problem: Problem, n_resamples: int, random_state: Any
) -> tuple[Resamples, Ints, list[int] | None]:
    """The resamples, the unit of each row, and the seeds of the fits, if they are to have some."""
    unit = problem.unit
    n, n_resamples = int(unit.max()) + 1, whole_number(n_resamples, "n_resamples", 2)
    if n < 2:
        raise DataError("the data are one row or group; a bootstrap needs two or more")
    random_state = settled(random_state)
    draw, *seeds = spawn(random_state, n_resamples + 2)
    return Resamples(n, n, n_resamples, draw), unit, None if random_state is None else seeds


def _training_losses(
    estimator: Any, problem: Problem, seeds: list[int] | None, seed: int
) -> tuple[Floats, float]:
    """The losses of the rows by the model of all rows, and the no-information rate of that."""
    model = fit_foreign(estimator, problem, None if seeds is None else seeds[-1])
    prediction = foreign_prediction(model, problem.X, problem, problem.loss.output)
    losses = problem.row_losses(prediction)
    return losses, no_information_rate(problem, prediction, seed)


def _standard_error(
    mixture: Mixture, table: LossTable, training: Floats, left_out: LeaveOneOutBootstrap
) -> float | None:
    """By the delta method, from the influence of each unit on both risks.

    That on the training risk is taken at the model as it is: at a minimum of the training risk, a
    row that moves the model a little does not change it. Never below the error of independent rows.
    """
    naive = table.standard_error()
    if naive is None or not np.isfinite(left_out.influence).all():
        return None
    of_training, of_left_out = mixture.slopes
    direct = np.bincount(table.unit, table.share * ((training - mixture.training) / left_out.scale))
    influence = of_training * direct + of_left_out * left_out.influence
    variance = np.square(influence).sum() - of_left_out**2 * left_out.internal
    return max(left_out.scale * float(np.sqrt(max(variance, 0.0))), naive)


def _interval(mixture: Mixture, table: LossTable, error: float | None, level: float) -> Interval:
    """value exp(± t error / value), inside the range of the loss."""
    value, name = mixture.value, ".632+ bootstrap" if mixture.plus else ".632 bootstrap"
    if error is None or not np.isfinite(value):
        return Interval(value, None, None, "none", "some losses are not finite")
    if not (error > 0 and value > 0):
        reason = f"{mixture.reason}; the losses are all equal, so their spread is unknown"
        return Interval(value, None, None, "none", reason)
    with np.errstate(over="ignore"):
        factor = float(np.exp(stats.t.ppf((1 + level) / 2, table.units - 1) * error / value))
    low, high = table.bounds
    ends = max(value / factor, low), min(value * factor, high)
    if not np.isfinite(ends).all():
        return Interval(value, None, error, "none", f"{table.units} rows are too few for one")
    doubts = cautions(table)
    if mixture.overfitting > OVERFITTED:
        doubts += ("the rule overfits, which makes this estimate too low",)
    return Interval(value, ends, error, name, mixture.reason, doubts)
