"""Reading a CSV file of 1 GB beside DuckDB, and the memory that it takes."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from benchmarks.case import Call, Case, Quality, Target, benchmark
from empirisk.data.read import read_table

FOLDER = TemporaryDirectory(prefix="empirisk-reading-")
MOST_MEMORY = 1.5
"""The peak of memory while reading, over the size of the table that is read."""

NUMBERS = ("age", "income", "score", "count", "y")
PROGRAM = """
import json, resource, sys
import pyarrow
{reader}
read(sys.argv[2])  # whatever comes with a first call
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
table = pyarrow.table(read(sys.argv[1]))
status = dict(line.split(":") for line in open("/proc/self/status"))
peak = int(status["VmHWM"].split()[0]) * 1024  # ru_maxrss would be that of our parent, if larger
print(json.dumps((peak - before) / table.nbytes))
"""
OURS = "from empirisk.data.read import read_table as read"
DUCKDB = "import duckdb; read = lambda path: duckdb.read_csv(path).to_arrow_table()"


def people(n: int) -> pa.Table:
    """A mixed table: identifiers, numbers with few and many digits, categories, dates, truths."""
    rng = np.random.default_rng(0)
    cities = np.array([f"city {i}" for i in range(200)], dtype=object)
    return pa.table(
        {
            "id": pa.array([f"u{i:08d}" for i in rng.integers(0, 10**8, n)]),
            "age": rng.integers(18, 90, n),
            "income": np.round(rng.lognormal(10, 1, n), 2),
            "score": rng.standard_normal(n),
            "count": rng.poisson(3, n),
            "city": pa.array(cities[rng.integers(0, 200, n)]),
            "sex": pa.array(np.array(["female", "male"], dtype=object)[rng.integers(0, 2, n)]),
            "day": pa.array(rng.integers(10_000, 20_000, n).astype(np.int32)).cast(pa.date32()),
            "smoker": rng.random(n) < 0.2,
            "y": np.round(rng.standard_normal(n), 3),
        }
    )


@cache
def csv_file(rows: int, size: int) -> Path:
    """A file of so many bytes, or a little more, in which so many rows repeat."""
    path = Path(FOLDER.name) / f"people-{rows}-{size}.csv"
    block = pa.BufferOutputStream()
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
    table = people(rows)
    arrow_csv.write_csv(table, block, options)
    with path.open("wb") as file:
        file.write(",".join(table.column_names).encode() + b"\n")
        while file.tell() < size:
            file.write(block.getvalue())
    return path


def by_duckdb(path: Path) -> Call:
    """DuckDB alone, all its defaults, into Arrow."""
    connection = duckdb.connect()
    return lambda: connection.read_csv(str(path)).to_arrow_table()


def columns_that_differ(ours: Any, peer: Any) -> float:
    """How many columns hold other values; DuckDB's types, our words."""
    names = ours.names
    same = [
        np.array_equal(ours[name].numbers(), peer.column(name).to_numpy().astype(np.float64))
        if name in NUMBERS
        else ours[name].arrow.slice(0, 10_000).to_pylist()
        == peer.column(name).slice(0, 10_000).to_pylist()
        for name in names
    ]
    return float(len(same) - sum(same) + (len(ours) != len(peer)))


@benchmark("reading", target=Target(ratio=0.77))
def reading(quick: bool) -> Case:
    """A CSV file of 1 GB into typed columns, beside DuckDB alone; all cores for both."""
    path = csv_file(20_000, 10**6) if quick else csv_file(1_000_000, 10**9)
    return Case(
        size=f"{path.stat().st_size / 1e6:,.0f} MB",
        ours=lambda: read_table(path),
        peers={"DuckDB": by_duckdb(path)},
        quality=Quality("columns that differ", 0, columns_that_differ),
        peer_threads=(2,),
    )


def peak_memory(reader: str, path: Path, small: Path) -> Call:
    """The peak of memory over the size of the table, in a fresh interpreter."""
    program = PROGRAM.format(reader=reader)
    command = [sys.executable, "-c", program, str(path), str(small)]
    return lambda: json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split(b"\n")[-2]
    )


@benchmark("reading_memory", peer_repeats=1)
def reading_memory(quick: bool) -> Case:
    """How many times the table it reads a fresh interpreter needs at its peak, for 1 GB of CSV."""
    path = csv_file(20_000, 10**6) if quick else csv_file(1_000_000, 10**9)
    small = csv_file(1_000, 10**3)
    most = float("inf") if quick else MOST_MEMORY  # a small table is nothing beside the buffers
    return Case(
        size=f"{path.stat().st_size / 1e6:,.0f} MB",
        ours=peak_memory(OURS, path, small),
        peers={"DuckDB": peak_memory(DUCKDB, path, small)},
        quality=Quality("peak of ours over table", most, lambda ours, peer: ours),
        peer_threads=(2,),
    )
