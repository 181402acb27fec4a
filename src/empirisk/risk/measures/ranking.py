"""How well scores put one class before another: the area under the ROC curve.

AUC = P(S+ > S-) + P(S+ = S-)/2 for the scores of a positive and of a negative row drawn at random:
the rank statistic of Mann and Whitney, and the area under the ROC curve.
"""

from itertools import permutations
from typing import Any, Literal

import numpy as np

from empirisk.risk.intervals import Interval
from empirisk.risk.measures.judged import JudgedRows, count_units
from empirisk.risk.measures.measure import (
    Linearised,
    Measure,
    Part,
    logit_interval,
    mean_of,
    measured,
)
from empirisk.runtime.arrays import Array, Bools, Floats
from empirisk.runtime.errors import DataError, ParameterError


def auc(
    y: Any,
    score: Any,
    *,
    positive: Any = None,
    multi_class: Literal["ovr", "ovo"] = "ovr",
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> Measure:
    """The area under the ROC curve, with the interval of DeLong (1988) on the logit scale.

    Parameters
    ----------
    y : labels of rows that took no part in fitting or choosing the classifier
    score : array of shape (rows,) or (rows, classes)
        The larger, the more the classifier holds for the positive class, or for each class.
    positive : label, optional
        By default, of two classes the larger label.
    multi_class : {"ovr", "ovo"}
        With more than two classes: the mean over the classes of each against the rest, or the mean
        over all pairs of classes (Hand and Till 2001), which does not depend on how frequent they
        are.
    classes : sequence of labels, optional
        Of the columns of score, in sorted order, where y need not show them all.
    sample_weight, groups : arrays, optional
        A group is one independent observation.
    level : float

    Notes
    -----
    The share of the negative rows that a positive row beats, and of the positive rows that beat a
    negative one, are the placements V: Var AUC = s^2(V+)/m + s^2(V-)/n. Where every positive row
    beats every negative one that is 0, and shows nothing; then min(m, n) pairs that have no row in
    common are all in the right order, and the exact bound for their share is given.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value
    0.75
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> print(auc(y, y + rng.normal(size=300)))
    The AUC (class 1) of this model is 0.8143, 95 % interval 0.7596 to 0.8589 (DeLong on the logit
    scale: the rows took no part in the model).
    """
    rows = JudgedRows.of(
        y,
        score=score,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    return measured(rows, *area(rows, positive, multi_class), level)


def area(rows: JudgedRows, positive: Any = None, multi_class: str = "ovr") -> tuple[Part, str]:
    """AUC of the rows by their scores, and what it is called."""
    if rows.score.ndim == 1 or rows.score.shape[1] <= 2 or positive is not None:
        k = rows.positive(positive)
        return _against(rows, score_of(rows, k), k), f"AUC (class {rows.name(k)})"
    check_columns(rows)
    codes = range(len(rows.classes))
    if multi_class == "ovr":
        parts = [_against(rows, rows.score[:, k], k) for k in codes]
        return mean_of(rows, parts), "AUC (each class against the rest)"
    if multi_class == "ovo":
        parts = [_against(rows, rows.score[:, k], k, other) for k, other in permutations(codes, 2)]
        return mean_of(rows, parts), "AUC (each class against each other)"
    raise ParameterError(f"multi_class is {multi_class!r}; choose 'ovr' or 'ovo'")


def score_of(rows: JudgedRows, k: int) -> Array:
    """The score of the class with code k: the only one there is, or that of its column."""
    if rows.score.ndim == 1:
        return rows.score
    check_columns(rows)
    return rows.score[:, k]


def check_columns(rows: JudgedRows) -> None:
    if rows.score.shape[1] != len(rows.classes):
        raise DataError(
            f"the scores have {rows.score.shape[1]} columns for {len(rows.classes)} classes; give "
            "a column for each, and with classes=... those that do not occur in y"
        )


def placements(score: Array, positive: Bools, weight: Floats) -> Floats:
    """For each row the share of the other class that is on its right side; of ties one half.

    The right side is below a positive row and above a negative one.
    """
    run = np.unique(score, return_inverse=True)[1]  # ties share a number
    of_positive = np.bincount(run, np.where(positive, weight, 0.0))
    of_negative = np.bincount(run, np.where(positive, 0.0, weight))
    # Sums from either end: a row that beats all others gets exactly one.
    up, down = np.cumsum(of_negative), np.cumsum(of_positive[::-1])[::-1]
    below = (up - of_negative / 2) / up[-1]
    above = (down - of_positive / 2) / down[0]
    return np.where(positive, below[run], above[run])


def rank_statistic(score: Array, positive: Bools, weight: Floats) -> Linearised:
    """AUC, the mean placement of either class; influence_i = (V_i - AUC) W / W of its class."""
    placement = placements(score, positive, weight)
    value = float(np.average(placement[positive], weights=weight[positive]))
    influence = placement - value
    for own in (positive, ~positive):
        influence[own] /= weight[own].sum() / weight.sum()
    return Linearised(value, influence)


def _against(rows: JudgedRows, score: Array, k: int, other: int | None = None) -> Part:
    """AUC of class k against another class or, with None, all others."""
    positive = rows.truth == k
    negative = ~positive if other is None else rows.truth == other
    _refuse_empty(rows, positive, negative, k, other)
    own = positive | negative
    found = rank_statistic(score[own], positive[own], rows.weight[own])
    influence = np.zeros(rows.n)
    influence[own] = found.influence * (rows.weight.sum() / rows.weight[own].sum())
    if rows.units == rows.n:
        for which in (positive, negative):
            influence[which] *= _unbiased(int(which.sum()), rows.n)
    table = rows.table(found.value + influence)
    units = min(count_units(rows.unit[which]) for which in (positive, negative))

    def interval(level: float) -> Interval:
        if found.value in (0, 1):
            pairs = min(rows[which].effective_units for which in (positive, negative))
            return _in_order(found.value, min(pairs, rows[own].effective_units / 2), level)
        return logit_interval(table, level, units, method="DeLong")

    return Part(Linearised(found.value, influence), interval, units)


def _unbiased(m: int, n: int) -> float:
    """DeLong divides by m - 1 in each class; the standard error of a table by n - 1 in all."""
    return float(np.sqrt(m / (m - 1) * (n - 1) / n)) if m > 1 else 1.0


def _in_order(value: float, pairs: float, level: float) -> Interval:
    """All pairs in the right order, or all in the wrong one, some of them independent."""
    furthest = ((1 - level) / 2) ** (1 / pairs)
    ends = (furthest, 1.0) if value == 1 else (0.0, 1 - furthest)
    order = "right" if value == 1 else "wrong"
    reason = f"{pairs:.3g} pairs without a row in common are all in the {order} order"
    return Interval(value, ends, None, "Clopper-Pearson", reason)


def _refuse_empty(
    rows: JudgedRows, positive: Bools, negative: Bools, k: int, other: int | None
) -> None:
    names = rows.name(k), "any other class" if other is None else rows.name(other)
    for which, name in zip((positive, negative), names, strict=True):
        if not which.any():
            raise DataError(f"no row is of {name}, so the AUC of class {names[0]} is undefined")
