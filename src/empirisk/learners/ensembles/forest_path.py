"""Forests at all values of max_features, of one training set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats


class ForestPath:
    """A forest for each value; features are drawn anew, rows are the same."""

    def __init__(self, forests: Sequence[Any], flat: bool) -> None:
        self.forests, self.flat = forests, flat

    def predict_path(self, X: Any, output: Output) -> Array:
        places = X.places()
        scores = [forest._mean_scores(places) for forest in self.forests]
        found = np.stack(scores, axis=1)
        classes = hasattr(self.forests[0], "classes_")
        return found.argmax(axis=2) if classes and output == "value" else found

    def at(self, j: int) -> Any:
        return self.forests[j]

    @property
    def degrees_of_freedom(self) -> Floats:
        raise NotImplementedError("the degrees of freedom of a forest are those of a smoother")
