"""A population shaped like a table, in which the true risk of every model is known exactly.

It has so many rows x, drawn like those of the table, and a distribution of y for each:

    numbers   y = f(x) + e,  e one of the reference's out-of-fold residuals
    classes   P(Y = k | x) = p_k(x)

f and p are what a reference model, fitted to the table, predicts, drawn towards the mean of y as
far as that lowers the squared error of its out-of-fold predictions. Every mean over this population
is a finite sum.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.losses import Log, Loss, Squared
from empirisk.risk.foreign import fit_foreign, foreign_prediction
from empirisk.risk.intervals.smoothed_rows import draw_rows
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.penalties.noise_model import shrinkage
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.streams import generator, spawn

ROWS = 10_000
RESIDUALS = 20  # possible outcomes of each row of numbers
TRIES = 1000


class TrainingSet(NamedTuple):
    """Rows to learn from; the weights are None where the table has none."""

    X: Any
    y: Array
    weight: Floats | None


@dataclass(frozen=True, eq=False)
class LookAlike:
    """Rows x with weights, and the outcomes of each with their probabilities.

    `outcome` holds numbers or class codes (rows, outcomes); `classes` are None for numbers.
    `least` is the number of rows that each class has in a training set at least.
    """

    X: Any
    weight: Floats
    weighted: bool
    outcome: Array
    probability: Floats
    classes: Array | None
    loss: Loss
    least: int

    def sample(self, n: int, seed: int) -> TrainingSet:
        """n independent rows; those without enough rows of a class are drawn anew."""
        rng = generator(seed)
        for _ in range(TRIES):
            rows = rng.integers(0, len(self.weight), size=n)
            y = self._outcomes(rows, rng)
            if (
                self.classes is None
                or np.bincount(y, minlength=len(self.classes)).min() >= self.least
            ):
                labels = y if self.classes is None else self.classes[y]
                weight = self.weight[rows] if self.weighted else None
                return TrainingSet(_safe_indexing(self.X, rows), labels, weight)
        raise DataError("a class is so rare that most tables of this size would not have it")

    def _outcomes(self, rows: Ints, rng: np.random.Generator) -> Array:
        edges = np.cumsum(self.probability[rows], axis=1)
        chosen = (rng.random(len(rows))[:, None] * edges[:, -1:] >= edges[:, :-1]).sum(axis=1)
        return self.outcome[rows, chosen]

    def risk(self, model: Any) -> float:
        """The true risk of a fitted model: the sum over all rows and their outcomes."""
        n = len(self.weight)
        target = np.zeros(n)
        problem = Problem(self.X, None, target, self.classes, self.weight, False, None, self.loss)
        prediction = foreign_prediction(model, self.X, problem, self.loss.output)
        losses = self.loss(self.outcome, prediction[:, None])
        possible = np.where(self.probability > 0, losses, 0.0)
        return float(np.average((self.probability * possible).sum(axis=1), weights=self.weight))


def look_alike(
    reference: Any, problem: Problem, *, random_state: Any, n_jobs: int | None
) -> LookAlike:
    """The population that a reference model makes of the rows of a problem."""
    fold_seed, row_seed, fit_seed = spawn(0 if random_state is None else random_state, 3)
    asked = replace(problem, loss=_loss_of_mean(reference, problem))
    plan = asked.plan(None, random_state=fold_seed)
    losses = out_of_fold(reference, asked, plan, random_state=fit_seed, n_jobs=n_jobs)
    honest = Honest.of(losses, asked)
    rng = generator(row_seed)
    X, source = draw_rows(problem.X, max(ROWS, 2 * problem.n), rng)
    model = fit_foreign(reference, problem, fit_seed)
    mean = honest.mean(_means(foreign_prediction(model, X, asked, asked.loss.output), asked))
    if problem.classes is None:
        outcome = mean + _drawn(honest.residual[:, 0], losses.weight, len(mean), rng)
        probability = np.full(outcome.shape, 1 / RESIDUALS)
    else:
        outcome, probability = np.broadcast_to(np.arange(problem.n_classes), mean.shape), mean
    return LookAlike(
        X=X,
        weight=problem.weight[source],
        weighted=problem.weighted,
        outcome=outcome,
        probability=probability,
        classes=problem.classes,
        loss=problem.loss,
        least=_rows_of_rarest_class(problem),
    )


@dataclass(frozen=True, eq=False)
class Honest:
    """What predictions are worth out of fold: they are moved a share `a` of the way `towards`.

    `residual` is what they then miss.
    """

    towards: Floats
    a: float
    residual: Floats

    @classmethod
    def of(cls, losses: OutOfFold, problem: Problem) -> "Honest":
        truth = _means(problem.target, problem)[losses.row]
        prediction = _means(losses.predictions(0), problem)
        towards = np.average(truth, axis=0, weights=losses.weight)
        a = shrinkage(prediction, truth, towards, losses.weight)
        return cls(towards, a, truth - prediction - a * (towards - prediction))

    def mean(self, prediction: Floats) -> Floats:
        return prediction + self.a * (self.towards - prediction)


def _loss_of_mean(reference: Any, problem: Problem) -> Loss:
    """A loss that asks the reference for the mean of y: of classes, their probabilities."""
    if problem.classes is None:
        return Squared()
    return Log() if hasattr(reference, "predict_proba") else problem.loss


def _means(prediction: Any, problem: Problem) -> Floats:
    """Numbers as one column; class codes as certain probabilities."""
    if problem.classes is None or prediction.ndim == 2:
        return np.array(prediction, dtype=float).reshape(len(prediction), -1)
    return (prediction[:, None] == np.arange(problem.n_classes)).astype(float)


def _drawn(residual: Floats, weight: Floats, n: int, rng: np.random.Generator) -> Floats:
    """RESIDUALS for each of n rows, with mean zero."""
    share = weight / weight.sum()
    centred = residual - share @ residual
    return centred[rng.choice(len(centred), size=(n, RESIDUALS), p=share)]


def _rows_of_rarest_class(problem: Problem) -> int:
    """Two, or one where a class has only that."""
    if problem.classes is None or problem.target is None:
        return 0
    return int(min(2, np.bincount(problem.target, minlength=problem.n_classes).min()))
