"""`certify`: do the intervals cover on data shaped like yours?"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from empirisk.losses import Loss
from empirisk.risk.cross_validation import cross_validate
from empirisk.risk.foreign import fit_foreign
from empirisk.risk.intervals.coverage import Coverage
from empirisk.risk.intervals.look_alike import LookAlike, look_alike
from empirisk.risk.learner import learner_of
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import settled, spawn

CAVEAT = (
    "The population is a model of the data: rows are resampled and smoothed, outcomes drawn "
    "around what {reference} predicts, and what that model does not know is not in it."
)


def certify(
    learner: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    cv: Any = None,
    method: str = "auto",
    reference: Any = None,
    n_sets: int = 300,
    sample_weight: Any = None,
    level: float = 0.9,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Coverage:
    """How often the interval of `cross_validate` contains the true risk, on data like these.

    A population is made that is shaped like the data: rows drawn from X and moved a little,
    outcomes drawn around the predictions of a reference model. Training sets of the same size come
    from it, each is cross-validated, and the true risks, which are known there, are looked up.

    Parameters
    ----------
    learner : estimator or Pipeline, ours or not
    X, y : the data, independent rows
    loss, cv, method, sample_weight, level
        As in `cross_validate`, but that no Plan is taken, which is one of y as it was; weights stay
        with their rows.
    reference : estimator, optional
        The model around whose predictions outcomes are drawn; the learner itself unless given. A
        richer one, such as a forest, makes a population in which the learner can be wrong.
    n_sets : int
        How many training sets, of which each is cross-validated and fitted once; with 300 a
        coverage of 90 % has a Monte Carlo error of 1.7 %.
    n_jobs, random_state
        The result has the same bits for any number of jobs.

    Returns
    -------
    Coverage

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> print(certify(LinearRegression(), X, y, n_sets=20, random_state=0))
    Of 20 training sets of 60 rows shaped like these data, ... had a 90 % interval that contains
    the squared risk of the procedure, ..., and ... one that contains the risk of the model fitted;
    the mean width is .... The population is a model of the data: ...
    """
    if not is_whole(n_sets, 2):
        raise ParameterError(f"n_sets is {n_sets!r}; a share with its error takes 2 or more")
    reference = learner if reference is None else reference
    if is_classifier(reference) != is_classifier(learner):
        raise ParameterError(
            f"{type(learner).__name__} and the reference {type(reference).__name__} must both be "
            "classifiers or both regressors"
        )
    problem = Problem.of(learner, X, y, loss=loss, sample_weight=sample_weight)
    if problem.target is None or problem.target.ndim > 1:
        raise DataError("a population is made for one outcome: give y with one column")
    population_seed, sets_seed = spawn(settled(random_state) or 0, 2)
    population = look_alike(reference, problem, random_state=population_seed, n_jobs=n_jobs)
    cv = problem.of_rows_left(cv)
    if isinstance(cv, Iterator):  # it has its splits only once, and every training set takes them
        cv = list(cv)
    options = {"loss": loss, "cv": cv, "method": method, "level": level}
    judge = partial(_judge, learner, population, problem.n, options)
    seeds = track(spawn(sets_seed, n_sets), "training sets")
    found = np.array(parallel(judge, seeds, n_jobs=n_jobs, kind="processes"))
    value, low, high, flagged, risk = found.T
    return Coverage(
        value=value,
        low=low,
        high=high,
        flagged=flagged == 1,
        risk=risk,
        level=level,
        loss=str(problem.loss),
        about=f"training sets of {problem.n} rows shaped like these data",
        caveat=CAVEAT.format(reference=type(learner_of(reference)).__name__),
    )


def _judge(
    learner: Any, population: LookAlike, n: int, options: dict[str, Any], seed: int
) -> tuple[float, ...]:
    """Estimate, ends, whether it is flagged, and the true risk, of one training set."""
    draw_seed, seed = spawn(seed, 2)
    X, y, weight = population.sample(n, draw_seed)
    estimate = cross_validate(learner, X, y, sample_weight=weight, random_state=seed, **options)
    problem = Problem.of(learner, X, y, loss=options["loss"], sample_weight=weight)
    risk = population.risk(fit_foreign(learner, problem, seed))
    low, high = (np.nan, np.nan) if estimate.interval is None else estimate.interval
    return estimate.value, low, high, float(bool(estimate.cautions)), risk
