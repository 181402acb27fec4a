"""The models in the leaves of a linear tree."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from empirisk.compiled.trees.linear_nodes import model_values
from empirisk.data.blocks import compilable
from empirisk.learners.linear.logistic import LogisticRegression
from empirisk.learners.trees.linear_columns import ModelColumns
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.errors import DataError

LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True, eq=False)
class LeafModel:
    """offset + coef (z - centre), of standardised columns z; an output or class for each row.

    low, high
        The predictions are cut off there.
    """

    centre: Floats
    coef: Floats
    offset: Floats
    low: Floats | float = -np.inf
    high: Floats | float = np.inf


@dataclass(frozen=True, eq=False)
class LeafModels:
    """The models of some nodes of a tree.

    Attributes
    ----------
    columns : ModelColumns
        The columns that the models see.
    nodes : int array
        The nodes that have a model, in order.
    centre, coef, offset : arrays of shape (models, p), (models, outputs, p), (models, outputs)
        offset + coef (z - centre) is the prediction over `unit`, or the logarithms of the
        probabilities of the classes up to a constant.
    low, high : arrays of shape (models, outputs)
        The range that predictions are clipped to, over `unit`.
    unit : float
    """

    columns: ModelColumns
    nodes: Ints
    centre: Floats
    coef: Floats
    offset: Floats
    low: Floats
    high: Floats
    unit: float

    @classmethod
    def of(
        cls,
        columns: ModelColumns,
        nodes: Iterable[int],
        model: Callable[[int], LeafModel],
        unit: float = 1.0,
    ) -> "LeafModels":
        """Those of these nodes, which are in order."""
        chosen = np.array(list(nodes), np.int64)
        models = [model(int(node)) for node in chosen]
        offset = np.stack([m.offset for m in models])
        low, high = (
            np.stack([np.broadcast_to(end, offset.shape[1:]) for end in ends]).astype(float)
            for ends in ([m.low for m in models], [m.high for m in models])
        )
        centre, coef = np.stack([m.centre for m in models]), np.stack([m.coef for m in models])
        return cls(columns, chosen, centre, coef, offset, low, high, unit)

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, have an entry for each model."""
        n, p = len(self.nodes), len(self.columns.columns)
        n_outputs = self.coef.shape[1]
        check_array("nodes", self.nodes, np.int64, (n,))
        check_array("centre", self.centre, np.float64, (n, p))
        check_array("coef", self.coef, np.float64, (n, n_outputs, p))
        for name in ("offset", "low", "high"):
            check_array(name, getattr(self, name), np.float64, (n, n_outputs))
        if not (isinstance(self.unit, float) and 0 < self.unit < np.inf):
            raise DataError("unit is not a number above 0")

    def values(self, places: Floats, leaves: Array) -> Floats:
        """(rows, values, outputs) of rows as trees compare them, in leaves (rows, values)."""
        at = np.searchsorted(self.nodes, leaves)
        values = np.empty((*leaves.shape, self.coef.shape[1]))
        Z = self.columns.standardised(places)
        models = (compilable(part) for part in (self.centre, self.coef, self.offset))
        model_values(Z, at, *models, values)
        if np.isfinite(self.low).all():
            np.clip(values, self.low[at], self.high[at], out=values)
        if self.unit != 1.0:
            with np.errstate(over="ignore"):
                values = np.clip(values * self.unit, -LARGEST, LARGEST)
        return values

    def coefficients(self) -> tuple[Floats, Floats]:
        """Coefficients (models, outputs, p) and intercepts for the columns as they were given."""
        coef, intercept = self.columns.raw(self.coef, self.centre, self.offset)
        with np.errstate(over="ignore"):
            return coef * self.unit, intercept * self.unit


def logistic_model(
    Z: Floats, y: Ints, weight: Floats, n_classes: int, alpha: float, enough: bool
) -> LeafModel:
    """Logistic regression on the rows of a leaf, or the shares of its classes.

    Minimise sum_i w_i log-loss_i + alpha |B|^2 / 2. A class that the leaf does not have has
    probability 0, which is the limit of maximum likelihood.
    """
    seen = ~np.isnan(Z)
    present, codes = np.unique(y, return_inverse=True)
    p = Z.shape[1]
    coef, offset = np.zeros((n_classes, p)), np.full(n_classes, -np.inf)
    shares = np.bincount(codes, weight)
    offset[present] = np.log(shares / shares.sum())
    total = np.where(seen, weight[:, None], 0.0).sum(axis=0)
    centre = np.where(seen, weight[:, None] * Z, 0.0).sum(axis=0) / np.where(total > 0, total, 1.0)
    X = np.where(seen & _varies(Z), Z - centre, 0.0)
    if len(present) == 1 or not enough or not X.any():
        return LeafModel(centre, coef, offset)
    learner = LogisticRegression(C=1.0 / alpha)
    path = learner.fit_path(X, codes, weight, [learner.C], n_classes=len(present))
    slopes, at_centre = path.rule.coef[:, 0], path.rule.offset[:, 0]
    constants = at_centre - slopes @ path.rule.centre
    if len(present) == 2:
        slopes, constants = np.stack([0 * slopes[0], slopes[0]]), np.array([0.0, constants[0]])
    coef[present], offset[present] = slopes, constants
    return LeafModel(centre, coef, offset)


def _varies(Z: Floats) -> Bools:
    """Which columns have two values: of the others rounding errors would be left."""
    low, high = np.where(np.isnan(Z), np.inf, Z), np.where(np.isnan(Z), -np.inf, Z)
    return low.min(axis=0, initial=np.inf) < high.max(axis=0, initial=-np.inf)
