"""Any regressor as a weak learner: a clone is fitted in each round."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from empirisk.learners.ensembles.members import weight_arguments
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import seed32, spawn


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
        self._weights = weight_arguments(estimator)
        self._random_states = sorted(
            name
            for name in estimator.get_params(deep=True)
            if name == "random_state" or name.endswith("__random_state")
        )

    def fit(self, target: Floats, weight: Floats, seed: int) -> tuple[Any, Floats]:
        """A clone that is fitted to a target, and its predictions."""
        member, seeds = clone(self.estimator), spawn(seed, len(self._random_states))
        member.set_params(**dict(zip(self._random_states, map(seed32, seeds), strict=True)))
        arguments = {}
        if not (weight == 1.0).all():
            arguments = dict.fromkeys(self._weight_arguments(), weight)
        member.fit(self.X, target, **arguments)
        return member, predicted(member, self.X)

    def stages(self, members: list[Any], weights: Floats) -> "StagedMembers":
        return StagedMembers(members, weights)

    def _weight_arguments(self) -> list[str]:
        if self._weights is not None:
            return self._weights
        raise ParameterError(
            f"{type(self.estimator).__name__} takes no sample_weight, and its rows have weights "
            "here: give another estimator, or rows without weights where the loss asks for none"
        )


def predicted(member: Any, X: Any) -> Floats:
    """A finite number for each row."""
    found = np.asarray(member.predict(X), dtype=float).reshape(-1)
    if len(found) != _num_samples(X) or not np.isfinite(found).all():
        raise DataError(
            f"{type(member).__name__} predicts an array of {len(found)} values for "
            f"{_num_samples(X)} rows, or some that are NaN or infinite"
        )
    return found


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
                total[:, b % K] += self.weights[b] * predicted(self.members[b], X)
            done = t
            yield total

    def first(self, rounds: int, columns: int) -> "StagedMembers":
        return StagedMembers(self.members[: rounds * columns], self.weights[: rounds * columns])
