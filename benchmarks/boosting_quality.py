"""Do our boosted trees predict as well as others'? `python -m benchmarks.boosting_quality [SEEDS]`.

Ten real data sets; for each seed a third of the rows is held out, and LightGBM, XGBoost,
scikit-learn and we fit 100 trees of up to 31 leaves to the others, at the same rate, bins and rows
in a leaf (XGBoost limits their curvature instead). What is printed is the mean squared error or log
loss, and the mean difference from the best of the three, ours less theirs, in units of its standard
error over the seeds: chance gives numbers within 2 or 3 of 0, and negative ones are ours.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.ensemble as peers
from rich.console import Console
from rich.table import Table as Grid

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor, read_table
from empirisk.runtime.arrays import Array, Floats

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MOST_ROWS = 12_000
LEAST = 1e-15  # of a probability, as in scikit-learn's log loss
SETS = {
    "adult": ("income", ("split",)),
    "covertype": ("Cover_Type", ()),
    "german_credit": ("class", ()),
    "higgs_sample": ("label", ()),
    "mlbench_vehicle": ("Class", ()),
    "wdbc": ("Diagnosis", ("ID",)),
    "bike_sharing_hour": ("cnt", ("instant", "dteday", "casual", "registered")),
    "california_housing": ("medianHouseValue", ()),
    "diamonds": ("price", ()),
    "wine_quality": ("quality", ("color",)),
}
"""The target, and columns that are left out."""
REGRESSION = ("bike_sharing_hour", "california_housing", "diamonds", "wine_quality")
NAMES = ("ours", "scikit-learn", "LightGBM", "XGBoost")


def rows_of(name: str) -> tuple[pd.DataFrame, Array]:
    """Features and target; of a large set, rows at random."""
    table = read_table(DATA / f"{name}.parquet")
    target, left_out = SETS[name]
    columns = {
        c: pd.Categorical(table[c].values())
        if table[c].kind == "category"
        else table[c].numbers().astype(float)
        for c in table.names
        if c not in (target, *left_out)
    }
    if name not in REGRESSION:
        y = np.unique(np.asarray(table[target].values()), return_inverse=True)[1]
    else:
        y = table[target].numbers().astype(float)
        y = y if name == "wine_quality" else np.log1p(y)
    kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return pd.DataFrame(columns).iloc[kept].reset_index(drop=True), y[kept]


def learners(regression: bool, seed: int) -> list[Any]:
    """The four, at the same settings."""
    import lightgbm
    import xgboost

    shared: dict[str, Any] = {"learning_rate": 0.1, "random_state": seed}
    mine: Any = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    theirs = (
        peers.HistGradientBoostingRegressor if regression else peers.HistGradientBoostingClassifier
    )
    light = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    extreme = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
    return [
        mine(early_stopping=False, n_jobs=2, **shared),
        theirs(early_stopping=False, **shared),
        light(n_estimators=100, n_jobs=2, verbose=-1, **shared),
        extreme(
            n_estimators=100, max_depth=0, max_leaves=31, grow_policy="lossguide", reg_lambda=0.0,
            min_child_weight=20.0 if regression else 1.0, tree_method="hist", n_jobs=2,
            enable_categorical=True, **shared,
        ),
    ]  # fmt: skip


def loss(model: Any, X: pd.DataFrame, y: Array) -> float:
    """The mean squared error, or the log loss."""
    if y.dtype.kind == "f":
        return float(np.mean((model.predict(X) - y) ** 2))
    own = model.predict_proba(X)[np.arange(len(y)), y]
    return float(-np.log(np.maximum(own, LEAST)).mean())


def compare(name: str, seeds: int) -> Floats:
    """The losses (seeds, learners)."""
    X, y = rows_of(name)
    found = []
    for seed in range(seeds):
        new = np.random.default_rng(seed).permutation(len(y)) < len(y) // 3
        models = learners(name in REGRESSION, seed)
        found.append([loss(model.fit(X[~new], y[~new]), X[new], y[new]) for model in models])
    return np.array(found)


def main(seeds: int = 10, *names: str) -> None:
    """Print a line for each data set."""
    grid = Grid("data", "loss", *NAMES, "standard errors apart", title=f"{seeds} seeds")
    for name in names or SETS:
        losses = compare(name, seeds)
        best = losses[:, 1:].mean(axis=0).argmin()
        difference = losses[:, 0] - losses[:, 1 + best]
        apart = difference.mean() / (difference.std(ddof=1) / np.sqrt(seeds))
        word = "squared" if name in REGRESSION else "log"
        means = [f"{value:.5g}" for value in losses.mean(axis=0)]
        grid.add_row(name, word, *means, f"{apart:+.1f} ({NAMES[1 + best]})")
    Console(width=110).print(grid)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, *sys.argv[2:])
