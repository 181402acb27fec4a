"""The terms of growth: what is to be predicted, and where growth ends."""

from dataclasses import dataclass

import numpy as np

from empirisk.runtime.arrays import Array, Floats

NEVER = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Limits:
    """Where growth ends; the meanings are scikit-learn's, in rows and weights.

    `shuffle` says that features are looked at in an order drawn at each node, as they are where
    `max_features` are fewer than all: of equal splits the one that comes first is taken.
    """

    max_depth: int = NEVER
    max_leaves: int = 0
    max_features: int = NEVER
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_split: float = 0.0
    min_weight_leaf: float = 0.0
    min_copies_split: float = 0.0
    min_copies_leaf: float = 0.0
    min_gain: float = -np.inf
    shuffle: bool = False


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted, for each row of the coding.

    kind
        A criterion of `compiled.trees.criteria`.
    values : float64 array of shape (n, outputs)
        Of a regression; of two classes 0 and 1.
    labels : int32 array of shape (n,)
        Class codes, of more than two classes; ranks of the values, for absolute errors; not used
        for others.
    weight : float64 array of shape (n,) or None
        None where all rows weigh 1.
    n_sums : int
        Classes, if they are more than two; else outputs.
    costs : array of shape (classes, classes)
        C(i | j), for the criteria that take costs.
    copies : array of shape (classes,)
        What a unit of weight of each class counts for in `Limits.min_copies_leaf`.
    """

    kind: int
    values: Floats
    labels: Array
    weight: Floats | None
    n_sums: int = 1
    costs: Floats | None = None
    copies: Floats | None = None

    @property
    def family(self) -> int:
        """0 of one sum, 1 of many classes, 2 of many outputs, 3 of order statistics."""
        return self.kind // 10
