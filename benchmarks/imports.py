"""How long a fresh interpreter takes to import the library."""

import subprocess
import sys

from benchmarks.case import Call, Case, Quality, Target, benchmark

BOTH_WORKED = Quality("exit status", 0, lambda ours, peer: float(max(abs(ours), abs(peer))))


def interpreter(statement: str) -> Call:
    """Run one statement in a fresh interpreter; the result is its exit status."""
    command = [sys.executable, "-c", statement]
    return lambda: subprocess.run(command, check=False).returncode


@benchmark("import", target=Target(seconds=0.3))
def bare_import(quick: bool) -> Case:
    """`import empirisk`, the start of the interpreter included, beside `import sklearn`."""
    return Case(
        size="one fresh interpreter",
        ours=interpreter("import empirisk"),
        peers={"import sklearn": interpreter("import sklearn")},
        quality=BOTH_WORKED,
        peer_threads=(1,),
    )


@benchmark("import_learner")
def first_learner(quick: bool) -> Case:
    """`from empirisk import Ridge`: names are lazy, so the first learner pays for its imports."""
    return Case(
        size="one fresh interpreter",
        ours=interpreter("from empirisk import Ridge"),
        peers={"sklearn.linear_model": interpreter("from sklearn.linear_model import Ridge")},
        quality=BOTH_WORKED,
        peer_threads=(1,),
    )
