"""Measures by name: of a fitted classifier, on rows it has not seen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier

from empirisk.risk.foreign import foreign_prediction
from empirisk.risk.measure_names import Name
from empirisk.risk.measures.average_precision import mean_precision
from empirisk.risk.measures.bootstrapped import interval_by
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Measure, Part, measured
from empirisk.risk.measures.ranking import area
from empirisk.risk.measures.rates import rate
from empirisk.risk.measures.shares import share_right
from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.predictor import as_predictor, known_classes, name_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import ParameterError


@dataclass(frozen=True)
class Kind:
    """What a measure asks of a classifier, and how it is found from the rows judged."""

    asks: Literal["value", "score"]
    of: Callable[..., tuple[Part, str]]


KINDS: dict[str, Kind] = {
    "accuracy": Kind("value", lambda rows: (share_right(rows), "accuracy")),
    "precision": Kind("value", partial(rate, name="precision")),
    "recall": Kind("value", partial(rate, name="recall")),
    "specificity": Kind("value", partial(rate, name="specificity")),
    "f_score": Kind("value", partial(rate, name="F")),
    "auc": Kind("score", area),
    "average_precision": Kind("score", mean_precision),
}
HIDDEN = ("rows", "name")  # parameters that are no options


def evaluate(
    classifier: Any,
    X: Any,
    y: Any,
    measure: Name = "auc",
    *,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 1999,
    random_state: Any = None,
    **options: Any,
) -> Measure:
    """A measure of a fitted classifier on rows it has not seen; also `risk.evaluate(loss=...)`.

    Parameters
    ----------
    classifier : fitted classifier, object with `predict`, or function of X
        Ours or any other; a function returns labels, and for the last two measures scores.
    X, y : rows that took no part in fitting or choosing it
    measure : str
        "accuracy", "precision", "recall", "specificity", "f_score", "auc" or "average_precision".
        The last two take `predict_proba` or, where there is none, `decision_function`.
    sample_weight, groups, level
        As in `risk.evaluate`.
    method, n_resamples, random_state
        As in `auc`: "auto", or "bootstrap" for an interval by resamples.
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
    kind = kind_of(measure, options)
    by = interval_by(method, n_resamples, random_state)
    classifier = as_predictor(classifier, y, task="classification", gives=kind.asks)
    refuse_no_classifier(classifier, measure)
    problem = Problem.of(
        classifier,
        X,
        y,
        loss="zero_one",
        sample_weight=sample_weight,
        groups=groups,
        classes=known_classes(classifier),
    )
    prediction = foreign_prediction(classifier, problem.X, problem, kind.asks)
    fingerprint = data_key(y, sample_weight, groups)
    rows = rows_of(problem, prediction, np.arange(problem.n), fingerprint)
    return measured(rows, *kind.of(rows, **options), level, by)


def kind_of(measure: str, options: Mapping[str, Any]) -> Kind:
    """The measure of that name, which must know the options."""
    if measure not in KINDS:
        raise ParameterError(
            f"there is no measure {measure!r}; there are {', '.join(KINDS)}, and the losses of "
            "risk.evaluate"
        )
    takes = [name for name in signature(KINDS[measure].of).parameters if name not in HIDDEN]
    unknown = [name for name in options if name not in takes]
    if unknown:
        raise ParameterError(
            f"{unknown[0]!r} is no option of the measure {measure!r}, which has "
            f"{', '.join(takes) or 'none'}"
        )
    return KINDS[measure]


def refuse_no_classifier(estimator: Any, measure: str) -> None:
    """Raise a ParameterError where a measure of classifiers is asked of another learner."""
    if not is_classifier(estimator):
        raise ParameterError(
            f"the measure {measure!r} is one of classifiers, and {name_of(estimator)} is none; "
            "scores of any kind go to risk.measures.auc(y, score)"
        )


def rows_of(problem: Problem, prediction: Array, row: Ints, fingerprint: str) -> JudgedRows:
    """Rows of a problem with their predicted classes, or with the scores of all classes."""
    assert problem.target is not None
    assert problem.classes is not None
    return JudgedRows(
        truth=problem.target[row],
        classes=problem.classes,
        weight=problem.weight[row],
        unit=problem.unit[row],
        fingerprint=fingerprint,
        predicted=prediction if prediction.ndim == 1 else row[:0],
        score=prediction,
    )
