"""What the columns of a table become in an encoding: a few columns of Z each, and their map.

A feature knows two things: how its rows are spread over columns of Z without any statistics, and
how the moments of those columns give the encoding X = Z A + b of the training rows.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from empirisk.data.column import Column
from empirisk.data.moments import Moments
from empirisk.data.scaling import power_of_two
from empirisk.data.table import Table
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError

ROUNDING = 1e-12  # shares and spreads this small are what a subtraction leaves behind

Encoding = tuple[Floats, Floats, list[str]]
"""A, b and the names of the columns of X."""


class Feature(Protocol):
    """Some columns of Z and their map."""

    @property
    def width(self) -> int:
        """Number of columns of Z."""

    def expand(self, table: Table, Z: Floats) -> None:
        """Write the columns of Z, which has the rows of the table."""

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

    def expand(self, table: Table, Z: Floats) -> None:
        values = table[self.name].numbers()
        _refuse_infinite(values, self.name)
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
        return f"{self.name} {self.part}".strip()


@dataclass(frozen=True)
class Category:
    """A category: a column for each level, one for missing, one for levels never seen."""

    name: str
    levels: tuple[str, ...]
    part: str = ""

    @property
    def width(self) -> int:
        return len(self.levels) + 2

    def expand(self, table: Table, Z: Floats) -> None:
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
        levels, codes = levels_of(column, self.part)
        known = {level: j for j, level in enumerate(self.levels)}
        place = [known.get(level, len(self.levels) + 1) for level in levels]
        return np.array([*place, len(self.levels)], dtype=np.int64)[codes]

    def _level(self, j: int) -> str:
        return self.levels[j] if j < len(self.levels) else "missing"

    @property
    def label(self) -> str:
        return f"{self.name} {self.part}".strip()


def features_of(table: Table, weight: Floats) -> list[Feature]:
    """The features of a table, in the order of its columns; text has none."""
    found: list[Feature] = []
    for name in table.names:
        column = table[name]
        if column.kind == "category":
            found.append(Category(name, levels_of(column, "")[0]))
        elif column.kind == "date":
            found += _date_features(column, weight)
        elif column.kind != "text":
            found.append(_number(column, "", weight, scaled=column.kind == "number"))
    return _share_indicators(found, table)


def _date_features(column: Column, weight: Floats) -> list[Feature]:
    parts: list[Feature] = [_number(column, "days", weight)]
    for part in ("month", "weekday", "hour"):
        levels = levels_of(column, part)[0]
        if len(levels) > 1:
            parts.append(Category(column.name, levels, part))
    return parts


def _number(column: Column, part: str, weight: Floats, *, scaled: bool = True) -> Number:
    """Measured from its mean in units of its largest distance from there."""
    values = column.numbers()
    _refuse_infinite(values, column.name)
    there = ~np.isnan(values)
    holes = not bool(there.all())
    values, weight = values[there], weight[there]
    if not len(values):
        return Number(column.name, 0.0, 1.0, part, holes=holes, scaled=scaled)
    top = float(np.abs(values).max()) or 1.0
    centre = float(np.average(values / top, weights=weight))
    reach = float(np.abs(values / top - centre).max()) or 1.0
    unit = float(power_of_two(np.array([reach * top]))[0])
    return Number(column.name, centre * top, unit, part, holes=holes, scaled=scaled)


def _refuse_infinite(values: Floats, name: str) -> None:
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        raise DataError(
            f"column {name!r} has {len(bad)} infinite values (inf), the first in row {bad[0]}; "
            "leave them out, or leave their cells empty"
        )


def _share_indicators(features: list[Feature], table: Table) -> list[Feature]:
    """Of numbers that are missing in the same rows only the first is marked."""
    seen: set[bytes] = set()
    result = []
    for feature in features:
        if isinstance(feature, Number) and feature.holes:
            pattern = np.packbits(table[feature.name].missing).tobytes()
            feature = replace(feature, marked=pattern not in seen)
            seen.add(pattern)
        result.append(feature)
    return result


def levels_of(column: Column, part: str) -> tuple[tuple[str, ...], Ints]:
    """The levels that occur, as words, and the code of each row, -1 where missing."""
    if not part:
        codes = column.codes().astype(np.int64)
        labels = [str(level) for level in column.levels]
    else:
        codes, labels = _date_codes(column.numbers(), part)
    used = np.unique(codes[codes >= 0])
    place = np.full(len(labels) + 1, -1, dtype=np.int64)
    place[used] = np.arange(len(used))
    return tuple(labels[j] for j in used), place[codes]


def _date_codes(days: Floats, part: str) -> tuple[Ints, list[str]]:
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
    return np.where(missing, -1, codes), labels
