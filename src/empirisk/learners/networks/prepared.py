"""Rows and network, put together before training."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.compiled.networks import heads
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.heads import Head
from empirisk.learners.networks.rows import NetworkRows
from empirisk.learners.networks.standardising import (
    CONSTANT,
    Standard,
    standard_of,
    unit_if_flat,
)
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is trained, and on what.

    Attributes
    ----------
    target : Standard
        Of the values that are predicted, or of rows that are their own targets; centre 0 and unit 1
        for classes and labels.
    loss_unit : float
        A loss in standard units times this is one in the units of the target.
    """

    architecture: Architecture
    rows: NetworkRows
    head: Head
    target: Standard
    dtype: Any
    n_classes: int

    @property
    def loss_unit(self) -> float:
        if self.n_classes:
            return 1.0
        unit = float(self.target.unit[0])
        with np.errstate(over="ignore", under="ignore"):
            return float(np.square(unit)) if self.head.kind == heads.SQUARED else unit


def prepared(
    learner: Any,
    X: Array,
    y: Any,
    weight: Floats,
    n_classes: int,
    dtype: Any,
    *,
    before: tuple[Standard, Standard] | None = None,
    flat_unit: float = CONSTANT,
) -> Prepared:
    """Rows in standard units, new ones or those of `before`, and the layers for them.

    y are class codes, values (n,) or (n, outputs), labels (n, outputs), or None where rows are
    their own targets.
    `flat_unit` is that of a target that never changes: see `standard_of`.
    """
    head = learner._head()
    if dtype == np.float64 and X.dtype != np.float64:
        X = X.astype(np.float64)
    if before is None:
        unit = flat_unit if y is None else 1.0
        standard = standard_of(X, weight, learner._how(), flat_unit=unit)
    else:
        standard = before[0]
    targets = np.zeros((len(X), 0)) if y is None else np.asarray(y, dtype=float).reshape(len(X), -1)
    if y is None:
        target = standard if before is None else before[1]
        size = unit_if_flat(standard)
        if size is not None:  # other rows are no giants in it
            standard = Standard(standard.centre, np.full_like(standard.unit, size))
    elif n_classes or head.kind == heads.LABELS:
        target = Standard(np.zeros(1), np.ones(1))
    elif before is not None:
        target = before[1]
        if len(target.unit) != targets.shape[1]:
            raise DataError(
                f"y has {targets.shape[1]} columns, and the network has {len(target.unit)} outputs"
            )
    else:
        target = target_standard(targets, weight, head, learner.standardize, flat_unit)
    if not n_classes and y is not None:
        if head.kind == heads.POISSON and (targets < 0).any():
            raise DataError("loss 'poisson' needs y >= 0, and y has negative values")
        targets = target.apply(targets)
    n_outputs = targets.shape[1] if y is not None else X.shape[1]
    if n_classes:
        n_outputs = n_classes if n_classes > 2 else 1
    shape = learner._shape(X.shape[1])
    architecture = Architecture(shape, learner._layers(n_outputs))
    rows = NetworkRows(X, standard, np.ascontiguousarray(targets), weight)
    return Prepared(architecture, rows, head, target, dtype, n_classes)


def target_standard(
    y: Floats, weight: Floats, head: Head, standardize: bool, flat_unit: float
) -> Standard:
    """Outputs are centred, and share one unit, so that their squared errors still add up.

    Counts are divided by their mean.
    """
    if not standardize:
        return standard_of(y, weight, "none")
    found = standard_of(y, weight, "common", flat_unit=flat_unit)
    if head.kind != heads.POISSON:
        return found
    mean = float(found.centre.mean())
    return Standard(
        np.zeros_like(found.centre), np.full_like(found.unit, mean if mean > 0 else 1.0)
    )
