"""The results as tables, on the terminal and in Markdown."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from rich.markup import escape
from rich.table import Table

from benchmarks.accuracy import AccuracyOutcome
from benchmarks.harness import Outcome, Row
from benchmarks.record import AnyOutcome


def table_of(outcome: AnyOutcome) -> Table:
    """The table of one benchmark of either kind."""
    return contest_table(outcome) if isinstance(outcome, Outcome) else accuracy_table(outcome)


def contest_table(outcome: Outcome) -> Table:
    """One benchmark: who did it, how equal the answers are, what it took."""
    table = Table(title=f"{outcome.name}: {outcome.size}", caption=verdict_line(outcome))
    table.add_column("by")
    table.add_column("threads", justify="right")
    table.add_column(outcome.quality or "difference", justify="right")
    for title in ("median", "min", "CPU", "first call", "used by others"):
        table.add_column(title, justify="right")
    for row in outcome.rows:
        table.add_row(*contest_cells(row))
    if outcome.cold:
        cold = outcome.cold
        times = (seconds(cold.wall), "", seconds(cold.cpu), "", percent(cold.others))
        table.add_row("empirisk, cold", "1", "", *times)
    return table


def verdict_line(outcome: Outcome) -> str:
    """The ratio, where there is one, the target and the verdict."""
    ratio = "no ratio" if outcome.ratio is None else f"ratio {outcome.ratio:.1f}x"
    return f"{ratio}, target {outcome.target}: {escape(outcome.verdict)}"


def contest_cells(row: Row) -> tuple[str, ...]:
    """A contestant's line."""
    return (
        row.name,
        str(row.threads),
        "" if row.difference is None else f"{row.difference:.1e}",
        seconds(row.median),
        seconds(row.fastest),
        seconds(row.cpu),
        seconds(row.first.wall) if row.first else "",
        percent(row.others),
    )


def accuracy_table(outcome: AccuracyOutcome) -> Table:
    """One table of correct digits."""
    table = Table(title=f"{outcome.name}: {outcome.what}", caption=escape(outcome.verdict))
    table.add_column("data")
    for title in (*outcome.by, "wanted"):
        table.add_column(title, justify="right")
    for line in outcome.lines:
        wanted = "" if line.wanted is None else f">= {line.wanted:g}"
        table.add_row(
            line.data, *(f"{digits:.{outcome.decimals}f}" for digits in line.digits), wanted
        )
    return table


def summary_table(outcomes: Sequence[AnyOutcome]) -> Table:
    """All benchmarks, a line each: quality first, ratio second."""
    table = Table(title="ratio = best median time of a peer / median time of ours")
    table.add_column("benchmark")
    for title in ("quality", "ours", "best peer", "ratio", "target"):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    for outcome in outcomes:
        cells = contest_summary(outcome) if isinstance(outcome, Outcome) else ("",) * 5
        table.add_row(outcome.name, *cells, escape(outcome.verdict))
    return table


def contest_summary(outcome: Outcome) -> tuple[str, ...]:
    """The worst difference, both times, the ratio and the target of one benchmark."""
    if not outcome.rows:
        return ("", "", "", "", outcome.target)
    ours, *peers = outcome.rows
    # max() would hide a NaN
    worst = float(np.max([peer.difference for peer in peers])) if peers else None
    return (
        "" if worst is None else f"{worst:.1e}",
        seconds(ours.median),
        seconds(min(peer.median for peer in peers)) if peers else "",
        "" if outcome.ratio is None else f"{outcome.ratio:.1f}x",
        outcome.target,
    )


def seconds(value: float) -> str:
    """Three digits of a time, with its unit.

    >>> seconds(0.0123456), seconds(1.23456), seconds(123.456)
    ('12.3 ms', '1.23 s', '123 s')
    """
    number, unit = (1000 * value, "ms") if value < 1.0 else (value, "s")
    decimals = max(2 - int(math.log10(max(number, 1.0))), 0)
    return f"{number:.{decimals}f} {unit}"


def percent(share: float | None) -> str:
    """A share as a person reads it."""
    return "unknown" if share is None else f"{100 * share:.0f} %"


def markdown(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its first column is words, the others numbers."""
    ruler = ["---"] + ["---:"] * (len(titles) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in (titles, ruler, *rows))
