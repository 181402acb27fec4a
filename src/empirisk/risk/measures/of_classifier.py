"""Measures by name: of a fitted classifier, on rows it has not seen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from empirisk.risk.axis import Output
from empirisk.risk.fingerprints import data_key
from empirisk.risk.foreign import align, foreign_prediction
from empirisk.risk.measures.average_precision import mean_precision
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Measure, Part, measured
from empirisk.risk.measures.ranking import area
from empirisk.risk.measures.rates import rate
from empirisk.risk.measures.shares import share_right
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import ParameterError

Name = Literal[
    "accuracy", "precision", "recall", "specificity", "f_score", "auc", "average_precision"
]


@dataclass(frozen=True)
class Kind:
    """What a measure asks of a classifier, and how it is found from the rows judged."""

    output: Output
    of: Callable[..., tuple[Part, str]]


KINDS: dict[str, Kind] = {
    "accuracy": Kind("value", lambda rows: (share_right(rows), "accuracy")),
    "precision": Kind("value", partial(rate, name="precision")),
    "recall": Kind("value", partial(rate, name="recall")),
    "specificity": Kind("value", partial(rate, name="specificity")),
    "f_score": Kind("value", partial(rate, name="F")),
    "auc": Kind("probability", area),
    "average_precision": Kind("probability", mean_precision),
}


def evaluate(
    classifier: Any,
    X: Any,
    y: Any,
    measure: Name = "auc",
    *,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    **options: Any,
) -> Measure:
    """A measure of a fitted classifier on rows it has not seen.

    Parameters
    ----------
    classifier : fitted classifier
        Ours or any with scikit-learn's interface.
    X, y : rows that took no part in fitting or choosing it
    measure : str
        "accuracy", "precision", "recall", "specificity", "f_score", "auc" or "average_precision".
        The last two take `predict_proba` or, where there is none, `decision_function`.
    sample_weight, groups, level
        As in `risk.evaluate`.
    **options
        Of the measure, such as positive="yes", average="macro", beta=2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X[:400], y[:400])
    >>> print(evaluate(model, X[400:], y[400:], "recall", positive=0))
    The recall (class 0) of this model is 0.9231, 95 % interval 0.7913 to 0.9838 ...
    """
    kind = kind_of(measure)
    problem = Problem.of(
        classifier,
        X,
        y,
        loss="zero_one",
        sample_weight=sample_weight,
        groups=groups,
        classes=getattr(classifier, "classes_", None),
    )
    if kind.output == "value":
        prediction = foreign_prediction(classifier, problem.X, problem, "value")
    else:
        prediction = _scores(classifier, problem)
    fingerprint = data_key(y, sample_weight, groups)
    rows = rows_of(problem, prediction, np.arange(problem.n), fingerprint)
    return measured(rows, *kind.of(rows, **options), level)


def kind_of(measure: str) -> Kind:
    if measure not in KINDS:
        raise ParameterError(
            f"there is no measure {measure!r}; there are {', '.join(KINDS)}, and the losses of "
            "risk.evaluate"
        )
    return KINDS[measure]


def rows_of(problem: Problem, prediction: Array, row: Ints, fingerprint: str) -> JudgedRows:
    """Rows of a problem with their predicted classes, or with the scores of all classes."""
    assert problem.target is not None
    assert problem.classes is not None
    unit = row
    if problem.groups is not None:
        unit = np.unique(np.asarray(problem.groups), return_inverse=True)[1][row]
    return JudgedRows(
        truth=problem.target[row],
        classes=problem.classes,
        weight=problem.weight[row],
        unit=unit,
        fingerprint=fingerprint,
        predicted=prediction if prediction.ndim == 1 else row[:0],
        score=prediction,
    )


def _scores(classifier: Any, problem: Problem) -> Array:
    """Scores (rows, classes): probabilities, or the decision function."""
    if hasattr(classifier, "predict_proba"):
        return foreign_prediction(classifier, problem.X, problem, "probability")
    if not hasattr(classifier, "decision_function"):
        raise ParameterError(
            f"{type(classifier).__name__} has neither predict_proba nor decision_function, and so "
            "no scores to put the rows in order"
        )
    scores = np.asarray(classifier.decision_function(problem.X))
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    assert problem.classes is not None
    present = np.searchsorted(problem.classes, classifier.classes_)
    return align(scores, present, len(problem.classes), "probability")
