"""The first call of ours, compiling included: a fresh interpreter, an empty compile cache.

`python -m benchmarks.cold NAME` makes the data, imports what the benchmark names, then times one
call and prints the timing as JSON; `cold_timing` starts it with an empty cache.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.families import load_families
from benchmarks.timing import Timing, measure

ROOT = Path(__file__).resolve().parents[1]


def cold_timing(name: str) -> Timing:
    """Time the first call in a fresh interpreter whose cache of compiled code is empty."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.cold", name],
            cwd=ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"the first call of {name} in a fresh interpreter failed, see above")
    return Timing(**json.loads(done.stdout))


def main(name: str) -> None:
    """Time the first call of one benchmark here and now."""
    case = load_families()[name].build(False)
    timing, _ = measure(case.ours, threads=1)
    print(json.dumps(asdict(timing)))


if __name__ == "__main__":
    main(sys.argv[1])
