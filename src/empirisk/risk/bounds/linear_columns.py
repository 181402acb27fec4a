"""In which columns a fitted classifier is linear: those of X, or what fixed steps make of them.

A bound for all linear rules at once does not care how a rule was found. So steps that are affine
(scaling, principal components, a choice of columns) may come from the data: behind them the rule is
linear in the columns that went in. Steps that make other columns must be fixed beforehand, such as
polynomials.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from empirisk.data.encode import Encoder
from empirisk.data.table import Table
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ParameterError

AFFINE = (
    IncrementalPCA,
    MaxAbsScaler,
    MinMaxScaler,
    PCA,
    RobustScaler,
    SelectorMixin,
    StandardScaler,
    TruncatedSVD,
)
FIXED = (FunctionTransformer, PolynomialFeatures)


class Parts(NamedTuple):
    """A classifier as fixed steps, affine steps and the learner behind them."""

    fixed: list[Any]
    affine: list[Any]
    learner: Any

    @classmethod
    def of(cls, model: Any) -> "Parts":
        """Refuses other steps than these, and a fixed step behind one that came from the data."""
        steps = _flat(model)
        first = next((i for i, step in enumerate(steps[:-1]) if not isinstance(step, FIXED)), None)
        first = len(steps) - 1 if first is None else first
        for step in steps[first:-1]:
            if not _is_affine(step):
                raise ParameterError(
                    f"behind {type(step).__name__} a linear rule is not known to be of a class "
                    "that was fixed beforehand: a pipeline may have PolynomialFeatures first, then "
                    "scalers, PCA and selections of columns (an Encoder of numbers alone); or give "
                    "vc dimension="
                )
        return cls(steps[:first], steps[first:-1], steps[-1])

    @property
    def n_columns(self) -> int:
        """Of those that the rule is linear in."""
        if self.affine:
            return int(self.affine[0].n_features_in_)
        return int(np.shape(self.learner.coef_)[-1])

    def columns(self, X: Any) -> Floats:
        """Those columns as numbers."""
        for step in self.fixed:
            X = step.transform(X)
        return numbers(X, self.learner)

    def rule(self, columns: Floats) -> tuple[Floats, Floats]:
        """Coefficients (outputs, columns) and intercepts of the score in those columns.

        An affine step is what it does to one point and, from there, to a move along each axis.
        """
        coef = np.atleast_2d(np.asarray(self.learner.coef_, dtype=float))
        intercept = np.ravel(np.asarray(self.learner.intercept_, dtype=float))
        if not self.affine:
            return coef, intercept
        start, move = columns.mean(axis=0), np.ptp(columns, axis=0)
        move = np.where(move > 0, move, np.maximum(np.abs(start), 1.0))
        images = self._images(np.vstack([start, start + np.diag(move)]))
        slopes = (images[1:] - images[0]) / move[:, None]
        of_columns = coef @ slopes.T
        return of_columns, intercept + coef @ images[0] - of_columns @ start

    def _images(self, points: Floats) -> Floats:
        images: Any = points
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the points have no column names
            for step in self.affine:
                if isinstance(step, Encoder) and hasattr(step, "feature_names_in_"):
                    images = Table.of(dict(zip(step.feature_names_in_, images.T, strict=True)))
                images = np.asarray(step.transform(images), dtype=float)
        return images


def _flat(model: Any) -> list[Any]:
    """The steps of a pipeline, and of those within it; the last one is the learner."""
    if not isinstance(model, Pipeline):
        return [model]
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    return [part for step in steps for part in _flat(step)]


def _is_affine(step: Any) -> bool:
    if isinstance(step, Encoder):
        names = getattr(step, "feature_names_in_", None)
        names = [f"x{j}" for j in range(step.n_features_in_)] if names is None else list(names)
        return list(step.get_feature_names_out()) == names  # numbers, and none is missing
    return isinstance(step, AFFINE) and not getattr(step, "clip", False)
