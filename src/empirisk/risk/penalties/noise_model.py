"""What y might have been at the same rows: the parametric bootstrap of the covariance penalty.

New outcomes are drawn around a centre, which is the learner's own, but honest: its out-of-fold
predictions, shrunk towards the mean (the class frequencies) as far as that lowers their squared
error. In-sample predictions would not do: where a learner recites, they leave no noise to draw.

With start the predictions of the fit to the data themselves, a draw of y and the predictions of a
fit to it give

    mean over rows of  E [L(Y', prediction) - L(Y', start)] - [L(y, prediction) - L(y, start)],

Y' a new outcome of the same row. Its expectation is the optimism, since the terms with `start` are
equal on average; they only make it less noisy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from empirisk.losses import Log, Loss
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import spawn

MOST_COPIES = 10**7  # of rows, all of them in memory


@dataclass(frozen=True)
class Resampling:
    """How many draws of new outcomes, from which random numbers, by how many workers."""

    n: int
    n_jobs: int | None
    random_state: int | None

    @property
    def seed(self) -> int | None:
        """Of the fit to the data themselves."""
        return self._streams[0]

    @property
    def fold_seed(self) -> int | None:
        """Of the folds whose predictions are the centre, and of their fits."""
        return self._streams[1]

    def draws(self) -> list[int]:
        """A seed for each draw."""
        return spawn(self._streams[2], self.n)

    @property
    def _streams(self) -> Sequence[int | None]:
        return (None,) * 3 if self.random_state is None else spawn(self.random_state, 3)


class NoiseModel(Protocol):
    """A distribution of y at the rows of a problem."""

    def draw(self, rng: np.random.Generator) -> Array:
        """A new y: numbers, or class codes."""

    def optimism(
        self, loss: Loss, y: Array, prediction: Array, start: Array, rng: np.random.Generator
    ) -> Floats:
        """Of each row: how much better than on a new outcome the prediction does on this one."""


@dataclass(frozen=True, eq=False)
class GaussianNoise:
    """y = centre + normal noise; a row of weight w stands for the mean of w such."""

    centre: Floats
    variance: float
    weight: Floats

    def draw(self, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal(len(self.centre))
        return self.centre + np.sqrt(self.variance / self.weight) * noise

    def optimism(
        self, loss: Loss, y: Array, prediction: Array, start: Array, rng: np.random.Generator
    ) -> Floats:
        if loss.name == "squared":
            return 2 * (y - self.centre) * (prediction - start)
        new = self.draw(rng)
        return loss(new, prediction) - loss(new, start) - loss(y, prediction) + loss(y, start)


@dataclass(frozen=True, eq=False)
class ClassNoise:
    """Class k with probability p[i, k] in row i."""

    probabilities: Floats

    def draw(self, rng: np.random.Generator) -> Array:
        edges = np.cumsum(self.probabilities, axis=1)
        edges /= edges[:, -1:]
        return (rng.random(len(edges))[:, None] >= edges[:, :-1]).sum(axis=1)

    def optimism(
        self, loss: Loss, y: Array, prediction: Array, start: Array, rng: np.random.Generator
    ) -> Floats:
        codes = np.arange(self.probabilities.shape[1])[None]
        change = loss(codes, prediction[:, None]) - loss(codes, start[:, None])
        return ((self.probabilities - (y[:, None] == codes)) * change).sum(axis=1)


def noise_model(
    estimator: Any,
    problem: Problem,
    noise_variance: float | None,
    resampling: Resampling,
) -> NoiseModel:
    """The model of y at the rows of the problem, from ten folds of the learner."""
    if problem.classes is not None and hasattr(estimator, "predict_proba"):
        problem = replace(problem, loss=Log())
    seed = resampling.fold_seed
    plan = problem.plan(None, random_state=seed)
    losses = out_of_fold(estimator, problem, plan, n_jobs=resampling.n_jobs, random_state=seed)
    found = losses.predictions(0)
    honest = np.empty_like(found)
    honest[losses.row] = found
    if problem.classes is None:
        return _gaussian(honest, problem, noise_variance)
    if honest.ndim == 1:  # class codes of a learner that gives no probabilities
        honest = (honest[:, None] == np.arange(problem.n_classes)).astype(float)
    assert problem.target is not None
    truth = (problem.target[:, None] == np.arange(problem.n_classes)).astype(float)
    return ClassNoise(shrunk(honest, truth, problem.weight))


def _gaussian(honest: Floats, problem: Problem, noise_variance: float | None) -> GaussianNoise:
    target = problem.target
    assert target is not None
    size = max(float(np.abs(target).max()), float(np.abs(honest).max())) or 1.0
    y = target / size
    centre = shrunk((honest / size)[:, None], y[:, None], problem.weight)[:, 0]
    if noise_variance is None:
        with np.errstate(over="ignore"):
            share = np.average((y - centre) ** 2, weights=problem.weight)
            noise_variance = float(np.square(size) * share)
    if not np.isfinite(noise_variance):
        raise DataError("the squares of y are too large for float64: divide y by a constant")
    return GaussianNoise(centre * size, noise_variance, problem.weight)


def shrunk(prediction: Floats, truth: Floats, weight: Floats) -> Floats:
    """prediction + a (mean of truth - prediction), with the a in [0, 1] of least squared error.

    Examples
    --------
    >>> shrunk(np.array([[2.0], [-2.0]]), np.array([[1.0], [-1.0]]), np.ones(2)).T
    array([[ 1., -1.]])
    """
    towards = np.average(truth, axis=0, weights=weight)
    return prediction + shrinkage(prediction, truth, towards, weight) * (towards - prediction)


def shrinkage(prediction: Floats, truth: Floats, towards: Floats, weight: Floats) -> float:
    """The a in [0, 1] for which prediction + a (towards - prediction) has the least squared error.

    Examples
    --------
    >>> shrinkage(np.array([[2.0], [-2.0]]), np.array([[1.0], [-1.0]]), np.zeros(1), np.ones(2))
    0.5
    """
    gap = towards - prediction
    size = float(np.abs(gap).max()) or 1.0
    along = float(weight @ ((truth - prediction) / size * (gap / size)).sum(axis=1))
    length = float(weight @ np.square(gap / size).sum(axis=1))
    return min(max(along / length, 0.0), 1.0) if length > 0 else 0.0


def as_copies(problem: Problem) -> Problem:
    """Rows of weight w as w rows; for losses that the mean of copies does not describe."""
    weight = problem.weight
    if (weight == 1).all():
        return problem
    if (weight != np.round(weight)).any():
        raise ParameterError(
            f"sample_weight has values such as {weight[weight != np.round(weight)][0]:.3g}; the "
            f"optimism of the {problem.loss} loss needs whole numbers, counts of copies"
        )
    if weight.sum() > MOST_COPIES:
        raise ParameterError(
            f"sample_weight counts {weight.sum():.3g} copies; the optimism of the {problem.loss} "
            f"loss draws an outcome for each of {MOST_COPIES:,} at most: take a sample of the rows"
        )
    rows = np.repeat(np.arange(problem.n), weight.astype(np.int64))
    # Copies are one group, so that none is held out while another trains.
    return replace(problem.rows(rows), weight=np.ones(len(rows)), weighted=False, groups=rows)
