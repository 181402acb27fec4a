"""Mistakes that cost differently: asymmetric losses and any cost matrix, with their Bayes rules."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.classification import DecisionLoss
from empirisk.losses.probabilities import checked_probabilities, class_codes
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number


class MatrixLoss(DecisionLoss):
    """A loss that is looked up in a matrix, once the labels of its rows have their codes."""

    # The costs in the order of the class codes, or None while that order is not known.
    _costs: Floats | None

    @abstractmethod
    def _in_order_of(self, labels: list[Any]) -> Floats:
        """The costs in the order of these labels."""

    def for_classes(self, classes: Iterable[Any]) -> Self:
        """The same loss on the codes 0..K-1 of these labels, given in the order of their codes."""
        costs = self._in_order_of(_labels(classes))
        bound = copy(self)
        object.__setattr__(bound, "_costs", costs)
        return bound

    def costs(self) -> Floats:
        """The matrix C in the order of the class codes, C[i, j] for predicting i when j is true."""
        if self._costs is None:
            raise ParameterError(
                f"{self!r} names labels, and the codes of the classes are not known; "
                "call its for_classes(classes) first"
            )
        return self._costs

    @property
    def bounds(self) -> tuple[float, float]:
        """0 and the largest cost."""
        return 0.0, float(self.costs().max())

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """C(prediction | y); both are class codes, broadcast against each other."""
        costs = self.costs()
        return costs[class_codes(prediction, len(costs)), class_codes(y, len(costs))]

    def expected_losses(self, probabilities: ArrayLike) -> Floats:
        """sum_j C(i | j) p_j for each class i that might be predicted, along the last axis."""
        costs = self.costs()
        return checked_probabilities(probabilities, len(costs)).astype(float) @ costs.T


@dataclass(frozen=True)
class Asymmetric(MatrixLoss):
    """Two classes: a for a false positive, b for a false negative.

    Its Bayes rule predicts the positive class where its probability is above
    a / (a + b) = `threshold`; on the threshold, where both classes cost the same, the one with
    code 0.

    Parameters
    ----------
    a : float
        The cost of predicting the positive class when the other is true.
    b : float
        The cost of predicting the other class when the positive one is true.
    positive : label, optional
        Which class is positive; by default the one with code 1, the larger of the two labels.

    Examples
    --------
    >>> loss = Asymmetric(a=1, b=4)
    >>> loss([0, 1, 1], [1, 0, 1])
    array([1., 4., 0.])
    >>> loss.threshold
    0.2
    >>> loss.bayes_action([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    array([0, 0, 1])
    """

    a: float
    b: float
    positive: Hashable = None
    name: ClassVar[str] = "asymmetric"

    def __post_init__(self) -> None:
        costs = (self.a, self.b)
        if not (all(map(is_number, costs)) and min(costs) >= 0 < max(costs)):
            raise ParameterError(
                f"Asymmetric(a={self.a!r}, b={self.b!r}): both costs must be finite and >= 0, "
                "and one of them positive"
            )
        known = self.positive is None
        object.__setattr__(self, "_costs", self._with_positive(1) if known else None)

    def __str__(self) -> str:
        label = "" if self.positive is None else f", positive {self.positive}"
        return f"asymmetric({self.a}, {self.b}{label})"

    @property
    def bounds(self) -> tuple[float, float]:
        """0 and the larger of a and b."""
        return 0.0, float(max(self.a, self.b))

    @property
    def threshold(self) -> float:
        """a / (a + b): the positive class is predicted where it is more probable than this."""
        return _share(self.a, self.b)

    def bayes_action(self, probabilities: ArrayLike) -> Ints:
        """1 where P(Y = 1) > C(1 | 0) / (C(1 | 0) + C(0 | 1)), else 0."""
        costs = self.costs()
        given = checked_probabilities(probabilities, 2)
        return (given[..., 1] > _share(costs[1, 0], costs[0, 1])).astype(np.int64)

    def _in_order_of(self, labels: list[Any]) -> Floats:
        if len(labels) != 2:
            raise ParameterError(
                f"the asymmetric loss is for two classes, these are {len(labels)}: {labels[:5]}; "
                "for more give a cost matrix, Costs(matrix), on the command line --costs FILE"
            )
        if self.positive is None:
            return self._with_positive(1)
        if self.positive not in labels:
            raise ParameterError(
                f"the positive class {self.positive!r} is not one of the classes {labels}"
            )
        return self._with_positive(labels.index(self.positive))

    def _with_positive(self, code: int) -> Floats:
        costs = np.zeros((2, 2))
        costs[code, 1 - code] = self.a
        costs[1 - code, code] = self.b
        return costs


class Costs(MatrixLoss):
    """Any cost matrix: `matrix[i, j]` = C(i | j), the cost of predicting i when j is true.

    Rows are predictions, columns truths (R's rpart has the transpose). Its Bayes rule predicts
    the class i with the least expected cost sum_j C(i | j) P(Y = j); of several, equal to
    rounding, the first.

    Parameters
    ----------
    matrix : array-like of shape (K, K)
        Finite, >= 0, zero on the diagonal.
    classes : sequence of labels, optional
        The label of each row and column. By default they are in the order of the class codes,
        that is of the sorted labels.

    Examples
    --------
    >>> loss = Costs([[0, 5], [1, 0]], classes=["good", "bad"])      # bad taken for good costs 5
    >>> same = Costs.from_dict({("good", "bad"): 5, ("bad", "good"): 1})
    >>> same == loss
    True
    >>> loss.bayes_action([[0.8, 0.2], [0.9, 0.1]])      # columns and codes: 0 good, 1 bad
    array([1, 0])
    >>> sorted_labels = loss.for_classes(["bad", "good"])
    >>> sorted_labels([0, 1], [1, 0])                    # codes: 0 bad, 1 good
    array([5., 1.])
    """

    name: ClassVar[str] = "costs"

    def __init__(self, matrix: ArrayLike, classes: Iterable[Any] | None = None) -> None:
        self.matrix = _checked_matrix(matrix)
        self.classes = None if classes is None else tuple(_labels(classes))
        if self.classes is not None and len(set(self.classes)) != len(self.matrix):
            raise ParameterError(
                f"{len(set(self.classes))} different classes for a cost matrix of "
                f"{len(self.matrix)} rows; give each row and column its own label"
            )
        self._costs = self.matrix

    @classmethod
    def from_dict(cls, costs: Mapping[tuple[Hashable, Hashable], float]) -> Self:
        """Costs by label: `{(predicted, true): cost}`, every pair of different classes given."""
        classes = list(dict.fromkeys(label for pair in costs for label in pair))
        missing = [(i, j) for i in classes for j in classes if i != j and (i, j) not in costs]
        if missing:
            raise ParameterError(
                f"no cost is given for {len(missing)} pair(s), the first (predicted, true) = "
                f"{missing[0]!r}; give every pair of different classes, 0 where it costs nothing"
            )
        return cls([[costs.get((i, j), 0.0) for j in classes] for i in classes], classes)

    def _in_order_of(self, labels: list[Any]) -> Floats:
        """Labels that do not occur are left out."""
        if self.classes is None and len(labels) != len(self.matrix):
            raise ParameterError(
                f"the cost matrix is for {len(self.matrix)} classes, these are {len(labels)}: "
                f"{labels[:5]}; give Costs(matrix, classes=...) the label of each row"
            )
        if self.classes is None:
            return self.matrix
        unknown = [label for label in labels if label not in self.classes]
        if unknown:
            raise ParameterError(
                f"class {unknown[0]!r} has no row in the cost matrix, whose classes are "
                f"{list(self.classes)}; add its costs"
            )
        order = [self.classes.index(label) for label in labels]
        return self.matrix[np.ix_(order, order)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Costs):
            return NotImplemented
        return self.classes == other.classes and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.classes, self.matrix.tobytes()))

    def __str__(self) -> str:
        labels = "" if self.classes is None else ", ".join(map(str, self.classes)) + ": "
        rows = (" ".join(str(c).removesuffix(".0") for c in row) for row in self.matrix.tolist())
        return f"costs({labels}{'; '.join(rows)})"

    def __repr__(self) -> str:
        labels = "" if self.classes is None else f", classes={list(self.classes)}"
        return f"Costs({self.matrix.tolist()}{labels})"


def checked_costs(cost_matrix: Any, classes: Array) -> Floats | None:
    """C(i | j) in the order of the classes; from a matrix or a `Costs` loss."""
    if cost_matrix is None:
        return None
    costs = cost_matrix if isinstance(cost_matrix, Costs) else Costs(cost_matrix)
    return np.array(costs.for_classes(classes).costs())


def _labels(classes: Iterable[Any]) -> list[Any]:
    """Labels as plain Python objects, which print well; a list is left as it is."""
    return classes.tolist() if isinstance(classes, np.ndarray) else list(classes)


def _share(a: float, b: float) -> float:
    """a / (a + b), of halves where the sum would overflow."""
    a, b = float(a), float(b)
    return a / (a + b) if a + b < np.inf else (a / 2) / (a / 2 + b / 2)


def _checked_matrix(matrix: ArrayLike) -> Floats:
    try:
        costs = np.array(matrix, dtype=float) + 0.0  # no negative zeros
    except (TypeError, ValueError):
        raise ParameterError(
            f"the cost matrix is {matrix!r:.60}; give a square of numbers, one row and one column "
            "per class"
        ) from None
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1] or len(costs) == 0:
        raise ParameterError(
            f"a cost matrix of shape {costs.shape}; it must be square, one row and one column "
            "per class"
        )
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ParameterError(
            "the cost matrix contains NaN, infinity or negative costs; costs are >= 0"
        )
    if np.diagonal(costs).any():
        raise ParameterError(
            f"the diagonal of the cost matrix is {np.diagonal(costs)}; a right prediction costs 0"
        )
    costs.setflags(write=False)
    return costs
