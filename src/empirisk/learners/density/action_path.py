"""The best actions at all values of a model's axis, from one training set."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.density.best_actions import best_classes, checked_actions
from empirisk.learners.density.conditional import Conditional, has_weights
from empirisk.losses import as_loss
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError

if TYPE_CHECKING:
    from empirisk.learners.density.plug_in_predictor import PlugInPredictor


def classifies(predictor: "PlugInPredictor") -> bool:
    """Whether the loss is one of classes."""
    return as_loss(predictor.loss).task == "classification"


class ModelsPath:
    """The models of fitted predictors, for those that have no shorter way to them."""

    def __init__(self, fits: Sequence["PlugInPredictor"]) -> None:
        self.models = [fit.estimator_ for fit in fits]

    def predict_path(self, X: Any, output: Output) -> Array:
        asked = "predict" if output == "value" else "predict_proba"
        return np.stack([np.asarray(getattr(m, asked)(X)) for m in self.models], axis=1)

    def at(self, j: int) -> Any:
        return self.models[j]


class ActionPath(Path):
    """What is best under each model of a path.

    Parameters
    ----------
    learner : PlugInPredictor
    path : Path
        Of the model.
    values : sequence
    spread : list of float or None
        The deviations of the noise of normal models.
    """

    def __init__(
        self, learner: "PlugInPredictor", path: Any, values: Sequence[Any], spread: list[Any]
    ) -> None:
        self.learner, self.path, self.values, self.spread = learner, path, values, spread

    def predict_path(self, X: Any, output: Output) -> Array:
        """Actions (rows, values), or probabilities (rows, values, classes)."""
        if output not in ("value", "probability"):
            raise ParameterError(f"PlugInPredictor gives predictions, not {output!r}")
        loss: Any = as_loss(self.learner.loss)
        if classifies(self.learner):
            found = self.path.predict_path(X, "probability")
            if output == "probability":
                return found
            return best_classes(loss.for_classes(np.arange(found.shape[-1])), found)
        actions = checked_actions(self.learner.actions)
        parts = (each.best_actions(loss, actions) for each in self._distributions(X))
        return np.stack(list(parts), axis=1)

    def _distributions(self, X: Any) -> Any:
        if has_weights(self.learner._prototype()):
            for j in range(len(self.values)):
                yield Conditional.of(self.path.at(j), X, None)
            return
        means = np.asarray(self.path.predict_path(X, "value"), dtype=float)
        for mean, spread in zip(means.T, self.spread, strict=True):
            yield Conditional.normal(mean, spread)

    def at(self, j: int) -> "PlugInPredictor":
        """The fitted learner at the j-th value."""
        learner = clone(self.learner)
        if learner.axis is not None:
            learner.set_params(**learner.axis.settings(self.values[j]))
        learner.estimator_, learner.noise_deviation_ = self.path.at(j), self.spread[j]
        learner.n_features_in_ = learner.estimator_.n_features_in_
        return learner
