"""Standard errors of single replicates, by which a studentised bootstrap divides."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from empirisk.risk.resampling.intervals import mean_and_spread
from empirisk.risk.resampling.sample import Resamples
from empirisk.risk.resampling.statistic import RowStatistic, Statistic
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole

Errors = Literal["formula", "jackknife"] | int | Callable[..., Any] | None
"""Where the standard error of a replicate comes from; an integer is a number of resamples."""

NESTED = 50  # enough for a standard error (Efron & Tibshirani 1993, 12.5)


def studentised_replicates(
    statistic: Statistic, resamples: Resamples, seed: int, errors: Errors, n_jobs: int | None
) -> tuple[Floats | None, Floats, Floats]:
    """The standard error of the value, None if nested; the replicates, and the error of each.

    Replicates are computed anew: those of a quantile were drawn from their law, and there are no
    rows behind them.
    """
    if resamples.m < 2:
        raise ParameterError("a resample of one row shows no spread: take m = 2 or more")
    rule = _rule(statistic, resamples, seed, errors)
    blocks = statistic.blocks(resamples.number, resamples.m)
    found = parallel(
        partial(_block, statistic, resamples, rule),
        track(blocks, "resamples"),
        n_jobs=n_jobs,
        kind=statistic.kind,
    )
    replicates, each = (np.concatenate(part) for part in zip(*found, strict=True))
    good = np.isfinite(replicates).all(axis=1) & np.isfinite(each).all(axis=1)
    if not good.all():
        raise DataError(
            f"the {statistic.name} or its standard error fails on {int((~good).sum()):,} of "
            f"{len(good):,} resamples: take another interval, or other `errors`"
        )
    return rule.of_data(), replicates, each


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """Standard errors of resamples, of which the first has the number `first`."""

    statistic: Statistic

    @abstractmethod
    def of(self, first: int, copies: Floats) -> Floats:
        """(resamples, elements)."""

    def of_data(self) -> Floats | None:
        return self.of(0, np.ones((1, self.statistic.sample.n)))[0]


class Formula(Rule):
    def of(self, first: int, copies: Floats) -> Floats:
        found = self.statistic.standard_errors(copies)
        assert found is not None
        return found


class Jackknife(Rule):
    """sqrt((m-1)/m sum of squares of what leaving out one of the m units changes)."""

    def of(self, first: int, copies: Floats) -> Floats:
        return np.stack([self._one(each) for each in copies])

    def _one(self, copies: Floats) -> Floats:
        check_deadline()
        there = copies > 0
        times = copies[there].astype(np.int64)
        left_out = np.repeat(self.statistic.leave_one_out(copies)[there], times, axis=0)
        m = len(left_out)
        return mean_and_spread(left_out)[1] * (m - 1) / m**0.5


@dataclass(frozen=True, eq=False)
class Nested(Rule):
    """The spread over resamples of the resample."""

    resamples: Resamples
    number: int

    def of(self, first: int, copies: Floats) -> Floats:
        return np.stack([self._one(first + i, each) for i, each in enumerate(copies)])

    def _one(self, b: int, copies: Floats) -> Floats:
        check_deadline()
        nested = self.statistic.of(self.resamples.nested(b, copies, self.number))
        return mean_and_spread(nested)[1]

    def of_data(self) -> None:
        """None: the resamples of the data are there already."""


@dataclass(frozen=True, eq=False)
class ByFunction(Rule):
    function: RowStatistic

    def of(self, first: int, copies: Floats) -> Floats:
        return self.function.of(copies)


def _rule(statistic: Statistic, resamples: Resamples, seed: int, errors: Errors) -> Rule:
    has_formula = statistic.standard_errors(np.ones((1, statistic.sample.n))) is not None
    if errors is None:
        errors = "formula" if has_formula else NESTED
    if callable(errors):
        function = RowStatistic(statistic.sample, errors, None)
        if function.shape != statistic.shape:
            raise ParameterError(
                f"`errors` gives shape {function.shape} and the {statistic.name} has "
                f"{statistic.shape}; give a standard error for each element"
            )
        return ByFunction(statistic, function)
    if errors == "jackknife":
        return Jackknife(statistic)
    if errors == "formula":
        if not has_formula:
            raise ParameterError(
                f"there is no formula for the standard error of the {statistic.name}; give "
                "errors=50, so many resamples of each resample, 'jackknife', or a function"
            )
        return Formula(statistic)
    if not is_whole(errors, 2):
        raise ParameterError(
            f"errors is {errors!r}; give 'formula', 'jackknife', a number of resamples >= 2, or a "
            "function of the rows"
        )
    return Nested(statistic, replace(resamples, seed=seed), int(errors))


def _block(
    statistic: Statistic, resamples: Resamples, rule: Rule, block: slice
) -> tuple[Floats, Floats]:
    copies = resamples.copies(block)
    return statistic.of(copies), rule.of(block.start, copies)
