"""The leave-one-out bootstrap: each row judged by the models of resamples that lack it.

With I_i^b = 1 where resample b lacks row i and Q_i^b the loss of row i by the model of resample b,

    E_i = sum_b I_i^b Q_i^b / sum_b I_i^b,      risk = sum_i w_i E_i / sum_i w_i.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from empirisk.risk.foreign import fit_foreign, foreign_prediction, share_out, takes_weights
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.sample import Resamples
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.progress import track

RESAMPLES_AT_ONCE = 32  # whose losses are in memory together


@dataclass(frozen=True, eq=False)
class LeaveOneOutBootstrap:
    """The mean loss of each row and the risk, their mean by weight.

    `influence` is that of each unit on the risk: the sum of their squares, less `internal`, is its
    variance. Both are in units of `scale`, so that squares of large losses do not overflow.
    """

    losses: Floats
    risk: float
    influence: Floats
    internal: float
    scale: float


def leave_one_out_bootstrap(
    estimator: Any,
    problem: Problem,
    unit: Ints,
    resamples: Resamples,
    *,
    scale: float,
    seeds: Sequence[int] | None,
    n_jobs: int | None,
) -> LeaveOneOutBootstrap:
    """Fit each resample, of units (rows or groups), and judge the rows that it lacks.

    `scale` is a loss of the usual size.
    """
    blocks = slices(resamples.number, RESAMPLES_AT_ONCE)
    lacking = sum((resamples.copies(block) == 0).sum(axis=0) for block in blocks)
    assert isinstance(lacking, np.ndarray)
    if (lacking == 0).any():
        raise ParameterError(
            f"{int((lacking == 0).sum())} of {resamples.n} units are in all {resamples.number} "
            "resamples, and no model can judge them: take more resamples, 50 at least"
        )
    share = problem.weight / problem.weight.sum()
    total, moments = np.zeros(problem.n), Moments(lacking, resamples)
    work = partial(_left_out_losses, estimator, problem, unit, resamples, seeds)
    for block in track(blocks, "resamples"):
        numbers = range(block.start, block.stop)
        losses = np.stack(share_out(work, numbers, n_jobs=n_jobs))
        total += losses.sum(axis=0)
        moments.add(block, _sums_by_unit(losses / scale * share, unit, resamples.n))
    losses = total / lacking[unit]
    influence, internal = moments.influence(np.bincount(unit, share).astype(float))
    return LeaveOneOutBootstrap(losses, float(share @ losses), influence, internal, scale)


class Moments:
    """What the standard error needs of the losses of units (Efron & Tibshirani 1997, section 5).

    The delta method after the bootstrap: with n units, shares v_u of the weight, N_u^b copies of
    unit u in resample b, a_u = v_u E_u and q^b = sum_u I_u^b v_u Q_u^b / sum_b I_u^b, the influence
    of unit u on the risk R is, as for equal shares there,

        D_u = (2 + 1/(n-1)) a_u - R (v_u + 1/(n-1)) + sum_b (N_u^b - mean_b N_u^b) q^b,

    and the variance sum_u D_u^2, less what finitely many resamples add to it: the variance of the
    mean of the Q_u^b, and that of the sum over b.
    """

    def __init__(self, lacking: Ints, resamples: Resamples) -> None:
        self.lacking, self.resamples = lacking, resamples
        self.total, self.squares = np.zeros((2, resamples.n))
        self.of_resample = np.zeros(resamples.number)

    def add(self, block: slice, losses: Floats) -> None:
        """Losses (resamples, units), each with its share; 0 for units that are not lacking."""
        self.total += losses.sum(axis=0)
        with np.errstate(over="ignore"):
            self.squares += np.square(losses).sum(axis=0)
        self.of_resample[block] = losses @ (1 / self.lacking)

    def influence(self, share: Floats) -> tuple[Floats, float]:
        """D_u, and what finitely many resamples add to the sum of their squares.

        NaN where a loss is infinite.
        """
        n, B = self.resamples.n, self.resamples.number
        if not np.isfinite(self.squares).all():
            return np.full(n, np.nan), np.nan
        each, factor = self.total / self.lacking, 2 + 1 / (n - 1)
        covariance, squares = self._covariances()
        influence = factor * each - each.sum() * (share + 1 / (n - 1)) + covariance
        of_mean = (self.squares / self.lacking - each**2) / self.lacking
        return influence, float((factor**2 * of_mean + squares - covariance**2 / B).sum())

    def _covariances(self) -> tuple[Floats, Floats]:
        """sum_b (N_u^b - mean) (q^b - mean) of each unit, and the sum of squares of its terms."""
        q = self.of_resample - self.of_resample.mean()
        covariance, squares = np.zeros((2, self.resamples.n))
        blocks = slices(self.resamples.number, RESAMPLES_AT_ONCE)
        mean = sum(self.resamples.copies(block).sum(axis=0) for block in blocks)
        mean = mean / self.resamples.number
        for block in blocks:
            terms = (self.resamples.copies(block) - mean) * q[block, None]
            covariance += terms.sum(axis=0)
            squares += np.square(terms).sum(axis=0)
        return covariance, squares


def _left_out_losses(
    estimator: Any,
    problem: Problem,
    unit: Ints,
    resamples: Resamples,
    seeds: Sequence[int] | None,
    b: int,
) -> Floats:
    """The losses of the rows that resample b lacks, 0 for the others."""
    check_deadline()
    copies = resamples.copies(slice(b, b + 1))[0].astype(np.int64)[unit]
    rows = np.flatnonzero(copies == 0)
    losses = np.zeros(problem.n)
    if len(rows):
        seed = None if seeds is None else seeds[b]
        prediction = predict_left_out(estimator, problem, copies, rows, seed)
        losses[rows] = problem.row_losses(prediction, rows)
    if np.isnan(losses).any():
        raise DataError(f"the loss of row {int(np.argmax(np.isnan(losses)))} is not a number")
    return losses


def predict_left_out(
    estimator: Any, problem: Problem, copies: Ints, rows: Ints, seed: int | None
) -> Array:
    """Predictions of these rows by the model of a resample, which has so many copies of each row.

    They reach the learner as weights, or repeated where it takes none. A resample of one class
    predicts that class: many learners refuse it.
    """
    drawn, output = np.flatnonzero(copies), problem.loss.output
    if problem.classes is not None:
        assert problem.target is not None
        present = np.unique(problem.target[drawn])
        if len(present) == 1:
            codes = np.full(len(rows), present[0])
            return codes if output == "value" else np.eye(problem.n_classes)[codes]
    if _takes_counts(estimator):
        part = problem.rows(drawn)
        part = replace(part, weight=part.weight * copies[drawn], weighted=True)
    else:
        part = problem.rows(np.repeat(drawn, copies[drawn]))
    model = fit_foreign(estimator, part, seed)
    return foreign_prediction(model, _safe_indexing(problem.X, rows), problem, output)


def _takes_counts(estimator: Any) -> bool:
    """Whether all that is fitted takes weights; to another step, rows would stand there once."""
    steps = (
        [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    )
    return all(takes_weights(step) for step in steps if step not in (None, "passthrough"))


def _sums_by_unit(values: Floats, unit: Ints, n: int) -> Floats:
    """Columns summed by unit."""
    if n == values.shape[1]:
        return values[:, np.argsort(unit)]
    return np.stack([np.bincount(unit, row, minlength=n) for row in values])
