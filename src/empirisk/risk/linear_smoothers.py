"""Learners that are linear in y: prediction = H y, and the trace of H is their freedom."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from empirisk.data.encode import Encoder
from empirisk.losses import as_loss
from empirisk.risk.axis import PathMixin
from empirisk.risk.foreign import fit_foreign
from empirisk.risk.out_of_fold import current_value
from empirisk.risk.problem import Problem, declared_axis, learner_of
from empirisk.risk.rungs import fit_all_values
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import generator

LINEAR = 1e-6
"""By how much, relative to their size, predictions of a linear learner may fail to add up."""
MOST_ROWS = 1000
"""Up to here the hat matrix of a foreign learner is found, by fitting it to every unit vector."""


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
    if problem.classes is not None or not adds_up(learner, problem):
        raise ParameterError(
            f"{type(learner_of(learner)).__name__} is not linear in y, so it has no hat matrix: "
            "ask for optimism(..., method='bootstrap')"
        )
    kept = np.arange(n) if problem.kept is None else problem.kept
    H = np.zeros((n, n))
    H[:, kept] = _predictions_of_units(learner, problem, X)
    return H


def known_freedom(estimator: Any, problem: Problem) -> float | None:
    """The trace of the hat matrix on the rows of the problem; None where that is not known.

    Our learners say theirs. Of others it is found where n is small and they prove to be linear.
    """
    if problem.classes is not None or problem.target is None or problem.target.ndim > 1:
        return None
    learner = learner_of(estimator)
    if isinstance(learner, PathMixin):
        if learner.freedom not in ("path", "columns") or not _fits_means(estimator, problem):
            return None
        values = current_value(estimator, declared_axis(estimator))[0]
        whole = fit_all_values(estimator, problem.designed(estimator), values, None)
        return float(whole.path.degrees_of_freedom[0])
    several = get_tags(estimator).target_tags.multi_output
    if not several or problem.n > MOST_ROWS or not adds_up(estimator, problem):
        return None
    return float(np.trace(_predictions_of_units(estimator, problem, problem.X)))


def adds_up(estimator: Any, problem: Problem) -> bool:
    """Whether the fit to u + v is the sum of the fits to u and to v, for some random u and v."""
    rng = generator(0)
    u, v = rng.standard_normal((2, problem.n))
    try:
        of_u, of_v, of_sum = (_fitted(estimator, problem, y, problem.X) for y in (u, v, u + v))
    except (ValueError, TypeError):  # it does not take any numbers: counts, say
        return False
    gap = np.abs(of_sum - of_u - of_v).max()
    return bool(gap <= LINEAR * max(np.abs(of_u).max(), np.abs(of_v).max()))


def _predictions_of_units(estimator: Any, problem: Problem, X: Any) -> Floats:
    """Predictions at X (rows, n) of the fits to the n unit vectors: at once where it can be."""
    unit = np.eye(problem.n)
    y = generator(0).standard_normal(problem.n)
    if get_tags(estimator).target_tags.multi_output:
        together = _fitted(estimator, problem, unit, X)
        alone = _fitted(estimator, problem, y, X)
        # A learner of several outputs need not treat each as if it were alone.
        if np.allclose(together @ y, alone, rtol=LINEAR, atol=LINEAR * np.abs(alone).max()):
            return together
    return np.stack([_fitted(estimator, problem, column, X) for column in unit], axis=1)


def _fitted(estimator: Any, problem: Problem, y: Array, X: Any) -> Floats:
    model = fit_foreign(estimator, replace(problem, y=y, target=y), 0)
    return np.asarray(model.predict(X), dtype=float).reshape(-1, *y.shape[1:])


def _fits_means(estimator: Any, problem: Problem) -> bool:
    """Whether the learner fits the mean of y, and the steps before it do not look at y."""
    if as_loss(getattr(learner_of(estimator), "loss", "squared")).name != "squared":
        return False
    steps = [step for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
    return all(isinstance(step, Encoder) for step in steps) or adds_up(estimator, problem)
