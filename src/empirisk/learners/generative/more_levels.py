"""Rows that come later: their categories may have levels that were not there before."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.data.column_moments import LevelCounts
from empirisk.data.raw_columns import RawColumn, raw_columns
from empirisk.data.table_door import places_in
from empirisk.learners.generative.bayes_rule import ClassStatistics
from empirisk.learners.generative.mixed_rows import (
    ColumnBlock,
    MixedRows,
    blocks_of,
    check_cells,
    groups_of,
)


def with_new_levels(
    X: Any,
    columns: Sequence[CodedColumn],
    blocks: Sequence[ColumnBlock],
    statistics: ClassStatistics,
) -> tuple[MixedRows, ClassStatistics]:
    """Rows of a table as the columns have them, new levels last, and the statistics so far."""
    known = list(columns)
    if any(column.kind == "category" for column in columns):
        raws = raw_columns(X, [True] * len(columns))
        known = [_extended(column, raw) for column, raw in zip(columns, raws, strict=True)]
    cells, groups = places_in(X, known), groups_of(blocks)
    check_cells(cells, known, groups)
    longer = blocks_of(groups, known)
    spread = tuple(
        _spread(own, block.first) if isinstance(own, LevelCounts) else own
        for own, block in zip(statistics.columns, longer, strict=True)
    )
    return MixedRows(cells, tuple(known), longer), replace(statistics, columns=spread)


def _extended(column: CodedColumn, raw: RawColumn) -> CodedColumn:
    """A column with the levels that further cells have."""
    if column.kind != "category":
        return column
    column.places(raw)  # refuses levels that are all of another type
    found = column.as_levels(raw)
    assert found.levels is not None
    assert found.codes is not None
    used = np.bincount(found.codes[found.codes >= 0], minlength=len(found.levels))
    before = set(column.values)
    new = [v for v, n in zip(found.levels, used, strict=True) if n and v not in before]
    return replace(column, values=[*column.values, *new])


def _spread(counts: LevelCounts, first: Any) -> LevelCounts:
    """The same counts where columns have more levels."""
    place = np.arange(counts.counts.shape[1]) + (first - counts.first)[counts.column]
    longer = LevelCounts.empty(len(counts.counts), first)
    longer.counts[:, place] = counts.counts
    return longer
