"""What a predictor says of rows, as numbers: probabilities, scores, or values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from empirisk.risk.predictor import AnyPredictor, as_predictor, name_of
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError

Response = Literal["auto", "predict_proba", "decision_function", "predict"]
QUANTITY = {
    "predict_proba": "probability",
    "decision_function": "score",
    "predict": "prediction",
    "labels": "share of rows predicted",
}


@dataclass(frozen=True, eq=False)
class Answers:
    """A predictor, and how it is asked; "labels" counts the labels that it predicts."""

    predictor: Any
    method: str

    @classmethod
    def of(cls, predictor: Any, response: Response) -> "Answers":
        """Probabilities if there are any, else scores, else what it predicts."""
        if response not in get_args(Response):
            raise ParameterError(
                f"response_method is {response!r}; choose one of {', '.join(get_args(Response))}"
            )
        predictor = as_predictor(predictor, None)
        _refuse_without_predictions(predictor)
        if not isinstance(predictor, AnyPredictor):
            check_is_fitted(predictor)
        classifier = is_classifier(predictor)
        scores = ("predict_proba", "decision_function") if classifier else ()
        offered = [name for name in scores if hasattr(predictor, name)]
        if response != "auto" and response != "predict" and response not in offered:
            raise ParameterError(
                f"{name_of(predictor)} has no {response}: give response_method='auto'"
            )
        method = next(iter(offered), "predict") if response == "auto" else response
        return cls(predictor, "labels" if method == "predict" and classifier else method)

    @property
    def quantity(self) -> str:
        return QUANTITY[self.method]

    @property
    def is_probability(self) -> bool:
        return self.method in ("predict_proba", "labels")

    def __call__(self, X: Any) -> Floats:
        """(rows, outputs)"""
        name = "predict" if self.method == "labels" else self.method
        said = np.asarray(getattr(self.predictor, name)(X))
        if said.ndim == 0 or len(said) != X.shape[0]:
            raise DataError(
                f"{name_of(self.predictor)} gives an array of shape {said.shape} for {X.shape[0]} "
                "rows of X; an entry is wanted for each row"
            )
        if self.method == "labels":
            return self._indicators(said.reshape(-1))
        return self._numbers(said)

    def outputs(self, width: int) -> Sequence[Any] | None:
        """The names of so many outputs; None of a single one."""
        if width == 1:
            return None
        classes = getattr(self.predictor, "classes_", None)
        known = classes is not None and len(classes) == width
        return np.asarray(classes).tolist() if known else list(range(width))

    def _indicators(self, labels: Array) -> Floats:
        classes = getattr(self.predictor, "classes_", None)
        if classes is None:
            raise ParameterError(
                f"{name_of(self.predictor)} predicts labels and names no classes_: give a function "
                "of X that returns numbers, such as probabilities"
            )
        return (labels[:, None] == np.asarray(classes)).astype(float)

    def _numbers(self, said: Array) -> Floats:
        if said.dtype.kind not in "fiub":
            raise ParameterError(
                f"{name_of(self.predictor)} predicts {said.reshape(-1)[:1].tolist()}, which are no "
                "numbers: give a classifier with classes_, or a function that returns numbers"
            )
        numbers: Floats = said.reshape(len(said), -1).astype(float)
        if not np.isfinite(numbers).all():
            raise DataError(f"{name_of(self.predictor)} predicted NaN or infinity")
        return numbers


def _refuse_without_predictions(predictor: Any) -> None:
    """A density predicts nothing, and numbers of clusters or components have no mean."""
    of_rows_alone = get_tags(predictor).estimator_type in ("clusterer", "density_estimator")
    if of_rows_alone or not hasattr(predictor, "predict"):
        raise ParameterError(
            f"{name_of(predictor)} predicts no y: give a classifier or a regressor, or a function "
            "of X that returns numbers, such as score_samples of a density"
        )
