"""Mixed tables: ridge behind an encoder beside a scikit-learn pipeline."""

from typing import Any

import numpy as np
import pandas as pd
import sklearn.linear_model as peers
from sklearn.compose import make_column_transformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.linear import relative_difference
from empirisk import Encoder, Ridge, Tuned
from empirisk.runtime.arrays import Floats

NUMBERS, CATEGORIES = 12, 6


def mixed_data(n: int) -> tuple[pd.DataFrame, Floats]:
    """Numbers, a third of them with holes, and categories of two to seven levels."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    y = rng.standard_normal(n)
    for j in range(NUMBERS):
        values = rng.standard_normal(n) * (j + 1) + j
        y += values / (j + 1) * rng.standard_normal()
        if j % 3 == 0:
            values[rng.random(n) < 0.1] = np.nan
        columns[f"number {j}"] = values
    for j in range(CATEGORIES):
        share = np.arange(j + 2, 0, -1.0)
        codes = rng.choice(j + 2, size=n, p=share / share.sum())
        y += rng.standard_normal(j + 2)[codes]
        columns[f"category {j}"] = pd.Categorical.from_codes(codes, list("abcdefg"[: j + 2]))
    return pd.DataFrame(columns), y


@benchmark("ridge_kfold_encoded", target=Target(ratio=20), peer_repeats=1)
def ridge_kfold_encoded(quick: bool) -> Case:
    """10 folds, 100 penalties, a mixed table of 100,000 rows, beside GridSearchCV on a pipeline."""
    n, penalties = (2_000, 5) if quick else (100_000, 100)
    X, y = mixed_data(n)
    alphas = np.geomspace(1e-1, 1e5, penalties)
    folds = KFold(10)
    numbers = [name for name in X if name.startswith("number")]
    holes = [name for name in numbers if X[name].isna().any()]
    categories = [name for name in X if name.startswith("category")]

    def grid_search() -> GridSearchCV:
        encoder = make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (MissingIndicator(), holes),
            (OneHotEncoder(drop="first"), categories),  # "a" is the most frequent level
        )
        model = make_pipeline(encoder, peers.Ridge())
        scoring = "neg_mean_squared_error"
        return GridSearchCV(model, {"ridge__alpha": alphas}, scoring=scoring, cv=folds).fit(X, y)

    return Case(
        size=f"{n:,} x {X.shape[1]}, 10 folds, {penalties} penalties",
        ours=lambda: Tuned(make_pipeline(Encoder(), Ridge()), values=alphas, cv=folds).fit(X, y),
        peers={"scikit-learn GridSearchCV": grid_search},
        quality=Quality(
            "relative difference of risks",
            1e-8,  # the same encoding and the same normal equations, condition number below 1e2
            lambda ours, peer: relative_difference(
                ours.path_.risk, -peer.cv_results_["mean_test_score"]
            ),
        ),
        peer_threads=(2,),  # a run of the peer takes five minutes
    )
