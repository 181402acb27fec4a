"""Rows on which forests are grown."""

import numpy as np
import pandas as pd


def regression(n=300, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) ** 2 + np.sin(2 * np.nan_to_num(X[:, 1]))
    return X, signal + 0.3 * rng.normal(size=n)


def classes(n=300, K=3, seed=0):
    X, y = regression(n, seed=seed)
    return X, np.array(list("abcdefgh"))[np.digitize(y, np.quantile(y, np.arange(1, K) / K))]


def frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X, y = regression(n, 3, seed)
    table = pd.DataFrame(X, columns=["x", "z", "w"])
    table["level"] = pd.Categorical(rng.choice(list("pqrstuv"), n))
    return table, y + 2.0 * table["level"].isin(["p", "s"]).to_numpy()


def counts_of(forest, b, n):
    return np.bincount(forest.estimators_samples_[b], minlength=n)
