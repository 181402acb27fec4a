"""Progress on standard error, for work that lasts, when somebody is looking.

All bars share one display, so that nested and concurrent loops do not write over each other.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, TypeVar

from empirisk.runtime.workers import quiet

T = TypeVar("T")

AFTER = 1.0  # seconds; shorter work shows nothing


class Tracked(Generic[T]):
    """Items, with the words for them; a bar advances as the loop over them does.

    `parallel` takes the items and moves the bar itself, as results come in.
    """

    def __init__(self, items: Iterable[T], label: str, total: int | None) -> None:
        self.items = items
        self.label = label
        self.total = total
        self.bar: Bar | None = None

    def __len__(self) -> int:
        return len(self.items)  # type: ignore[arg-type]  # TypeError where the items have none

    def __iter__(self) -> Iterator[T]:
        with self.shown() as advance:
            for item in self.items:
                yield item
                advance()

    @contextmanager
    def shown(self, total: int | None = None) -> Iterator[Callable[[], None]]:
        """Show the bar, if at all, inside; call what is given for each item that is done."""
        if quiet.get() or not _somebody_looks():
            yield lambda: None
            return
        bar = Bar(self.label, total if self.total is None else self.total, monotonic())
        self.bar = bar
        _display.add(bar)
        try:
            yield lambda: _display.advance(bar)
        finally:
            self.bar = None
            _display.remove(bar)

    def say(self, words: str) -> None:
        """Words behind the label, such as the loss after the last epoch."""
        if self.bar is not None:
            _display.say(self.bar, f"{self.label}, {words}")


def track(items: Iterable[T], label: str, total: int | None = None) -> Tracked[T]:
    """Loop over items with a progress bar when it takes long and standard error is a terminal.

    Parameters
    ----------
    items : iterable
    label : str
        What the items are, in the plural: "folds", "trees".
    total : int, optional
        How many; by default their length, where they have one.

    Examples
    --------
    >>> sum(track([1, 2, 3], "numbers"))
    6
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    return Tracked(items, label, total)


def _somebody_looks() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


@dataclass(eq=False)
class Bar:
    """One loop under way."""

    label: str
    total: int | None
    start: float
    done: int = 0
    task: Any = None


class Display:
    """The bars under way; drawn by Rich from the moment one of them has lasted."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.bars: list[Bar] = []
        self.drawing: Any = None

    def add(self, bar: Bar) -> None:
        with self.lock:
            self.bars.append(bar)

    def advance(self, bar: Bar) -> None:
        with self.lock:
            bar.done += 1
            for each in self.bars:
                if each.task is None and monotonic() - each.start >= AFTER:
                    self.drawing = self.drawing or _start_drawing()
                    each.task = self.drawing.add_task(each.label, total=each.total)
                    self.drawing.update(each.task, completed=each.done)
            if bar.task is not None:
                self.drawing.update(bar.task, completed=bar.done)

    def say(self, bar: Bar, words: str) -> None:
        with self.lock:
            bar.label = words
            if bar.task is not None:
                self.drawing.update(bar.task, description=words)

    def remove(self, bar: Bar) -> None:
        with self.lock:
            self.bars.remove(bar)
            if bar.task is not None:
                self.drawing.remove_task(bar.task)
            if self.drawing is not None and not self.bars:
                self.drawing.stop()
                self.drawing = None


def _start_drawing() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    # Rich would send what is printed to its own console: wrong where it goes into a file.
    printed_beside = sys.stdout is not None and sys.stdout.isatty()
    drawing = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=printed_beside
    )
    drawing.start()
    return drawing


_display = Display()
