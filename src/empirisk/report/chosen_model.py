"""The chosen model in numbers: the coefficients of a linear one, largest first."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from empirisk.data.encode import Encoder
from empirisk.risk.learner import learner_of
from empirisk.risk.predictor import columns_behind
from empirisk.runtime.arrays import Floats


@dataclass(frozen=True, eq=False)
class Coefficients:
    """What each column adds to the prediction.

    Attributes
    ----------
    names : list of str
        Of the columns as the learner meets them, those of the largest coefficients first.
    values : array of shape (columns, outputs)
    outputs : list of str
        What the columns of `values` add to.
    standardized : bool
        Whether numbers count in standard deviations.
    """

    names: list[str]
    values: Floats
    outputs: list[str]
    standardized: bool

    @classmethod
    def of(cls, model: Any) -> "Coefficients | None":
        """Of a linear learner, also tuned or behind an encoder; None for other models."""
        model = fitted_model(model)
        learner = learner_of(model)
        if not hasattr(learner, "coef_"):
            return None
        coef = learner.coef_.toarray() if issparse(learner.coef_) else learner.coef_
        values = np.atleast_2d(np.asarray(coef, dtype=float)).T
        names = columns_behind(model, len(values))
        order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
        return cls(
            names=[names[j] for j in order],
            values=values[order],
            outputs=_outputs(learner, values.shape[1]),
            standardized=is_standardized(model),
        )


def fitted_model(model: Any) -> Any:
    """The model itself, or that which a `Tuned` one has chosen."""
    return getattr(model, "best_estimator_", model)


def is_standardized(model: Any) -> bool:
    """Whether the learner meets numbers in standard deviations from their mean."""
    return any(encoder.standardize for encoder in _encoders(model))


def columns_learned_from(model: Any) -> set[str]:
    """The columns of the table that the model was fitted to, without those an encoder drops."""
    model = fitted_model(model)
    names = set(getattr(model, "feature_names_in_", ()))
    return names.difference(*(encoder.dropped_ for encoder in _encoders(model)))


def _encoders(model: Any) -> list[Encoder]:
    steps = model.steps if isinstance(model, Pipeline) else []
    return [step for _, step in steps if isinstance(step, Encoder)]


def _outputs(learner: Any, k: int) -> list[str]:
    classes = getattr(learner, "classes_", None)
    if classes is None:
        return ["coefficient"] if k == 1 else [f"output {j}" for j in range(k)]
    if k == 1:
        return [f"towards {classes[-1]}"]
    return [f"towards {label}" for label in classes]
