"""PyTorch as a peer: a process of the Python that has it, which keeps the data and waits.

EMPIRISK_TORCH_PYTHON names that Python, as PyTorch has an environment of its own. The CPU build,
version 2.13.0, is what targets are about.
"""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from benchmarks.case import Call
from empirisk.runtime.arrays import Array

SERVER = Path(__file__).with_name("torch_server.py")
VARIABLE = "EMPIRISK_TORCH_PYTHON"
HAS_TORCH = bool(os.environ.get(VARIABLE))
ABSENT = "" if HAS_TORCH else f"PyTorch is missing: set {VARIABLE} to a Python that has it"
LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONPATH")


class Torch:
    """A process that has the data; it starts when it is first asked, so as not to disturb ours."""

    def __init__(self, X: Array, y: Array, new: Array, target: Array) -> None:
        self.arrays = {"X": X, "y": y, "new": new, "target": target}
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> "subprocess.Popen[str]":
        """With the data in a folder, and no environment variables that limit its threads."""
        self.folder = saved(**self.arrays)
        return subprocess.Popen(
            [os.environ[VARIABLE], str(SERVER), self.folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name not in LIMITS},
        )

    def ask(self, do: str, **settings: Any) -> Any:
        """What it answers."""
        self.process = self.process or self.start()
        assert self.process.stdin
        assert self.process.stdout
        with suppress(BrokenPipeError):  # there is no answer then either
            print(json.dumps({"do": do, **settings}), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            python = os.environ[VARIABLE]
            raise RuntimeError(f"PyTorch of {VARIABLE}={python} gave no answer, see above")
        return json.loads(answer)

    def fit(self, **settings: Any) -> Call:
        """A call that trains a network and returns its name, for questions about it."""

        def call() -> str:
            threads = blas_threads()
            name = json.dumps([settings, threads])
            self.ask("fit", name=name, threads=threads, **settings)
            return name

        return call

    def __del__(self) -> None:
        if self.process is not None:
            self.process.communicate()
            self.folder.cleanup()


def saved(**arrays: Array) -> "TemporaryDirectory[str]":
    """A folder with a file for each array."""
    folder = TemporaryDirectory(prefix="empirisk-rows-")
    for name, array in arrays.items():
        np.save(f"{folder.name}/{name}.npy", array)
    return folder


def blas_threads() -> int:
    """The threads that the harness gives to the peer whose turn it is."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(pool["num_threads"] for pool in pools)
