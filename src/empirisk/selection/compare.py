"""Rivals on one plan: the honest risk of each, and their paired differences."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.losses import Loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.simultaneous import deviations, simultaneous_level
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import of_all_rows
from empirisk.risk.suitable_loss import common_loss
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError, ParameterError
from empirisk.runtime.progress import track
from empirisk.runtime.streams import settled
from empirisk.selection.candidates import Candidates, named, with_baseline
from empirisk.selection.judging import look_at_rows, refuse_none_finished, too_late


@dataclass(frozen=True, eq=False)
class Comparison:
    """The risks of rivals that were judged on the same held-out rows.

    Attributes
    ----------
    risks : dict of RiskEstimate
        By name, in the order given.
    failures : dict of str
        Rivals that gave no risk, and why.
    plan : Plan
    """

    risks: dict[str, RiskEstimate]
    failures: dict[str, str]
    plan: Plan

    def ranking(self) -> list[str]:
        """Names from the least risk to the greatest."""
        return sorted(self.risks, key=lambda name: self.risks[name].value)

    def difference(self, a: str, b: str) -> RiskEstimate:
        """Risk of a minus risk of b, from the differences row by row."""
        for name in (a, b):
            if name not in self.risks:
                raise ParameterError(f"no rival {name!r}; there are {list(self.risks)}")
        return self.risks[a] - self.risks[b]

    def differences(self, to: str | None = None) -> dict[str, RiskEstimate]:
        """The risk of every rival minus that of one, with intervals that hold all at once.

        A difference without an interval, as to a copy of the same rival, does not widen the others;
        a rival of infinite risk has none.

        Parameters
        ----------
        to : str, optional
            The one; None is the one with the least risk. Since that was chosen by the same
            losses, the intervals are then wide enough for the differences of all pairs.
        """
        best = self.ranking()[0] if to is None else to
        others = [name for name in self.risks if name != best and self._is_finite(name)]
        found = {name: self.difference(name, best) for name in others}
        varied = [name for name in found if found[name].interval is not None]
        if len(varied) < 2:
            return found
        names = [name for name in self.risks if name == best or name in varied]
        pairs = list(combinations(range(len(names)), 2))
        if to is not None:
            pairs = [pair for pair in pairs if names.index(best) in pair]
        level = self.risks[best].level
        tables = (self.risks[name].table for name in names)
        parts = np.stack([deviations(table) for table in tables if table is not None], axis=1)
        each = simultaneous_level(parts, pairs, level)
        why = f"; {len(pairs)} differences at once (max-t)"
        for name in varied:
            wide = replace(self.risks[name], level=each) - self.risks[best]
            found[name] = replace(wide, level=level, reason=wide.reason + why)
        return found

    def _is_finite(self, name: str) -> bool:
        return bool(np.isfinite(self.risks[name].value))

    def __str__(self) -> str:
        ranked = self.ranking()
        lines = [f"{name}: {self.risks[name].sentence}" for name in ranked]
        gaps = self.differences() if len(ranked) > 1 else {}
        lines += [
            f"{name} minus {ranked[0]}: {gaps[name].sentence}" for name in ranked if name in gaps
        ]
        return "\n".join([*lines, *(f"{name}: {why}" for name, why in self.failures.items())])

    def plot(self, ax: Any = None) -> Any:
        """The risks with their intervals, best on top."""
        ranked = [(name, self.risks[name]) for name in self.ranking()]
        return draw_intervals(
            [name for name, _ in ranked],
            [risk.value for _, risk in ranked],
            [risk.interval for _, risk in ranked],
            label=f"{ranked[0][1].loss} risk",
            ax=ax,
        )


def compare(
    candidates: Candidates,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    cv: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Comparison:
    """Judge rivals, each taken as it is, on one plan; where there are labels, with a baseline.

    Nothing is chosen, so every risk keeps its interval as it is; `differences` are paired, row by
    row, and their intervals hold all at once. A `Tuned` rival is tuned anew inside every
    training part (nested cross-validation).

    Parameters
    ----------
    candidates : list or dict of estimators
        Ours or scikit-learn's, all classifiers or all regressors.
    X, y, sample_weight, groups
    loss, cv, level, method
        As in `risk.cross_validate`.
    time_limit : float, optional
        Seconds for each rival; one that needs more is reported as a failure.
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, Ridge, Tuned, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 20))
    >>> y = X[:, 0] + rng.normal(size=50)
    >>> rivals = compare({"ols": LinearRegression(), "ridge": Tuned(Ridge())}, X, y)
    >>> rivals.ranking()[0]
    'ridge'
    >>> rivals.difference("ridge", "ols").value < 0
    True
    >>> sorted(rivals.differences(to="Baseline"))
    ['ols', 'ridge']
    """
    rivals = named(candidates)
    first = next(iter(rivals.values()))
    loss = common_loss(rivals.values(), y) if loss is None else loss
    problem = Problem.of(first, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    look = partial(look_at_rows, rivals, problem)
    rivals = with_baseline(rivals, problem.loss, problem.X)
    random_state = settled(random_state)
    plan = problem.plan(cv, random_state=random_state)
    risks: dict[str, RiskEstimate] = {}
    failures: dict[str, str] = {}
    for name in track(list(rivals), "rivals"):
        try:
            with deadline(time_limit), of_all_rows(look):
                losses = out_of_fold(
                    rivals[name], problem, plan, n_jobs=n_jobs, random_state=random_state
                )
                risks[name] = losses.estimate(0, method, level=level)
        except DeadlineError as late:
            failures[name] = too_late(late, time_limit)
    refuse_none_finished(risks, failures)
    return Comparison(risks, failures, plan)
