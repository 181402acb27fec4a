"""PCA of a Parquet table larger than memory: how much memory it takes.

`python -m benchmarks.streamed_pca FOLDER [--gigabytes 10] [--columns 50] [--keep]` writes such a
table in pieces, fits PCA to it in a process of its own, and prints the peak of its memory. The axes
are compared with those that the factors were drawn with, up to what sampling allows.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from empirisk.runtime.arrays import Floats

ROWS_AT_ONCE = 100_000
FACTORS = 5
LIMIT = 1e9
"""Bytes that the fit may take."""


def mixing(columns: int) -> Floats:
    """Orthonormal axes (FACTORS, columns), the same for every piece."""
    drawn = np.random.default_rng(0).standard_normal((columns, FACTORS))
    return np.linalg.qr(drawn)[0].T


def write(path: Path, gigabytes: float, columns: int) -> int:
    """A table of that many bytes of float64; random digits do not compress."""
    rows, axes = int(gigabytes * 1e9 / 8 / columns), mixing(columns)
    size = np.linspace(10, 4, FACTORS)
    names = [f"x{j}" for j in range(columns)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for start in range(0, rows, ROWS_AT_ONCE):
            rng = np.random.default_rng([1, start])
            n = min(ROWS_AT_ONCE, rows - start)
            X = (rng.standard_normal((n, FACTORS)) * size) @ axes
            X += rng.standard_normal((n, columns)) + 100.0
            file.write_table(pa.table(list(X.T), names=names))
    return rows


def fit(path: Path) -> dict[str, float]:
    """Seconds, peak bytes of this process before and after, and how far the axes are off."""
    from empirisk import PCA, read_blocks  # what is measured starts here

    before = _peak()
    start = time.perf_counter()
    pca = PCA(FACTORS, n_jobs=2).fit_blocks(read_blocks(path))
    seconds = time.perf_counter() - start
    cosine = np.abs(np.einsum("ij,ij->i", pca.components_, mixing(pca.n_features_in_)))
    return {
        "rows": pca.n_samples_,
        "seconds": seconds,
        "bytes_at_start": before,
        "peak_bytes": _peak(),
        "least_cosine": float(cosine.min()),
    }


def _peak() -> float:
    """The largest resident size so far; kilobytes on Linux, bytes on a Mac."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--keep", action="store_true", help="leave the table where it is")
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    path = options.folder / "streamed_pca.parquet"
    if options.fit:
        print(json.dumps(fit(path)))
        return 0
    try:
        rows = write(path, options.gigabytes, options.columns)
        print(f"{rows:,} x {options.columns}, {path.stat().st_size / 1e9:.2f} GB", flush=True)
        command = [sys.executable, "-m", "benchmarks.streamed_pca", str(options.folder), "--fit"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    finally:
        if not options.keep:
            path.unlink(missing_ok=True)
    print(
        f"{found['seconds']:.1f} s, peak {found['peak_bytes'] / 1e9:.2f} GB "
        f"({found['bytes_at_start'] / 1e9:.2f} GB before the fit), axes within "
        f"{1 - found['least_cosine']:.1e} of the true ones"
    )
    return int(found["peak_bytes"] >= LIMIT)


if __name__ == "__main__":
    sys.exit(main())
