"""Rows of a mixed table as naive Bayes takes them: numbers, codes of levels, NaN where missing.

Which distribution a column has goes by its type, or by what the user says. Columns of one
distribution stand in one block; the columns of each multinomial are a block of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.data.column_moments import ColumnMoments, LevelCounts
from empirisk.data.column_samples import ColumnSamples
from empirisk.data.raw_columns import RawColumn, as_category, is_frame, raw_columns
from empirisk.data.table import Table
from empirisk.data.table_door import refuse_infinite_cells
from empirisk.learners.generative.column_distributions import (
    ColumnDistribution,
    GaussianColumns,
    LevelColumns,
    MultinomialColumns,
    PoissonColumns,
    Smoothing,
)
from empirisk.learners.generative.kernel_columns import KernelColumns
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.column_names import default_names
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole

DISTRIBUTIONS = ("gaussian", "categorical", "bernoulli", "poisson", "kernel", "multinomial")
BY_KIND = {"category": "categorical", "text": "categorical", "boolean": "bernoulli"}
NO_VALUES = np.empty(0)
NO_LEVELS = np.empty(0, np.int64)

Statistics = ColumnMoments | LevelCounts | ColumnSamples


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """Columns that have one kind of distribution.

    Attributes
    ----------
    distribution : str
    columns : int array
        Their places in the table, in order.
    first : int array
        Of levels: where those of each column begin, and how many there are in all.
    """

    distribution: str
    columns: Ints
    first: Ints

    def of(self, X: Floats) -> Floats:
        """These columns of a table."""
        whole = len(self.columns) == X.shape[1]
        return X if whole else np.ascontiguousarray(X[:, self.columns])

    def statistics(self, X: Floats, y: Ints, weight: Floats, n_classes: int) -> Statistics:
        """Of rows of the table; they add up."""
        if self.has_levels:
            return LevelCounts.of(self.of(X), y, weight, n_classes, self.first)
        if self.distribution == "kernel":
            return ColumnSamples.of(self.of(X), y, weight, n_classes)
        return ColumnMoments.of(self.of(X), y, weight, n_classes)

    def no_statistics(self, n_classes: int) -> Statistics:
        """Of no rows."""
        if self.has_levels:
            return LevelCounts.empty(n_classes, self.first)
        if self.distribution == "kernel":
            return ColumnSamples.empty(n_classes, len(self.columns))
        return ColumnMoments.empty(n_classes, len(self.columns))

    def learned(self, statistics: Any, how: Smoothing) -> ColumnDistribution | KernelColumns:
        """The distributions of the columns."""
        if self.distribution == "gaussian":
            return GaussianColumns.learned(statistics, how)
        if self.distribution == "poisson":
            return PoissonColumns.learned(statistics, how)
        if self.distribution == "kernel":
            return KernelColumns.learned(statistics, how.variance_floor)
        if self.distribution == "multinomial":
            return MultinomialColumns.learned(statistics, how)
        return LevelColumns.learned(statistics, how, fixed=self.distribution == "bernoulli")

    @property
    def keeps_cells(self) -> bool:
        """Whether the statistics are as many as the cells."""
        return self.distribution == "kernel"

    @property
    def has_levels(self) -> bool:
        return self.distribution in ("categorical", "bernoulli")


@dataclass(frozen=True, eq=False)
class MixedRows:
    """A table in numbers: X of shape (n, p), what its columns are, and their distributions."""

    X: Floats
    columns: tuple[CodedColumn, ...]
    blocks: tuple[ColumnBlock, ...]

    @classmethod
    def of(cls, X: Any, distributions: Any) -> "MixedRows":
        """Of a frame or an array of numbers, as the door gives it."""
        X = Table.of(X) if is_frame(X) else X
        p = X.shape[1]
        names = list(X.names) if isinstance(X, Table) else default_names(p)
        groups = asked_groups(distributions, _kinds(X), names)
        wanted = {j: name for name, columns in groups for j in columns}
        if not isinstance(X, Table) and "categorical" not in wanted.values():
            numbers = np.require(X, np.float64, ["C", "A", "W"])
            columns = [CodedColumn(name, "number", NO_VALUES) for name in names]
        else:
            raws = raw_columns(X, [True] * p)  # words are levels, however few of them are equal
            coded = [_coded(raw, wanted[j]) for j, raw in enumerate(raws)]
            columns = [column for column, _ in coded]
            numbers = np.column_stack([cells for _, cells in coded])
        refuse_infinite_cells(numbers, columns)
        check_cells(numbers, columns, groups)
        return cls(numbers, tuple(columns), blocks_of(groups, columns))

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, key: Any) -> "MixedRows":
        """`rows[index, ...]` are some of them, as scikit-learn asks for them."""
        return replace(self, X=self.X[key[0] if isinstance(key, tuple) else key])


Groups = list[tuple[str, list[int]]]
"""Names of distributions and the columns of each block."""


def asked_groups(distributions: Any, kinds: Sequence[str], names: list[str]) -> Groups:
    """The blocks that a user asks for; where nothing is said a column goes by its kind."""
    wanted = [BY_KIND.get(kind, "gaussian") for kind in kinds]
    multinomials: list[list[int]] = []
    named: set[int] = set()
    if isinstance(distributions, str) and distributions != "auto":
        distributions = {tuple(range(len(names))): distributions}
    for key, name in _pairs(distributions):
        if name not in DISTRIBUTIONS:
            raise ParameterError(
                f"distributions has {name!r:.50}; there are {', '.join(DISTRIBUTIONS)}"
            )
        columns = columns_of_key(key, names)
        if not named.isdisjoint(columns):
            twice = names[min(named.intersection(columns))]
            raise ParameterError(f"distributions names the column {twice!r} twice; name it once")
        named.update(columns)
        if name == "multinomial":
            if not isinstance(key, tuple):
                raise ParameterError(
                    f"distributions has 'multinomial' for the column {key!r} alone; give the "
                    "columns whose counts belong together as one key, a tuple of names"
                )
            multinomials.append(sorted(columns))
        for j in columns:
            wanted[j] = name
    groups = [(name, np.flatnonzero(np.array(wanted) == name).tolist()) for name in DISTRIBUTIONS]
    groups = [(name, columns) for name, columns in groups if columns and name != "multinomial"]
    return groups + [("multinomial", columns) for columns in multinomials]


def _pairs(distributions: Any) -> list[tuple[Any, Any]]:
    if isinstance(distributions, str):
        return []
    if not isinstance(distributions, Mapping):
        raise ParameterError(
            f"distributions is {distributions!r:.60}; give 'auto', the name of a distribution, or "
            "a dict from columns to names"
        )
    return list(distributions.items())


def columns_of_key(key: Any, names: list[str]) -> list[int]:
    """The columns that a key of `distributions` names, by name or by number."""
    found = []
    for each in key if isinstance(key, tuple) else (key,):
        if is_whole(each, 0) and each < len(names):
            found.append(int(each))
        elif isinstance(each, str) and each in names:
            found.append(names.index(each))
        else:
            raise ParameterError(
                f"distributions names a column {each!r:.50}; the columns are {names[:10]}, or "
                f"numbers from 0 to {len(names) - 1}"
            )
    if len(set(found)) < len(found) or not found:
        raise ParameterError(f"distributions has the key {key!r:.60}; name each column once")
    return found


def _kinds(X: Any) -> list[str]:
    """The kind of each column."""
    if isinstance(X, Table):
        return list(X.kinds.values())
    return ["boolean" if X.dtype == bool else "number"] * X.shape[1]


def _coded(raw: RawColumn, distribution: str) -> tuple[CodedColumn, Floats]:
    """What a column is, and its cells as numbers."""
    if distribution == "categorical":
        raw = as_category(raw, True)
        assert raw.levels is not None
        assert raw.codes is not None
        cells = np.where(raw.codes < 0, np.nan, raw.codes)
        return CodedColumn(raw.name, "category", raw.levels), cells
    if raw.numbers is None:
        if raw.codes is None or (raw.codes >= 0).any():
            raise DataError(
                f"column {raw.name!r} holds words, such as {(raw.levels or [''])[0]!r:.50}, and "
                f"distributions asks for {distribution!r}: give it numbers, or 'categorical'"
            )
        return CodedColumn(raw.name, "number", NO_VALUES), np.full(len(raw), np.nan)
    numbers = raw.numbers.astype(np.float64)
    if raw.missing is not None:
        numbers[raw.missing] = np.nan
    return CodedColumn(raw.name, "number", NO_VALUES, calendar=raw.calendar), numbers


def check_cells(X: Floats, columns: Sequence[CodedColumn], groups: Groups) -> None:
    """Raise a DataError where a cell is none that the distribution of its column can have."""
    for name, own in groups:
        if name in ("gaussian", "kernel", "categorical"):
            continue
        cells = X[:, own]
        if name == "bernoulli":
            bad, what = ~((cells == 0) | (cells == 1) | np.isnan(cells)), "0 or 1"
        elif name == "poisson":
            bad, what = (cells < 0) | (np.floor(cells) < cells), "counts 0, 1, 2, ..."
        else:
            bad, what = cells < 0, "counts >= 0"
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise DataError(
                f"column {columns[own[j]].name!r} has the value {cells[i, j]:g}, and the "
                f"distribution {name!r} is of {what}: choose another one in distributions"
            )


def blocks_of(groups: Groups, columns: Sequence[CodedColumn]) -> tuple[ColumnBlock, ...]:
    """The blocks of columns, with the levels of those that have levels."""
    return tuple(
        ColumnBlock(name, np.array(own, np.int64), _first_levels(name, [columns[j] for j in own]))
        for name, own in groups
    )


def _first_levels(name: str, columns: Sequence[CodedColumn]) -> Ints:
    if name == "bernoulli":
        return 2 * np.arange(len(columns) + 1)
    if name == "categorical":
        return np.cumsum([0, *(len(column.values) for column in columns)]).astype(np.int64)
    return NO_LEVELS


def groups_of(blocks: Sequence[ColumnBlock]) -> Groups:
    """The groups that blocks were made of."""
    return [(block.distribution, block.columns.tolist()) for block in blocks]
