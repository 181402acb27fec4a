"""What a fit needs at its peak, beside the data and the tree that it gives."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import gc
import numpy as np
from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.data.rank_coding import RankCoding

def memory(name):
    lines = open("/proc/self/status").read().split("\\n")
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])

rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 30))
y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=len(X))
if {classes}:
    y = (y > 0).astype(int)
learner = {learner}()
learner.fit(X[:2000], y[:2000])  # compiled code and imports
gc.collect()
open("/proc/self/clear_refs", "w").write("5")  # the peak begins here
before = memory("VmRSS")
tree = learner.fit(X, y).tree_
peak = memory("VmHWM") - before
kept = sum(array.nbytes for array in vars(tree).values() if isinstance(array, np.ndarray))
print(peak - kept, RankCoding.of(X, [None] * 30).nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("learner", "most"),
    [
        ("DecisionTreeClassifier", 1.5),
        # Of 100,000 leaves: while their nodes are put in order there are two copies of them.
        ("DecisionTreeRegressor", 1.8),
    ],
)
def test_a_fit_needs_little_more_than_its_coded_table(learner, most):
    program = PROGRAM.format(learner=learner, classes=learner.endswith("Classifier"))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    used, coded = map(int, done.stdout.split())
    assert used < most * coded
