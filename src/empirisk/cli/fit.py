"""`empirisk fit`: from a file to a chosen model, its certified risk and a report."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import typer

from empirisk import __version__
from empirisk.cli.learners import candidates, left_out_of_many
from empirisk.cli.levels import levels_of
from empirisk.cli.loss import asked_loss, costs_in_words, limits_of
from empirisk.cli.outcome import as_dict, show_outcome, show_table
from empirisk.cli.places import Places
from empirisk.cli.reading import Reading
from empirisk.cli.screen import Screen
from empirisk.cli.target import Target, Task
from empirisk.cli.warned import notes_of_warnings
from empirisk.data.column import KINDS, Kind
from empirisk.losses import Loss
from empirisk.model_file.save import save
from empirisk.report.page import report_page
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.whole_file import whole_file
from empirisk.selection.select import Selection, select

TEST_SIZE = 0.25


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    file: str
    target: str
    task: Task | None
    loss: str | None
    costs: str | None
    learners: str | None
    folds: int
    rule: Literal["best", "one_se"]
    seed: int
    time_limit: float | None
    kinds: tuple[str, ...]
    output: str
    reading: Reading


def fit_file(request: Request, *, as_json: bool) -> None:
    """Read, select, certify, write; say what was seen and what came out."""
    screen = Screen(err=as_json)
    places = Places.of(request.file, request.output)
    kinds = _kinds(request.kinds)
    table = request.reading.table(request.file, kinds)
    words = [name for name, kind in kinds.items() if kind == "text"]
    target = Target.of(table, request.target, request.task).without_idle_columns(words)
    _check_folds(request.folds, len(target.y))
    loss = asked_loss(request.loss, request.costs, target)
    rivals = candidates(target.task, loss, request.learners, len(target.y))
    too_long = left_out_of_many(target.task, request.learners, len(target.y))
    show_table(screen, table, target)
    if too_long:
        screen.say(
            f"with so many rows {', '.join(too_long)} take too long and are left out, unless "
            "--learners names them; --time-limit 60 leaves out each of the others that needs more "
            "than a minute, and --sql 'FROM data USING SAMPLE 100000 ROWS (reservoir, 1)' reads a "
            "part, the same each time"
        )
    costs = costs_in_words(loss, target)
    if costs is not None:
        screen.say(f"costs: {costs}")
    with notes_of_warnings() as notes:
        selection = select(
            rivals,
            target.X,
            target.y,
            loss=loss,
            cv=request.folds,
            rule=request.rule,
            test_size=TEST_SIZE,
            time_limit=request.time_limit,
            n_jobs=-1,
            random_state=request.seed,
        )
    notes += filter(None, [limits_of(loss)])
    if too_long:
        notes.append(f"with so many rows these were not tried: {', '.join(too_long)}")
    page = report_page(
        selection,
        table=table,
        target=target.name,
        source=request.file,
        notes=notes,
        settings=_settings(request),
    )
    _write(places, page, selection.model, _meta(request, target, loss, selection))
    show_outcome(screen, selection, places, notes)
    if as_json:
        outcome = as_dict(selection, places, target, table, notes)
        settings = {"folds": request.folds, "rule": request.rule, "seed": request.seed}
        typer.echo(json.dumps({"empirisk": __version__, **outcome, **settings}, allow_nan=False))


def _write(places: Places, page: str, model: Any, meta: dict[str, Any]) -> None:
    """Both files or neither: each takes its name at one stroke, the report right after the model.

    An interruption before the first stroke leaves the folder as it was.
    """
    places.make_folder()
    with whole_file(places.report) as draft:
        draft.write(page.encode())
        save(model, places.model, meta=meta)


def _meta(request: Request, target: Target, loss: Loss, selection: Selection) -> dict[str, Any]:
    """What the file keeps beside the model: what predicting needs, and how it was chosen."""
    return {
        "target": target.name,
        "task": target.task,
        "columns": dict(target.X.kinds),
        "levels": levels_of(target.X),
        "read": request.reading.memory(),
        "found": request.reading.found(request.file),
        "sql": request.reading.sql,
        "loss": loss,
        "learner": selection.name,
        "risk": selection.test_risk,
        "rows": len(target.y),
        "seed": request.seed,
    }


def _settings(request: Request) -> dict[str, Any]:
    """What else the report tells, so that it can be done again."""
    query = {} if request.reading.sql is None else {"query": request.reading.sql}
    return {"rule": request.rule, "seed": request.seed, **query}


def _check_folds(folds: int, n: int) -> None:
    training = n - round(TEST_SIZE * n)
    if folds > training:
        raise DataError(
            f"{folds} folds of {training} rows, since {n - training} of {n} are kept for the test: "
            f"say --folds {min(training, 5)}, or bring more rows"
        )


def _kinds(words: tuple[str, ...]) -> dict[str, Kind]:
    """`COLUMN=KIND`, as often as given; a column's name may itself hold an equals sign."""
    kinds: dict[str, Kind] = {}
    for word in words:
        name, equals, kind = word.rpartition("=")
        if not equals or kind not in KINDS:
            raise ParameterError(
                f"--kind {word!r} is not understood; give COLUMN=KIND, where KIND is one of "
                f"{', '.join(KINDS)}"
            )
        kinds[name] = kind
    return kinds
