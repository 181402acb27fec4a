"""Telling a linear rule, h(x) = a + b'x: from what the predictor is, or only from its values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.risk.bounds.linear_columns import Parts
from empirisk.risk.populations.features import Features
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError

DRAWS = 64
JUDGED_BY = 2**12  # a bend that one draw in 500 meets is missed with probability 3e-4
STRETCH = (1.0, 30.0, 1000.0)  # far out, where a rule that only looks linear bends
ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class Affine:
    """a + b'x."""

    intercept: float
    coef: Floats

    def __call__(self, X: Any) -> Floats:
        if np.ndim(X) != 2 or np.shape(X)[1] != len(self.coef):
            raise ParameterError(
                f"X has shape {np.shape(X)}, and there are {len(self.coef)} coefficients; give "
                "rows with as many numbers"
            )
        return self.intercept + X @ self.coef


def is_linear(predictor: Any) -> bool:
    """Whether it is linear by what it is: coefficients behind affine steps, or a constant.

    Of fitted estimators of this library and of scikit-learn, whose attributes mean what they say.
    """
    if isinstance(predictor, Affine):
        return True
    while _is_of_a_library(predictor) and hasattr(predictor, "best_estimator_"):
        predictor = predictor.best_estimator_  # Tuned, or a search of scikit-learn
    try:
        fixed, _, learner = Parts.of(predictor)
    except ParameterError:
        return False
    if fixed or not _is_of_a_library(learner):
        return False
    return hasattr(learner, "constant_") or (
        hasattr(learner, "coef_") and hasattr(learner, "intercept_")
    )


def _is_of_a_library(estimator: Any) -> bool:
    return type(estimator).__module__.partition(".")[0] in ("empirisk", "sklearn")


def judged_by_draws() -> str:
    """How a function is known to be linear of which nothing but its values is known."""
    return f"judged linear by {len(STRETCH) * JUDGED_BY} draws"


def affine(function: Callable[[Any], Any], features: Features, draws: int = DRAWS) -> Affine | None:
    """a and b of a function of rows, where it is linear at draws near and far; None otherwise.

    Read off at the mean of X and one standard deviation from it along each feature.
    """
    if features.mean is None or features.covariance is None:
        return None
    centre, step = features.mean, np.sqrt(np.diagonal(features.covariance))
    step = np.where(step > 0, step, 1.0)
    at_centre, *along = _values(function, np.vstack([centre, centre + np.diag(step)]))
    coef = (np.array(along) - at_centre) / step
    rule = Affine(float(at_centre - centre @ coef), coef)
    X = features.draw(draws, np.random.default_rng(0))
    for stretch in STRETCH:
        far = centre + stretch * (X - centre)
        size = np.abs(rule.intercept) + np.abs(far) @ np.abs(coef)
        if not (np.abs(_values(function, far) - rule(far)) <= ROUNDING * size).all():
            return None
    return rule


def _values(function: Callable[[Any], Any], X: Array) -> Floats:
    """One value for each row; NaN where the function refuses these rows, or gives several."""
    try:
        values = np.asarray(function(X), dtype=float)
    except ValueError:
        return np.full(len(X), np.nan)
    return values.reshape(len(X)) if values.size == len(X) else np.full(len(X), np.nan)
