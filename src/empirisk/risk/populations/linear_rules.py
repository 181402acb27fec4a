"""Telling a linear rule from its values: h(x) = a + b'x, whatever the predictor is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.risk.populations.features import Features
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError

DRAWS = 64
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


def affine(function: Callable[[Any], Any], features: Features) -> Affine | None:
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
    X = features.draw(DRAWS, np.random.default_rng(0))
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
