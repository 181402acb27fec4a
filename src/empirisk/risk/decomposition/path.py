"""Noise, bias and variance along a complexity axis: the picture of the trade-off."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.bias_variance import draw_parts_curves
from empirisk.risk.axis import Axis
from empirisk.risk.decomposition.parts import Decomposition, drawn
from empirisk.risk.learner import owner_of
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


@dataclass(frozen=True, eq=False)
class DecompositionPath:
    """A decomposition at each value of an axis, all over the same training sets.

    Attributes
    ----------
    steps : tuple of Decomposition
        One for each value; `path[j]` is the j-th.
    values : tuple
    axis : Axis

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import Ridge, risk
    >>> population = risk.populations.LinearModel(np.ones(3))
    >>> path = risk.decompose_path(Ridge(), [0.1, 100.0], population, 20, n_sets=20, random_state=0)
    >>> path.values, path.axis.params
    ((0.1, 100.0), ('alpha',))
    >>> bool(path[0].bias_squared < path[1].bias_squared), bool(path[0].variance > path[1].variance)
    (True, True)
    """

    steps: tuple[Decomposition, ...]
    values: Sequence[Any]
    axis: Axis

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, j: int) -> Decomposition:
        return self.steps[j]

    @property
    def complexity(self) -> Floats:
        """Increasing from simple to rich."""
        return self.axis.complexity(self.values)

    def part(self, name: str) -> Floats:
        """One part, or "total", at each value."""
        return np.array([step.parts[name] for step in self.steps])

    def standard_error(self, name: str) -> Floats:
        """The Monte Carlo error of one part at each value."""
        return np.array([step.standard_error[name] for step in self.steps])

    @property
    def best(self) -> int:
        """Where the expected risk is least."""
        return int(self.part("total").argmin())

    @property
    def best_value(self) -> Any:
        return self.values[self.best]

    @property
    def sentence(self) -> str:
        """The trade-off in words that can be read out."""
        order = np.argsort(self.complexity, kind="stable")
        first, last = self.steps[order[0]], self.steps[order[-1]]
        changes = [
            f"{first.words[name]} goes from {first.parts[name]:.4g} to {last.parts[name]:.4g}"
            for name in first.summands[1:]
        ]
        text = f"From the simplest to the richest {first.learner}, {' and '.join(changes)}; "
        at = f"{', '.join(self.axis.params)} = {_spelled(self.best_value)}"
        text += f"the {first.words['risk']} is least, {self[self.best].total:.4g}, at {at}"
        return f"{text} ({first.setting})."

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The summands and the total against the axis, richer to the right."""
        number = all(isinstance(value, int | float | np.number) for value in self.values)
        place: Array = np.array(self.values, dtype=float) if number else self.complexity
        return draw_parts_curves(
            place,
            *drawn(self.steps[0].shown(), self.part, self.standard_error),
            label=", ".join(self.axis.params) if number else "complexity",
            scale=self.axis.scale if number else "linear",
            richer_right=not (number and self.axis.larger == "simpler"),
            best=place[self.best],
            risk=self.steps[0].words["risk"],
            ax=ax,
        )


def _spelled(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def checked_axis(estimator: Any, axis: Any) -> Axis:
    """The axis, whose parameters the estimator has."""
    if not isinstance(axis, Axis):
        raise ParameterError(
            f"axis is {axis!r:.60}; give an Axis, such as Axis(('alpha',), 'simpler', 'log')"
        )
    known = owner_of(estimator, axis).get_params()
    for name in axis.params:
        if name not in known:
            raise ParameterError(
                f"axis names {name!r:.60}, which the learner does not have; it has "
                f"{', '.join(known):.200}"
            )
    return axis


def checked_values(values: Any) -> list[Any]:
    """The values of an axis as a list."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ParameterError(f"values is {values!r:.60}; give a list of values of the axis")
    several = list(values)
    if not several:
        raise ParameterError("values is empty: give at least one value of the axis")
    return several
