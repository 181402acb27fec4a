"""Excess risk = approximation error of the class + estimation error from so many rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.charts.bias_variance import draw_parts
from empirisk.losses import Loss, Squared
from empirisk.risk.decomposition.group_sums import (
    GroupSums,
    check_number_of_sets,
    in_time,
    jackknife_error,
    sum_in_groups,
)
from empirisk.risk.decomposition.points import JudgedAt
from empirisk.risk.decomposition.training_sets import TrainingSets
from empirisk.risk.foreign import fit_foreign, takes_weights
from empirisk.risk.learner import learner_of
from empirisk.risk.populations.classes import ClassPopulation
from empirisk.risk.populations.features import Points
from empirisk.risk.populations.population import Population
from empirisk.risk.populations.regression import RegressionPopulation
from empirisk.risk.populations.true_risk import prediction_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.digits import give_or_take
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import check_whole
from empirisk.runtime.streams import generator, spawn

Judged = Callable[[Array], Floats]
"""From predictions at the points to their expected losses."""


@dataclass(frozen=True, eq=False)
class ExcessRisk:
    """E R(h_n) - R(h*) = [R(h_H) - R(h*)] + [E R(h_n) - R(h_H)].

    h* is the Bayes rule, h_H the best rule of the class, h_n the learner's rule from n rows.

    Attributes
    ----------
    approximation, estimation : float
        The two brackets: what the class cannot do, and what n rows cannot tell.
    excess : float
        Their sum.
    bayes_risk, best_in_class_risk, expected_risk : float
        R(h*), R(h_H) and E R(h_n).
    standard_error : dict of str to float
        The Monte Carlo error of each of these.
    best_in_class : fitted predictor
        h_H.
    learner, loss, setting : str

    Examples
    --------
    >>> from empirisk import LinearRegression, risk
    >>> square = risk.populations.polynomial([0.0, 0.0, 1.0], noise=0.1)
    >>> found = risk.excess_risk(LinearRegression(), square, 30, n_sets=20, random_state=0)
    >>> bool(abs(found.approximation + found.estimation - found.excess) < 1e-12)
    True
    >>> bool(found.approximation > found.estimation)  # a line cannot be a parabola
    True
    """

    approximation: float
    estimation: float
    excess: float
    bayes_risk: float
    best_in_class_risk: float
    expected_risk: float
    standard_error: dict[str, float]
    best_in_class: Any
    learner: str
    loss: str
    setting: str

    @property
    def sentence(self) -> str:
        """The split in words that can be read out."""
        errors = self.standard_error
        approximation = give_or_take(self.approximation, errors["approximation"], 4)
        estimation = give_or_take(self.estimation, errors["estimation"], 4)
        text = (
            f"The {self.loss} risk of {self.learner} is {self.expected_risk:.4g}, "
            f"{self.excess:.4g} above the Bayes risk {self.bayes_risk:.4g}: "
            f"approximation error {approximation} + estimation error {estimation} ({self.setting})"
        )
        if self.estimation < -3 * errors["estimation"]:
            text += "; a negative estimation error says that best_in_class is not the best"
        return f"{text}."

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The three summands of the expected risk, with whiskers of one standard error."""
        parts = {
            "Bayes risk": "bayes_risk",
            "approximation": "approximation",
            "estimation": "estimation",
            "total": "expected_risk",
        }
        return draw_parts(
            {word: getattr(self, name) for word, name in parts.items()},
            {word: self.standard_error[name] for word, name in parts.items()},
            label=f"{self.loss} risk of {self.learner}",
            ax=ax,
        )


def excess_risk(
    learner: Any,
    population: Population,
    n: int,
    *,
    loss: Loss | str | None = None,
    best_in_class: Any = None,
    n_large: int = 100_000,
    n_sets: int = 200,
    n_points: int = 1000,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> ExcessRisk:
    """How much of a learner's excess risk is due to its class, and how much to its n rows.

    Parameters
    ----------
    learner : estimator or Pipeline
        One that minimises an empirical risk over a class that does not grow with n.
    population : Population
    n : int
        Rows of each training set.
    loss : Loss or str, optional
        Any; "squared" or "zero_one" unless given.
    best_in_class : fitted predictor, optional
        h_H. By default the learner fitted to the population itself: to n_large draws of x, or to
        all points of a discrete X, each with its regression function as the target (squared loss)
        or with all classes weighted by their probabilities. A least-squares learner finds the
        projection of the regression function on its class so, without noise.
    n_large, n_sets, n_points : int
    n_jobs : int, optional
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> from empirisk import LinearRegression
    >>> from empirisk.risk import populations
    >>> square = populations.polynomial([0.0, 0.0, 1.0], noise=0.1)
    >>> print(excess_risk(LinearRegression(), square, 30, n_sets=50, random_state=0))
    The squared risk of LinearRegression is 0.1..., 0.0... above the Bayes risk 0.01:
    approximation error 0.08... ± ... + estimation error 0.0... ± ... (...).
    """
    check_number_of_sets(n_sets, "n_sets")
    check_whole(n_large, "n_large", 1)
    sets = TrainingSets.of(learner, population, n, None, loss)
    of_points, of_best, *seeds = spawn(random_state, n_sets + 2)
    with one_blas_thread():
        at = _points(population, sets.loss, n_points, of_points)
        judged = partial(_judged, population, at, sets.loss)
        if best_in_class is None:
            fit = partial(fitted_to_population, learner, population, sets.loss, n_large)
            best_in_class = in_time(fit, sets.foreign)(of_best)
        sums = sum_in_groups(
            partial(_losses, sets, at.X, judged),
            seeds,
            what="training sets",
            foreign=sets.foreign,
            n_jobs=n_jobs,
        )
        of_bayes = judged(population.best_action(at.X, sets.loss))
        of_class = judged(prediction_of(best_in_class, at.X, sets.loss, population.classes))
    mean, error = _risks(sums, of_bayes, of_class, at)
    return ExcessRisk(
        **{name: float(value) for name, value in zip(RISKS, mean, strict=True)},
        standard_error={name: float(value) for name, value in zip(RISKS, error, strict=True)},
        best_in_class=best_in_class,
        learner=sets.name,
        loss=str(sets.loss),
        setting=f"{n_sets} training sets of {n} rows, {len(at.weight)} points",
    )


RISKS = (
    "bayes_risk",
    "best_in_class_risk",
    "expected_risk",
    "approximation",
    "estimation",
    "excess",
)


def _risks(
    sums: GroupSums, of_bayes: Floats, of_class: Floats, at: JudgedAt
) -> tuple[Floats, Floats]:
    """All of RISKS and their errors, from the expected losses at the points."""
    if not np.isfinite([of_bayes, of_class, *sums.total]).all():
        raise DataError(
            "some expected losses are infinite, and so have no differences: take a loss that grows "
            "more slowly, such as the absolute one"
        )

    def at_points(some: Array) -> Floats:
        expected = some[1] / some[0]
        gaps = [of_class - of_bayes, expected - of_class, expected - of_bayes]
        return np.stack([of_bayes, of_class, expected, *gaps], axis=1)

    pointwise = at_points(sums.total)
    without = np.stack([at.mean(at_points(some)) for some in sums.without_each()])
    return at.mean(pointwise), np.hypot(jackknife_error(without), at.error(pointwise))


def fitted_to_population(
    learner: Any, population: Population, loss: Loss, n_large: int, seed: int
) -> Any:
    """The learner fitted to the population as nearly as it can be: the best rule of its class."""
    of_rows, of_learner = spawn(seed, 2)
    X, y = population.draw(n_large, generator(of_rows))
    weight = np.ones(n_large)
    weighted = takes_weights(learner_of(learner))
    features = population.features
    known = isinstance(population, ClassPopulation) or isinstance(loss, Squared)
    if weighted and known and isinstance(features, Points):
        X, weight = features.X, features.probability * n_large
    if isinstance(population, RegressionPopulation) and isinstance(loss, Squared):
        y = population.regression_function(X)
    elif weighted and isinstance(population, ClassPopulation):
        probability = population.class_probabilities(X)
        X = _safe_indexing(X, np.tile(np.arange(len(weight)), len(population.classes)))
        y = np.repeat(population.classes, len(weight))
        weight = (weight[:, None] * probability).T.ravel()
    problem = Problem.of(
        learner, X, y, loss=loss, sample_weight=weight if weighted else None,
        classes=population.classes,
    )  # fmt: skip
    return fit_foreign(learner, problem, of_learner)


def _points(population: Population, loss: Loss, n_points: int, seed: int) -> JudgedAt:
    """All points of a discrete X only where the loss has a formula for its mean over y."""
    X = population.features.draw(1, generator(seed))
    formula = population.expected_loss(X, population.best_action(X, loss), loss)
    return JudgedAt.of(population, None, n_points, seed, discrete=formula is not None)


def _judged(population: Population, at: JudgedAt, loss: Loss, prediction: Array) -> Floats:
    """Expected losses given x, or where there is no formula the losses of the y drawn."""
    expected = population.expected_loss(at.X, prediction, loss)
    if expected is not None:
        return expected
    assert at.y is not None
    return loss(population.codes(at.y), prediction)


def _losses(sets: TrainingSets, points: Any, judged: Judged, seed: int) -> Array:
    """What one training set adds: a count and its expected loss at each point."""
    losses = judged(sets.predictions(points, seed)[:, 0])
    return np.stack([np.ones(len(losses)), losses])
