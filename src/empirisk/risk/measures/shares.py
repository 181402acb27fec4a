"""The measures of one class, or of all rows, from rows judged: a share, or F from one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from empirisk.risk.intervals.interval import Interval, drawn_out, shared_training
from empirisk.risk.intervals.interval import interval as interval_of
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Linearised, Part, logit_interval, mean_of, ratio
from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number

OfClass = Callable[[JudgedRows, int], Part]


def share_right(rows: JudgedRows) -> Part:
    """The share of rows whose class is predicted rightly."""
    everywhere = np.ones(rows.n, dtype=bool)
    return _share(rows, rows.truth == rows.predicted, everywhere)


def precision_of(rows: JudgedRows, k: int) -> Part:
    """P(Y = k | predicted k)."""
    counted = rows.predicted == k
    _refuse_none(counted, f"no row is predicted to be of class {rows.name(k)}", "precision")
    return _share(rows, rows.truth == k, counted)


def recall_of(rows: JudgedRows, k: int) -> Part:
    """P(predicted k | Y = k)."""
    counted = rows.truth == k
    _refuse_none(counted, f"no row is of class {rows.name(k)}", "recall")
    return _share(rows, rows.predicted == k, counted)


def specificity_of(rows: JudgedRows, k: int) -> Part:
    """P(not predicted k | Y is not k)."""
    counted = rows.truth != k
    _refuse_none(counted, f"all rows are of class {rows.name(k)}", "specificity")
    return _share(rows, rows.predicted != k, counted)


def _share(rows: JudgedRows, right: Bools, counted: Bools) -> Part:
    """The weighted share of the rows that count, with the interval of Clopper and Pearson."""
    statistic = ratio((right & counted).astype(float), counted.astype(float), rows.weight)
    own = rows[counted]
    table = own.table(right[counted].astype(float))

    return Part(statistic, lambda level: interval_of(table, level), rows.worth(counted))


def checked_beta(beta: float) -> float:
    """The weight of recall in F."""
    if not (is_number(beta) and beta > 0):
        raise ParameterError(f"beta is {beta!r}; give a number above 0, 1 for the harmonic mean")
    return beta


def f_of(rows: JudgedRows, k: int, beta: float = 1.0) -> Part:
    """(1 + beta^2) precision recall / (beta^2 precision + recall), of class k."""
    truth, predicted = rows.truth == k, rows.predicted == k
    counted = truth | predicted
    _refuse_none(counted, f"no row is of class {rows.name(k)} or predicted to be", "F")
    c = 1 / (1 + (1 / beta) * (1 / beta))
    hit = (truth & predicted).astype(float)
    missed, false_alarm = (truth & ~predicted).astype(float), (predicted & ~truth).astype(float)
    statistic = ratio(hit, hit + c * missed + (1 - c) * false_alarm, rows.weight)
    table = rows.table(statistic.losses)
    jaccard = _share(rows, truth & predicted, counted)

    def interval(level: float) -> Interval:
        found = jaccard.interval(level)
        lam = drawn_out(table, float(np.sqrt(shared_training(table))))
        error = lam * (table.standard_error() or 0.0)
        if c == 0.5:
            ends = _through_jaccard(found, (c, c))
            return replace(found, ends=ends, standard_error=error or None)
        if 0 < statistic.value < 1:
            return logit_interval(table, level, jaccard.units)
        reason = "a bound by the share of hits among hits, misses and false alarms"
        bounds = _through_jaccard(found, (max(c, 1 - c), min(c, 1 - c)))
        return replace(found, ends=bounds, standard_error=None, reason=reason)

    return Part(statistic, interval, jaccard.units)


OF_CLASS: dict[str, OfClass] = {
    "precision": precision_of,
    "recall": recall_of,
    "specificity": specificity_of,
    "F": f_of,
}


def _through_jaccard(found: Interval, costs: tuple[float, float]) -> tuple[float, float] | None:
    """F = J / (J + c (1 - J)) if all mistakes count c: at the lower end and at the upper one."""
    if found.ends is None:
        return None
    low, high = (
        j / (j + c * (1 - j)) if j > 0 else 0.0 for j, c in zip(found.ends, costs, strict=True)
    )
    return low, high


def mean_by_frequency(rows: JudgedRows, of_class: OfClass) -> Part:
    """The mean with the frequencies of the classes, of those that occur."""
    present, truth = np.unique(rows.truth, return_inverse=True)
    share: Floats = np.bincount(truth, rows.weight) / rows.weight.sum()
    return mean_of(replace(rows, truth=truth), [of_class(rows, int(k)) for k in present], share)


def pooled_specificity(rows: JudgedRows) -> Part:
    """Each row has K - 1 classes that it is not of, at most one of them predicted."""
    right, others = share_right(rows), max(len(rows.classes) - 1, 1)
    value = 1 - (1 - right.statistic.value) / others

    def interval(level: float) -> Interval:
        found = right.interval(level)
        if found.ends is None:
            return found
        low, high = (1 - (1 - end) / others for end in found.ends)
        error = found.standard_error and found.standard_error / others
        return replace(found, ends=(low, high), standard_error=error)

    def under(weights: Floats) -> Floats:
        return 1 - (1 - right.statistic.at(weights)) / others

    statistic = Linearised(value, right.statistic.influence / others, under)
    return Part(statistic, interval, right.units)


def _refuse_none(counted: Bools, what: str, name: str) -> None:
    if not counted.any():
        raise DataError(
            f"{what}, so its {name} is undefined: give rows that have it, name another class, "
            "positive=..., or for average='macro' the classes, labels=[...]"
        )
