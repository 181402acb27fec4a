"""Any regressor as a weak learner: a clone is fitted in each round."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.learners.ensembles.members import (
    fresh,
    predicted_numbers,
    random_states,
    rows_of,
    rows_to_fit,
)
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError


class AnyRounds:
    """Fits clones of an estimator to X, which is handed on as it came.

    Parameters
    ----------
    estimator : estimator
        Every `random_state` in it is set to a seed of the round.
    X : table
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        self.estimator, self.X = estimator, X
        self._random_states = random_states(estimator)

    def fit(self, target: Floats, weight: Floats, seed: int) -> tuple[Any, Floats]:
        """A clone that is fitted to a target, and its predictions."""
        member = fresh(self.estimator, self._random_states, seed)
        rows, arguments = rows_to_fit(member, weight)
        member.fit(rows_of(self.X, rows), target[rows], **arguments)
        return member, predicted_numbers(member, self.X)

    def stages(self, members: list[Any], weights: Floats) -> "StagedMembers":
        return StagedMembers(members, weights)


@dataclass(frozen=True, eq=False)
class StagedMembers:
    """The fitted estimators of all rounds and what each counts in the sum.

    Attributes
    ----------
    members : list of estimators
        Round after round; within a round one for each column of the sum.
    weights : float64 array of shape (members,)
    """

    members: list[Any]
    weights: Floats

    def check_loaded(self) -> None:
        """Raise a DataError unless there is a weight for each member of a file."""
        if not isinstance(self.members, list):
            raise DataError("members are not a list of estimators")
        check_array("weights", self.weights, np.float64, (len(self.members),))
        if not np.isfinite(self.weights).all():
            raise DataError("weights are not finite")

    def staged(
        self, X: Any, start: Floats, rounds: Sequence[int], n_jobs: int | None
    ) -> Iterator[Floats]:
        """As `Stages` has it."""
        total, K, done = np.tile(start, (_num_samples(X), 1)), len(start), 0
        for t in rounds:
            for b in range(done * K, t * K):
                total[:, b % K] += self.weights[b] * predicted_numbers(self.members[b], X)
            done = t
            yield total

    def first(self, rounds: int, columns: int) -> "StagedMembers":
        return StagedMembers(self.members[: rounds * columns], self.weights[: rounds * columns])
