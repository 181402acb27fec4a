"""A bar appears when the work lasts and somebody looks, and is gone afterwards."""

import os
import sys
import threading

import pytest

from empirisk.runtime import progress
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.workers import quiet


class Drawing:
    """Stands in for Rich: remembers what it was asked to show."""

    def __init__(self):
        self.shown, self.history, self.said, self.running = {}, [], [], True

    def add_task(self, label, total):
        self.shown[label] = (0, total)
        return label

    def update(self, label, completed=None, description=None):
        if description is not None:
            self.said.append(description)
            return
        self.shown[label] = (completed, self.shown[label][1])
        self.history.append((label, completed))

    def remove_task(self, label):
        del self.shown[label]

    def stop(self):
        self.running = False


@pytest.fixture
def terminal(monkeypatch):
    """Somebody looks; the drawings that were started, and a clock that is moved by hand."""
    drawings, clock = [], [0.0]
    monkeypatch.setattr(progress, "_somebody_looks", lambda: True)
    monkeypatch.setattr(
        progress, "_start_drawing", lambda: drawings.append(Drawing()) or drawings[-1]
    )
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])
    return drawings, clock


def test_the_items_come_through_unchanged():
    assert list(track(iter("abc"), "letters")) == ["a", "b", "c"]
    assert len(track([1, 2], "numbers")) == 2
    assert list(track((i for i in range(3)), "numbers", total=3)) == [0, 1, 2]


def test_short_work_shows_nothing(terminal):
    drawings, clock = terminal
    for _ in track(range(5), "items"):
        clock[0] += 0.19
    assert drawings == []


def test_long_work_shows_how_many_items_are_done(terminal):
    drawings, clock = terminal
    for _ in track(range(5), "items"):
        clock[0] += 0.6
    (drawing,) = drawings
    assert drawing.history[0] == ("items", 2)  # the first time after more than a second
    assert drawing.history[-1] == ("items", 5)
    assert not drawing.running
    assert drawing.shown == {}


def test_words_stand_behind_the_label_while_the_bar_is_shown(terminal):
    drawings, clock = terminal
    bar = track(range(3), "epochs")
    bar.say("before")  # nothing is shown yet
    for epoch in bar:
        bar.say(f"loss {epoch}")
        clock[0] += 2.0
    assert drawings[0].said == ["epochs, loss 1", "epochs, loss 2"]  # the first made no bar yet
    bar.say("after")
    assert not drawings[0].running


def test_nested_loops_share_one_display(terminal):
    drawings, clock = terminal
    for i in track(range(2), "outer"):
        for _ in track(range(3), f"inner {i}"):
            clock[0] += 1.0
            if drawings:
                assert "outer" in drawings[0].shown
    (drawing,) = drawings
    assert ("outer", 2) in drawing.history
    assert ("inner 1", 3) in drawing.history
    assert not drawing.running


def test_an_exception_clears_the_display(terminal):
    drawings, clock = terminal

    def loop():
        for i in track(range(5), "items"):
            clock[0] += 2.0
            if i == 2:
                raise KeyError

    with pytest.raises(KeyError):
        loop()
    assert not drawings[0].running
    assert progress._display.bars == []


def test_in_parallel_the_bar_counts_results_not_items_handed_out(terminal):
    drawings, clock = terminal
    first = threading.Event()

    def work(i):
        if i == 0:
            first.wait(timeout=60)
            return i
        clock[0] += 2.0
        if i == 3:
            first.set()
        return i

    assert parallel(work, track(range(4), "items"), n_jobs=2) == [0, 1, 2, 3]
    counts = [count for _, count in drawings[0].history]
    assert counts == sorted(counts)
    assert counts[-1] == 4
    assert not drawings[0].running


def test_a_child_process_shows_nothing(terminal):
    drawings, clock = terminal
    token = quiet.set(True)
    try:
        for _ in track(range(3), "items"):
            clock[0] += 2.0
    finally:
        quiet.reset(token)
    assert drawings == []


@pytest.mark.parametrize("stderr", [None, "closed", "a file"])
def test_without_a_terminal_nothing_is_written(stderr, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    with open(tmp_path / "stderr", "w+") as file:
        monkeypatch.setattr(sys, "stderr", None if stderr is None else file)
        if stderr == "closed":
            file.close()
        assert list(track(range(3), "items")) == [0, 1, 2]
    assert (tmp_path / "stderr").read_text() == ""


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_on_a_terminal_the_bar_is_drawn_on_stderr_and_printed_lines_stay_on_stdout(
    monkeypatch, capsys
):
    screen, terminal = os.openpty()
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(iter(lambda: _read(screen), b"")))
    reader.start()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "AFTER", 0.0)
    with os.fdopen(terminal, "w") as stderr, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stderr)
        for i in track(range(3), "trees"):
            print("line", i)
    reader.join()
    os.close(screen)
    drawn = b"".join(seen).decode()
    assert "trees" in drawn
    assert "line" not in drawn
    assert capsys.readouterr().out == "line 0\nline 1\nline 2\n"


def _read(screen):
    try:
        return os.read(screen, 4096)
    except OSError:  # on Linux, when the other end is closed
        return b""
