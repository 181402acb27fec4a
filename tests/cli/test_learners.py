"""`empirisk learners`, `--version` and `--help`."""

import json
import os
import subprocess
import sys

import pytest

import empirisk
from cli.command import run
from discovery import learners as discovered
from empirisk.cli.learners import candidates
from empirisk.losses import Squared, ZeroOne

HEAVY = ("numpy", "sklearn", "scipy", "numba", "pyarrow", "duckdb", "matplotlib")


def test_every_learner_is_listed_the_baseline_first():
    found = json.loads(run("learners", "--json").stdout)
    names = [each["name"] for each in found]
    assert names[0] == "Baseline"
    assert set(names) == {learner.__name__ for learner in discovered()}
    axes = {each["name"]: each["axis"] for each in found}
    assert axes["Ridge"] == ["alpha"]
    assert axes["LinearRegression"] is None
    text = run("learners").stdout
    assert all(name in text for name in names)
    assert all(each["summary"] and each["tasks"] for each in found)


def test_the_version_is_that_of_the_library():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"empirisk {empirisk.__version__}\n")


def test_the_command_is_a_module_of_the_interpreter_too():
    command = [sys.executable, "-m", "empirisk", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"empirisk {empirisk.__version__}\n")


def test_help_tells_the_exit_codes_and_loads_nothing_heavy():
    assert "Exit codes" in run("fit", "--help").stdout
    code = (
        "import sys\nfrom empirisk.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "fit" in done.stdout
    assert done.stderr.strip() == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes there break in another way")
def test_a_reader_that_went_away_ends_it_quietly():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "from empirisk.cli.main import main\nmain()", "learners"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_bags_take_part_when_they_are_asked_for():
    for task, loss, name in [
        ("regression", Squared(), "BaggingRegressor"),
        ("classification", ZeroOne(), "BaggingClassifier"),
    ]:
        assert name not in candidates(task, loss, None, 100)
        assert list(candidates(task, loss, name.lower(), 100)) == ["Baseline", name]


def test_naive_bayes_takes_part_with_the_table_as_it_is():
    rivals = candidates("classification", ZeroOne(), None, 100)
    assert type(rivals["NaiveBayes"]).__name__ == "NaiveBayes"  # no encoder before it
