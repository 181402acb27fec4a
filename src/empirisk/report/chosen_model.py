"""The chosen model in numbers: the coefficients of a linear one, largest first."""

from dataclasses import dataclass
from typing import Any

import numpy as np
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
        """Of a linear learner, also behind an encoder; None for other models."""
        learner = learner_of(model)
        if not hasattr(learner, "coef_"):
            return None
        values = np.atleast_2d(np.asarray(learner.coef_, dtype=float)).T
        names = columns_behind(model, len(values))
        order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
        return cls(
            names=[names[j] for j in order],
            values=values[order],
            outputs=_outputs(learner, values.shape[1]),
            standardized=is_standardized(model),
        )


def is_standardized(model: Any) -> bool:
    """Whether the learner meets numbers in standard deviations from their mean."""
    steps = model.steps if isinstance(model, Pipeline) else []
    return any(step.standardize for _, step in steps if isinstance(step, Encoder))


def _outputs(learner: Any, k: int) -> list[str]:
    classes = getattr(learner, "classes_", None)
    if classes is None:
        return ["coefficient"] if k == 1 else [f"output {j}" for j in range(k)]
    if k == 1:
        return [f"towards {classes[-1]}"]
    return [f"towards {label}" for label in classes]
