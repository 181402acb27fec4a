"""The variance of a mean of B correlated members: the formula beside what is observed.

Members of a bagged ensemble have at a point x the same variance sigma^2 over training sets and
resamples, and any two of them the same correlation rho, so that the mean of B of them has

    Var = rho sigma^2 + (1 - rho) sigma^2 / B.

Given its training set, members are independent: rho sigma^2 is the variance over training sets of
what very many members agree on, (1 - rho) sigma^2 the mean variance within one training set. Both
are estimated from one half of the training sets, and the variance of the aggregate is observed on
the other, so that the two agree only if the formula is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from empirisk.charts.aggregate_variance import draw_aggregate_variance
from empirisk.risk.axis import PathMixin
from empirisk.risk.bagging.staged_members import Stages
from empirisk.risk.decomposition.group_sums import (
    GroupSums,
    in_time,
    sum_in_groups,
    times_square,
)
from empirisk.risk.decomposition.points import JudgedAt
from empirisk.risk.decomposition.training_sets import TrainingSets
from empirisk.risk.learner import learner_of
from empirisk.risk.populations.features import as_rows
from empirisk.risk.populations.population import Population
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.row_counts import row_counts
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.digits import few_digits, give_or_take
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import spawn

LEAST_SETS = 8  # four to estimate from, four to observe
CAVEAT = "resamples of the one data set stand in for training sets"


@dataclass(frozen=True, eq=False)
class AggregateVariance:
    """sigma^2 and rho of the members, and the variance of their mean as B grows.

    All are means over points x; of classes, variances are of the probabilities, and means over
    classes too. The formula holds for means as well, with rho weighted by the variance at x.

    Attributes
    ----------
    member_variance : float
        sigma^2, of one member.
    correlation : float
        rho, of two members at the same x. An estimate of a rho near 0 may be negative.
    numbers : int array
        B: the first so many members.
    formula, observed : array
        The variance of the mean of B members.
    formula_error, observed_error : array
        Their Monte Carlo errors, over training sets at these points.
    standard_error : dict of str to float
        The errors of "member_variance" and "correlation".
    ensemble, setting : str

    Examples
    --------
    >>> from empirisk import RandomForestRegressor, risk
    >>> population = risk.populations.sine()
    >>> found = risk.aggregate_variance(
    ...     RandomForestRegressor(5), population, 30, n_sets=20, random_state=0
    ... )
    >>> found.numbers, bool(0 < found.correlation < 1)
    (array([1, 2, 5]), True)
    >>> bool(found.formula[-1] < found.member_variance)  # five trees vary less than one
    True
    """

    member_variance: float
    correlation: float
    numbers: Ints
    formula: Floats
    observed: Floats
    formula_error: Floats
    observed_error: Floats
    standard_error: dict[str, float]
    ensemble: str
    setting: str

    @property
    def floor(self) -> float:
        """rho sigma^2: what no number of members goes below."""
        return self.correlation * self.member_variance

    @property
    def sentence(self) -> str:
        """The findings in words that can be read out."""
        error = self.standard_error
        variance = give_or_take(self.member_variance, error["member_variance"])
        correlation = give_or_take(self.correlation, error["correlation"])
        formula = give_or_take(self.formula[-1], self.formula_error[-1])
        observed = give_or_take(self.observed[-1], self.observed_error[-1])
        return (
            f"One member of {self.ensemble} has variance {variance} and two correlate by "
            f"{correlation}, so the mean of {self.numbers[-1]} has {formula} and no mean less than "
            f"{few_digits(self.floor, 3)}; observed is {observed} ({self.setting})."
        )

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The formula as a line against B, what is observed as points with their errors."""
        return draw_aggregate_variance(
            self.numbers,
            self.formula,
            self.observed,
            self.observed_error,
            floor=self.floor,
            label=f"variance of {self.ensemble}",
            ax=ax,
        )


def aggregate_variance(
    ensemble: Any,
    population: Population,
    n: int | None = None,
    *,
    X: Any = None,
    points: Any = None,
    numbers: Sequence[int] | None = None,
    n_sets: int = 100,
    n_points: int = 200,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> AggregateVariance:
    """The variance of a bagged ensemble as members are added, over training sets drawn anew.

    Parameters
    ----------
    ensemble : estimator
        Bagging or a random forest, ours or scikit-learn's; it is fitted to each training set.
    population : Population
        Where training sets come from; see `risk.populations`.
    n : int
        Rows of each training set. Leave it out for a fixed design.
    X : table of rows, optional
        A fixed design: training sets differ in y only.
    points : table of rows, optional
        Where to judge; by default at n_points draws of X.
    numbers : sequence of int, optional
        Of members; 1, 2, 5, 10, 20, ... up to all unless given.
    n_sets, n_points : int
    n_jobs, random_state

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from empirisk.risk import populations
    >>> found = aggregate_variance(
    ...     RandomForestRegressor(10), populations.sine(), 40, n_sets=20, random_state=0
    ... )
    >>> print(found)
    One member of RandomForestRegressor has variance 0.1... ± 0.0... and two correlate by 0.3... ±
    0.0..., so the mean of 10 has 0.0... ± 0.0... and no mean less than 0.0...; observed is 0.0... ±
    0.0... (20 training sets of 40 rows, 200 points).
    """
    sets = TrainingSets.of(ensemble, population, n, as_rows(X), None)
    _check_number_of_sets(n_sets, "n_sets")
    stages = Stages.of(ensemble, numbers, population.classes)
    of_points, of_pilot, *seeds = spawn(random_state, n_sets + 2)
    with one_blas_thread():
        at = JudgedAt.of(population, sets.design if points is None else points, n_points, of_points)
        pilot = in_time(partial(_members_of_set, sets, stages, at.X), sets.foreign)
        stages = stages.about(pilot(of_pilot))
        summary = partial(_of_set, sets, stages, at.X)
        sums = sum_in_groups(
            summary, seeds, what="training sets", foreign=sets.foreign, n_jobs=n_jobs
        )
    fixed = "" if sets.design is None else " with the same X"
    setting = f"{n_sets} training sets of {sets.n} rows{fixed}, {len(at.weight)} points"
    return _result(sums, stages, at, sets.name, setting)


def bootstrap_aggregate_variance(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    numbers: Sequence[int] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_resamples: int = 100,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> AggregateVariance:
    """The same from one data set: resamples of it stand in for training sets.

    The ensemble is fitted to each resample, from whose rows its members draw again, and judged at
    the rows that the resample lacks. It so sees about 63 % of the rows, some of them twice, and
    its members fewer still: the variances are above those of the ensemble at n.

    Parameters
    ----------
    ensemble : estimator
        Bagging or a random forest, ours or scikit-learn's.
    X, y, sample_weight, groups
        With groups, groups are drawn, and left out, as a whole.
    numbers : sequence of int, optional
        Of members; 1, 2, 5, 10, 20, ... up to all unless given.
    n_resamples : int
    n_jobs, random_state

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = bootstrap_aggregate_variance(
    ...     BaggingRegressor(n_estimators=5), X, y, n_resamples=20, random_state=0
    ... )
    >>> print(found)
    One member of BaggingRegressor has variance ... and two correlate by 0.0..., so the mean of 5
    has ...; observed is ... (20 resamples of 442 rows; resamples of the one data set stand in for
    training sets).
    """
    _check_number_of_sets(n_resamples, "n_resamples")
    problem = Problem.of(ensemble, X, y, sample_weight=sample_weight, groups=groups)
    stages = Stages.of(ensemble, numbers, problem.classes)
    foreign = not isinstance(learner_of(ensemble), PathMixin)
    of_pilot, *seeds = spawn(random_state, n_resamples + 1)
    with one_blas_thread():
        pilot = in_time(partial(stages.each, ensemble, problem, problem.X), foreign)
        stages = stages.about(pilot(of_pilot))
        summary = partial(_of_resample, ensemble, problem, stages)
        sums = sum_in_groups(summary, seeds, what="resamples", foreign=foreign, n_jobs=n_jobs)
    at = JudgedAt(problem.X, problem.weight / problem.weight.sum(), None, drawn=False)
    name = type(learner_of(ensemble)).__name__
    setting = f"{n_resamples} resamples of {problem.n} rows; {CAVEAT}"
    return _result(sums, stages, at, name, setting)


def _check_number_of_sets(n: int, name: str) -> None:
    if not is_whole(n, LEAST_SETS):
        raise ParameterError(
            f"{name} is {n!r}; variances of one half beside those of the other take "
            f"{LEAST_SETS} or more"
        )


def _members_of_set(sets: TrainingSets, stages: Stages, points: Any, seed: int) -> Floats:
    """Predictions of the members of an ensemble fitted to one training set."""
    return stages.each(sets.learner, sets.problem(seed), points, spawn(seed, 1)[0])


def _of_set(sets: TrainingSets, stages: Stages, points: Any, seed: int) -> Floats:
    return stages.summary(_members_of_set(sets, stages, points, seed))


def _of_resample(ensemble: Any, problem: Problem, stages: Stages, seed: int) -> Floats:
    """What a resample adds, at the rows that it lacks."""
    count = row_counts(problem, seed)
    out = count == 0
    if not out.any():
        return stages.nothing()
    drawn = problem.rows(np.repeat(np.arange(problem.n), count))
    points = problem.rows(np.flatnonzero(out)).X
    return stages.summary(stages.each(ensemble, drawn, points, spawn(seed, 1)[0]), out)


def _result(
    sums: GroupSums, stages: Stages, at: JudgedAt, name: str, setting: str
) -> AggregateVariance:
    estimating, observing = GroupSums(sums.sums[::2]), GroupSums(sums.sums[1::2])
    found, error = estimating.with_error(partial(_estimated, stages=stages, at=at))
    observed, observed_error = observing.with_error(lambda some: at.mean(stages.variances(some)[0]))
    if np.isnan([*error, *observed_error]).any():
        raise DataError(
            "no row was left out of two resamples of either half: give more rows or more resamples"
        )
    square = partial(times_square, unit=stages.unit)
    return AggregateVariance(
        member_variance=float(square(found[0])),
        correlation=float(found[1]),
        numbers=stages.numbers,
        formula=square(found[2:]),
        observed=square(observed),
        formula_error=square(error[2:]),
        observed_error=square(observed_error),
        standard_error={
            "member_variance": float(square(error[0])),
            "correlation": float(error[1]),
        },
        ensemble=name,
        setting=setting,
    )


def _estimated(sums: Array, *, stages: Stages, at: JudgedAt) -> Floats:
    """sigma^2, rho and the formula for each B, by the analysis of variance of members in sets."""
    of_means, within = (at.mean(values) for values in stages.variances(sums))
    common = of_means[-1] - within / stages.numbers[-1]
    total = common + within
    rho = common / total if total > 0 else 0.0
    return np.r_[total, rho, common + within / stages.numbers]
