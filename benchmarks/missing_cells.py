"""Marginalise missing cells, or impute them? `python -m benchmarks.missing_cells [SEEDS]`.

Five real mixed tables. For each seed 30 % of all cells are blanked at random, besides those that
are missing anyway, and a third of the rows is held out. Naive Bayes is fitted to the others as they
are, and once more after missing cells, in both parts, were replaced by the mean of the training
rows' column, or its commonest level: the same learner, the same cells, the same rows. What is
printed is the log loss on the rows held out, and what imputing adds to it with its standard error
over the seeds (these share the table, so the error is that of the draws, not of another table).
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table as Grid

from empirisk import NaiveBayes, datasets
from empirisk.losses import Log
from empirisk.runtime.arrays import Array

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HOLES = 0.3
SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "adult": ("income", ("fnlwgt", "split")),
    "german_credit": ("class", ()),
    "heart_disease": ("disease", ()),
    "penguins": ("species", ()),
    "titanic": ("survived", ("name", "ticket", "cabin", "boat", "body", "home.dest")),
}
"""The target, and columns that are left out: names, and what came after."""
CATEGORIES = {"titanic": ("pclass",)}


def rows_of(name: str) -> tuple[pd.DataFrame, Array]:
    """Features and target of a table, the bundled ones by their loaders."""
    bundled: Any = getattr(datasets, name, None)
    frame = pd.read_parquet(DATA / f"{name}.parquet") if bundled is None else bundled().to_pandas()
    target, left_out = SETS[name]
    y = frame.pop(target).astype(str).to_numpy()
    frame = frame.drop(columns=[column for column in left_out if column in frame])
    for column in CATEGORIES.get(name, ()):
        frame[column] = frame[column].astype(str)
    truths = [column for column in frame if set(frame[column].dropna()) <= {True, False}]
    return frame.astype(dict.fromkeys(truths, "boolean")), y


def imputed(train: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Without holes: means of numbers, commonest levels of the others, in the training rows."""

    def filling(column: Any) -> Any:
        number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        return column.mean() if number else column.mode().iloc[0]

    return frame.fillna({name: filling(train[name]) for name in train})


def log_losses(frame: pd.DataFrame, y: Array, seed: int) -> tuple[float, float]:
    """Marginalised and imputed, of one draw of holes and of rows to hold out."""
    rng = np.random.default_rng(seed)
    holes = frame.mask(rng.random(frame.shape) < HOLES)
    order = rng.permutation(len(y))
    train, test = order[len(y) // 3 :], order[: len(y) // 3]
    found = []
    for table in (holes, imputed(holes.iloc[train], holes)):
        model = NaiveBayes().fit(table.iloc[train], y[train])
        codes = np.searchsorted(model.classes_, y[test])
        found.append(float(Log()(codes, model.predict_proba(table.iloc[test])).mean()))
    return found[0], found[1]


def main(seeds: int) -> None:
    """Print a line for each table."""
    grid = Grid(title=f"log loss with {100 * HOLES:g} % of cells missing, {seeds} seeds")
    for heading in ("table", "rows", "columns", "marginalised", "imputed", "difference", "error"):
        grid.add_column(heading, justify="left" if heading == "table" else "right")
    for name in SETS:
        frame, y = rows_of(name)
        losses = np.array([log_losses(frame, y, seed) for seed in range(seeds)])
        more = losses[:, 1] - losses[:, 0]
        error = more.std(ddof=1) / np.sqrt(seeds)
        numbers = (*losses.mean(axis=0), more.mean(), error)
        size = (f"{len(y):,}", str(frame.shape[1]))
        grid.add_row(name, *size, *(f"{number:.4f}" for number in numbers))
    Console(width=100).print(grid)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
