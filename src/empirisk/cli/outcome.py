"""What `empirisk fit` saw and found, on the screen and as a dict for JSON."""

import math
from typing import Any

import numpy as np

from empirisk.cli.places import Places
from empirisk.cli.screen import Screen
from empirisk.cli.target import Target
from empirisk.data.description import describe
from empirisk.data.table import Table
from empirisk.report.columns import counts_rows, mark_of_missing
from empirisk.report.findings import (
    computed_target,
    held_out_together,
    in_words,
    verdict,
    why_not_the_least,
)
from empirisk.report.standings import Standing, ends, short, standings
from empirisk.risk.estimate import RiskEstimate
from empirisk.selection.select import Selection

SHOWN = 30  # columns that are listed


def show_table(screen: Screen, table: Table, target: Target) -> None:
    """What was inferred: how the file was read, the columns, the task, and what is left out."""
    screen.heading(f"Table of {len(table):,} rows, {len(table.names)} columns")
    for line in describe(table.columns[:SHOWN], distinct=True):
        screen.line(line)
    if len(table.names) > SHOWN:
        screen.say(f"and {len(table.names) - SHOWN} more columns", indent="  ")
    if table.source is not None:
        screen.say(f"read as: {', '.join(table.source.read_as)}")
        for note in table.source.notes:
            screen.say(f"note: {note}")
    for column in target.X.columns:
        if counts_rows(column):
            screen.say(
                f"note: {column.name!r} counts the rows; if it only identifies them, leave it out "
                f"by --kind '{column.name}=text'"
            )
    for column in table.columns:
        mark = mark_of_missing(column)
        if mark is not None:
            screen.say(
                f"note: {column.name!r} holds {mark:g} far from its other numbers; if it means "
                f"missing, leave those cells empty, in a text file also by --missing={mark:g}, and "
                "--missing NA or the like beside it if these are there, too"
            )
    screen.say(f"{target.task} of {target.name!r}: {target.why}")
    if target.without:
        screen.say(f"left out: {target.without:,} rows without a value of {target.name!r}")
    if target.left_out:
        screen.say(
            f"left out: {', '.join(map(repr, target.left_out))} (the same in all rows, or text, "
            "words that hardly repeat; --kind COLUMN=category uses these, and date or number reads "
            "words that spell such)"
        )


def show_outcome(screen: Screen, selection: Selection, places: Places, notes: list[str]) -> None:
    """The ranking, the chosen model, its certified risk, and where everything is."""
    plan = selection.plan
    screen.heading(
        f"Ranking by {plan.n_splits}-fold cross-validation on {plan.n:,} rows "
        f"({selection.test_risk.loss} loss, less is better)"
    )
    level = f"{100 * selection.test_risk.level:g} % interval"
    header = ("  learner", "risk", level, "train", "at")
    ranked = standings(selection)
    rows = [_row(each, each.at.replace(" = ", "=")) for each in ranked]
    if not screen.fits(header, rows):  # without the names of the parameters
        rows = [_row(each, _at(each.value)) for each in ranked]
    screen.table(header, rows)
    screen.say(
        "  (risk: on held-out rows, corrected for the choice of the value at which it stands; "
        "train: on the training rows, too good)"
    )
    together = held_out_together(selection)
    if together is not None:
        screen.say(f"  ({together})")
    for name, why in selection.failures.items():
        screen.say(f"  {name} gave no risk: {why}")
    for note in filter(None, [*notes, why_not_the_least(selection), computed_target(selection)]):
        screen.say(f"note: {note}")
    screen.heading(f"Chosen: {in_words(selection)}")
    screen.say(selection.cross_validated_risk.sentence)
    screen.say(verdict(selection))
    screen.say(selection.test_risk.sentence)
    screen.heading("Written")
    screen.say(f"model:  {places.model}", indent="  ")
    screen.say(f"report: {places.report}", indent="  ")


def _row(each: Standing, at: str) -> tuple[str, ...]:
    return (
        f"> {each.name}" if each.chosen else f"  {each.name}",
        f"{each.risk:.4g}",
        ends(each.interval),
        f"{each.training_risk:.4g}",
        at,
    )


def _at(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return "" if value is None else ", ".join(short(each, 3) for each in values)


def as_dict(
    selection: Selection, places: Places, target: Target, table: Table, notes: list[str]
) -> dict[str, Any]:
    """The same for programs."""
    columns = [
        {"name": c.name, "kind": c.kind, "missing": int(c.missing.sum())} for c in table.columns
    ]
    return {
        "source": None if table.source is None else table.source.where,
        "rows": len(table),
        "columns": columns,
        "target": target.name,
        "task": target.task,
        "rows_without_target": target.without,
        "columns_left_out": list(target.left_out),
        "loss": selection.test_risk.loss,
        "ranking": [_standing(each) for each in standings(selection)],
        "failures": selection.failures,
        "chosen": {"name": selection.name, "value": _json(selection.value)},
        "training_risk": _json(selection.training_risk),
        "cross_validated_risk": _estimate(selection.cross_validated_risk),
        "test_risk": _estimate(selection.test_risk),
        "test_rows": len(selection.test_rows),
        "notes": notes,
        "model": str(places.model),
        "report": str(places.report),
    }


def _standing(each: Standing) -> dict[str, Any]:
    return {
        "name": each.name,
        "value": _json(each.value),
        "risk": _json(each.risk),
        "interval": _interval(each.interval),
        "standard_error": _json(each.standard_error),
        "training_risk": _json(each.training_risk),
    }


def _estimate(risk: RiskEstimate) -> dict[str, Any]:
    return {
        "value": _json(risk.value),
        "standard_error": _json(risk.standard_error),
        "interval": _interval(risk.interval),
        "level": risk.level,
        "method": risk.method,
        "estimates": risk.estimates,
        "chosen_among": risk.chosen_among,
        "corrected": risk.corrected,
        "uncorrected": _json(risk.uncorrected),
        "cautions": list(risk.cautions),
        "sentence": risk.sentence,
    }


def _interval(ends: tuple[float, float] | None) -> list[Any] | None:
    return None if ends is None else [_json(end) for end in ends]


def _json(value: Any) -> Any:
    """A number as JSON has them: no NumPy, and null for what is not finite."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return [_json(each) for each in value] if isinstance(value, tuple) else value
