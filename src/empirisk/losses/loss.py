"""What a mistake costs: the base of all losses L(y, prediction)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.arrays import Floats

LossTask = Literal["regression", "classification", "reconstruction", "density"]
LossOutput = Literal["value", "probability", "reconstruction", "entries", "density"]


class Loss(ABC):
    """The cost L(y, prediction) >= 0 of a prediction when the truth is y.

    The risk of a predictor h is the mean of its loss, R(h) = E L(Y, h(X)), and the Bayes rule
    takes in each x the action with the least conditional risk,
    h*(x) = argmin_a E[L(Y, a) | X = x].

    A loss of your own is a subclass of `RegressionLoss` or `ClassificationLoss`.

    Attributes
    ----------
    name : str
        What the loss is called where a string is taken.
    task : {"regression", "classification", "reconstruction", "density"}
        Whether y is a number or a class, or there is none and rows are to be reconstructed, or
        their density to be estimated.
    output : {"value", "probability", "reconstruction", "entries", "density"}
        What must be asked of a predictor: its prediction (a number, or a class code), or the
        probabilities of the classes. Without labels the loss of each row is asked for itself.
    bounds : (float, float)
        The range of the loss; an interval for the risk stays inside.

    Examples
    --------
    >>> from empirisk.losses import Quantile
    >>> loss = Quantile(0.9)
    >>> loss([3.0, 3.0], [2.0, 4.0])  # too low costs nine times as much as too high
    array([0.9, 0.1])
    >>> loss.name, loss.task, loss.output
    ('quantile', 'regression', 'value')
    """

    name: ClassVar[str]
    task: ClassVar[LossTask]
    output: ClassVar[LossOutput] = "value"

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the loss; here from 0 to infinity."""
        return 0.0, np.inf

    def __str__(self) -> str:
        """The loss as a person would name it, with its parameters: equal only for equal losses."""
        return self.name

    @abstractmethod
    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """The loss of each prediction.

        With output "value", y and prediction are broadcast against each other. With output
        "probability", prediction has one more axis, the classes, and y is broadcast against the
        others. Classes are integer codes 0..K-1.
        """

    @abstractmethod
    def best_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_classes: int = 0
    ) -> Any:
        """The one prediction for all rows with the least weighted mean loss on y.

        A number, a class code or a vector of class probabilities, as the loss asks for.
        `n_classes` says how many classes there are where y need not show all of them.
        """

    def for_classes(self, classes: Iterable[Any]) -> Self:
        """The same loss on the codes 0..K-1 of these labels, given in the order of their codes.

        Losses that name labels find the codes here; the others return themselves.
        """
        return self
