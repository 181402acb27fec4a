"""The column to predict: its task, its values, and the rows that have one."""

import shlex
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from empirisk.data.column import Column
from empirisk.data.kinds import large_integers
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array
from empirisk.runtime.column_names import no_column
from empirisk.runtime.errors import DataError

Task = Literal["regression", "classification"]

IF_NUMBERS = (
    "if they are numbers, say --decimal , where commas precede decimals, --missing WORD for a word "
    "that means missing, --kind COLUMN=number for leading zeros, plus signs and integers beyond "
    "2^53, and write them without signs for thousands, per cent or units"
)

FEWEST = 8  # rows: a quarter is kept for the test, and the others are dealt to folds


@dataclass(frozen=True, eq=False)
class Target:
    """What is predicted from what.

    Attributes
    ----------
    name : str
    task : {"regression", "classification"}
    why : str
        From what the task was inferred.
    X : Table
        The other columns, of rows that have a target.
    y : array
    without : int
        How many rows have no target and are left out.
    left_out : tuple of str
        Columns that are not learned from.
    """

    name: str
    task: Task
    why: str
    X: Table
    y: Array
    without: int
    left_out: tuple[str, ...] = ()

    def without_idle_columns(self, words: Collection[str] = ()) -> "Target":
        """Predicted from columns that can be learned from: then a table to predict needs no others.

        Text, words that hardly repeat, is not learned from, and a column with the same in all
        rows has nothing to tell. Integers beyond 2^53 are text by their digits alone: trees split
        them, unless they are among the columns that are asked to be words.
        """
        idle = tuple(
            column.name for column in self.X.columns if _is_idle(column, column.name in words)
        )
        if all(column.name in idle or column.kind == "text" for column in self.X.columns):
            raise DataError(
                "all columns are constant or text (words that hardly repeat): there is nothing to "
                "learn from; if some are categories, say --kind COLUMN=category"
            )
        return replace(self, X=self.X.drop(idle), left_out=idle)

    @property
    def classes(self) -> list[Any]:
        """The labels, sorted; none for numbers."""
        return np.unique(self.y).tolist() if self.task == "classification" else []

    @classmethod
    def of(cls, table: Table, name: str, task: Task | None) -> "Target":
        """Part the target from the table; infer the task where it is not given."""
        if name not in table:
            raise DataError(f"--target: {no_column(name, table.names)}")
        if len(table.names) == 1:
            raise DataError(f"{name!r} is the only column: there is nothing to predict it from")
        missing = table[name].missing
        there = table.take(np.flatnonzero(~missing)) if missing.any() else table
        if len(there) < FEWEST:
            raise DataError(
                f"{len(there)} of {len(table)} rows have a value of {name!r}; it takes at least "
                f"{FEWEST} to learn and to test"
            )
        column = there[name]
        inferred, why = _infer(column)
        task, why = (inferred, why) if task is None else (task, "as asked")
        why_words = _why_words(table, name)
        y = _labels(column, why_words) if task == "classification" else _numbers(column, why_words)
        _check_varies(y, name)
        return cls(name, task, why, there.drop([name]), y, int(missing.sum()))


def spelled(label: Any) -> str:
    """A label as CSV files have it: numbers with all their digits, truth values as true and false.

    Examples
    --------
    >>> spelled(True), spelled(0.1), spelled("ill")
    ('true', '0.1', 'ill')
    """
    if isinstance(label, bool):
        return "true" if label else "false"
    return repr(label) if isinstance(label, float) else str(label)


def label_of(word: str, classes: list[Any]) -> Any:
    """The class that a word spells, or the word itself; truth values in any case.

    Examples
    --------
    >>> label_of("TRUE", [False, True]), label_of("3", [1, 2, 3]), label_of("x", [1, 2])
    (True, 3, 'x')
    """
    known = {spelled(label): label for label in classes}
    return known.get(word, known.get(word.lower(), word))


def _is_idle(column: Column, words: bool) -> bool:
    if column.kind == "text":
        return words or large_integers(column.arrow) is None
    if column.missing.all():
        return True
    if column.missing.any():
        return False  # whether a value is missing may tell something
    values = column.codes() if column.kind in ("category", "boolean") else column.numbers()
    return bool((values == values[0]).all())


def _infer(column: Column) -> tuple[Task, str]:
    if column.kind == "number":
        different = np.unique(column.numbers())
        if len(different) == 2 and np.isfinite(different).all():
            two = " and ".join(f"{number:g}" for number in different)
            asked = "to predict a number, say --task regression"
            return "classification", f"the target holds {two} alone; {asked}"
        other = "; if these are classes, say --task classification" if len(different) <= 10 else ""
        return "regression", f"the target holds numbers{other}"
    return "classification", f"the target is a {column.kind}"


def _why_words(table: Table, name: str) -> str:
    """What the reading says of a column that might have been numbers; nothing of others."""
    notes = () if table.source is None else table.source.notes
    said = f"{name!r} is read as words"
    return next((note for note in notes if note.startswith(said)), "")


def _labels(column: Column, why_words: str) -> Array:
    """The classes, in words, truth values or numbers."""
    if column.kind in ("category", "boolean"):
        labels = column.levels[column.codes()]
    elif column.kind == "number":
        numbers = column.numbers()
        whole = bool((numbers == np.round(numbers)).all() and (np.abs(numbers) < 2**53).all())
        labels = (
            numbers.astype(np.int64) if whole else np.array([repr(x) for x in numbers.tolist()])
        )
    elif column.kind == "text":
        labels = column.values()
    else:
        quoted = '"' + column.name.replace('"', '""') + '"'
        query = f"SELECT * REPLACE (epoch({quoted}) / 86400 AS {quoted}) FROM data"
        raise DataError(
            f"column {column.name!r} is a date, which cannot be predicted; to predict the number "
            f"of days since 1970, say --sql {shlex.quote(query)}"
        )
    different = len(np.unique(labels))
    if different > len(labels) / 2 and different > 2:
        if_numbers = f"{why_words}; {IF_NUMBERS}" if why_words else _if_words(str(labels[0]))
        advice = "give --task regression" if column.kind == "number" else if_numbers
        raise DataError(
            f"column {column.name!r} has {different} different values in {len(labels)} rows, too "
            f"many for classes; {advice}"
        )
    return np.array(labels.tolist()) if labels.dtype == object else labels


def _if_words(word: str) -> str:
    """What to do about a target of words, of which this is the first."""
    if any(sign.isdigit() for sign in word):
        return (
            f"if {word!r} and the others are numbers, write them with digits alone, without units "
            "or signs of currency; if not, give another target"
        )
    return "give another target"


def _numbers(column: Column, why_words: str) -> Array:
    if column.kind in ("category", "text"):
        words = why_words or f"column {column.name!r} holds words, such as {column.values()[0]!r}"
        raise DataError(
            f"{words}, and regression predicts numbers; leave out --task regression, or, "
            f"{IF_NUMBERS}"
        )
    numbers = column.numbers()
    infinite = ~np.isfinite(numbers)
    if infinite.any():
        raise DataError(
            f"column {column.name!r} holds {infinite.sum()} infinite value(s): remove those rows"
        )
    return numbers


def _check_varies(y: Array, name: str) -> None:
    if len(np.unique(y)) < 2:
        raise DataError(
            f"column {name!r} has the value {y[0]!s} in all {len(y)} rows: there is nothing to "
            "learn; give another target"
        )
