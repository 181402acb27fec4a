"""Candidates judged on one plan, each along its whole axis, and the one with the least risk."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from empirisk.risk.axis import Axis, PathMixin
from empirisk.risk.choosing import Rule, first_least
from empirisk.risk.learner import declared_axis, learner_of
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import design_of
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError, EmpiriskError
from empirisk.runtime.progress import track
from empirisk.selection.tuned import Tuned, values_of

T = TypeVar("T")


@dataclass(frozen=True)
class Choice:
    """The value that was chosen for one candidate, and the least risk along its axis."""

    axis: Axis | None
    value: Any
    least: float

    @classmethod
    def of(cls, losses: OutOfFold, j: int) -> "Choice":
        return cls(losses.work.axis, losses.values[j], float(losses.risk.min()))


def judge(
    rivals: Mapping[str, Any],
    problem: Problem,
    plan: Plan,
    look: Callable[[OutOfFold], T],
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int | None = None,
) -> tuple[dict[str, T], dict[str, str]]:
    """What `look` makes of the losses of each candidate, and why some gave none.

    Only one matrix of losses is there at a time.
    """
    seen: dict[str, T] = {}
    failures: dict[str, str] = {}
    for name in track(list(rivals), "candidates"):
        estimator = rivals[name]
        axis = declared_axis(estimator)
        try:
            with deadline(time_limit):
                part = problem.designed(estimator)
                values = values_of(estimator, axis, None, part, plan.n_train)
                losses = out_of_fold(
                    estimator, part, plan,
                    values=values, axis=axis, n_jobs=n_jobs, random_state=seed,
                )  # fmt: skip
                seen[name] = look(losses)
        except DeadlineError as late:
            failures[name] = too_late(late, time_limit)
            late.__traceback__ = None
            gc.collect()  # what was begun may be gigabytes, and refer to itself
    refuse_none_finished(seen, failures)
    return seen, failures


def look_at_rows(rivals: Mapping[str, Any], problem: Problem) -> None:
    """Have each candidate look at all rows of the user, as they are counted there."""
    for estimator in rivals.values():
        while isinstance(estimator, Tuned):
            estimator = estimator.estimator
        if isinstance(learner_of(estimator), PathMixin):
            design_of(estimator, problem)


def too_late(late: DeadlineError, time_limit: float | None) -> str:
    """Why a candidate gave no risk, and what helps; a limit is for each candidate by itself."""
    if time_limit is None:  # the limit is one around all of them
        return str(late)
    return (
        f"not finished within its {time_limit:g} s: allow more time, leave it out, or take a "
        "sample of the rows"
    )


def refuse_none_finished(seen: Mapping[str, Any], failures: Mapping[str, str]) -> None:
    """Raise an EmpiriskError where all candidates ran out of time."""
    if not seen:
        raise EmpiriskError(
            f"no candidate finished in time, of {', '.join(failures)}: allow more time, try "
            "faster learners, or take a sample of the rows"
        )


def choice_by(rule: Rule) -> Callable[[OutOfFold], Choice]:
    """A look at the losses that only chooses."""
    return lambda losses: Choice.of(losses, losses.choose(rule))


def winner_of(choices: Mapping[str, Choice]) -> str:
    """The candidate with the least risk, the first of equals."""
    least = np.array([choice.least for choice in choices.values()])
    return list(choices)[int(first_least(least))]
