"""Boosted trees at all numbers of rounds, from one fit to the largest of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.ensembles.boosting.number_of_rounds import checked_rounds
from empirisk.learners.ensembles.boosting.rounds import Grown
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats


class BoostedPath(Path):
    """The rounds of one training set; the path of a learner along `max_iter`.

    `same_as_fit` says whether these are the bins and the rounds of a fit to the same rows.
    """

    def __init__(
        self,
        learner: Any,
        grown: Grown,
        values: Sequence[Any],
        n_classes: int,
        *,
        same_as_fit: bool = False,
    ) -> None:
        self.learner, self.grown, self.n_classes = learner, grown, n_classes
        self.same_as_fit = same_as_fit
        self.values = [checked_rounds(value, "max_iter") for value in values]

    def predict_path(self, X: Any, output: Output) -> Array:
        """(rows, values) or (rows, values, classes), from one walk down each tree."""
        staged = self._staged(X.places())
        inverse_link = self.grown.loss.inverse_link
        if self.n_classes == 0:
            return inverse_link(staged[:, :, 0])
        probability = probabilities(inverse_link, staged)
        return probability.argmax(axis=2) if output == "value" else probability

    def _staged(self, places: Floats) -> Floats:
        """Scores (rows, values, trees of a round) after each number of rounds."""
        assert self.grown.trees is not None
        order = np.argsort(self.values, kind="stable")
        rounds = np.minimum(np.array(self.values)[order], len(self.grown.trees))
        scores = np.tile(self.grown.baseline, (len(places), 1))
        staged = np.empty((len(places), len(rounds), self.grown.n_trees))
        self.grown.trees.stage(scores, places, rounds, staged)
        in_order = bool((np.diff(order) > 0).all())
        return staged if in_order else staged[:, np.argsort(order)]

    def at(self, j: int) -> Any:
        settings = {"max_iter": self.values[j], **self.learner.settings_along_axis}
        classes = np.arange(self.n_classes) if self.n_classes else None
        learner = clone(self.learner).set_params(**settings)
        learner._seed, learner.do_early_stopping_ = self.learner._seed, False
        learner.train_score_ = learner.validation_score_ = np.empty(0)
        return learner._write(self.grown, classes, n_rounds=self.values[j])


def probabilities(inverse_link: Callable[[Floats], Floats], raw: Floats) -> Floats:
    """Of scores (..., trees of a round), a column for each class."""
    if raw.shape[-1] > 1:
        return inverse_link(raw)
    second = inverse_link(raw[..., 0])
    return np.stack([1.0 - second, second], axis=-1)
