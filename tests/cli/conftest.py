"""What the tests of the command line share."""

import pytest


@pytest.fixture
def without_report(monkeypatch):
    """A fit that draws no pictures, which take most of its time, for tests of something else."""
    monkeypatch.setattr("empirisk.cli.fit.report_page", lambda selection, **facts: "a report")
