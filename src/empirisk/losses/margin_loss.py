"""Losses phi(y f(x)) of classes y in {-1, +1} and a discriminant function f: what all have.

They stand in for the 0-1 loss 1{y f < 0}, which is neither convex nor differentiable.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.minimise import infimum
from empirisk.losses.weighted import checked_weight, weighted_mean
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError

# Points on the line among which a convex function is bracketed: 0, and +-2^k from 1e-12 to 1e24.
HALF_LINE = np.concatenate([[0.0], 2.0 ** np.arange(-40, 81)])
LINE = np.concatenate([-HALF_LINE[:0:-1], HALF_LINE])


class MarginLoss(ABC):
    """A loss phi(z) of the margin z = y f(x), convex in z.

    A loss of your own gives `name`, `value` and `derivative`.

    Attributes
    ----------
    name : str
        What the loss is called where a string is taken.
    has_probability : bool
        Whether the minimiser of the phi-risk tells P(Y = 1 | x); see `probability`.

    Examples
    --------
    >>> from empirisk import MarginClassifier
    >>> class Cubic(MarginLoss):
    ...     name = "cubic"
    ...     def value(self, margin):
    ...         return np.maximum(1 - np.asarray(margin), 0) ** 3
    ...     def derivative(self, margin):
    ...         return -3 * np.maximum(1 - np.asarray(margin), 0) ** 2
    >>> model = MarginClassifier(Cubic()).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[1.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str]
    has_probability: ClassVar[bool] = False

    @abstractmethod
    def value(self, margin: ArrayLike) -> Floats:
        """phi(z), elementwise; infinite only where it exceeds the largest double."""

    @abstractmethod
    def derivative(self, margin: ArrayLike) -> Floats:
        """phi'(z), elementwise; at a kink the derivative from the left.

        That is Rosenblatt's and scikit-learn's choice: a margin on the kink still pulls, so a
        perceptron that starts at f = 0 learns.
        """

    def second_derivative(self, margin: ArrayLike) -> Floats:
        """phi''(z), elementwise; from the left where it jumps, 0 at a kink of phi."""
        raise NotImplementedError(f"{type(self).__name__} gives no second derivative")

    def __call__(self, y: ArrayLike, f: ArrayLike) -> Floats:
        """phi(y f) for y in {-1, +1}, broadcast against each other."""
        return self.value(signs(y) * np.asarray(f, dtype=float))

    def risk(self, y: ArrayLike, f: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The empirical phi-risk: the weighted mean of phi(y f)."""
        losses = np.ravel(self(y, f))
        return float(weighted_mean(losses, checked_weight(sample_weight, losses.shape)))

    def conditional_risk(self, f: ArrayLike, eta: ArrayLike) -> Floats:
        """eta phi(f) + (1 - eta) phi(-f): the expected loss where P(Y = 1) = eta."""
        score, p = np.asarray(f, dtype=float), checked_eta(eta)
        positive, negative = self.value(score), self.value(-score)
        # What cannot happen costs nothing, even where its loss is infinite.
        with np.errstate(invalid="ignore"):
            return np.where(p > 0, p * positive, 0.0) + np.where(p < 1, (1 - p) * negative, 0.0)

    def phi_risk(
        self, f: ArrayLike, eta: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """The phi-risk E[eta(X) phi(f(X)) + (1 - eta(X)) phi(-f(X))].

        `f` and `eta` are values at points x, `sample_weight` their probabilities (equal if None).
        """
        losses = np.ravel(self.conditional_risk(f, eta))
        return float(weighted_mean(losses, checked_weight(sample_weight, losses.shape)))

    def minimiser(self, eta: ArrayLike) -> Floats:
        """The f with the least conditional risk where P(Y = 1) = eta."""
        p = np.atleast_1d(checked_eta(eta))
        best, _ = infimum(lambda f: self.conditional_risk(f, p.ravel()), LINE, p.size)
        return best.reshape(np.shape(eta))

    def probability(self, f: ArrayLike) -> Floats:
        """P(Y = 1) as the minimiser f of the phi-risk tells it: the inverse of `minimiser`."""
        raise ParameterError(
            f"the {self.name} loss gives no probabilities, its minimiser shows only the likelier "
            "class; use the logit, exponential, square or squared_hinge loss"
        )


def signs(y: ArrayLike) -> Floats:
    """Classes as numbers -1 and +1."""
    given = np.asarray(y)
    if given.dtype.kind not in "iuf" or not (np.abs(given) == 1).all():
        raise DataError(
            "margin losses take the classes -1 and +1, and others came; "
            "code them as 2 * (y == positive) - 1"
        )
    return given.astype(float)


def checked_eta(eta: ArrayLike) -> Floats:
    """Probabilities P(Y = 1), within [0, 1]."""
    given = np.asarray(eta, dtype=float)
    if not ((given >= 0) & (given <= 1)).all():
        raise DataError("eta holds probabilities P(Y = 1); values outside [0, 1] or NaN came")
    return given
