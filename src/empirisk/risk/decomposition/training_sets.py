"""Training sets drawn from a population, and what a learner fitted to each predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples

from empirisk.losses import Loss
from empirisk.risk.axis import Axis, PathMixin
from empirisk.risk.decomposition.points import rows_given
from empirisk.risk.foreign import at_value, fit_foreign, foreign_prediction
from empirisk.risk.learner import declared_axis, learner_of
from empirisk.risk.populations.population import Population
from empirisk.risk.problem import Problem, refuse_no_estimator
from empirisk.risk.rungs import default_values, fit_all_values
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator, spawn


@dataclass(frozen=True, eq=False)
class TrainingSets:
    """A learner at some values of its axis, and the population its training sets come from.

    `design` is the X of a fixed design, where only y is drawn; None where rows are drawn.
    """

    learner: Any
    axis: Axis | None
    values: Sequence[Any]
    population: Population
    n: int
    design: Any
    loss: Loss

    @classmethod
    def of(
        cls,
        learner: Any,
        population: Population,
        n: int | None,
        design: Any,
        loss: Loss | str | None,
        *,
        axis: Axis | None = None,
        values: Sequence[Any] | None = None,
    ) -> Self:
        """Check what goes together."""
        if not hasattr(population, "classes"):
            raise ParameterError(
                f"the population is a {type(population).__name__}; give one of risk.populations, "
                "such as populations.sine(): of data alone, noise and bias are not known"
            )
        refuse_no_estimator(learner)
        if is_classifier(learner) != (population.classes is not None):
            raise ParameterError(
                f"{type(learner).__name__} is {'' if is_classifier(learner) else 'not '}a "
                f"classifier, and {type(population).__name__} is a population for "
                f"{population.task}: give a learner for {population.task}"
            )
        if (n is None) == (design is None):
            raise ParameterError(
                "give either n, the rows of each training set, or X, a fixed design"
            )
        if design is not None:
            design = rows_given(design, "X", population)
        rows = _num_samples(design) if n is None else n
        if not is_whole(rows, 1):
            raise ParameterError(f"n is {rows!r}; a training set has 1 row or more")
        return cls(
            learner,
            axis,
            [None] if values is None else list(values),
            population,
            rows,
            design,
            population.loss_of(loss),
        )

    @property
    def has_path(self) -> bool:
        """Whether one fit gives all values."""
        return not self.foreign and self.axis == declared_axis(self.learner)

    @property
    def foreign(self) -> bool:
        """Whether the learner is not one of this library."""
        return not isinstance(learner_of(self.learner), PathMixin)

    @property
    def name(self) -> str:
        return type(learner_of(self.learner)).__name__

    def on_default_grid(self, seed: int) -> Self:
        """At the values of the learner's own grid, made for one training set."""
        if not self.has_path:
            raise ParameterError(
                f"{self.name} has no default grid along this axis: give values=[...]"
            )
        values = default_values(self.learner, self.problem(seed), self.n)
        return replace(self, values=list(values))

    def draw(self, seed: int) -> tuple[Any, Array]:
        """One training set."""
        rng = generator(seed)
        if self.design is None:
            return self.population.draw(self.n, rng)
        return self.design, self.population.draw_targets(self.design, rng)

    def problem(self, seed: int) -> Problem:
        """One training set as the engine takes it; what a population draws needs no checks."""
        X, y = self.draw(seed)
        return Problem(
            X=X,
            y=y,
            target=self.population.codes(y),
            classes=self.population.classes,
            weight=np.ones(self.n),
            weighted=False,
            groups=None,
            loss=self.loss,
        )

    def predictions(self, points: Any, seed: int) -> Array:
        """At the points, for each value: (points, values), or with classes behind for a loss of
        probabilities. Labels are codes of the population's classes.

        A training set with rows of one class only predicts this class, whatever the learner.
        """
        problem = self.problem(seed)
        one = self._only_class(problem)
        if one is not None:
            shape = (_num_samples(points), len(self.values))
            if self.loss.output == "value":
                return np.full(shape, one)
            return np.broadcast_to(np.eye(problem.n_classes)[one], (*shape, problem.n_classes))
        inner = spawn(seed, 1)[0]
        if self.has_path:
            fitted = fit_all_values(self.learner, problem, self.values, inner)
            return fitted.predict_at(points, self.loss.output)
        columns = [
            foreign_prediction(
                fit_foreign(at_value(self.learner, self.axis, value), problem, inner),
                points,
                problem,
                self.loss.output,
            )
            for value in self.values
        ]
        return np.stack(columns, axis=1)

    def _only_class(self, problem: Problem) -> int | None:
        if problem.classes is None or problem.target is None:
            return None
        present = np.unique(problem.target)
        return int(present[0]) if len(present) == 1 else None
