"""The memory that training LeNet-5 takes, in a fresh interpreter, beside PyTorch's.

Both read the same arrays from files and train; what counts is the peak of the whole process.
"""

import json
import subprocess
import sys

from benchmarks.case import Call, Case, Quality, benchmark
from benchmarks.networks import Rows, pictures, standardised
from benchmarks.torch_peer import ABSENT, Torch, saved

MOST_MEMORY = 1.5
"""The peak of memory of ours over the peer's."""

PROGRAM = """
import json, sys
import numpy as np
from empirisk import NetworkClassifier, lenet5
def resident(which):
    status = dict(line.split(":") for line in open("/proc/self/status"))
    return int(status[which].split()[0]) * 1024
X, y, new, target = (np.load(f"{sys.argv[1]}/{name}.npy") for name in ("X", "y", "new", "target"))
before = resident("VmRSS")
NetworkClassifier(
    lenet5(activation="relu"), input_shape=(1, 28, 28), batch_size=64, max_iter=1,
    n_iter_no_change=None, random_state=0, n_jobs=2,
).fit(X, y)
print(json.dumps([resident("VmHWM"), before]))
"""


def by_ours(rows: Rows) -> Call:
    """Bytes at the peak, and before training, of an interpreter that reads rows and fits."""

    def call() -> list[int]:
        X, y, new, target = rows
        with saved(X=X, y=y, new=new, target=target) as folder:
            command = [sys.executable, "-c", PROGRAM, folder]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        found: list[int] = json.loads(done.stdout)
        return found

    return call


def by_torch(rows: Rows) -> Call:
    """The same of PyTorch, in a process that ends with the call."""

    def call() -> list[int]:
        torch = Torch(*rows)
        torch.ask("fit", name="net", net="lenet", epochs=1, batch=64, threads=2, fused=True)
        found: list[int] = torch.ask("memory")
        return found

    return call


@benchmark("network_memory", peer_repeats=1)
def network_memory(quick: bool) -> Case:
    """The peak of memory of a process that trains LeNet-5 on MNIST, over that with PyTorch."""
    name, rows = pictures(quick)
    rows = standardised(rows)
    return Case(
        size=f"{name}, {len(rows[0]):,} pictures",
        ours=by_ours(rows),
        peers={} if ABSENT else {"PyTorch": by_torch(rows)},
        quality=Quality(
            "peak of ours over the peer's", MOST_MEMORY, lambda own, peer: own[0] / peer[0]
        ),
        peer_threads=(2,),
        absent=ABSENT,
    )
