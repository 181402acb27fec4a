"""The certificate as tables on the terminal and as the page docs/coverage.md."""

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version

import numpy as np
from rich.table import Table

from benchmarks.coverage.sets import AUTO, LEVEL, NAIVE, NESTED
from benchmarks.coverage.tally import WANTED, Line, Result
from benchmarks.report import markdown, seconds
from empirisk.risk.intervals.coverage import Share

PACKAGES = ("empirisk", "numpy", "scipy", "scikit-learn")
TITLES = ("covers the procedure", "covers the model", "flagged", "none", "width", "relative", "CPU")


def table_of(result: Result, taken: float) -> Table:
    """One setting on the terminal, a line for each method."""
    title = f"{result.name}: {result.words}"
    caption = f"{result.sets} sets, {result.loss} risk {result.expected_risk:.4g}, {taken:.0f} s"
    table = Table(title=title, caption=f"{caption}: {result.verdict}", min_width=100)
    table.add_column("method")
    for name in TITLES:
        table.add_column(name, justify="right")
    for method, line in result.lines.items():
        table.add_row(method, *cells(line))
    return table


def summary(results: Sequence[Result]) -> Table:
    """All settings on the terminal, a line for each method."""
    table = Table(title=f"{len(results)} settings at {LEVEL:.0%}".replace("%", " %"))
    for name in SUMMARY:
        table.add_column(name, justify="left" if name == "method" else "right")
    for row in summary_rows(results):
        table.add_row(*row)
    return table


def cells(line: Line) -> tuple[str, ...]:
    """A method's line."""
    return (
        covered(line.procedure),
        covered(line.model),
        percent(line.flagged),
        percent(line.lacking),
        f"{line.width:.3g}",
        f"{line.relative_width:.2f}",
        seconds(line.seconds),
    )


SUMMARY = (
    "method", "settings", "least, procedure", "mean, procedure", "least, model", "mean, model",
    f"below {WANTED:.0%}".replace("%", " %"), "relative width",
)  # fmt: skip


def summary_rows(results: Sequence[Result]) -> Iterable[tuple[str, ...]]:
    """For each method the worst and the mean coverage of the settings that are not flagged."""
    plain = [result for result in results if not result.is_flagged]
    for method in methods(plain):
        asked = [result.lines[method] for result in plain if method in result.lines]
        lines = [line for line in asked if line.flagged < 1]
        if not lines:
            continue
        procedure = np.array([line.unflagged_procedure.value for line in lines])
        model = np.array([line.unflagged_model.value for line in lines])
        yield (
            method,
            str(len(lines)),
            percent(procedure.min()),
            percent(procedure.mean()),
            percent(model.min()),
            percent(model.mean()),
            f"{(procedure < WANTED).sum()} and {(model < WANTED).sum()}",
            f"{np.mean([line.relative_width for line in lines]):.2f}",
        )


def named(results: Sequence[Result]) -> str:
    """The coverage of `auto` of the risk that each estimate names, of which the aim is."""
    found = np.array([result.named.value for result in results if not result.is_flagged])
    if not len(found):
        return "All settings are flagged."
    return (
        "Of the risk that its estimate names, the model of a locked test set and else the "
        f"procedure, `auto` covers {percent(found.min())} or more in these {len(found)} settings "
        f"and {percent(found.mean())} on average; {(found < WANTED).sum()} are below "
        f"{100 * WANTED:g} %."
    )


def methods(results: Sequence[Result]) -> list[str]:
    """All methods, in the order in which they come."""
    return list(dict.fromkeys(method for result in results for method in result.lines))


def page(results: Sequence[Result], settings: int) -> str:
    """The whole page."""
    parts = [
        INTRODUCTION.format(level=f"{100 * LEVEL:g}", wanted=f"{100 * WANTED:g}"),
        provenance(results, settings),
        "## In short",
        SHORT.format(wanted=f"{100 * WANTED:g}"),
        markdown(SUMMARY, summary_rows(results)),
        named(results),
        "## `auto`, setting by setting",
        EACH,
        markdown(
            (
                "setting",
                "rows",
                "sets",
                "covers the procedure",
                "covers the model",
                "flagged",
                "width",
                "relative",
                "CPU",
                "verdict",
            ),
            [auto_row(result) for result in results],
        ),
        "## The other methods",
        markdown(("setting", "method", *TITLES), other_rows(results)),
        "## After a choice",
        AFTER,
        markdown(
            ("setting", "rows", "risk", "bias of `auto`", "of nested selection", "of the minimum"),
            [bias_row(result) for result in results if NAIVE in result.lines],
        ),
        "## The settings in words",
        markdown(("settings", "what", "loss", "true risk"), words(results)),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """# How often the intervals cover

Written by `python -m benchmarks coverage`. In each setting many training sets are drawn from a
population in which true risks are known. From each the library gives its interval at {level} %, and
the true risk of the model fitted to the same rows is computed. An interval may be asked to contain
two risks: that of **the model** fitted to all the rows at hand, and the expected risk of **the
procedure** with so many rows, the mean of the former over the training sets. Estimates by
cross-validation name the second, those from a locked test set the first; both are in the tables.
Coverages come with their Monte Carlo errors. The aim: `auto` covers {wanted} % or more in every
setting it does not flag, not more than 95 % on average, with intervals at most 1.4 times as wide as
those of independent rows."""

SHORT = """Settings in which most intervals come with a caution are left out here, and in the others
the sets that do. Every method is held against both risks; below {wanted} % are so many settings of
the procedure and so many of the model. The relative width is to the interval of independent rows,
`per_row_normal` (after a choice, to that interval about the naive minimum)."""

EACH = """The coverages are over all sets, also flagged ones. `flagged` is the share of intervals
that come with a caution; a setting where that is half or more is no part of the promise. The
verdict is on what the estimate names, of sets without a caution: met or missed where that is sure
at 95 %, else close. CPU is the time of cross-validation and interval together."""

AFTER = """The bias is that of the estimate for the risk of the model that was chosen and fitted, on
average over training sets."""


def provenance(results: Sequence[Result], settings: int) -> str:
    """When, with what and from which seeds."""
    days = sorted({result.date[:10] for result in results})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "never"
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    sets = sum(result.sets for result in results)
    return (
        f"Run {when}: {len(results)} of {settings} settings, {sets:,} training sets; "
        f"{versions}, Python {platform.python_version()}. The seeds of a setting are spawned from "
        'the CRC-32 of "certificate of" and its name, with none of which constants were chosen.'
    )


def auto_row(result: Result) -> tuple[str, ...]:
    line = result.auto
    return (
        result.name,
        f"{result.n:,}",
        f"{result.sets:,}",
        *(covered(line.procedure), covered(line.model), percent(line.flagged)),
        *(f"{line.width:.3g}", f"{line.relative_width:.2f}", seconds(line.seconds)),
        f"**{result.verdict}**" if result.verdict == "missed" else result.verdict,
    )


def other_rows(results: Sequence[Result]) -> Iterable[tuple[str, ...]]:
    for result in results:
        for method, line in result.lines.items():
            if method != AUTO:
                yield (result.name, method, *cells(line))


def bias_row(result: Result) -> tuple[str, ...]:
    lines = [result.lines.get(method) for method in (AUTO, NESTED, NAIVE)]
    biases = ["" if line is None else f"{line.bias:+.3f}" for line in lines]
    return (result.name, f"{result.n:,}", f"{result.expected_risk:.3f}", *biases)


def words(results: Sequence[Result]) -> Iterable[tuple[str, ...]]:
    """Settings that differ in the number of rows alone are one line."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for result in results:
        name = result.name.rpartition("-n")[0]
        found[name, result.loss] = (f"{name}-n*", result.words, result.loss, result.risk)
    return found.values()


def covered(share: Share) -> str:
    return "none" if np.isnan(share.value) else str(share)


def percent(share: float) -> str:
    """A share as a person reads it.

    >>> percent(0.9046)
    '90.5 %'
    """
    return f"{100 * share:.1f} %"
