"""The words of the training table, and those of a new one that the model has never met."""

from typing import Any

import numpy as np

from empirisk.data.table import Table

SHOWN = 3  # words that a note names


def levels_of(table: Table) -> dict[str, list[str]]:
    """What each category holds, as words."""
    return {c.name: _words(c.levels) for c in table.columns if c.kind == "category"}


def unknown_levels(table: Table, known: Any) -> list[str]:
    """A note for each category with words that are not among the known ones.

    A model file may come from anyone: what is not as `levels_of` gives it tells nothing.

    Examples
    --------
    >>> table = Table.of({"town": ["Oslo", "Voss", "Voss", "Oslo"]})
    >>> unknown_levels(table, {"town": ["Bergen", "Oslo"]})
    ["'town' holds 'Voss', which the training table had not, in 2 of 4 rows"]
    """
    notes = []
    for column in table.columns:
        words = known.get(column.name) if isinstance(known, dict) else None
        if column.kind != "category" or not isinstance(words, list):
            continue
        levels, old = _words(column.levels), set(map(str, words))
        new = [j for j, level in enumerate(levels) if level not in old]
        rows = np.isin(column.codes(), new)
        found = [levels[j] for j in np.unique(column.codes()[rows])]
        if found:
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            notes.append(
                f"{column.name!r} holds {', '.join(map(repr, found[:SHOWN]))}{more}, which the "
                f"training table had not, in {rows.sum():,} of {len(table):,} rows"
            )
    return notes


def _words(levels: Any) -> list[str]:
    return [str(level) for level in levels.tolist()]
