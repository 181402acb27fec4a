"""Any predictor as a fitted estimator: a function of X, or an object that has but `predict`."""

from collections.abc import Callable
from inspect import isclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import ClassifierTags, RegressorTags, Tags, get_tags
from sklearn.utils.metaestimators import available_if

from empirisk.data.table import Table
from empirisk.losses.loss import LossOutput, LossTask
from empirisk.runtime.arrays import Array
from empirisk.runtime.column_names import column_names, default_names
from empirisk.runtime.errors import ParameterError

Task = Literal["classification", "regression"]
Gives = LossOutput | Literal["score"]


def _gives_probabilities(given: "AnyPredictor") -> bool:
    return given.gives == "probability" or hasattr(given.predictor, "predict_proba")


def _gives_scores(given: "AnyPredictor") -> bool:
    return given.gives == "score" or hasattr(given.predictor, "decision_function")


class AnyPredictor(BaseEstimator):
    """A function of X, or an object that predicts, and the task on which it is judged.

    Parameters
    ----------
    predictor : callable or object with `predict`
    task : {"classification", "regression"}
    gives : {"value", "probability", "score"}
        What a function returns: numbers or labels; or probabilities, or scores, with a column for
        each class in sorted order, or of two classes a number a row, that of the larger label.
    """

    def __init__(self, predictor: Any, task: Task, gives: Gives = "value") -> None:
        self.predictor = predictor
        self.task = task
        self.gives = gives
        self._said: tuple[Any, Array] | None = None

    def predict(self, X: Any) -> Array:
        """Numbers or labels; the last X is not asked about twice."""
        if self._said is None or self._said[0] is not X:
            self._said = X, np.asarray(self._call("predict", X))
        return self._said[1]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        return np.asarray(self._call("predict_proba", X))

    @available_if(_gives_scores)
    def decision_function(self, X: Any) -> Array:
        return np.asarray(self._call("decision_function", X))

    @property
    def classes_(self) -> Array:
        return np.asarray(self.predictor.classes_)

    def labels(self, X: Any) -> Array | None:
        """The classes that it names or, where it predicts labels, those that it predicts of X."""
        if hasattr(self, "classes_"):
            return self.classes_
        return np.unique(self.predict(X)) if self.gives == "value" else None

    def _call(self, method: str, X: Any) -> Any:
        return getattr(self.predictor, method, self.predictor)(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.task == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags


def as_predictor(
    predictor: Any, y: Any, *, task: LossTask | None = None, gives: Gives = "value"
) -> Any:
    """The predictor itself if scikit-learn's tags tell its task; otherwise an `AnyPredictor`.

    The task is the one named, that of the loss; or the one that the predictor tells, by `classes_`;
    or, where y holds labels (text, truth values, categories), classification.

    Examples
    --------
    >>> as_predictor(lambda X: X[:, 0], [1.5, 2.0]).task
    'regression'
    >>> as_predictor(lambda X: X[:, 0] > 0, ["no", "yes"]).task
    'classification'
    """
    if isclass(predictor):
        raise ParameterError(f"{predictor.__name__} is a class: give a fitted object of it")
    can_predict = hasattr(predictor, "predict")
    try:
        kind = get_tags(predictor).estimator_type
        if kind is not None or not can_predict:
            return predictor
    except AttributeError:  # no tags; before there were any, an attribute told the kind
        kind = getattr(predictor, "_estimator_type", None)
    if not (can_predict or callable(predictor)):
        raise ParameterError(
            f"the predictor is {predictor!r:.60}; give a fitted estimator, an object with predict, "
            "or a function of X"
        )
    if task not in (None, "classification", "regression"):
        raise ParameterError(
            f"a loss of rows without labels is given by the model that was fitted to them, and "
            f"{name_of(predictor)} predicts y: give a fitted PCA, KMeans or density"
        )
    if task is None:
        classes = hasattr(predictor, "classes_") or (kind is None and holds_labels(y))
        task = "classification" if classes or kind == "classifier" else "regression"
    return AnyPredictor(predictor, task, "value" if can_predict else gives)


def known_classes(predictor: Any) -> Array | Callable[[Any], Array | None] | None:
    """The classes that a fitted predictor knows beside those in y, or a function of X for them."""
    if not is_classifier(predictor):
        return None
    if isinstance(predictor, AnyPredictor):
        return predictor.labels
    return getattr(predictor, "classes_", None)


def holds_labels(y: Any) -> bool:
    """Whether y is text, truth values or categories, rather than numbers."""
    if str(getattr(y, "dtype", "")).lower().startswith(("cat", "enum")):
        return True
    values = np.asarray(y)
    if values.dtype.kind == "O":
        return any(isinstance(value, str | bool | np.bool_) for value in values.flat)
    return values.dtype.kind in "USTb"


def name_of(model: Any) -> str:
    """How a message calls a predictor: by its class, a function by its name."""
    if isinstance(model, AnyPredictor):
        model = model.predictor
    if hasattr(model, "predict") or not hasattr(model, "__name__"):
        return type(model).__name__
    return "the function" if model.__name__ == "<lambda>" else str(model.__name__)


def columns_behind(model: Any, p: int, X: Any = None) -> list[str]:
    """The names of the p columns that a fitted learner sees, behind the steps of a pipeline.

    Without steps, those of X where the learner was told none; "x0", "x1", ... where nobody knows.
    """
    names = getattr(model, "feature_names_in_", None)
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        try:
            names = model[:-1].get_feature_names_out()
        except (AttributeError, ValueError):  # a step that does not tell
            names = None
    elif names is None:
        names = X.names if isinstance(X, Table) else column_names(X)
    if names is None or len(names) != p:
        return default_names(p)
    return [str(name) for name in names]
