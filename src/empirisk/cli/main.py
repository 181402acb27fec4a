"""The command `empirisk`: what can be asked for, and with which options.

This file imports little but Typer, so that `empirisk --help` is there at once; the work of a
command is imported when it runs.
"""

import signal
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer

from empirisk.cli.exits import INTERRUPTED, exit_codes

EXIT_CODES = (
    "Exit codes: 0 done; 1 an error inside Empirisk; 2 bad usage or bad data, the reason is on "
    "standard error; 130 interrupted; 141 nobody reads the output on. Files are written whole or "
    "not at all."
)


class Task(StrEnum):
    regression = "regression"
    classification = "classification"


class Rule(StrEnum):
    best = "best"
    one_se = "one_se"


# How a file is read, alike for both commands that read one.
Sql = Annotated[
    str | None,
    typer.Option(
        metavar="QUERY",
        help="Read the result of a SELECT, in which a CSV or Parquet file is the table `data`.",
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="What separates fields; found by default.")
]
Decimal = Annotated[
    str | None, typer.Option(metavar="CHAR", help="What precedes decimals; found by default.")
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of the text; found by default.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether line 1 holds names; found by default."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        help="Fields that are missing, besides empty ones; NA and the like are then no longer; "
        "repeat for several.",
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Bytes of text to accept, where a packed file is too big."
    ),
]


app = typer.Typer(
    name="empirisk",
    help="Learn a prediction rule from a table and say, honestly, how well it will do.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def show_version(asked: bool) -> None:
    """Print the version and leave, where it was asked for."""
    if asked:
        from empirisk import __version__

        typer.echo(f"empirisk {__version__}")
        raise typer.Exit


@app.callback()
def empirisk(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """What all commands share."""


@app.command(epilog=EXIT_CODES)
def fit(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, Parquet or DuckDB, also a pattern such as '2024/*.csv'.",
        ),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ],
    task: Annotated[
        Task | None, typer.Option(help="Numbers or classes; found from the target by default.")
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What a mistake costs. Numbers: squared (default), absolute, quantile:Q. Classes: "
            "zero_one (default), log, brier, asymmetric:A,B[,POSITIVE], A for a false positive and "
            "B for a false negative.",
        ),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Instead, a cost for each mistake: a row for each predicted and a column for each "
            "true class, or the columns predicted, true, cost.",
        ),
    ] = None,
    learners: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Only these; see `empirisk learners`. By default all that suit and are not slow.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    rule: Annotated[
        Rule,
        typer.Option(
            help="Of each learner, the complexity of least risk, or the simplest within one "
            "standard error of it."
        ),
    ] = Rule.best,
    seed: Annotated[
        int, typer.Option(min=0, help="The same seed gives the same result to the last bit.")
    ] = 0,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            help="For each learner; one that needs more is left out, and the report says so.",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="Read a column as number, category, boolean, date or text; repeat for several.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Folder for model and report.")
    ] = ".",
    json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object on standard output and nothing else there."),
    ] = False,
    sql: Sql = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    header: Header = None,
    missing: Missing = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Choose a predictor for a column of a table, certify it, and write model and report."""
    with exit_codes():
        from empirisk.cli.fit import Request, fit_file
        from empirisk.cli.reading import Reading

        fit_file(
            Request(
                file=file,
                target=target,
                task=None if task is None else task.value,
                loss=loss,
                costs=costs,
                learners=learners,
                folds=folds,
                rule=rule.value,
                seed=seed,
                time_limit=time_limit,
                kinds=tuple(kind or ()),
                output=output,
                reading=Reading(
                    sql, delimiter, decimal, encoding, header, _words(missing), max_bytes
                ),
            ),
            as_json=json,
        )


@app.command(epilog=EXIT_CODES)
def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model file that `empirisk fit` wrote.")
    ],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A table with the columns of the training table.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="CSV", help="Write here; by default standard output."
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also the probability of each class.")
    ] = False,
    sql: Sql = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    header: Header = None,
    missing: Missing = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Predict each row of a table, as CSV in the order of its rows.

    Text is read as `empirisk fit` was told to read it, and as it found that of the training table
    where this has its columns so, unless said otherwise here.
    """
    with exit_codes():
        from empirisk.cli.predict import predict_file
        from empirisk.cli.reading import Reading

        reading = Reading(sql, delimiter, decimal, encoding, header, _words(missing), max_bytes)
        predict_file(model, file, reading, output=output, probabilities=probabilities)


@app.command(epilog=EXIT_CODES)
def learners(
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the learners, their tasks, and the complexity axis of each."""
    with exit_codes():
        from empirisk.cli.learners import show_learners

        show_learners(as_json=json)


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    """What an option was given, None if it was not: Typer makes an empty list of that."""
    return tuple(given) if given else None


def main() -> Any:
    """The script `empirisk`."""
    # A polite request to end takes the way of Ctrl-C, past everything that tidies up.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return app(prog_name="empirisk")
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _interrupt(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt
