"""Permutation importance of R's ranger and randomForest; numbers by forest_importance.R.

They permute within the out-of-bag rows of each tree, and take the mean over trees: "members" here.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from empirisk import datasets
from empirisk.risk import importance

R = json.loads((Path(__file__).parent / "forest_importance.json").read_text())
MPG = ["displacement", "horsepower", "weight", "acceleration"]


def forest_and_rows(data):
    if data == "iris":
        return RandomForestClassifier(60, max_features=2), *load_iris(return_X_y=True)
    table = datasets.auto_mpg()
    columns = np.column_stack([table[name].numbers() for name in ["mpg", *MPG]])
    columns = columns[~np.isnan(columns).any(axis=1)]
    # A node of nodesize = 5 rows or fewer is not split.
    forest = RandomForestRegressor(60, max_features=2, min_samples_split=6)
    return forest, columns[:, 1:], columns[:, 0]


@pytest.mark.parametrize("data", ["iris", "mpg"])
def test_members_have_the_importance_of_ranger_and_random_forest(data):
    """Within 4 standard errors: 16 comparisons fail by chance in 1 of 1000 seeds.

    With fewer trees, and 3 permutations in all instead of one for each tree, the spread over seeds
    is taken as 2.5 times theirs.
    """
    forest, X, y = forest_and_rows(data)
    found = []
    for seed in range(3):
        forest.set_params(random_state=seed).fit(X, y)
        found.append(importance(forest, X, y, how="members", n_repeats=3, random_state=seed).values)
    ours = np.mean(found, axis=0)
    for system in ("ranger", "random_forest"):
        theirs = R[f"{data}_{system}"]
        mean, spread = np.array(theirs["mean"]), np.array(theirs["sd"])
        error = spread * np.hypot(2.5 / np.sqrt(3), 1 / np.sqrt(R["seeds"]))
        assert (np.abs(ours - mean) < 4 * error).all(), (ours, mean)
    assert (ours > 0).all()
