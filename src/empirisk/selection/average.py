"""The average of the models fitted in the folds of a plan."""

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from empirisk.risk.axis import Axis
from empirisk.risk.foreign import at_value, fit_foreign
from empirisk.risk.learner import learner_of
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.streams import spawn


class _FoldAverage(BaseEstimator):
    """Models fitted on the training parts of a plan; made by `average_folds`."""

    def __init__(self, models: Any = ()) -> None:
        self.models = models

    def fit(self, X: Any, y: Any = None) -> Self:
        """The models are fitted already; there is nothing to do."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return len(self.models) > 0

    @property
    def n_features_in_(self) -> int:
        return self.models[0].n_features_in_


class FoldAverageRegressor(RegressorMixin, _FoldAverage):
    """The mean of the fold models' predictions."""

    def predict(self, X: Any) -> Array:
        check_is_fitted(self.models[0])
        return np.mean([model.predict(X) for model in self.models], axis=0)


class FoldAverageDensity(_FoldAverage):
    """The mean of the fold models' densities."""

    def score_samples(self, X: Any) -> Array:
        logs = np.stack([np.asarray(model.score_samples(X), dtype=float) for model in self.models])
        return logsumexp(logs, axis=0) - np.log(len(logs))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        return tags


class FoldAverageClassifier(ClassifierMixin, _FoldAverage):
    """The mean of the fold models' probabilities; a vote where they give none.

    Models that aim at a loss of their own, such as a matrix of costs, vote for what they predict.
    """

    def __init__(self, models: Any = (), classes: Any = ()) -> None:
        super().__init__(models)
        self.classes = classes

    @property
    def classes_(self) -> Array:
        return np.asarray(self.classes)

    def predict_proba(self, X: Any) -> Array:
        """Mean probabilities; for models that only give labels, the share of their votes."""
        return np.mean([self._probabilities(model, X) for model in self.models], axis=0)

    def predict(self, X: Any) -> Array:
        if getattr(learner_of(self.models[0]), "own_loss", None) is None:
            scores = self.predict_proba(X)
        else:
            scores = np.mean([self._votes(model, X) for model in self.models], axis=0)
        return self.classes_[np.argmax(scores, axis=1)]

    def _votes(self, model: Any, X: Any) -> Array:
        return (np.asarray(model.predict(X))[:, None] == self.classes_).astype(float)

    def _probabilities(self, model: Any, X: Any) -> Array:
        if not hasattr(model, "predict_proba"):
            return self._votes(model, X)
        found = np.asarray(model.predict_proba(X))
        full = np.zeros((len(found), len(self.classes_)))
        full[:, np.searchsorted(self.classes_, model.classes_)] = found
        return full


def average_folds(
    estimator: Any,
    axis: Axis | None,
    value: Any,
    problem: Problem,
    plan: Plan,
    *,
    n_jobs: int | None = None,
    seed: int,
) -> FoldAverageRegressor | FoldAverageClassifier | FoldAverageDensity:
    """Fit the estimator at one value on each training part and average the models."""
    if problem.loss.output not in ("value", "probability", "density"):
        raise ParameterError(
            f"models of {problem.loss.output!r} have no average: choose refit='train' or 'all'"
        )

    seeds = spawn(seed, plan.n_splits)  # as the engine has them

    def fit(s: int) -> Any:
        return fit_foreign(at_value(estimator, axis, value), problem.rows(plan.train(s)), seeds[s])

    models = parallel(fit, range(plan.n_splits), n_jobs=n_jobs)
    if problem.loss.output == "density":
        return FoldAverageDensity(models)
    if problem.classes is None:
        return FoldAverageRegressor(models)
    return FoldAverageClassifier(models, problem.classes)
