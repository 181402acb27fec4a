"""The confusion matrix: how many rows of each class were predicted to be of which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from empirisk.charts.confusion import draw_confusion
from empirisk.risk.measures.judged import JudgedRows, refuse_nothing_predicted
from empirisk.risk.measures.measure import Measure, measured
from empirisk.risk.measures.shares import OF_CLASS
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError

Normalize = Literal["true", "pred", "all"]


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """Counts of rows by true and predicted class.

    Attributes
    ----------
    counts : array of shape (K, K)
        `counts[j, i]` rows of class j were predicted to be of class i: a row is a true class, as in
        scikit-learn. Sums of weights where there are weights.
    classes : array of labels
    rows : JudgedRows
        What was counted.

    Examples
    --------
    >>> from empirisk import risk
    >>> found = risk.measures.confusion_matrix(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> found.counts
    array([[1, 1],
           [0, 2]])
    >>> found.classes
    array(['a', 'b'], dtype='<U1')
    """

    counts: Array
    classes: Array
    rows: JudgedRows

    def shares(self, normalize: Normalize = "true") -> Floats:
        """The counts divided by those of the true class, of the predicted class, or of all rows.

        An empty class has zeros.
        """
        if normalize not in ("true", "pred", "all"):
            raise ParameterError(f"normalize is {normalize!r}; choose 'true', 'pred' or 'all'")
        axis = {"true": 1, "pred": 0, "all": None}[normalize]
        total = self.counts.sum(axis=axis, keepdims=True)
        return np.divide(self.counts, total, out=np.zeros(self.counts.shape), where=total > 0)

    def by_class(self, level: float = 0.95) -> dict[Any, dict[str, Measure | None]]:
        """Precision, recall, specificity and F of each class; None where it is undefined."""
        return {
            label: {name: self._measure(name, k, level) for name in OF_CLASS}
            for k, label in enumerate(self.classes.tolist())
        }

    def _measure(self, name: str, k: int, level: float) -> Measure | None:
        try:
            part = OF_CLASS[name](self.rows, k)
        except DataError:
            return None
        return measured(self.rows, part, f"{name} (class {self.rows.name(k)})", level)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.counts, dtype=dtype)

    def __str__(self) -> str:
        names = [*(str(label) for label in self.classes), "all"]
        counts = np.vstack([self.counts, self.counts.sum(axis=0)])
        counts = np.hstack([counts, counts.sum(axis=1, keepdims=True)])
        columns = [["true \\ predicted", *names]]
        for name, column in zip(names, counts.T, strict=True):
            columns.append([name, *(f"{count:.6g}" for count in column)])
        widths = [max(map(len, column)) for column in columns]
        columns[0] = [name.ljust(widths[0]) for name in columns[0]]
        lines = zip(*columns, strict=True)
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )

    def plot(self, normalize: Normalize | None = None, ax: Any = None) -> Any:
        """The counts in a grid, shaded by their share of the true class (or as normalised)."""
        shares = self.shares(normalize or "true")
        names = [str(label) for label in self.classes]
        return draw_confusion(self.counts if normalize is None else shares, shares, names, ax=ax)


def confusion_matrix(
    y: Any,
    prediction: Any,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> ConfusionMatrix:
    """Count the rows of each class by the class they were predicted to be of.

    Parameters
    ----------
    y, prediction : labels
    labels : sequence of labels, optional
        Classes to be listed even if no row has them.
    sample_weight, groups : arrays, optional
        A row of weight w counts as w copies. Groups matter for the intervals of `by_class` only.

    Examples
    --------
    >>> found = confusion_matrix(["no"] * 50 + ["yes"] * 30, ["no"] * 45 + ["yes"] * 35)
    >>> print(found)
    true \\ predicted  no  yes  all
    no                45    5   50
    yes                0   30   30
    all               45   35   80
    >>> print(found.by_class()["yes"]["precision"])
    The precision (class yes) of this model is 0.8571, 95 % interval 0.6974 to 0.9519 ...
    """
    refuse_nothing_predicted(prediction)
    rows = JudgedRows.of(
        y, prediction=prediction, labels=labels, sample_weight=sample_weight, groups=groups
    )
    K = len(rows.classes)
    weight = None if sample_weight is None else rows.weight
    counts = np.bincount(K * rows.truth + rows.predicted, weight, K * K).reshape(K, K)
    return ConfusionMatrix(counts, rows.classes, rows)
