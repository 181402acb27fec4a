"""What the columns of a table become in an encoding: a few columns of Z each, and their map.

A feature knows two things: how its rows are spread over columns of Z without any statistics, and
how the moments of those columns give the encoding X = Z A + b of the training rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Protocol

import numpy as np

from empirisk.data.column import Column
from empirisk.data.moments import Moments
from empirisk.data.raw_columns import date_in_words
from empirisk.data.scaling import power_of_two
from empirisk.data.spelling import TRUTHS
from empirisk.data.table import Table
from empirisk.data.table_blocks import Weighted
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.scalars import is_number

ROUNDING = 1e-12  # shares and spreads this small are what a subtraction leaves behind

Encoding = tuple[Floats, Floats, list[str]]
"""A, b and the names of the columns of X."""


class Feature(Protocol):
    """Some columns of Z and their map."""

    @property
    def name(self) -> str:
        """The column of the table."""

    @property
    def width(self) -> int:
        """Number of columns of Z."""

    def expand(self, table: Table, Z: Floats, start: int) -> None:
        """Write the columns of Z, which has the rows of the table, counted from `start`."""

    def encode(self, moments: Moments, min_frequency: float, standardize: bool) -> Encoding:
        """The map of training rows whose columns of Z have these moments."""


@dataclass(frozen=True)
class Number:
    """A number: its value, 0 where missing, and, with `holes`, whether it is missing.

    The value is measured from `origin`, the mean, in `unit`, a power of two, so that squares
    neither overflow nor cancel; the map does not depend on either. So a value that is missing
    where training had no holes is the mean.
    """

    name: str
    origin: float
    unit: float
    part: str = ""
    holes: bool = False
    marked: bool = True
    scaled: bool = True

    @property
    def width(self) -> int:
        return 1 + self.holes

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file is what a fit leaves."""
        sound = is_number(self.origin) and is_number(self.unit) and self.unit > 0
        texts = isinstance(self.name, str) and isinstance(self.part, str)
        flags = all(type(flag) is bool for flag in (self.holes, self.marked, self.scaled))
        if not (sound and texts and flags):
            raise DataError(f"{self!r:.200} is no number of a table")

    def expand(self, table: Table, Z: Floats, start: int) -> None:
        values = table[self.name].numbers()
        _refuse_infinite(values, self.name, start)
        missing = np.isnan(values)
        Z[:, 0] = np.where(missing, 0.0, values / self.unit - self.origin / self.unit)
        if self.holes:
            Z[:, 1] = missing

    def encode(self, moments: Moments, min_frequency: float, standardize: bool) -> Encoding:
        """Missing values become the mean of the others, x0 + mean * missing, then standardise."""
        share = float(moments.mean[1]) if self.holes else 0.0
        mean = float(moments.mean[0]) / (1 - share) if share < 1 - ROUNDING else 0.0
        fill = np.array([1.0, mean])[: self.width]
        spread = np.sqrt(max(float(fill @ moments.scatter @ fill), 0.0) / moments.weight)
        if not (standardize and self.scaled):
            divisor, shift = 1.0 / self.unit, -self.origin / self.unit
        elif spread > ROUNDING * max(abs(mean), 1.0):
            divisor, shift = spread, mean
        else:
            divisor, shift = 1.0, mean
        A = np.zeros((self.width, 2))
        A[:, 0] = fill / divisor
        A[1:, 1] = 1.0
        b = np.array([-shift / divisor, 0.0])
        kept = 2 if self.marked and ROUNDING < share < 1 - ROUNDING else 1
        return A[:, :kept], b[:kept], [self.label, f"{self.label} missing"][:kept]

    @property
    def label(self) -> str:
        return part_name(self.name, self.part)


@dataclass(frozen=True)
class Category:
    """A category: a column for each level, one for missing, one for levels never seen."""

    name: str
    levels: tuple[str, ...]
    part: str = ""

    @property
    def width(self) -> int:
        return len(self.levels) + 2

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file is what a fit leaves."""
        texts = isinstance(self.name, str) and isinstance(self.part, str)
        if not (texts and type(self.levels) is tuple) or not all(
            isinstance(level, str) for level in self.levels
        ):
            raise DataError(f"{self!r:.200} is no category of a table")

    def expand(self, table: Table, Z: Floats, start: int) -> None:
        Z[:] = 0.0
        Z[np.arange(len(table)), self._places(table[self.name])] = 1.0

    def encode(self, moments: Moments, min_frequency: float, standardize: bool) -> Encoding:
        """Rare levels are pooled; the most frequent one, the reference, has no column."""
        count = moments.mean * moments.weight
        seen = count > ROUNDING * moments.weight
        common = seen & (count >= min_frequency * (1 - ROUNDING))
        groups = [np.array([j]) for j in np.flatnonzero(common)]
        names = [f"{self.label}={self._level(int(j))}" for j in np.flatnonzero(common)]
        if (seen & ~common).any():
            groups.append(np.flatnonzero(~common))
            names.append(f"{self.label}=other")
        weight = np.array([count[group].sum() for group in groups])
        reference = int(np.argmax(weight >= weight.max() * (1 - ROUNDING)))  # the first of equals
        A = np.zeros((self.width, len(groups)))
        for k, group in enumerate(groups):
            A[group, k] = 1.0
        kept = [k for k in range(len(groups)) if k != reference]
        return A[:, kept], np.zeros(len(kept)), [names[k] for k in kept]

    def _places(self, column: Column) -> Ints:
        """The column of Z for each row: its level, missing, or never seen."""
        labels, codes = labelled(column, self.part)
        known = {level: j for j, level in enumerate(self.levels)}
        if column.kind == "category" and column.levels.dtype == bool:
            # Training had other words beside these; how they were spelled here is lost.
            spelled = {str(TRUTHS.get(level.lower())): j for level, j in known.items()}
            known = spelled | known
        place = [known.get(label, len(self.levels) + 1) for label in labels]
        return np.array([*place, len(self.levels)], dtype=np.int64)[codes]

    def _level(self, j: int) -> str:
        return self.levels[j] if j < len(self.levels) else "missing"

    @property
    def label(self) -> str:
        return part_name(self.name, self.part)


def part_name(name: str, part: str) -> str:
    """How a column, or a part of its dates, is called."""
    return f"{name} {part}" if part else name


class Seen(Protocol):
    """What the blocks of a column have shown so far."""

    def see(self, column: Column, weight: Floats, start: int) -> None:
        """Learn from a block, whose first row has the number `start`."""

    def features(self) -> list[Feature]:
        """The features of the column."""


class SeenNumbers:
    """The range of a column of numbers, its mean, and where it is missing."""

    def __init__(self, name: str, part: str, *, scaled: bool) -> None:
        self.name, self.part, self.scaled = name, part, scaled
        self.low, self.high = np.inf, -np.inf
        self.weight = self.mean = 0.0
        self.holes, self.pattern = False, sha256()

    def see(self, column: Column, weight: Floats, start: int) -> None:
        values = column.numbers()
        _refuse_infinite(values, column.name, start)
        missing = np.isnan(values)
        self.pattern.update(np.packbits(missing).tobytes())
        if missing.any():
            self.holes = True
            values, weight = values[~missing], weight[~missing]
        if not len(values):
            return
        low, high = float(values.min()), float(values.max())
        self.low, self.high = min(self.low, low), max(self.high, high)
        top = max(-low, high) or 1.0  # sums of the values themselves could overflow
        here, more = float(np.average(values / top, weights=weight)) * top, float(weight.sum())
        total = self.weight + more
        self.mean = self.mean * (self.weight / total) + here * (more / total)
        self.weight = total

    def features(self) -> list[Feature]:
        """Measured from its mean in units of its largest distance from there."""
        origin, unit = 0.0, 1.0
        if self.weight:
            origin = min(max(self.mean, self.low), self.high)  # exact where all values are equal
            top = max(-self.low, self.high) or 1.0
            reach = max(self.high / top - origin / top, origin / top - self.low / top) or 1.0
            if reach * top == np.inf:  # measured from 0, no distance is beyond float64
                origin, reach = 0.0, 1.0
            unit = float(power_of_two(np.array([reach * top]))[0])
        return [Number(self.name, origin, unit, self.part, holes=self.holes, scaled=self.scaled)]


class SeenLevels:
    """Which levels of a category, or of a part of a date, occur."""

    def __init__(self, column: Column, part: str) -> None:
        self.name, self.part = column.name, part
        self.labels = labelled(column, part)[0]
        self.used = np.zeros(len(self.labels), dtype=bool)

    def see(self, column: Column, weight: Floats, start: int) -> None:
        codes = labelled(column, self.part)[1]
        self.used[codes[codes >= 0]] = True

    def features(self) -> list[Feature]:
        levels = tuple(self.labels[j] for j in np.flatnonzero(self.used))
        if self.part and len(levels) < 2:
            return []
        return [Category(self.name, levels, self.part)]


def features_of(blocks: Iterable[Weighted]) -> list[Feature]:
    """The features of a table that comes in blocks, in the order of its columns; text has none.

    All blocks have the same columns with the same levels.
    """
    seen: dict[str, list[Seen]] = {}
    start = 0
    for table, weight in blocks:
        seen = seen or {column.name: _nothing_seen(column) for column in table.columns}
        for name, parts in seen.items():
            for part in parts:
                part.see(table[name], weight, start)
        start += len(table)
    return _share_indicators([part for parts in seen.values() for part in parts])


def _nothing_seen(column: Column) -> list[Seen]:
    if column.kind == "text":
        return []
    if column.kind == "category":
        return [SeenLevels(column, "")]
    if column.kind == "date":
        days = SeenNumbers(column.name, "days", scaled=True)
        return [days, *(SeenLevels(column, part) for part in ("month", "weekday", "hour"))]
    return [SeenNumbers(column.name, "", scaled=column.kind == "number")]


def _share_indicators(seen: list[Seen]) -> list[Feature]:
    """Of numbers that are missing in the same rows only the first is marked."""
    patterns: set[bytes] = set()
    result: list[Feature] = []
    for each in seen:
        for feature in each.features():
            if isinstance(feature, Number) and isinstance(each, SeenNumbers) and feature.holes:
                pattern = each.pattern.digest()
                feature = replace(feature, marked=pattern not in patterns)
                patterns.add(pattern)
            result.append(feature)
    return result


def _refuse_infinite(values: Floats, name: str, start: int) -> None:
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        raise DataError(
            f"column {name!r} has infinite values (inf), the first in row {start + bad[0]}; "
            "leave them out, or leave their cells empty"
        )


def labelled(column: Column, part: str) -> tuple[list[str], Ints]:
    """The levels of a category or of a part of a date, as words, and codes, -1 where missing."""
    if part:
        return _date_codes(column.numbers(), part)
    return _in_words(column.levels), column.codes().astype(np.int64)


def _in_words(levels: Array) -> list[str]:
    """The same whatever the type: 1 and 1.0, a day in days and in nanoseconds."""
    if levels.dtype.kind == "M":
        return [date_in_words(str(level)) for level in levels]
    whole = [
        int(level) if isinstance(level, float) and level.is_integer() else level
        for level in levels.tolist()
    ]
    return [str(level) for level in whole]


def _date_codes(days: Floats, part: str) -> tuple[list[str], Ints]:
    missing = np.isnan(days)
    whole = np.where(missing, 0.0, days)
    if part == "hour":
        codes = np.floor((whole % 1) * 24 + 1e-9).astype(np.int64) % 24
        labels = [f"{h:02d}" for h in range(24)]
    elif part == "weekday":
        codes = (np.floor(whole).astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
        labels = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    else:
        day = np.floor(whole).astype("datetime64[D]")
        codes = day.astype("datetime64[M]").astype(np.int64) % 12
        labels = [f"{m:02d}" for m in range(1, 13)]
    return labels, np.where(missing, -1, codes)
