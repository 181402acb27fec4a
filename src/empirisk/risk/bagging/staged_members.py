"""The mean of the first B members of a bagged ensemble, for several B, over training sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.data.scaling import power_of_two
from empirisk.risk.bagging.members_at import members_at, predictions
from empirisk.risk.foreign import fit_foreign
from empirisk.risk.predictor import name_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole


@dataclass(frozen=True, eq=False)
class Stages:
    """Numbers of members, the last of which is all, and what is summed over training sets.

    Sums are of deviations from a pilot's prediction, without which a small variance beside a large
    mean would be lost in rounding, in a unit that keeps squares in range.
    """

    numbers: Ints
    classes: Array | None
    pilot: Floats
    unit: float

    @classmethod
    def of(cls, ensemble: Any, numbers: Sequence[int] | None, classes: Array | None) -> Self:
        """Check the numbers of members."""
        B = getattr(ensemble, "n_estimators", None)
        if not is_whole(B, 2):
            raise ParameterError(
                f"{name_of(ensemble)} has n_estimators {B!r}; give a bagged ensemble or a random "
                "forest with 2 members or more"
            )
        return cls(numbers_of_members(numbers, int(B)), classes, np.zeros(0), 1.0)

    def about(self, each: Floats) -> Self:
        """With the mean prediction of an ensemble as the pilot."""
        pilot = each[0] + (each - each[0]).mean(axis=0)
        unit = float(power_of_two(float(np.abs(each).max(initial=0.0))))
        return replace(self, pilot=pilot / unit, unit=unit)

    def each(self, ensemble: Any, problem: Problem, points: Any, seed: int) -> Floats:
        """Predictions (members, points, outputs) of an ensemble fitted to a training set.

        A training set with rows of one class only predicts this class, whatever the ensemble.
        """
        shape = (int(self.numbers[-1]), _num_samples(points), -1)
        if problem.classes is not None:
            assert problem.target is not None
            present = np.unique(problem.target)
            if len(present) == 1:
                sure = np.eye(problem.n_classes)[present[0]]
                return np.broadcast_to(sure, (*shape[:2], problem.n_classes))
        members = members_at(fit_foreign(ensemble, problem, seed), points, self.classes)
        found = predictions(members, slice(0, shape[0]), np.arange(shape[1]))
        return found.reshape(shape)

    def summary(self, each: Floats, present: Bools | None = None) -> Floats:
        """What one training set adds: counts, staged means, their squares, variance of members.

        Each has the shape (points, outputs); only the points `present` count, where not all do.
        """
        rows = np.ones(len(self.pilot), dtype=bool) if present is None else present
        deviation = each / self.unit - self.pilot[rows]
        numbers = self.numbers[:, None, None]
        means = np.cumsum(deviation, axis=0)[self.numbers - 1] / numbers
        summary = self.nothing()
        own = deviation.var(axis=0, ddof=1)
        summary[:, rows] = np.concatenate(
            [np.ones_like(own)[None], own[None], means, np.square(means)]
        )
        return summary

    def nothing(self) -> Floats:
        """What a training set adds that judges no point."""
        return np.zeros((2 + 2 * len(self.numbers), *self.pilot.shape))

    def variances(self, sums: Floats) -> tuple[Floats, Floats]:
        """At each point that of the means, (points, numbers), and that within training sets.

        Means over outputs; NaN at points with fewer than two training sets.
        """
        count, own = sums[0], sums[1]
        first, second = np.split(sums[2:], 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.maximum(second - np.square(first) / count, 0.0) / (count - 1)
            variance = np.where(count > 1, variance, np.nan)
            within = np.where(count > 1, own / count, np.nan)
        return variance.mean(axis=2).T, within.mean(axis=1)


def numbers_of_members(numbers: Sequence[int] | None, B: int) -> Ints:
    """The given numbers in order and without repeats, or 1, 2, 5, 10, ...; and all B members.

    Examples
    --------
    >>> numbers_of_members(None, 30)
    array([ 1,  2,  5, 10, 20, 30])
    >>> numbers_of_members([4, 4], 30)
    array([ 4, 30])
    """
    if numbers is None:
        steps = [step * 10**power for power in range(len(str(B))) for step in (1, 2, 5)]
        numbers = [step for step in steps if step < B]
    given = np.unique(np.asarray([*numbers, B], dtype=np.int64))
    if given[0] < 1 or given[-1] > B:
        raise ParameterError(
            f"numbers of members from {given[0]} to {given[-1]}, and the ensemble has {B}: give "
            f"numbers from 1 to {B}"
        )
    return given
