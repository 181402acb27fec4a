"""How well scores put one class before another: the area under the ROC curve.

AUC = P(S+ > S-) + P(S+ = S-)/2 for the scores of a positive and of a negative row drawn at random:
the rank statistic of Mann and Whitney, and the area under the ROC curve.
"""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any, Literal

import numpy as np

from empirisk.risk.intervals.interval import Interval, shared_training
from empirisk.risk.measures.bootstrapped import Method, interval_by
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import (
    Linearised,
    Measure,
    Part,
    logit_interval,
    mean_of,
    measured,
    quotient,
    within_splits,
)
from empirisk.runtime.arrays import Array, Bools, Floats
from empirisk.runtime.errors import DataError, ParameterError

ENOUGH_IN_A_FOLD = 5
"""Rows of a class, from which the AUC of folds tells their models apart; with one or two, none of
which shows an error of its own, 20 to 100 % of folds of one model would seem to differ."""


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
    method: Method = "auto",
    n_resamples: int = 1999,
    random_state: Any = None,
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
    method : {"auto", "bootstrap"}
        "auto" takes the formula; "bootstrap" draws the rows, or the groups, with replacement and
        takes the BCa interval of the resamples. See the notes.
    n_resamples, random_state
        Of the bootstrap.

    Notes
    -----
    The share of the negative rows that a positive row beats, and of the positive rows that beat a
    negative one, are the placements V: Var AUC = s^2(V+)/m + s^2(V-)/n. Where every positive row
    beats every negative one that is 0, and shows nothing; then min(m, n) pairs that have no row in
    common are all in the right order, and the exact bound for their share is given.

    Take "auto": it is quick, and repeats itself exactly. The bootstrap needs no formula and no
    normal limit, and so is a check on it, in particular for averages over classes and few groups;
    where no resample differs from the rows, it falls back on "auto". At 90 %, from 20 to 200 rows
    with normal scores, both covered 87 to 100 % of 400 samples, the bootstrap 1 to 8 % longer.

    Both have the t quantiles of what the rows of the scarcer class are worth under their weights,
    the bootstrap by a level raised as far (Hesterberg 2015): at 90 %, of 200 rows with exponential
    or lognormal weights, "auto" covered 89 to 95 % of 2,000 samples, the bootstrap 93 to 95 % of
    1,500. Where these are few it may ask for more resamples than there are, and warns.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value
    0.75
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> print(auc(y, y + rng.normal(size=300)))
    The AUC (class 1) of this model is 0.8143, 95 % interval 0.7596 to 0.8589 (DeLong on the logit
    scale: if the rows took no part in the model).
    """
    rows = JudgedRows.of(
        y,
        score=score,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    by = interval_by(method, n_resamples, random_state)
    return measured(rows, *area(rows, positive, multi_class), level, by)


def area(rows: JudgedRows, positive: Any = None, multi_class: str = "ovr") -> tuple[Part, str]:
    """AUC of the rows by their scores, and what it is called."""
    if rows.score.ndim == 1 or rows.score.shape[1] <= 2 or positive is not None:
        k = rows.positive(positive)
        return _against(rows, k), f"AUC (class {rows.name(k)})"
    check_columns(rows)
    codes = range(len(rows.classes))
    if multi_class == "ovr":
        parts = [_against(rows, k) for k in codes]
        return mean_of(rows, parts), "AUC (each class against the rest)"
    if multi_class == "ovo":
        parts = [_against(rows, k, other) for k, other in permutations(codes, 2)]
        return mean_of(rows, parts), "AUC (each class against each other)"
    raise ParameterError(f"multi_class is {multi_class!r}; choose 'ovr' or 'ovo'")


def score_of(rows: JudgedRows, k: int) -> Array:
    """The score of the class with code k: the only one there is, or that of its column."""
    if rows.score.ndim == 1:
        return rows.score
    check_columns(rows)
    return rows.score[:, k]


def check_columns(rows: JudgedRows) -> None:
    """Raise a DataError unless there is a score for each class."""
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


def _against(rows: JudgedRows, k: int, other: int | None = None) -> Part:
    """AUC of class k against another class or, with None, all others."""
    statistic = within_splits(rows, partial(_placed, k=k, other=other))
    if rows.split is not None and len(np.unique(rows.split)) > 1:
        influence = _influence_over_splits(rows, k, other)
        compares = _least_of_a_side(rows, k, other) >= ENOUGH_IN_A_FOLD
        of_folds = statistic.losses if compares else np.full(rows.n, statistic.value)
        statistic = Linearised(statistic.value, influence, of_folds=of_folds)
    table = statistic.table(rows)
    units = min(rows.worth(which) for which in _sides(rows, k, other))

    def interval(level: float) -> Interval:
        if statistic.value in (0, 1):
            return _in_order(statistic.value, _pairs(rows, k, other), shared_training(table), level)
        return logit_interval(table, level, units, method="DeLong")

    return Part(statistic, interval, units)


def _placed(rows: JudgedRows, k: int, other: int | None) -> Linearised:
    """AUC by the scores of one model."""
    positive, negative = _sides(rows, k, other)
    _refuse_empty(rows, positive, negative, k, other)
    own, score = positive | negative, score_of(rows, k)
    found = rank_statistic(score[own], positive[own], rows.weight[own])
    influence = np.zeros(rows.n)
    influence[own] = found.influence * (rows.weight.sum() / rows.weight[own].sum())
    if rows.units == rows.n:
        for which in (positive, negative):
            influence[which] *= _unbiased(int(which.sum()), rows.n)
    return Linearised(found.value, influence, area_under(score, positive, negative))


def _influence_over_splits(rows: JudgedRows, k: int, other: int | None) -> Floats:
    """Placements among the rows of one model, about the mean of a class over all splits.

    About that of its own split, the only row of a class would count for nothing.
    """
    assert rows.split is not None
    placement, influence = np.zeros(rows.n), np.zeros(rows.n)
    for s in np.unique(rows.split):
        own = np.flatnonzero(rows.split == s)
        positive, negative = _sides(rows[own], k, other)
        judged = positive | negative
        part = rows[own[judged]]
        placement[own[judged]] = placements(score_of(part, k), positive[judged], part.weight)
    for which in _sides(rows, k, other):
        weight = rows.weight[which]
        away = placement[which] - np.average(placement[which], weights=weight)
        influence[which] = away * (rows.weight.sum() / weight.sum())
        if rows.units == rows.n:
            influence[which] *= _unbiased(int(which.sum()), rows.n)
    return influence


def _sides(rows: JudgedRows, k: int, other: int | None) -> tuple[Bools, Bools]:
    """The rows of class k, and those it is set against."""
    positive = rows.truth == k
    return positive, ~positive if other is None else rows.truth == other


def _least_of_a_side(rows: JudgedRows, k: int, other: int | None) -> int:
    """The least number of rows that a split has of either side."""
    assert rows.split is not None
    split = np.unique(rows.split, return_inverse=True)[1]
    counts = [
        np.bincount(split[which], minlength=split.max() + 1) for which in _sides(rows, k, other)
    ]
    return int(np.min(counts))


def area_under(score: Array, positive: Bools, negative: Bools) -> Callable[[Floats], Floats]:
    """AUC under many weightings of the rows; the scores are put in order once."""
    own = np.flatnonzero(positive | negative)
    run = np.unique(score[own], return_inverse=True)[1]  # ties share a number
    order = np.argsort(run, kind="stable")
    own, first = own[order], np.flatnonzero(np.diff(run[order], prepend=-1))
    above, below = positive[own], negative[own]

    def under(weights: Floats) -> Floats:
        ordered = weights[:, own]
        of_positive = np.add.reduceat(ordered * above, first, axis=1)
        of_negative = np.add.reduceat(ordered * below, first, axis=1)
        beaten = np.cumsum(of_negative, axis=1) - of_negative / 2
        wins = np.einsum("br,br->b", of_positive, beaten)
        return quotient(wins, of_positive.sum(axis=1) * of_negative.sum(axis=1))

    return under


def _unbiased(m: int, n: int) -> float:
    """DeLong divides by m - 1 in each class; the standard error of a table by n - 1 in all."""
    return float(np.sqrt(m / (m - 1) * (n - 1) / n)) if m > 1 else 1.0


def _pairs(rows: JudgedRows, k: int, other: int | None) -> float:
    """How many pairs of the two sides, judged by one model, have no row in common."""
    both = [rows] if rows.split is None else [rows[rows.split == s] for s in np.unique(rows.split)]
    within = 0.0
    for part in both:
        sides = _sides(part, k, other)
        each = [part[which].effective_units for which in sides]
        within += min(*each, part[sides[0] | sides[1]].effective_units / 2)
    # With repeats each row is judged several times, and counts once.
    return min(within, *(rows[which].effective_units for which in _sides(rows, k, other)))


def _in_order(value: float, pairs: float, shared: float, level: float) -> Interval:
    """All pairs in the right order, or all in the wrong one, some of them independent."""
    furthest = ((1 - level) / 2) ** (shared / pairs)
    ends = (furthest, 1.0) if value == 1 else (0.0, 1 - furthest)
    order = "right" if value == 1 else "wrong"
    reason = f"{pairs:.3g} pairs without a row in common are all in the {order} order"
    if shared > 1:
        reason += f", worth {pairs / shared:.3g}, since the folds share training rows"
    return Interval(value, ends, None, "Clopper-Pearson", reason)


def _refuse_empty(
    rows: JudgedRows, positive: Bools, negative: Bools, k: int, other: int | None
) -> None:
    names = rows.name(k), "any other class" if other is None else f"class {rows.name(other)}"
    if not positive.any():
        remedy = "give rows of it, or name another class, positive=..., to set against the rest"
        raise DataError(f"no row is of class {names[0]}, so its AUC is undefined: {remedy}")
    if not negative.any():
        raise DataError(
            f"no row is of {names[1]}, so the AUC of class {names[0]} is undefined: give rows of "
            "both sides"
        )
