"""Shares of right decisions: accuracy, precision, recall, specificity; and F, which joins two.

With classes predicted for rows of known class, and one class called positive,

    precision = TP / (TP + FP)    recall = TP / (TP + FN)    specificity = TN / (TN + FP).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, Unpack

from empirisk.risk.measures.bootstrapped import Drawing, interval_by
from empirisk.risk.measures.judged import JudgedRows, refuse_nothing_predicted
from empirisk.risk.measures.measure import Measure, Part, mean_of, measured
from empirisk.risk.measures.shares import (
    OF_CLASS,
    checked_beta,
    f_of,
    mean_by_frequency,
    pooled_specificity,
    share_right,
)
from empirisk.runtime.errors import ParameterError

Average = Literal["macro", "micro", "weighted"]


class Options(Drawing, total=False):
    """What all measures of predicted classes take; see `recall`."""

    positive: Any
    average: Average | None
    labels: Sequence[Any] | None
    sample_weight: Any
    groups: Any
    level: float


def accuracy(
    y: Any,
    prediction: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    **drawing: Unpack[Drawing],
) -> Measure:
    """The share of rows whose class is predicted rightly, 1 - the 0-1 risk; as in `recall`.

    Examples
    --------
    >>> print(accuracy(["a", "b", "c"] * 20, ["a", "b", "b"] * 20))
    The accuracy of this model is 0.6667, 95 % interval 0.5331 to 0.7831 (Clopper-Pearson: ...).
    """
    refuse_nothing_predicted(prediction)
    rows = JudgedRows.of(y, prediction=prediction, sample_weight=sample_weight, groups=groups)
    return measured(rows, share_right(rows), "accuracy", level, interval_by(**drawing))


def precision(y: Any, prediction: Any, **options: Unpack[Options]) -> Measure:
    """The share of rows of the positive class among those predicted to be, TP / (TP + FP).

    Parameters and averages as in `recall`. Undefined, and an error, where no row is predicted to
    be of the class.

    Examples
    --------
    >>> y, prediction = [1] * 40 + [0] * 60, [1] * 30 + [0] * 60 + [1] * 10
    >>> print(precision(y, prediction))
    The precision (class 1) of this model is 0.75, 95 % interval 0.588 to 0.8731 ...
    """
    return _measured("precision", y, prediction, **options)


def recall(y: Any, prediction: Any, **options: Unpack[Options]) -> Measure:
    """The share of the rows of the positive class that are found, TP / (TP + FN).

    Parameters
    ----------
    y, prediction : labels
        Of rows that took no part in fitting or choosing the classifier.
    positive : label, optional
        The class it is about; by default, of two classes the larger label.
    average : {"macro", "micro", "weighted"}, optional
        Over all classes instead of one: their mean, their pooled share (that of all right rows), or
        the mean with the frequencies of the classes.
    labels : sequence of labels, optional
        The classes to take the macro average over; by default all in y or prediction.
    sample_weight, groups : arrays, optional
        A row of weight w counts as w copies, and once for the uncertainty; a group is one
        independent observation.
    level : float
        Of the interval: Clopper-Pearson on the rows that count for one class, the delta method on
        the logit scale for an average.
    method, n_resamples, random_state
        With "bootstrap" the interval of resamples instead, as in `auc`: a check on the delta method
        of an average; for one class the exact interval is the better one.

    Examples
    --------
    >>> y, prediction = [1] * 40 + [0] * 60, [1] * 30 + [0] * 60 + [1] * 10
    >>> print(recall(y, prediction))
    The recall (class 1) of this model is 0.75, 95 % interval 0.588 to 0.8731 ...
    >>> recall(y, prediction, average="macro").value
    0.7916666666666667
    """
    return _measured("recall", y, prediction, **options)


def specificity(y: Any, prediction: Any, **options: Unpack[Options]) -> Measure:
    """The share of the rows of other classes that are predicted not to be positive, TN / (TN + FP).

    Parameters and averages as in `recall`.

    Examples
    --------
    >>> specificity([0, 0, 0, 1], [0, 0, 1, 1]).value
    0.6666666666666666
    """
    return _measured("specificity", y, prediction, **options)


def f_score(y: Any, prediction: Any, *, beta: float = 1.0, **options: Unpack[Options]) -> Measure:
    """F = (1 + beta^2) P R / (beta^2 P + R), the harmonic mean of precision and recall at beta 1.

    That is TP / (TP + c FN + (1 - c) FP) with c = beta^2/(1 + beta^2). Parameters and averages as
    in `recall`.

    Notes
    -----
    At beta 1 it is 2J/(1 + J) of the share J = TP/(TP + FN + FP) of the rows that are positive or
    predicted to be, so the interval is that of Clopper and Pearson for J. At another beta it is
    that of the delta method, and at F = 0 or 1 a bound by J. With method="bootstrap" it is that of
    resamples, within some per cent of the length of the exact one.

    Examples
    --------
    >>> y, prediction = [1] * 40 + [0] * 60, [1] * 30 + [0] * 60 + [1] * 10
    >>> print(f_score(y, prediction))
    The F (class 1) of this model is 0.75, 95 % interval 0.6224 to 0.8479 (Clopper-Pearson: ...).
    """
    return _measured("F", y, prediction, beta=beta, **options)


def _measured(
    name: str,
    y: Any,
    prediction: Any,
    *,
    beta: float = 1.0,
    positive: Any = None,
    average: Average | None = None,
    labels: Sequence[Any] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    **drawing: Unpack[Drawing],
) -> Measure:
    refuse_nothing_predicted(prediction)
    rows = JudgedRows.of(
        y,
        prediction=prediction,
        labels=labels,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    part, title = rate(rows, name, beta=beta, positive=positive, average=average, labels=labels)
    return measured(rows, part, title, level, interval_by(**drawing))


def rate(
    rows: JudgedRows,
    name: str,
    *,
    beta: float = 1.0,
    positive: Any = None,
    average: Average | None = None,
    labels: Sequence[Any] | None = None,
) -> tuple[Part, str]:
    """A measure of one class, or an average over classes, and what it is called."""
    of_class, title = OF_CLASS[name], name
    if beta != 1:
        if name != "F":
            raise ParameterError(f"beta is for F, not for the {name}")
        of_class, title = partial(f_of, beta=checked_beta(beta)), f"F_{beta:g}"
    if average is None:
        k = rows.positive(positive)
        return of_class(rows, k), f"{title} (class {rows.name(k)})"
    if positive is not None or (labels is not None and average != "macro"):
        raise ParameterError(
            "positive=... is for one class, without an average, and labels=... are for the "
            f"average 'macro'; average is {average!r}"
        )
    if average == "macro":
        codes = range(len(rows.classes)) if labels is None else [rows.code(k) for k in labels]
        part = mean_of(rows, [of_class(rows, k) for k in codes])
    elif average == "weighted":
        part = mean_by_frequency(rows, of_class)
    elif average == "micro":
        part = pooled_specificity(rows) if name == "specificity" else share_right(rows)
    else:
        raise ParameterError(f"average is {average!r}; choose 'macro', 'micro' or 'weighted'")
    return part, f"{title} ({average} average)"
