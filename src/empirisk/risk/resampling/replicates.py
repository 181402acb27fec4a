"""A statistic and its bootstrap replicates: standard error, bias, intervals, picture."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from empirisk.charts.bootstrap import draw_replicates
from empirisk.charts.intervals import draw_intervals
from empirisk.risk.resampling import intervals
from empirisk.risk.resampling.intervals import METHODS, Ends, IntervalMethod, mean_and_spread
from empirisk.risk.resampling.sample import Resamples, distinct_resamples
from empirisk.risk.resampling.statistic import Statistic
from empirisk.risk.resampling.studentising import Errors, studentised_replicates
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError

ENOUGH = 39  # replicates for an interval of level 0.95


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic and its replicates on resamples of the data.

    Attributes
    ----------
    value : float or array
        The statistic of the data.
    replicates : array of shape (resamples, ...)
        The statistic of each resample.
    rate : float
        Errors fall like n^-rate; matters where m is not n.
    n_failed : int
        Resamples on which the statistic failed, left out of the replicates.
    statistic : Statistic
        What was computed, on which rows; `name` is its name.
    resamples : Resamples
        Of m of the n units (rows or groups) each.

    Examples
    --------
    >>> from empirisk import bootstrap
    >>> mean = bootstrap([1.0, 4.0, 2.0, 7.0, 5.0], "mean", n_resamples=999, random_state=0)
    >>> mean.value, mean.replicates.shape
    (3.8, (999,))
    >>> low, high = mean.interval("percentile", level=0.9)
    >>> bool(low < mean.value < high)
    True
    """

    value: Any
    replicates: Floats
    rate: float
    n_failed: int
    statistic: Statistic = field(repr=False)
    resamples: Resamples = field(repr=False)
    nested_seed: int = field(repr=False)
    n_jobs: int | None = field(repr=False)

    @property
    def n(self) -> int:
        """Units, rows or groups, of the data."""
        return self.resamples.n

    @property
    def m(self) -> int:
        """Units of a resample."""
        return self.resamples.m

    @property
    def bias(self) -> Any:
        """The mean of the replicates minus the value: how far the statistic is off on average."""
        mean, _ = mean_and_spread(self._flat)
        return self._shaped((mean - self._value) * (self.m / self.n))

    @property
    def standard_error(self) -> Any:
        """The standard deviation of the replicates."""
        return self._shaped(mean_and_spread(self._flat)[1] * self._shrinkage)

    @cached_property
    def jackknife(self) -> Floats:
        """The statistic without each unit in turn: (units, ...)."""
        left_out = self.statistic.leave_one_out(np.ones(self.n), self.n_jobs)
        if not np.isfinite(left_out).all():
            bad = int((~np.isfinite(left_out).all(axis=1)).sum())
            raise DataError(
                f"the {self.statistic.name} fails where one of the {self.n} "
                f"{self.statistic.sample.unit_name} is left out, for {bad} of them: there is no "
                "jackknife and no BCa interval; take another method"
            )
        return left_out.reshape(self.n, *self.statistic.shape)

    @property
    def jackknife_standard_error(self) -> Any:
        """sqrt((n-1)/n sum of squares of what leaving out one unit changes).

        Close to `standard_error` for smooth statistics; wrong, at any n, for a median.
        """
        _, spread = mean_and_spread(self.jackknife.reshape(self.n, -1))
        return self._shaped(spread * (self.n - 1) / self.n**0.5)

    @property
    def n_distinct(self) -> int:
        """How many different resamples there are, order aside: C(n + m - 1, m)."""
        return distinct_resamples(self.n, self.m)

    def interval(
        self, method: IntervalMethod = "bca", level: float = 0.95, *, errors: Errors = None
    ) -> tuple[Any, Any]:
        """The two ends of a confidence interval, of each element by itself.

        Parameters
        ----------
        method : {"percentile", "basic", "bca", "studentised"}
            "bca" corrects the percentiles for bias and skewness, by leaving out each unit in turn
            (exactly, not in blocks); both need m = n. "studentised" divides each error by its own
            standard error; it is as accurate, best for means, and not invariant under
            transformations.
        level : float
        errors : {"formula", "jackknife"}, int or callable, optional
            For "studentised", the standard error of each replicate: by a formula (there is one for
            the mean), by leaving out each of its units, from so many resamples of the resample, or
            by a function of the rows that is called as the statistic is. By the formula unless
            given, and from 50 resamples where there is none.

        Examples
        --------
        >>> from empirisk.risk.resampling.bootstrap import bootstrap
        >>> result = bootstrap(np.arange(20.0) ** 2, random_state=0)
        >>> for method in ("percentile", "basic", "bca", "studentised"):
        ...     low, high = result.interval(method)
        ...     print(f"{method:12} {low:.0f} to {high:.0f}")
        percentile   77 to 174
        basic        73 to 170
        bca          79 to 178
        studentised  75 to 185
        """
        if method not in METHODS:
            raise ParameterError(f"method is {method!r}; choose one of {', '.join(METHODS)}")
        if errors is not None and method != "studentised":
            raise ParameterError(f"errors are for the studentised interval, not for {method!r}")
        low, high = self._ends(method, level, errors)
        return self._shaped(low), self._shaped(high)

    def _ends(self, method: IntervalMethod, level: float, errors: Errors = None) -> Ends:
        value, scaled = self._value, self._flat
        if self.m != self.n:
            scaled = value + (scaled - value) * self._shrinkage
        if method == "percentile":
            if self.m != self.n:
                raise ParameterError(
                    f"the percentile interval is for resamples as large as the data, and m = "
                    f"{self.m} is not n = {self.n}: take 'basic'"
                )
            return intervals.percentile(scaled, level)
        if method == "basic":
            return intervals.basic(value, scaled, level)
        if method == "studentised":
            error, replicates, each = studentised_replicates(
                self.statistic, self.resamples, self.nested_seed, errors, self.n_jobs
            )
            if error is None:
                error = np.ravel(self.standard_error)
            return intervals.studentised(value, error, replicates, each, level)
        if self.m != self.n:
            raise ParameterError(
                f"the BCa interval is for resamples as large as the data, and m = {self.m} is not "
                f"n = {self.n}: take 'basic'"
            )
        left_out = self.jackknife.reshape(self.n, -1)
        return intervals.bca(value, scaled, left_out, level)

    @property
    def sentence(self) -> str:
        """The result in words that can be read out; of several numbers, a line each."""
        units = self.statistic.sample.unit_name
        drawn = "" if self.m == self.n else f" of {self.m:,} {units}"
        how = f"{len(self.replicates):,} resamples{drawn}"
        if self.n_failed:
            how += f", without {self.n_failed:,} on which it failed"
        ends = [""] * len(self._value)
        if len(self.replicates) >= ENOUGH:
            low, high = self._ends(self._usual, 0.95)
            ends = [
                f", 95 % {self._usual} interval {a:.4g} to {b:.4g}"
                for a, b in zip(low, high, strict=True)
            ]
        parts = [
            f"is {value:.4g} with a standard error of {error:.3g}{interval}"
            for value, error, interval in zip(
                self._value, np.ravel(self.standard_error), ends, strict=True
            )
        ]
        what = f"The {self.statistic.name} of {self.n:,} {units}"
        if self.statistic.shape == ():
            return f"{what} {parts[0]} ({how})."
        lines = [f"{label} {part}" for label, part in zip(self._labels, parts, strict=True)]
        return "\n".join([f"{what} ({how}):", *lines])

    def __str__(self) -> str:
        return self.sentence

    def plot(
        self, ax: Any = None, *, method: IntervalMethod | None = None, level: float = 0.95
    ) -> Any:
        """The replicates of a number and its interval; of several numbers, their intervals.

        By percentiles unless a method is given, "basic" of resamples smaller than the data.
        """
        found = self._ends(method or self._usual, level)
        ends = [(float(low), float(high)) for low, high in zip(*found, strict=True)]
        name = self.statistic.name
        if self.statistic.shape == ():
            replicates = self._flat[:, 0]
            return draw_replicates(replicates, self.value, ends[0], label=name, level=level, ax=ax)
        return draw_intervals(self._labels, self._value.tolist(), ends, label=name, ax=ax)

    @property
    def _usual(self) -> IntervalMethod:
        """Percentiles of fewer rows lie on the wrong side, as of a maximum."""
        return "percentile" if self.m == self.n else "basic"

    @property
    def _value(self) -> Floats:
        return np.ravel(self.value)

    @property
    def _flat(self) -> Floats:
        return self.replicates.reshape(len(self.replicates), -1)

    @property
    def _shrinkage(self) -> float:
        return float((self.m / self.n) ** self.rate)

    @property
    def _labels(self) -> list[str]:
        if self.statistic.names is not None:
            return list(self.statistic.names)
        return [",".join(map(str, place)) for place in np.ndindex(self.statistic.shape)]

    def _shaped(self, values: Floats) -> Any:
        shape = self.statistic.shape
        return float(values[0]) if shape == () else values.reshape(shape)
