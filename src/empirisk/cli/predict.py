"""`empirisk predict`: a model file and a table to predictions as CSV."""

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import typer

from empirisk.cli.levels import unknown_levels
from empirisk.cli.places import refuse_overwriting
from empirisk.cli.reading import Reading
from empirisk.cli.screen import plain
from empirisk.cli.target import spelled
from empirisk.data.column import Kind
from empirisk.data.opening import find_files
from empirisk.data.table import Table
from empirisk.model_file.load import ModelFile, read_model_file
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.whole_file import whole_file

SHOWN = 10  # columns that a message names


def predict_file(
    model: str, file: str, reading: Reading, *, output: str | None, probabilities: bool
) -> None:
    """Predict each row of the file; everything but the predictions goes to standard error."""
    if output is not None:
        refuse_overwriting(output, "the model", [model])
        refuse_overwriting(output, "the data", find_files(file))
    found = read_model_file(model)
    columns = _columns(found, model)
    if probabilities and not hasattr(found.model, "predict_proba"):
        what = "classes" if found.meta.get("task") == "classification" else "numbers"
        raise ParameterError(
            f"{model} predicts {what} and has no probabilities: leave out --probabilities"
        )
    table = _read(file, columns, reading, found.meta)
    text = _csv(*_predictions(found.model, table, probabilities))
    if output is None:
        sys.stdout.write(text)
        return
    with whole_file(output) as draft:
        draft.write(text.encode())
    typer.echo(plain(f"{len(table):,} predictions written to {output}"), err=True)


def _columns(found: ModelFile, path: str) -> dict[str, Kind]:
    """The columns that the model was trained on, with their kinds."""
    columns, target = found.meta.get("columns"), found.meta.get("target")
    if not isinstance(columns, dict) or not isinstance(target, str):
        raise DataError(
            f"{path} holds a model ({found.summary}) but not the columns it was trained on; "
            "`empirisk predict` needs a file that `empirisk fit` wrote"
        )
    return columns


def _read(file: str, columns: dict[str, Kind], reading: Reading, meta: dict[str, Any]) -> Table:
    """The columns of the training table, by name and in its order, read as they were there."""
    recalled = reading.with_memory(meta.get("read", {}), file)
    if recalled != reading:
        said = ", ".join(f"{name} {value!r}" for name, value in meta["read"].items())
        typer.echo(plain(f"read as in training unless said otherwise: {said}"), err=True)
    recalled = _as_found(recalled, file, columns, meta.get("found"))
    table = recalled.table(file)
    lacking = [name for name in columns if name not in table]
    if lacking:
        query = meta.get("sql")
        hint = "" if query is None else f"; its training table came from --sql {query!r}"
        raise DataError(
            f"{file} lacks {_listed(lacking)}, which the model was trained on; "
            f"it has {_listed(table.names)}{hint}"
        )
    extra = [name for name in table.names if name not in columns and name != meta["target"]]
    if extra:
        typer.echo(plain(f"not used: {_listed(extra)}"), err=True)
    if not len(table):
        raise DataError(f"{file} has a line of names and no rows to predict")
    if any(table.kinds[name] != kind for name, kind in columns.items()):
        table = recalled.table(file, columns)
    table = table.select(columns)
    for note in unknown_levels(table, meta.get("levels")):
        typer.echo(plain(f"note: {note}"), err=True)
    return table


def _as_found(reading: Reading, file: str, columns: dict[str, Kind], found: Any) -> Reading:
    """Read the text as that of training was found to be, and say where it looks otherwise."""
    alike = reading.as_found(found, file, columns)
    if alike == reading:
        return reading
    there = alike.found(file)
    try:
        looks = reading.found(file)
    except DataError:
        looks = {}
    told = [name for name in ("delimiter", "decimal", "header") if there[name] != looks.get(name)]
    if told:
        said = ", ".join(f"{name} {there[name]!r}" for name in told)
        typer.echo(plain(f"read as the training table was found to be: {said}"), err=True)
    return alike


def _predictions(
    model: Any, table: Table, probabilities: bool
) -> tuple[list[str], Iterable[Sequence[Any]]]:
    """A header, and a row for each row of the table."""
    predicted = [spelled(label) for label in model.predict(table).tolist()]
    if not probabilities:
        return ["prediction"], ((word,) for word in predicted)
    shares = np.asarray(model.predict_proba(table)).tolist()
    header = [f"probability_{spelled(label)}" for label in model.classes_.tolist()]
    rows = ((word, *map(repr, row)) for word, row in zip(predicted, shares, strict=True))
    return ["prediction", *header], rows


def _csv(header: list[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
