"""docs/course_index.md: every entry exists where it says, and every learner has an entry."""

import importlib
import inspect
import re
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pytest

import empirisk
from discovery import learners

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "docs" / "course_index.md"
ROW = re.compile(r"[RLGNTEKWXU]\d+")
LINK = re.compile(r"\[`([^`]+)`\]\(\.\./([^)]+)\)")


class Entry(NamedTuple):
    row: str
    topic: str
    name: str
    file: str


def entries(text):
    """The entries of the table: one for each linked name of each line."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and ROW.fullmatch(cells[0]):
            row, topic, names = cells
            found += [Entry(row, topic, name, file) for name, file in LINK.findall(names)]
    return found


ENTRIES = entries(INDEX.read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.row}-{entry.name}")
def test_every_entry_is_where_it_says(entry):
    path = ROOT / entry.file
    assert path.is_file()
    module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    owner, *rest = entry.name.split(".")
    thing = getattr(importlib.import_module(module), owner)
    assert thing.__module__ == module, f"{owner} is only imported in {entry.file}"
    if rest:
        assert attrgetter(".".join(rest))(thing)


def test_every_line_of_the_table_has_a_topic_and_a_name():
    lines = [line for line in INDEX.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    assert len(lines) > 20
    for line in lines[2:]:
        line_entries = entries(line)
        assert line_entries, line
        assert all(entry.topic for entry in line_entries), line


def test_every_learner_is_in_the_index():
    found = {learner.__name__ for learner in learners()}
    assert {"Baseline", "LinearRegression", "Ridge", "LinearDiscriminantAnalysis"} <= found
    assert found <= {entry.name for entry in ENTRIES}


def test_every_public_class_and_function_is_in_the_index():
    rooms = {name for name in empirisk.__all__ if inspect.ismodule(getattr(empirisk, name))}
    assert set(empirisk.__all__) - rooms <= {entry.name.split(".")[0] for entry in ENTRIES}
