"""Do our forests predict as well as scikit-learn's? `python -m benchmarks.forest_quality [SEEDS]`.

Eight real data sets; for each seed a third of the rows is held out, and both libraries grow 100
trees on the others at the same settings. What is printed is the mean difference, ours less theirs,
in units of its standard error over the seeds: chance gives numbers within 2 or 3 of 0.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.ensemble as peers
from rich.console import Console
from rich.table import Table as Grid

from empirisk import RandomForestClassifier, RandomForestRegressor, read_table
from empirisk.runtime.arrays import Array, Floats

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TREES = 100
MOST_ROWS = 3000
SETS = {
    "wdbc": ("Diagnosis", ("ID",)),
    "mlbench_vehicle": ("Class", ()),
    "mlbench_sonar": ("Class", ()),
    "mlbench_pimaindiansdiabetes": ("diabetes", ()),
    "higgs_sample": ("label", ()),
    "boston": ("medv", ()),
    "wine_quality": ("quality", ("color",)),
    "california_housing": ("medianHouseValue", ()),
}
"""The target, and columns that are left out."""
REGRESSION = ("boston", "wine_quality", "california_housing")


def rows_of(name: str) -> tuple[Floats, Array]:
    """Features and target; of a large set, rows at random."""
    table = read_table(DATA / f"{name}.parquet")
    target, left_out = SETS[name]
    features = [c for c in table.names if c not in (target, *left_out)]
    X = np.column_stack([table[c].numbers() for c in features]).astype(float)
    column = table[target]
    y = column.numbers().astype(float) if name in REGRESSION else np.asarray(column.values())
    kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[kept], y[kept]


def losses(forest: Any, X: Floats, y: Array) -> list[float]:
    """The mean squared error; or the share of mistakes and the log loss.

    A class that no tree names has the probability of half a tree.
    """
    if y.dtype.kind == "f":
        return [float(np.mean((forest.predict(X) - y) ** 2))]
    P = forest.predict_proba(X)
    at = np.searchsorted(forest.classes_, y)
    own = np.maximum(P[np.arange(len(y)), at], 0.5 / TREES)
    return [float(np.mean(P.argmax(axis=1) != at)), float(-np.log(own).mean())]


def compare(name: str, seeds: int) -> tuple[Floats, Floats]:
    """The losses (seeds, losses) of both."""
    X, y = rows_of(name)
    kinds: tuple[Any, Any] = (RandomForestClassifier, peers.RandomForestClassifier)
    if name in REGRESSION:
        kinds = (RandomForestRegressor, peers.RandomForestRegressor)
    found = []
    for seed in range(seeds):
        new = np.random.default_rng(seed).permutation(len(y)) < len(y) // 3
        found.append(
            [
                losses(
                    kind(TREES, n_jobs=2, random_state=seed).fit(X[~new], y[~new]), X[new], y[new]
                )
                for kind in kinds
            ]
        )
    ours, theirs = np.moveaxis(np.array(found), 1, 0)
    return ours, theirs


def main(seeds: int = 30) -> None:
    """Print a line for each data set and loss."""
    grid = Grid(
        "data", "loss", "ours", "scikit-learn", "standard errors apart",
        title=f"{TREES} trees, {seeds} seeds",
    )  # fmt: skip
    for name in SETS:
        ours, theirs = compare(name, seeds)
        words = ["squared"] if name in REGRESSION else ["zero_one", "log"]
        for k, word in enumerate(words):
            difference = ours[:, k] - theirs[:, k]
            error = difference.std(ddof=1) / np.sqrt(seeds)
            apart = difference.mean() / error
            grid.add_row(
                name,
                word,
                f"{ours[:, k].mean():.5g}",
                f"{theirs[:, k].mean():.5g}",
                f"{apart:+.1f}",
            )
    Console(width=100).print(grid)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
