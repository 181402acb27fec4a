"""Losses for classes: 0-1 of predicted classes, log and Brier's of predicted probabilities.

Classes are integer codes 0..K-1, in the order of scikit-learn's `classes_`. Of several best
classes the first is taken, as scikit-learn's `predict` does: with two classes and
P(Y = 1) = 1/2 that is class 0.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from empirisk.losses.loss import Loss, LossOutput, LossTask
from empirisk.losses.probabilities import checked_probabilities, class_codes, class_frequencies
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError


class ClassificationLoss(Loss):
    """A loss of classes, or of class probabilities.

    Examples
    --------
    >>> from empirisk.losses import Log, ZeroOne
    >>> probabilities = [[0.2, 0.8], [0.6, 0.4]]
    >>> ZeroOne().bayes_action(probabilities), Log().bayes_action(probabilities)
    (array([1, 0]), array([[0.2, 0.8],
           [0.6, 0.4]]))
    >>> isinstance(Log(), ClassificationLoss), Log().output
    (True, 'probability')
    """

    task: ClassVar[LossTask] = "classification"

    @abstractmethod
    def bayes_action(self, probabilities: ArrayLike) -> Array:
        """The best action for each vector of class probabilities along the last axis.

        For a sample of classes, `class_frequencies` gives the probabilities.
        """

    @abstractmethod
    def bayes_risk(self, probabilities: ArrayLike) -> Floats:
        """The expected loss of the best action, for each vector of class probabilities."""

    def best_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_classes: int = 0
    ) -> Any:
        """The best action for the class frequencies of y."""
        codes = np.ravel(np.asarray(y))
        return self.bayes_action(class_frequencies(codes, sample_weight, n_classes=n_classes))


class DecisionLoss(ClassificationLoss):
    """A loss C(i | j) >= 0 of predicting class i when class j is true, with C(j | j) = 0.

    Examples
    --------
    >>> class Steps(DecisionLoss):
    ...     name = "steps"
    ...     def __call__(self, y, prediction):
    ...         return np.abs(np.subtract(y, prediction)).astype(float)
    ...     def expected_losses(self, probabilities):
    ...         codes = np.arange(np.shape(probabilities)[-1])
    ...         return np.asarray(probabilities) @ np.abs(np.subtract.outer(codes, codes))
    >>> Steps()([0, 0, 2], [0, 1, 0])
    array([0., 1., 2.])
    >>> Steps().bayes_action([0.4, 0.2, 0.4])  # the middle class is never far off
    np.int64(1)
    """

    @abstractmethod
    def expected_losses(self, probabilities: ArrayLike) -> Floats:
        """sum_j C(i | j) p_j for each class i that might be predicted, along the last axis."""

    def bayes_action(self, probabilities: ArrayLike) -> Ints:
        """The class with the least expected loss; of several, equal to rounding, the first."""
        given = checked_probabilities(probabilities)
        expected = self.expected_losses(given)
        rounding = 4 * expected.shape[-1] * np.finfo(given.dtype).eps
        least = expected.min(axis=-1, keepdims=True)
        return np.argmax(expected <= least * (1 + rounding), axis=-1)

    def bayes_risk(self, probabilities: ArrayLike) -> Floats:
        """The least expected loss, for each vector of class probabilities."""
        return self.expected_losses(probabilities).min(axis=-1)


@dataclass(frozen=True)
class ZeroOne(DecisionLoss):
    """1 if prediction != y, else 0. Its Bayes rule is the most probable class.

    Examples
    --------
    >>> loss = ZeroOne()
    >>> loss([0, 1, 2], [0, 2, 2])
    array([0., 1., 0.])
    >>> loss.bayes_action([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])      # the first of equals
    array([1, 0])
    >>> loss.bayes_risk([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    array([0.5, 0.6])
    """

    name: ClassVar[str] = "zero_one"

    @property
    def bounds(self) -> tuple[float, float]:
        """0 and 1."""
        return 0.0, 1.0

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """1 where y and prediction differ; any labels that compare will do, not only codes."""
        truth, predicted = np.asarray(y), np.asarray(prediction)
        kinds = {truth.dtype.kind, predicted.dtype.kind}
        if kinds & set("US") and kinds & set("biuf"):
            raise DataError(
                f"y came as {truth.dtype} and the predictions as {predicted.dtype}, which are "
                "never equal; give both as labels or both as class codes"
            )
        return np.not_equal(truth, predicted).astype(float)

    def expected_losses(self, probabilities: ArrayLike) -> Floats:
        """1 - p_i for each class i."""
        return 1.0 - checked_probabilities(probabilities).astype(float)

    def bayes_action(self, probabilities: ArrayLike) -> Ints:
        """The most probable class; of equally probable ones the first."""
        return np.argmax(checked_probabilities(probabilities), axis=-1)


class ProbabilityLoss(ClassificationLoss):
    """A proper loss of predicted probabilities: its Bayes rule are the class probabilities."""

    output: ClassVar[LossOutput] = "probability"

    def bayes_action(self, probabilities: ArrayLike) -> Array:
        """The probabilities themselves: the expected loss is least at the truth."""
        return checked_probabilities(probabilities).copy()


def _matched(y: ArrayLike, prediction: ArrayLike) -> tuple[Array, Ints]:
    """Probabilities (..., K) and class codes (..., 1) of one shape."""
    p = checked_probabilities(prediction)
    codes = class_codes(y, p.shape[-1])
    shape = np.broadcast_shapes(codes.shape, p.shape[:-1])
    index = np.broadcast_to(codes, shape)[..., None]
    return np.broadcast_to(p, (*shape, p.shape[-1])), index


@dataclass(frozen=True)
class Log(ProbabilityLoss):
    """-log p_y, the natural logarithm of the probability given to the true class.

    Also called cross-entropy. Probabilities below the machine precision of their type (2.2e-16
    in double precision) are raised to it, as in scikit-learn's `log_loss`, so the loss is finite
    (at most 36.04 in double precision). Its Bayes rule is the vector of class probabilities itself
    and its Bayes risk their entropy.

    Examples
    --------
    >>> loss = Log()
    >>> loss([0, 1], [[0.5, 0.5], [0.2, 0.8]]).round(4)
    array([0.6931, 0.2231])
    >>> loss.best_constant([0, 1, 1, 1])
    array([0.25, 0.75])
    """

    name: ClassVar[str] = "log"

    @property
    def bounds(self) -> tuple[float, float]:
        """0 and the loss of a true class that was given probability 0, in double precision."""
        return 0.0, float(-np.log(np.finfo(float).eps))

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """-log of the probability of class y; prediction has the classes along its last axis."""
        p, index = _matched(y, prediction)
        of_true_class, floor = np.take_along_axis(p, index, axis=-1)[..., 0], np.finfo(p.dtype).eps
        return np.abs(np.log(np.clip(of_true_class, floor, 1.0), dtype=float))

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """The gradient in the probabilities: -1 / p_y for class y and 0 for the others.

        Where p_y is at or below the machine precision, and the loss constant, it is 0.
        """
        p, index = _matched(y, prediction)
        of_true_class, floor = np.take_along_axis(p, index, axis=-1), np.finfo(p.dtype).eps
        slope = np.where(of_true_class > floor, -1.0 / np.maximum(of_true_class, floor), 0.0)
        gradient = np.zeros(p.shape)
        np.put_along_axis(gradient, index, slope, axis=-1)
        return gradient

    def bayes_risk(self, probabilities: ArrayLike) -> Floats:
        """The entropy -sum_k p_k log p_k."""
        return entr(checked_probabilities(probabilities).astype(float)).sum(axis=-1)


@dataclass(frozen=True)
class Brier(ProbabilityLoss):
    """sum_k (p_k - 1{y = k})^2 over K > 2 classes; of two classes half of that, (p_1 - y)^2.

    With two classes both terms of the sum are equal, and one of them is taken: the loss lies in
    [0, 1], with more classes in [0, 2]. The same convention, so the same number, as
    `risk.measures.brier` and scikit-learn's `brier_score_loss` have, whose `scale_by_half="auto"`
    halves with two classes alone. Its Bayes rule is the vector of class probabilities itself, its
    Bayes risk 1 - sum_k p_k^2 (Gini), of two classes half of that. Unlike the log loss it stays
    small where a small probability was given to what then happened.

    Parameters
    ----------
    n_classes : int
        How many classes there are, on which nothing but `bounds` depends; 0 if that is not known.
        The engine gives it.

    References
    ----------
    G. Brier (1950), Verification of forecasts expressed in terms of probability, Monthly Weather
    Review 78.

    Examples
    --------
    >>> loss = Brier()
    >>> loss([0, 1], [[0.5, 0.5], [0.2, 0.8]]).round(4)
    array([0.25, 0.04])
    >>> loss([0, 1], [[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]).round(4)
    array([0.5 , 0.08])
    >>> loss.best_constant([0, 1, 1, 1])
    array([0.25, 0.75])
    """

    n_classes: int = field(default=0, compare=False)
    name: ClassVar[str] = "brier"

    def for_classes(self, classes: Iterable[Any]) -> Self:
        """The same loss, which knows its bounds."""
        return replace(self, n_classes=len(list(classes)))

    @property
    def bounds(self) -> tuple[float, float]:
        """0 and 1 with two classes, 0 and 2 with more, or where their number is not known."""
        return 0.0, 2.0 * _halved(self.n_classes) if self.n_classes else 2.0

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """The squared distance to the true class; prediction has the classes in its last axis."""
        error = self._error(y, prediction)
        return np.square(error).sum(axis=-1) * _halved(error.shape[-1])

    def derivative(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """The gradient in the probabilities: 2 (p_k - 1{y = k}), of two classes half of that."""
        error = self._error(y, prediction)
        return 2 * error * _halved(error.shape[-1])

    def bayes_risk(self, probabilities: ArrayLike) -> Floats:
        """1 - sum_k p_k^2, of two classes half of that."""
        given = checked_probabilities(probabilities).astype(float)
        return (given * (1 - given)).sum(axis=-1) * _halved(given.shape[-1])

    def _error(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        p, index = _matched(y, prediction)
        return p - (index == np.arange(p.shape[-1])).astype(float)


def _halved(n_classes: int) -> float:
    """What the sum over classes is multiplied by."""
    return 0.5 if n_classes <= 2 else 1.0
