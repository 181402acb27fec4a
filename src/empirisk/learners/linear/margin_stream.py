"""Margin risks from rows that come a few at a time: stochastic gradient descent."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from empirisk.data.scaling import power_of_two
from empirisk.learners.linear.margin_path import (
    checked_C,
    checked_loss,
    intercept_of,
    one_against_rest,
)
from empirisk.losses.margin import Perceptron
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_fit, check_predict
from empirisk.solvers.steps import Decaying
from empirisk.solvers.stochastic import stochastic_gradient

BATCH = 32


def learn_more(learner: Any, X: Any, y: Any, classes: ArrayLike | None, sample_weight: Any) -> Any:
    """One pass over the rows, from where the learner stands."""
    checked_loss(learner.loss, learner.penalty)
    checked_C(learner.C)
    first = not hasattr(learner, "classes_")
    if not first:
        check_predict(learner, X)  # the columns it knows
    data = check_fit(learner, X, y, sample_weight, classifier=True)
    assert data.classes is not None
    known = _known_classes(learner, classes)
    code = _coded(known, data.classes)[data.y]
    weight = data.sample_weight
    if learner.class_weight == "balanced":
        raise ParameterError(
            'class_weight="balanced" needs all rows at once; give partial_fit a dict of labels'
        )
    weight = learner._class_weighted(code, weight, known)
    if first:
        _begin(learner, known, data.X.shape[1])
    if learner._unit is None:
        _measure(learner, data.X)
    with one_blas_thread():
        return _descend(learner, data.X / learner._unit, code, weight)


def _known_classes(learner: Any, classes: ArrayLike | None) -> Array:
    if classes is not None:
        given = np.unique(np.asarray(classes))
        check_classification_targets(given)
        if len(given) < 2:
            raise DataError(f"classes are {given.tolist()}; there must be at least two classes")
    if not hasattr(learner, "classes_"):
        if classes is None:
            raise ParameterError(
                "classes must be passed on the first call to partial_fit: all labels there are"
            )
        return given
    if classes is not None and not np.array_equal(given, learner.classes_):
        raise ParameterError(
            f"classes are {given.tolist()}, not those of the first call, "
            f"{learner.classes_.tolist()}"
        )
    return learner.classes_


def _coded(known: Array, labels: Array) -> Ints:
    """The place of each label among the known classes."""
    place = np.searchsorted(known, labels)
    found = known[np.minimum(place, len(known) - 1)] == labels
    if not found.all():
        raise DataError(
            f"y has the label {labels[~found].tolist()[0]!r}, which is not in classes, "
            f"{known.tolist()}"
        )
    return place


def _begin(learner: Any, classes: Array, p: int) -> None:
    rules = 1 if len(classes) == 2 else len(classes)
    learner.classes_ = classes
    learner.coef_ = np.zeros((rules, p))
    learner._offset, learner._centre = np.zeros(rules), np.zeros(p)
    learner._rows_seen, learner._steps = 0, 0
    learner._unit = learner._square = None
    learner.n_iter_ = 0


def _measure(learner: Any, X: Floats) -> None:
    """The unit of the columns and the mean squared length of a row in it, by the first rows.

    In it a cell has about the size of the one that stands for the intercept: a unit by the largest
    cell would make all others small beside it, and their steps short.
    """
    largest = float(power_of_two(np.maximum(X.max(), -X.min())))
    size = np.sqrt(np.mean(np.square(X / largest)))
    learner._unit = largest * float(power_of_two(size))
    rows = X / learner._unit
    learner._square = float(np.mean(np.einsum("ij,ij->i", rows, rows))) + learner.fit_intercept


def _descend(learner: Any, X: Floats, code: Ints, weight: Floats) -> Any:
    loss = checked_loss(learner.loss, learner.penalty)
    step = Decaying(learner.eta0 / max(learner._square, 1e-300), learner.t0, learner.power_t)
    learner._rows_seen += len(X)
    strength = 0.0 if isinstance(loss, Perceptron) else _strength(learner, step.eta)
    Z = np.hstack([X, np.full((len(X), 1), float(learner.fit_intercept))])
    Y = np.stack(one_against_rest(code, len(learner.classes_)), axis=1)
    rules = Y.shape[1]

    def gradient(point: Floats, rows: Ints) -> Floats:
        b = point.reshape(rules, -1)
        pull = weight[rows, None] * Y[rows] * loss.derivative(Y[rows] * (Z[rows] @ b.T))
        slope = pull.T @ Z[rows] / len(rows)
        slope[:, :-1] += strength * (np.sign(b[:, :-1]) if learner.penalty == "l1" else b[:, :-1])
        return slope.ravel()

    start = np.column_stack([learner._dense_coef * learner._unit, intercept_of(learner)])
    way = stochastic_gradient(
        gradient, start.ravel(), len(X), step=step, first_step=learner._steps,
        batch_size=BATCH, max_epochs=1, shuffle=False, random_state=0,
    )  # fmt: skip
    if way.n_iter == 0:
        warnings.warn(f"{way.reason}, by a smaller eta0", ConvergenceWarning, stacklevel=4)
    b = way.minimiser.reshape(rules, -1)
    learner.coef_, learner._centre = b[:, :-1] / learner._unit, np.zeros(X.shape[1])
    learner._offset = b[:, -1].copy()
    learner.intercept_ = b[:, -1].copy()
    learner._fitted_loss = learner.loss
    learner.converged_ = False  # of the rows seen now
    learner._steps += -(-len(X) // BATCH)
    learner.n_iter_ = learner._steps
    return learner


def _strength(learner: Any, eta: float) -> float:
    """What stands before the penalty when the weighted losses are a mean over the rows, as they
    are in a step; so much that b goes to 0 in one step is enough."""
    with np.errstate(over="ignore", under="ignore"):
        strength = np.float64(1.0) / checked_C(learner.C) / learner._rows_seen / learner._unit
        if learner.penalty == "l2":
            strength /= learner._unit
    return float(min(strength, 1.0 / eta))
