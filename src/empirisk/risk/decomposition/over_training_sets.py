"""Noise, bias and variance of any learner, over training sets from a known population."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from empirisk.losses import Loss, Squared, ZeroOne
from empirisk.risk.axis import Axis
from empirisk.risk.decomposition.group_sums import check_number_of_sets, in_time, sum_in_groups
from empirisk.risk.decomposition.parts import Accounts, Parts
from empirisk.risk.decomposition.path import DecompositionPath, checked_axis, checked_values
from empirisk.risk.decomposition.points import JudgedAt
from empirisk.risk.decomposition.squared import SquaredAccounts, SquaredDecomposition
from empirisk.risk.decomposition.training_sets import TrainingSets
from empirisk.risk.decomposition.zero_one import ZeroOneAccounts, ZeroOneDecomposition
from empirisk.risk.learner import declared_axis, learner_of
from empirisk.risk.populations.classes import ClassPopulation
from empirisk.risk.populations.features import as_rows
from empirisk.risk.populations.population import Population
from empirisk.risk.populations.regression import RegressionPopulation
from empirisk.risk.problem import refuse_no_estimator
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.streams import settled, spawn


def bias_variance(
    learner: Any,
    population: Population,
    n: int | None = None,
    *,
    X: Any = None,
    points: Any = None,
    loss: Loss | str | None = None,
    n_sets: int = 200,
    n_points: int = 1000,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SquaredDecomposition | ZeroOneDecomposition:
    """The expected risk of a learner, taken apart into noise, bias and variance.

    Over training sets D and a new (X, Y), with the regression function f and the mean prediction
    h(x) = E h_D(x),

        E (Y - h_D(X))^2 = E Var(Y | X) + E (f(X) - h(X))^2 + E Var(h_D(X) | X).

    The parts are unbiased estimates, and add up to the mean squared error of the same draws. Of
    the 0-1 loss, see `ZeroOneDecomposition`.

    Parameters
    ----------
    learner : estimator or Pipeline
        Ours or any of scikit-learn's. Where its random_state is None, each training set has its
        own, so that the learner's own randomness is part of the variance.
    population : Population
        Where training sets come from; see `risk.populations`.
    n : int
        Rows of each training set. Leave it out for a fixed design.
    X : table of rows, optional
        A fixed design: training sets have these X and differ in y only, and unless `points` are
        given the learner is judged at these x.
    points : table of rows, optional
        Where to judge, a grid for instance; by default at n_points draws of X.
    loss : Loss or str, optional
        "squared" or "zero_one"; the former for a regressor, the latter for a classifier.
    n_sets, n_points : int
        How many training sets and points are drawn.
    n_jobs : int, optional
    random_state : None, int, RandomState or Generator

    Returns
    -------
    SquaredDecomposition or ZeroOneDecomposition
        The parts, their standard errors, and both point by point.

    Examples
    --------
    >>> from empirisk import LinearRegression
    >>> from empirisk.risk import populations
    >>> sine = populations.sine()
    >>> found = bias_variance(LinearRegression(), sine, 20, n_sets=50, random_state=0)
    >>> print(found)
    The squared risk of LinearRegression is 0.30... = noise 0.09 ± 0 + squared bias 0.18... ± ...
    + variance 0.0... ± ... (50 training sets of 20 rows, 1000 points).
    >>> bool(abs(found.noise + found.bias_squared + found.variance - found.total) < 1e-12)
    True
    """
    sets = TrainingSets.of(learner, population, n, as_rows(X), loss)
    return _decomposed(sets, points, n_sets, n_points, n_jobs, random_state)[0]


def decompose_path(
    learner: Any,
    values: Sequence[Any] | None,
    population: Population,
    n: int | None = None,
    *,
    axis: Axis | None = None,
    X: Any = None,
    points: Any = None,
    loss: Loss | str | None = None,
    n_sets: int = 200,
    n_points: int = 500,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> DecompositionPath:
    """`bias_variance` at all values of a complexity axis, on the same training sets.

    Learners that fit their whole path at once do so for each training set.

    Parameters
    ----------
    learner, population, n, X, points, loss, n_sets, n_points, n_jobs, random_state
        As in `bias_variance`.
    values : sequence
        Of the axis; None takes the learner's default grid, made for the first training set.
    axis : Axis, optional
        Along which parameter; a learner of this library declares it.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import Ridge
    >>> from empirisk.risk import populations
    >>> path = decompose_path(
    ...     Ridge(), [0.01, 1.0, 100.0], populations.LinearModel(np.ones(5)), 20,
    ...     n_sets=50, random_state=0,
    ... )
    >>> path.part("bias_squared").argmax(), path.part("variance").argmax(), path.best_value
    (np.int64(2), np.int64(0), 1.0)
    """
    axis = declared_axis(learner) if axis is None else axis
    if axis is None:
        raise ParameterError(
            f"{type(learner_of(learner)).__name__} declares no axis: say which parameter the "
            "values are for, such as axis=Axis(('alpha',), 'simpler', 'log')"
        )
    refuse_no_estimator(learner)
    axis = checked_axis(learner, axis)
    values = None if values is None else checked_values(values)
    random_state = settled(random_state)
    sets = TrainingSets.of(learner, population, n, as_rows(X), loss, axis=axis, values=values)
    if values is None:
        sets = sets.on_default_grid(spawn(random_state, 2)[1])  # of the first training set
    found = _decomposed(sets, points, n_sets, n_points, n_jobs, random_state)
    return DecompositionPath(tuple(found), tuple(sets.values), axis)


def _decomposed(
    sets: TrainingSets,
    points: Any,
    n_sets: int,
    n_points: int,
    n_jobs: int | None,
    random_state: Any,
) -> list[Any]:
    """The decomposition at each value."""
    check_number_of_sets(n_sets, "n_sets")
    if not isinstance(sets.loss, Squared | ZeroOne):
        raise ParameterError(
            f"the {sets.loss} risk has no decomposition whose parts add up; take the loss "
            "'squared' or 'zero_one', or risk.excess_risk for any loss"
        )
    of_points, *seeds = spawn(random_state, n_sets + 1)
    with one_blas_thread():
        given = sets.design if points is None else points
        at = JudgedAt.of(sets.population, given, n_points, of_points)
        accounts = _accounts(sets, at, seeds[0])
        sums = sum_in_groups(
            partial(_summary, sets, at.X, accounts),
            seeds,
            what="training sets",
            foreign=sets.foreign,
            n_jobs=n_jobs,
        )
        parts = Parts.of(sums, accounts, at)
    told = {"learner": sets.name, "setting": _setting(sets, n_sets, at, given is not None)}
    return [accounts.result(parts, j, **told) for j in range(len(sets.values))]


def _accounts(sets: TrainingSets, at: JudgedAt, pilot_seed: int) -> Accounts:
    population = sets.population
    if isinstance(population, ClassPopulation):
        return ZeroOneAccounts(population.class_probabilities(at.X), population.classes)
    assert isinstance(population, RegressionPopulation)
    truth, noise = population.regression_function(at.X), at.noise_variance(population)
    pilot = in_time(partial(sets.predictions, at.X), sets.foreign)(pilot_seed)
    return SquaredAccounts(truth, noise, pilot)


def _summary(sets: TrainingSets, points: Any, accounts: Accounts, seed: int) -> Array:
    """What one training set adds to the sums."""
    return accounts.summarise(sets.predictions(points, seed))


def _setting(sets: TrainingSets, n_sets: int, at: JudgedAt, given: bool) -> str:
    rows = f"{n_sets} training sets of {sets.n} rows"
    if sets.design is not None:
        rows = f"{rows} with the same X"
    if given:
        return f"{rows}, {len(at.weight)} given points"
    return f"{rows}, {'' if at.drawn else 'all '}{len(at.weight)} points"
