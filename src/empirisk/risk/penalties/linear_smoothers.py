"""Learners that are linear in y: prediction = H y, and the trace of H is their freedom."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from empirisk.data.encode import Encoder
from empirisk.losses import as_loss
from empirisk.risk.axis import PathMixin
from empirisk.risk.foreign import fit_foreign
from empirisk.risk.learner import declared_axis, learner_of
from empirisk.risk.out_of_fold import current_value
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import fit_all_values, fit_steps
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import generator

LINEAR = 1e-6
"""By how much, relative to their size, predictions of a linear learner may fail to add up."""
ROUNDING = 1e-8
"""What sums may lose beside that, relative to the larger of two terms of different size."""
SCALES = (1.0, 1e-3, 1e3)
"""Learners that shrink small effects to zero look linear at one scale: these are tried around y."""
ALL_SCALES = (*SCALES, 1e-9, 1e9)
"""Where there is no y, since its unit is not known either."""
MOST_ROWS = 1000
"""Up to here the hat matrix of a learner is found that does not tell its freedom, by fitting it to
every unit vector, to all of them at once; and"""
MOST_FITS = 300
"""where it takes one outcome at a time: about as many fits as draws of new outcomes need."""


def hat_matrix(learner: Any, X: Any, *, sample_weight: Any = None) -> Floats:
    """The matrix H with prediction at the rows of X = H y, of a learner that is linear in y.

    Column i is what the learner predicts when y is 1 in row i and 0 elsewhere. Its trace is the
    effective degrees of freedom.

    Parameters
    ----------
    learner : estimator
        Least squares, ridge, nearest neighbours, kernel smoothers, splines, ours or not.
    X : table of n rows
    sample_weight : array, optional

    Returns
    -------
    array of shape (n, n)

    Raises
    ------
    ParameterError
        Fits to outcomes of many sizes, noise and signal, do not add up: the learner is not linear.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> hat_matrix(KNeighborsRegressor(2), [[0.0], [1.0], [5.0], [7.0]])
    array([[0.5, 0.5, 0. , 0. ],
           [0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0.5]])
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    problem = Problem.of(learner, X, np.zeros(n), sample_weight=sample_weight)
    if problem.classes is not None or not adds_up(learner, problem, ALL_SCALES):
        _refuse(learner)
    found = _predictions_of_units(learner, problem, X)
    if found is None:
        _refuse(learner)
    kept = np.arange(n) if problem.kept is None else problem.kept
    H = np.zeros((n, n))
    H[:, kept] = found
    return H


def _refuse(learner: Any) -> NoReturn:
    raise ParameterError(
        f"{type(learner_of(learner)).__name__} is not linear in y, so it has no hat matrix: "
        "ask for optimism(..., method='bootstrap')"
    )


def known_freedom(estimator: Any, problem: Problem) -> float | None:
    """The trace of the hat matrix on the rows of the problem; None where that is not known.

    Many of our learners say theirs, the lasso and its like that of the columns in use. Of others
    it is found where n is small and they prove to be linear.
    """
    if problem.classes is not None or problem.target is None or problem.target.ndim > 1:
        return None
    learner = learner_of(estimator)
    if isinstance(learner, PathMixin) and learner.freedom in ("path", "columns"):
        if not _fits_means(estimator, problem):
            return None
        values = current_value(estimator, declared_axis(estimator))
        whole = fit_all_values(estimator, problem.designed(estimator), values, None)
        return float(whole.path.degrees_of_freedom[0])
    several = get_tags(estimator).target_tags.multi_output
    if problem.n > (MOST_ROWS if several else MOST_FITS) or not adds_up(estimator, problem):
        return None
    found = _predictions_of_units(estimator, problem, problem.X)
    return None if found is None else float(np.trace(found))


def adds_up(estimator: Any, problem: Problem, scales: Sequence[float] = SCALES) -> bool:
    """Whether the fit is linear in y, as far as can be seen from some y.

    With v drawn, and u drawn, the outcomes given, or a signal in X: is, at all scales s,
    fit(s v) = s fit(v) and fit(u + s v) = fit(u) + fit(s v)?
    """

    def fit(y: Floats) -> Floats:
        return _fitted(estimator, problem, y, problem.X)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these outcomes are not the user's
        v, *others = _outcomes(problem)
        try:
            of_v, starts = fit(v), [(u, fit(u)) for u in others]
            for s in scales:
                of_part = fit(s * v)
                if not _are_equal(of_part / s, of_v, LINEAR * _largest(of_v)):
                    return False
                for u, of_u in starts:
                    most = LINEAR * _largest(of_part) + ROUNDING * _largest(of_u)
                    if not _are_equal(fit(u + s * v), of_u + of_part, most):
                        return False
        except (ValueError, TypeError, ArithmeticError):  # it takes other numbers: counts, say
            return False
    return True


def _outcomes(problem: Problem) -> list[Floats]:
    """Noise twice, the outcomes given, and a sum of the columns: all as spread as those given."""
    rng, size = generator(0), _spread(problem)
    found = [*(size * rng.standard_normal((2, problem.n))), np.asarray(problem.target)]
    try:
        columns = Encoder().fit_transform(problem.X)
    except (ValueError, TypeError):  # no table of columns
        return found
    signal = columns @ rng.standard_normal(columns.shape[1])
    return [*found, size * (signal / (float(signal.std()) or 1.0))]


def _spread(problem: Problem) -> float:
    """The standard deviation of y; its size where it does not vary, and 1 where it is zero."""
    y = np.asarray(problem.target)
    size = _largest(y) or 1.0
    return size * (float((y / size).std()) or 1.0)


def _largest(values: Floats) -> float:
    return float(np.abs(values).max())


def _are_equal(one: Floats, two: Floats, most: float) -> bool:
    return bool(np.abs(one - two).max() <= most)  # not where one of them is NaN


def _predictions_of_units(estimator: Any, problem: Problem, X: Any) -> Floats | None:
    """Predictions at X (rows, n) of the fits to the n unit vectors: at once where it can be.

    None where they do not add up to the fit to some y: vectors with a single value that is not
    zero may be special to a learner.
    """
    size = _spread(problem)
    unit = size * np.eye(problem.n)
    y = size * generator(0).standard_normal(problem.n)
    alone = _fitted(estimator, problem, y, X)
    most = LINEAR * _largest(alone)
    if get_tags(estimator).target_tags.multi_output:
        together = _fitted(estimator, problem, unit, X) / size
        # A learner of several outputs need not treat each as if it were alone.
        if _are_equal(together @ y, alone, most):
            return together
    one_by_one = np.stack([_fitted(estimator, problem, e, X) for e in unit], axis=1) / size
    return one_by_one if _are_equal(one_by_one @ y, alone, most) else None


def _fitted(estimator: Any, problem: Problem, y: Array, X: Any) -> Floats:
    model = fit_foreign(estimator, replace(problem, y=y, target=y), 0)
    return np.asarray(model.predict(X), dtype=float).reshape(-1, *y.shape[1:])


def _fits_means(estimator: Any, problem: Problem) -> bool:
    """Whether the learner fits the mean of y, and the steps before it do not look at y."""
    if as_loss(getattr(learner_of(estimator), "loss", "squared")).name != "squared":
        return False
    steps = [step for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
    if all(isinstance(step, Encoder) for step in steps):
        return True
    asked = any(isinstance(s, BaseEstimator) and get_tags(s).target_tags.required for s in steps)
    return not asked and _hand_on_the_same(estimator, problem)


def _hand_on_the_same(estimator: Any, problem: Problem) -> bool:
    """Whether X behind the steps before the learner is the same for some y, those given included.

    Then the learner's degrees of freedom, which take its columns as given, are those of it all.
    """

    def behind(y: Floats) -> Array:
        X = fit_steps(estimator, replace(problem, y=y, target=y), 0)[1]
        return np.asarray(X.toarray() if issparse(X) else X)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these outcomes are not the user's
        try:
            first, *others = (behind(y) for y in _outcomes(problem))
            return all(np.array_equal(first, other) for other in others)
        except (ValueError, TypeError, ArithmeticError):  # a step takes other numbers: counts, say
            return False
