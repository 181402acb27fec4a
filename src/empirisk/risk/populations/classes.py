"""Populations of classes: given x, class k has probability p_k(x)."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from empirisk.losses import ClassificationLoss, Loss
from empirisk.losses.probabilities import checked_probabilities
from empirisk.risk.populations.bayes_rule import BayesClassifier
from empirisk.risk.populations.features import (
    Drawn,
    Features,
    Jointly,
    Sampler,
    as_features,
    as_rows,
    check_function,
)
from empirisk.risk.populations.population import Population
from empirisk.risk.populations.true_risk import Known
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, real_numbers

Probabilities = Callable[[Any], Any]
"""From X to a row of class probabilities for each row."""


class ClassPopulation(Population):
    """A population whose target is a class; `classes` are sorted, as scikit-learn has them."""

    task: ClassVar[Literal["regression", "classification"]] = "classification"
    classes: Array

    def class_probabilities(self, X: Any) -> Floats:
        """P(Y = k | x), a column for each class."""
        raise NotImplementedError

    def draw_targets(self, X: Any, rng: np.random.Generator) -> Array:
        below = np.cumsum(self.class_probabilities(X), axis=1)[:, :-1]
        return self.classes[(rng.random(len(below))[:, None] >= below).sum(axis=1)]

    def best_action(self, X: Any, loss: Loss) -> Array:
        assert isinstance(loss, ClassificationLoss)
        return loss.bayes_action(self.class_probabilities(X))

    def expected_loss(self, X: Any, prediction: Array, loss: Loss) -> Floats:
        """sum_k p_k(x) L(k, prediction)."""
        probability = self.class_probabilities(X)
        expected = np.zeros(len(probability))
        for k in range(len(self.classes)):
            possible = probability[:, k] > 0  # what cannot happen costs nothing, even infinity
            if possible.any():
                cost = loss(np.full(int(possible.sum()), k), prediction[possible])
                expected[possible] += probability[possible, k] * cost
        return expected

    def bayes_rule(self, loss: Loss | str | None = None) -> BayesClassifier:
        """The classifier with the least risk: of the 0-1 loss, the most probable class."""
        return BayesClassifier(self, self.loss_of(loss))


class Classification(ClassPopulation):
    """Given x, class k has the probability that a function of your own says.

    Parameters
    ----------
    class_probabilities : callable or array-like of shape (K,)
        From X of shape (n, p) to an array of shape (n, K), rows that sum to one; or one vector of
        probabilities for all x.
    features : Features or callable, optional
        The distribution of X; by default one feature, uniform on [0, 1].
    classes : sequence, optional
        The label of each column, in sorted order; 0..K-1 by default.

    Examples
    --------
    >>> def probabilities(X):
    ...     x = X[:, 0]
    ...     return np.column_stack([x / 2, x / 2, 1 - x])
    >>> population = Classification(probabilities, classes=["a", "b", "c"])
    >>> population.bayes_rule().predict([[0.2], [0.9]])
    array(['c', 'a'], dtype='<U1')
    >>> round(Classification([0.9, 0.1]).bayes_risk().value, 6)
    0.1
    """

    def __init__(
        self,
        class_probabilities: Probabilities | ArrayLike,
        features: Features | Sampler | None = None,
        *,
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.features = as_features(features)
        self.function = class_probabilities
        if callable(class_probabilities):
            if classes is None:
                K = _columns(class_probabilities, self.features)
            else:
                K = _number_of_labels(classes)
        else:
            given = real_numbers(class_probabilities, "class_probabilities")
            self.function = checked_probabilities(given)
            K = len(self.function)
        self.classes = sorted_labels(classes, K)

    def class_probabilities(self, X: Any) -> Floats:
        shape = (_num_samples(X), len(self.classes))
        if not callable(self.function):
            return np.broadcast_to(self.function, shape)
        return probabilities_at(self.function, X, shape)

    def known_bayes_risk(self, loss: Loss) -> Known | None:
        if callable(self.function):
            return None
        assert isinstance(loss, ClassificationLoss)
        value = float(loss.bayes_risk(self.function))
        return Known(value, "the class probabilities are the same at all x")


class Bernoulli(Classification):
    """Two classes: Y = 1 with probability eta(x).

    Parameters
    ----------
    probability : callable or float
        eta, from X of shape (n, p) to n probabilities; or one number for all x.
    features : Features or callable, optional
        The distribution of X; by default one feature, uniform on [0, 1].
    classes : sequence of two labels
        The second is the one with probability eta(x).

    Examples
    --------
    >>> population = Bernoulli(lambda X: X[:, 0])
    >>> population.bayes_rule("asymmetric:1,4").predict([[0.1], [0.3]])
    array([0, 1])
    >>> round(float(population.bayes_risk(random_state=0).value), 2)      # E min(X, 1 - X) = 1/4
    0.25
    """

    def __init__(
        self,
        probability: Callable[[Any], Any] | float,
        features: Features | Sampler | None = None,
        *,
        classes: Sequence[Any] = (0, 1),
    ) -> None:
        self.probability = probability
        if callable(probability):
            super().__init__(self._both, features, classes=classes)
        elif is_number(probability):
            super().__init__([1 - probability, probability], features, classes=classes)
        else:
            raise ParameterError(
                f"probability is {probability!r:.60}; give a number from 0 to 1 or a function of X"
            )

    def _both(self, X: Any) -> Floats:
        assert callable(self.probability)
        eta = real_numbers(self.probability(X), "what probability gives")
        return np.stack([1 - eta, eta], axis=-1)


class SampledClasses(ClassPopulation):
    """Your own joint sampler of (X, y), and the class probabilities that belong to it.

    Parameters
    ----------
    sampler : callable
        sampler(n, rng) gives X and labels y with n rows; X may be a data frame.
    class_probabilities : callable
        From X to an array of shape (n, K).
    classes : sequence
        The label of each column, in sorted order.

    Examples
    --------
    >>> def rain(n, rng):
    ...     X = rng.uniform(size=(n, 1))
    ...     return X, np.where(rng.random(n) < X[:, 0], "wet", "dry")
    >>> def chances(X):
    ...     return np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> population = SampledClasses(rain, chances, ["dry", "wet"])
    >>> round(population.bayes_risk(random_state=0).value, 2)  # the mean of min(x, 1 - x)
    0.25
    """

    def __init__(
        self,
        sampler: Callable[[int, np.random.Generator], tuple[Any, Any]],
        class_probabilities: Probabilities,
        classes: Sequence[Any],
    ) -> None:
        check_function(class_probabilities, "class_probabilities", "of X")
        self.sampler = Jointly(sampler)
        self.function = class_probabilities
        self.classes = sorted_labels(classes, _number_of_labels(classes))
        self.features = Drawn(self.sampler)

    def class_probabilities(self, X: Any) -> Floats:
        return probabilities_at(self.function, X, (_num_samples(X), len(self.classes)))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Array]:
        X, y = self.sampler.draw(n, rng)
        labels = np.asarray(y)
        if labels.shape != (n,) or not np.isin(labels, self.classes).all():
            raise ParameterError(
                f"the sampler gave labels of shape {labels.shape} for {n} rows, or "
                f"others than {self.classes.tolist()}; wanted one of these for each row"
            )
        return X, labels


def sorted_labels(classes: Sequence[Any] | None, K: int) -> Array:
    """K labels as an array; they must come in the order in which scikit-learn sorts them."""
    labels = np.arange(K) if classes is None else np.asarray(classes)
    try:
        in_order = labels.shape == (K,) and np.array_equal(np.unique(labels), labels)
    except TypeError:  # labels that have no order, such as None beside a text
        in_order = False
    if not in_order:
        raise ParameterError(
            f"classes is {classes!r}; wanted {K} different labels in sorted order, one for each "
            "column of the probabilities"
        )
    return labels


def probabilities_at(function: Probabilities, X: Any, shape: tuple[int, int]) -> Floats:
    """Class probabilities for each row of X, checked."""
    given = real_numbers(function(as_rows(X)), "what class_probabilities gives")
    if given.shape != shape:
        raise ParameterError(
            f"the class probabilities of {shape[0]} rows came in shape {given.shape}; wanted "
            f"{shape}, a column for each class"
        )
    return checked_probabilities(given)


def _columns(function: Probabilities, features: Features) -> int:
    one = np.asarray(function(features.draw(1, np.random.default_rng(0))))
    if one.ndim != 2:
        raise ParameterError(
            f"the class probabilities of 1 row came in shape {one.shape}; wanted a row of them, a "
            "column for each class"
        )
    return one.shape[1]


def _number_of_labels(classes: Any) -> int:
    if not hasattr(classes, "__len__"):
        raise ParameterError(f"classes is {classes!r:.60}; give a list of the labels")
    return len(classes)
