"""The Bayes rule of a population as a predictor: nothing to learn, and no predictor does better."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from empirisk.losses import Loss
from empirisk.risk.populations.features import as_rows
from empirisk.runtime.arrays import Array, Floats

if TYPE_CHECKING:
    from empirisk.risk.populations.classes import ClassPopulation
    from empirisk.risk.populations.population import Population


class BayesRegressor(RegressorMixin, BaseEstimator):
    """Predicts the number with the least expected loss given x."""

    def __init__(self, population: "Population", loss: Loss) -> None:
        self.population = population
        self.loss = loss

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to do: the population is known."""
        return self

    def predict(self, X: Any) -> Array:
        return self.population.best_action(as_rows(X), self.loss)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class BayesClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the class with the least expected loss given x; its probabilities are the true ones.

    Under a loss of probabilities, such as the log loss, it predicts the likeliest class.
    """

    def __init__(self, population: "ClassPopulation", loss: Loss) -> None:
        self.population = population
        self.loss = loss

    @property
    def classes_(self) -> Array:
        return self.population.classes

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to do: the population is known."""
        return self

    def predict(self, X: Any) -> Array:
        action = self.population.best_action(as_rows(X), self.loss)
        codes = action if self.loss.output == "value" else np.argmax(action, axis=1)
        return self.population.classes[codes]

    def predict_proba(self, X: Any) -> Floats:
        return self.population.class_probabilities(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True
