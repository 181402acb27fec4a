"""The same rows in memory, in Parquet files and from queries, as blocks."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from empirisk.data.read_blocks import read_blocks
from empirisk.data.table import Table
from empirisk.data.table_blocks import TableBlocks


def mixed(n=10_000, seed=0):
    """A number with holes, a category with a rare level, text, a time; a price and a class."""
    rng = np.random.default_rng(seed)
    size = rng.normal(10, 3, n)
    colour = rng.choice(["red", "blue", "green", "grey"], n, p=[0.5, 0.3, 0.195, 0.005])
    return pd.DataFrame({
        "size": np.where(rng.random(n) < 0.1, np.nan, size),
        "colour": colour,
        "name": [f"n{i}" for i in range(n)],
        "joined": pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 9000, n), "h"),
        "price": size + 2 * (colour == "blue") + rng.normal(size=n),
        "sold": rng.choice(["no", "maybe", "yes"], n),
    })  # fmt: skip


def blocks_of_all_sources(folder):
    """The rows of `mixed` from wherever blocks come from."""
    frame = pa.Table.from_pandas(mixed(), preserve_index=False)
    pq.write_table(frame, folder / "one.parquet", row_group_size=777)
    for k, (start, end) in enumerate([(0, 5000), (5000, 5001), (5001, 10_000)]):
        pq.write_table(frame.slice(start, end - start), folder / f"part{k}.parquet")
    with duckdb.connect(folder / "rows.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    query = "SELECT * FROM data WHERE name IS NOT NULL"
    return {
        "memory": TableBlocks.of(Table.of(frame)),
        "parquet": read_blocks(folder / "one.parquet"),
        "files": read_blocks(folder / "part*.parquet"),
        "query": read_blocks(folder / "one.parquet", sql=query),
        "database": read_blocks(folder / "rows.duckdb", sql="SELECT * FROM t"),
    }
