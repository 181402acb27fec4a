"""A bag at several numbers of columns for each member: the path along `max_features`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.streams import settled, spawn


class BagPath:
    """A bag for each value, fitted to one training set; all of them draw the same rows."""

    def __init__(
        self,
        learner: Any,
        X: Any,
        y: Array,
        weight: Floats,
        values: Sequence[Any],
        n_classes: int,
    ) -> None:
        seed = settled(learner.random_state)
        seed = spawn(None, 1)[0] if seed is None else seed
        self.n_classes, self.bags = n_classes, []
        given = None if (weight == 1).all() else weight
        for value in values:
            bag = clone(learner).set_params(max_features=value, random_state=seed, oob_score=False)
            bag._add_members(bag._training(X, y, given, None, n_classes, value, None), len(y), None)
            bag.n_features_in_ = X.shape[1]
            if n_classes:
                bag.classes_, bag.n_classes_ = np.arange(n_classes), n_classes
            self.bags.append(bag)

    def predict_path(self, X: Any, output: Output) -> Array:
        found = [bag._asked(X).mean(bag.n_jobs) for bag in self.bags]
        if self.n_classes and output == "value":
            found = [scores.argmax(axis=1) for scores in found]
        return np.stack(found, axis=1)

    @property
    def degrees_of_freedom(self) -> Floats:
        raise NotImplementedError("the degrees of freedom of a bag are not known")

    def at(self, j: int) -> Any:
        return self.bags[j]
