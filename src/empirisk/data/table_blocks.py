"""Tables in blocks of one fixed number of rows, with one schema, as often as wanted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from empirisk.data.blocks import ROWS_PER_BLOCK, check_repeatable, regroup
from empirisk.data.column import Column, Kind, dictionary
from empirisk.data.table import Table
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import slices
from empirisk.runtime.targets import check_weights


class TableBlocks:
    """A table that is gone through block by block, any number of times.

    Made by `read_blocks` from files, or by `TableBlocks.of` from a table in memory. All blocks
    have the same columns, kinds and levels, and all but the last the same number of rows.

    Parameters
    ----------
    passes : callable
        Called at the start of each pass; returns the blocks of the pass in order.
    schema : Table
        Without rows: the columns with their kinds and levels.
    n_rows : int
        How many rows the blocks have together.

    Attributes
    ----------
    names : tuple of str
    kinds : dict
        The kind of each column by its name.
    shape : tuple
        Numbers of rows and columns.
    schema : Table

    Examples
    --------
    >>> table = Table.of({"age": [31, 58, 44, 25, 60], "smoker": ["no", "yes", "no", "no", "no"]})
    >>> blocks = TableBlocks.of(table, rows_per_block=3)
    >>> [block["age"].numbers().tolist() for block in blocks]
    [[31.0, 58.0, 44.0], [25.0, 60.0]]
    >>> [block["smoker"].levels.tolist() for block in blocks.drop(["age"])]
    [['no', 'yes'], ['no', 'yes']]
    """

    def __init__(self, passes: Callable[[], Iterable[Table]], schema: Table, n_rows: int) -> None:
        self._passes = passes
        self.schema = schema
        self.shape = n_rows, len(schema.names)

    @classmethod
    def of(cls, table: Table, *, rows_per_block: int = ROWS_PER_BLOCK) -> "TableBlocks":
        """The blocks of a table in memory, which share its memory."""
        parts = slices(len(table), rows_per_block)
        return cls(lambda: map(table.rows, parts), table.rows(slice(0)), len(table))

    def __iter__(self) -> Iterator[Table]:
        return iter(self._passes())

    @property
    def names(self) -> tuple[str, ...]:
        return self.schema.names

    @property
    def kinds(self) -> dict[str, Kind]:
        return self.schema.kinds

    def select(self, names: Iterable[str]) -> "TableBlocks":
        """The same blocks with only the columns of these names, in this order."""
        names = [names] if isinstance(names, str) else list(names)
        return self._map(lambda table: table.select(names))

    def drop(self, names: Iterable[str]) -> "TableBlocks":
        """The same blocks without these columns."""
        names = [names] if isinstance(names, str) else list(names)
        return self._map(lambda table: table.drop(names))

    def to_table(self) -> Table:
        """All rows in memory, as one table."""
        return join_tables([self.schema, *self])

    def __repr__(self) -> str:
        n, p = self.shape
        width = max(map(len, self.names))
        kinds = [f"  {name:{width}}  {kind}" for name, kind in self.kinds.items()]
        size = f"TableBlocks of {n:,} row{'s' * (n != 1)}, {p} column{'s' * (p != 1)}"
        return "\n".join([size, *kinds])

    def _map(self, change: Callable[[Table], Table]) -> "TableBlocks":
        return TableBlocks(lambda: map(change, self), change(self.schema), self.shape[0])


class Weighted(NamedTuple):
    """Some rows of a table; the weights are positive."""

    table: Table
    weight: Floats


def weighted_blocks(table: Table, weight: Floats) -> Iterator[Weighted]:
    """The blocks of a table in memory."""
    for part in slices(len(table), ROWS_PER_BLOCK):
        yield Weighted(table.rows(part), weight[part])


def weighted_pieces(source: Any, what: str) -> Callable[[], Iterator[Weighted]]:
    """Tables, or pairs (table, weight), of any size as the blocks of the rows with weight > 0."""
    check_repeatable(source, what)

    def passes() -> Iterator[Weighted]:
        pieces = _checked(source() if callable(source) else source, what)
        for parts in regroup(pieces, lambda piece: len(piece.table)):
            tables = [piece.table.rows(which) for piece, which in parts]
            weight = np.concatenate([piece.weight[which] for piece, which in parts])
            yield Weighted(join_tables(tables), weight)

    return passes


def join_tables(tables: Sequence[Table]) -> Table:
    """The rows of tables that have the same columns, kinds and levels, one below the other."""
    first = tables[0]
    if len(tables) == 1:
        return first
    columns = []
    for j, column in enumerate(first.columns):
        chunks = [chunk for table in tables for chunk in table.columns[j].arrow.chunks]
        whole = pa.chunked_array(chunks, column.arrow.type)
        columns.append(Column(column.name, column.kind, whole))
    return Table(columns, first.source)


def _checked(pieces: Iterable[Any], what: str) -> Iterator[Weighted]:
    """Pieces that have the columns of the first, without rows of weight 0."""
    first: Table | None = None
    for piece in pieces:
        table, weight = piece if isinstance(piece, tuple) else (piece, None)
        if not isinstance(table, Table):
            raise DataError(
                f"{what} was given a {type(table).__name__} as a piece; give tables, as "
                "read_blocks does, or pairs (table, sample_weight)"
            )
        first = table if first is None else first
        _check_same_columns(first, table)
        if not len(table) or (weight is not None and not np.any(weight)):
            continue
        weight = check_weights(weight, len(table))
        kept = weight > 0
        yield Weighted(table if kept.all() else table.take(kept), weight[kept])


def _check_same_columns(first: Table, table: Table) -> None:
    if table.kinds != first.kinds or table.names != first.names:
        raise DataError(
            f"a piece has the columns {table.kinds} where the first has {first.kinds}; take the "
            "pieces from read_blocks, or from one table"
        )
    for column, wanted in zip(table.columns, first.columns, strict=True):
        found = column.arrow.type
        same = found == wanted.arrow.type
        if same and pa.types.is_dictionary(found):
            same = dictionary(column.arrow).equals(dictionary(wanted.arrow))
        if not same:
            raise DataError(
                f"column {column.name!r} has other levels or another type in one piece than in "
                "the first; take the pieces from read_blocks, or from one table"
            )
