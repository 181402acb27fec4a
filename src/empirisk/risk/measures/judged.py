"""The rows that a classifier is judged on: classes as codes, weights, independent units."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np

from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.plans.groups import group_codes, group_labels
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.complaints import refuse_missing_labels
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.targets import check_weights, one_column


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """True classes, and what a classifier said of them; rows of weight zero are gone.

    `truth` and `predicted` are codes of `classes`, the sorted labels; `score` is one number a row,
    or one for each class; what did not come is empty or zero. `fingerprint` is that of y, the
    weights and the groups, so that measures of two classifiers on the same rows subtract.

    Rows that several models were judged on have the `split` that held each out, the `kind` of plan,
    `n_train` rows behind each model, and the learner's degrees of freedom for each unit, `freedom`,
    where they are known; without a split all is the word of one model that never saw them. `how`
    and `doubts` are those of a `LossTable`.
    """

    truth: Ints
    classes: Array
    weight: Floats
    unit: Ints
    fingerprint: str
    predicted: Ints
    score: Array
    split: Ints | None = None
    kind: str = "test"
    n_train: float = np.inf
    freedom: float | None = None
    how: str = ""
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        y: Any,
        *,
        prediction: Any = None,
        score: Any = None,
        labels: Iterable[Any] | None = None,
        positive: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Check the rows; `labels` and `positive` are classes that need not occur in them."""
        if isinstance(labels, str) or not (labels is None or isinstance(labels, Iterable)):
            raise ParameterError(f"labels or classes are {labels!r:.60}; give a list of them")
        truth = _column(y, "y")
        weight = check_weights(sample_weight, len(truth))
        counted = weight > 0
        truth = _labels(_of_counted(truth, counted), "y")
        predicted, scores = truth[:0], np.zeros(len(truth))
        if prediction is not None:
            prediction = _column(prediction, "prediction")
            predicted = _labels(_of_counted(prediction, counted), "prediction")
        if score is not None:
            scores = checked_score(_of_counted(np.asarray(score), counted))
        grouped = None if groups is None else _of_counted(group_labels(groups, weight), counted)
        codes = group_codes(grouped, len(truth))
        unit = np.arange(len(truth)) if codes is None else codes
        kept = slice(None) if counted.all() else counted
        truth, predicted = truth[kept], predicted[kept] if len(predicted) else predicted
        named = [*([] if labels is None else labels), *([] if positive is None else [positive])]
        classes, codes = _codes([truth, predicted, np.array(named)])
        n = len(truth)
        return cls(
            truth=codes[:n],
            classes=classes,
            weight=weight[kept],
            unit=unit[kept],
            fingerprint=data_key(y, sample_weight, groups),
            predicted=codes[n : n + len(predicted)],
            score=scores[kept],
        )

    @property
    def n(self) -> int:
        return len(self.truth)

    @cached_property
    def units(self) -> int:
        """How many independent observations there are."""
        return int(np.count_nonzero(np.bincount(self.unit)))

    @property
    def effective_units(self) -> float:
        """The number of equally weighted units with the same variance of a mean."""
        return self.table(self.weight).effective_units

    def worth(self, counted: Bools) -> float:
        """How many units of equal weight would tell their spread as well as these rows do:

            1 + (m - 1) (sum w^2)^2 / (m sum w^4), w the weights of their m units.

        s^2 = sum w^2 (l - mean)^2 is a sum with the weights w^2, so by Satterthwaite (1946) it has
        (sum w^2)^2 / sum w^4 degrees of freedom before the mean takes its part of them.
        """
        of_unit = np.bincount(self.unit[counted], self.weight[counted])
        square = np.square(of_unit[of_unit > 0] / of_unit.max())
        even = np.square(square.mean()) / np.square(square).mean()
        return float(1 + (len(square) - 1) * even)

    def __getitem__(self, rows: Array) -> Self:
        """Some of the rows, with all classes."""
        return replace(
            self,
            truth=self.truth[rows],
            weight=self.weight[rows],
            unit=self.unit[rows],
            predicted=self.predicted[rows] if len(self.predicted) else self.predicted,
            score=self.score[rows],
            split=None if self.split is None else self.split[rows],
        )

    def table(self, losses: Floats, *, bounds: tuple[float, float] = (0.0, 1.0)) -> LossTable:
        """Losses of these rows as intervals want them; to a part of them, a part of the freedom."""
        table = LossTable(
            losses=losses,
            weight=self.weight,
            unit=self.unit,
            split=np.zeros(self.n, dtype=np.int64) if self.split is None else self.split,
            n_train=self.n_train,
            kind=self.kind,
            bounds=bounds,
            how=self.how,
            doubts=self.doubts,
        )
        if self.freedom is None:
            return table
        return replace(table, degrees_of_freedom=self.freedom * table.effective_units)

    def positive(self, label: Any = None) -> int:
        """The code of the positive class: the one named, or of two the larger label."""
        if label is not None:
            return self.code(label)
        if len(self.classes) != 2:
            raise ParameterError(
                f"the classes are {listed(self.classes)}: with two, the larger label is the "
                "positive one; here name it, positive=..., or take an average"
            )
        return 1

    def code(self, label: Any) -> int:
        found = [k for k, known in enumerate(self.classes.tolist()) if known == label]
        if not found:
            raise ParameterError(f"{label!r:.60} is not one of the classes {listed(self.classes)}")
        return found[0]

    def name(self, k: int) -> str:
        return str(self.classes[k])


def checked_score(score: Any) -> Array:
    """Numbers that can be put in order, one a row or one for each row and class."""
    given = np.asarray(score)
    if given.dtype.kind == "O":
        given = _numbers(given)
    if given.dtype.kind not in "iufb" or given.ndim not in (1, 2):
        raise DataError(
            f"the scores are an array of {given.dtype} of shape {given.shape}; give a number for "
            "each row, or for each row and class"
        )
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise DataError(f"{int(np.isnan(given).sum())} scores are NaN; leave out these rows")
    return given


def listed(classes: Array, most: int = 5) -> str:
    """Labels for a message, not too many of them."""
    labels = [f"{label!r:.60}" for label in classes.tolist()]
    return ", ".join(labels[:most]) + (f", ... ({len(labels)})" if len(labels) > most else "")


def _numbers(scores: Array) -> Array:
    """Objects as numbers, if they are such."""
    try:
        return scores.astype(float)
    except (TypeError, ValueError) as error:
        raise DataError(f"the scores are no numbers ({error}): give one for each row") from error


def _column(labels: Any, what: str) -> Array:
    found = one_column(labels, what)
    if len(found) == 0:
        raise DataError(f"{what} is empty; give at least one row")
    return found


def _of_counted(given: Array, counted: Bools) -> Array:
    """What was said of each row; of rows that do not count, what was said of the first that does.

    So nothing that is wrong with them is complained of, and rows keep their numbers.
    """
    if given.ndim and len(given) != len(counted):
        raise DataError(
            f"y has {len(counted)} rows, and what came with it {len(given)}; give one entry a row"
        )
    if given.ndim == 0 or counted.all():
        return given
    found = given.copy()
    found[~counted] = given[counted][0]
    return found


def _labels(found: Array, what: str) -> Array:
    try:
        refuse_missing_labels(found, "a measure")
    except DataError as error:
        raise DataError(str(error).replace("y has", f"{what} has", 1)) from None
    return found


def refuse_nothing_predicted(prediction: Any) -> None:
    """Raise a DataError where a function that forgot to return gave the predictions."""
    if prediction is None:
        raise DataError("the predictions are None; give a predicted label for each row of y")


def _codes(parts: list[Array]) -> tuple[Array, Ints]:
    """The sorted labels of all parts, and the code of each entry, parts one after another."""
    parts = [_plain(part) for part in parts if len(part)]
    kinds = {part.dtype.kind for part in parts}
    if kinds & set("USOT") and kinds & set("biuf"):
        raise DataError(
            "some labels came as text and some as numbers, which are never equal: give y, the "
            "predictions and named classes in one form"
        )
    try:
        return np.unique(np.concatenate(parts), return_inverse=True)
    except TypeError as error:
        raise DataError(f"the labels are of several types ({error}); make them all text") from error


def _plain(labels: Array) -> Array:
    """Numbers or truth values that came as objects, as such; other labels as they came."""
    if labels.dtype != object:
        return labels
    are_numbers = all(isinstance(label, Real | np.bool_) for label in labels)
    return np.array(labels.tolist()) if are_numbers else labels
