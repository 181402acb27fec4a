"""The command, run inside the process of the tests, and tables for it."""

import numpy as np
from typer.testing import CliRunner

from empirisk.cli.main import app


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def done(*words):
    """The result of a command that has to succeed."""
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*words):
    """What a command says that has to end with 2, and nothing on standard output."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    return result.stderr


def small_table(folder, n=40, name="small.csv"):
    """Columns x, side and y; y grows with x, and side tells whether x is above 0."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 2 * x + rng.normal(size=n)
    words = np.where(x > 0, "up", "down")
    lines = [f"{a!r},{w},{b!r}" for a, w, b in zip(x.tolist(), words, y.tolist(), strict=True)]
    path = folder / name
    path.write_text("x,side,y\n" + "\n".join(lines) + "\n")
    return path
