"""What a bootstrap draws from: rows that belong together, in units, with weights."""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from operator import index
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from empirisk.compiled.resampling import nested_counts, resample_counts, resample_rows
from empirisk.data.table import Table
from empirisk.risk.plans.groups import group_codes, group_labels
from empirisk.runtime.arrays import Array, Floats, Ints, takes_rows
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.targets import check_weights


class Columns(NamedTuple):
    """Numbers as a statistic of columns takes them; `flat` where the data have one dimension."""

    values: Floats
    names: tuple[str, ...] | None
    flat: bool


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, and the units they are drawn in.

    Attributes
    ----------
    parts : tuple
        Arrays, frames or tables of equally many rows; `several` if they came as a tuple.
    weight : float array or None
        Of each row, all > 0; None where all are 1.
    unit : int array or None
        The unit of each row, 0..n-1; None where each row is one.
    n : int
        How many units there are.
    """

    parts: tuple[Any, ...]
    several: bool
    weight: Floats | None
    unit: Ints | None
    n: int

    @classmethod
    def of(cls, data: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Check what the user gave; rows of weight zero are gone."""
        several = isinstance(data, tuple)
        parts = tuple(_part(part) for part in (data if several else (data,)))
        sizes = [_num_samples(part) for part in parts]
        weight = None if sample_weight is None else check_weights(sample_weight, sizes[0])
        unit = None if groups is None else group_labels(groups, weight)
        if len({*sizes, *([] if unit is None else [len(unit)])}) != 1:
            raise DataError(
                f"the data have {' and '.join(map(str, sizes))} rows"
                + ("" if unit is None else f" and groups has {len(unit)}")
                + "; all that is drawn together needs as many"
            )
        if weight is not None and not (weight > 0).all():
            kept = np.flatnonzero(weight > 0)
            parts = tuple(_safe_indexing(part, kept) for part in parts)
            weight, unit = weight[kept], None if unit is None else unit[kept]
        unit = group_codes(unit, _num_samples(parts[0]))
        n = _num_samples(parts[0]) if unit is None else int(unit.max(initial=-1)) + 1
        if n < 2:
            what = "row" if unit is None else "group"
            raise DataError(
                f"the data have {n} {what}{'s' * (n != 1)} of positive weight; a bootstrap needs "
                "two or more, since one shows no spread"
            )
        return cls(parts, several, weight, unit, n)

    @property
    def unit_name(self) -> str:
        return "rows" if self.unit is None else "groups"

    @cached_property
    def units(self) -> Ints:
        """The unit of each row."""
        return np.arange(self.n) if self.unit is None else self.unit

    @cached_property
    def weights(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self.units)) if self.weight is None else self.weight

    def rows(self, copies: Floats) -> Ints:
        """The rows of so many copies of each unit, unit by unit."""
        drawn = np.repeat(np.arange(self.n), copies.astype(np.int64))
        if self.unit is None:
            return drawn
        order, start, size = self._by_unit
        lengths = size[drawn]
        ends = np.cumsum(lengths)
        return order[np.repeat(start[drawn] - ends + lengths, lengths) + np.arange(ends[-1])]

    @cached_property
    def _by_unit(self) -> tuple[Ints, Ints, Ints]:
        """The rows ordered by unit, and where each unit starts and how many rows it has."""
        size = np.bincount(self.units)
        return np.argsort(self.units, kind="stable"), np.cumsum(size) - size, size

    def columns(self, statistic: str) -> Columns:
        """The data as finite numbers, a column for each part or for each of its columns."""
        part = self.parts[0]
        names: tuple[str, ...] | None = None
        if self.several:
            values = np.column_stack([_one_dimension(part, statistic) for part in self.parts])
        elif len(part.shape) == 1:
            values = _one_dimension(part, statistic)[:, None]
        elif isinstance(part, np.ndarray):
            values = _floats(part, statistic)
        else:
            table = Table.of(part)
            names = table.names
            values = np.column_stack([_numbers(column, statistic) for column in table.columns])
        if values.ndim != 2:
            raise DataError(
                f"the data have {values.ndim} dimensions; {statistic!r} takes one or two"
            )
        for j in np.flatnonzero(~np.isfinite(values).all(axis=0)):
            bad = int((~np.isfinite(values[:, j])).sum())
            raise DataError(
                f"column {j if names is None else repr(names[j])} has {bad} value(s) that are "
                f"missing or infinite; {statistic!r} needs numbers: drop those rows"
            )
        flat = not self.several and len(part.shape) == 1
        return Columns(np.ascontiguousarray(values), names, flat)


@dataclass(frozen=True)
class Resamples:
    """`number` resamples of m of the n units each, a function of the seed."""

    n: int
    m: int
    number: int
    seed: int

    def copies(self, which: slice) -> Floats:
        """How often each resample has drawn each unit: (resamples, units)."""
        counts = np.empty((which.stop - which.start, self.n))
        resample_counts(self.seed, which.start, self.m, counts)
        return counts

    def rows(self, which: slice) -> Ints:
        """The units that each resample has drawn: (resamples, m)."""
        rows = np.empty((which.stop - which.start, self.m), np.int64)
        resample_rows(self.seed, which.start, self.n, rows)
        return rows

    def nested(self, b: int, copies: Floats, number: int) -> Floats:
        """Resamples of resample b, which has these copies, each as large again."""
        drawn = np.repeat(np.arange(self.n), copies.astype(np.int64))
        counts = np.empty((number, self.n))
        nested_counts(self.seed, b * number, drawn, counts)
        return counts


def distinct_resamples(n: int, m: int | None = None) -> int:
    """How many different resamples there are of m rows from n, order aside: C(n + m - 1, m).

    With m = n, which is the default, C(2n - 1, n), about 2^(2n - 1) / sqrt(pi n).

    Examples
    --------
    >>> distinct_resamples(3), distinct_resamples(10)
    (10, 92378)
    """
    n = whole_number(n, "n", 1)
    m = n if m is None else whole_number(m, "m", 1)
    return comb(n + m - 1, m)


def whole_number(number: Any, name: str, least: int) -> int:
    """A parameter that counts something."""
    try:
        whole = index(number)
    except TypeError:
        whole = least - 1
    if whole < least:
        raise ParameterError(f"{name} is {number!r}; give a whole number >= {least}")
    return whole


def _part(part: Any) -> Any:
    part = part if takes_rows(part) else np.asarray(part)
    if len(part.shape) == 0:
        raise DataError(
            f"the data hold {part!r:.50} where an array was wanted; a tuple means several arrays, "
            "drawn together: give the numbers as a list or an array"
        )
    return part


def _one_dimension(part: Any, statistic: str) -> Floats:
    if len(part.shape) != 1:
        raise DataError(
            f"several arrays came, one of {len(part.shape)} dimensions; {statistic!r} takes one "
            "array of two dimensions, or several of one"
        )
    return _floats(np.asarray(part), statistic)


def _numbers(column: Any, statistic: str) -> Floats:
    if column.kind not in ("number", "boolean"):
        raise DataError(
            f"column {column.name!r} is a {column.kind}; {statistic!r} needs numbers: leave the "
            "column out"
        )
    return column.numbers()


def _floats(values: Array, statistic: str) -> Floats:
    try:
        if values.dtype.kind not in "biufO":
            raise TypeError("of another kind")
        return values.astype(float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the data are {values.dtype}, {error}; {statistic!r} needs numbers"
        ) from error
