"""Naive Bayes in plain loops, and a mixed table to try it on."""

import math

import numpy as np
import pandas as pd
from scipy import stats

KINDS = {
    "size": "gaussian",
    "tight": "gaussian",
    "word": "categorical",
    "truth": "bernoulli",
    "visits": "poisson",
    ("apples", "pears", "plums"): "multinomial",
}
ASKED = {"visits": "poisson", ("apples", "pears", "plums"): "multinomial"}
LABELS = np.array(["a", "b", "c"])


def mixed_table(n=120, holes=0.2, seed=0):
    """Columns of all kinds with missing cells, three classes; `tight` is constant in class a."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "tight": np.where(y == 0, 1.0, rng.normal(size=n)),
            "word": rng.choice(list("pqrstuv"), n, p=[0.3, 0.3, 0.15, 0.1, 0.08, 0.04, 0.03]),
            "truth": pd.array(rng.random(n) < 0.2 + 0.2 * y, dtype="boolean"),
            "visits": rng.poisson(0.5 + y),
            "apples": rng.poisson(1 + y),
            "pears": rng.poisson(3 - y),
            "plums": rng.poisson(1, n),
        }
    )
    for name in table:
        table[name] = table[name].mask(rng.random(n) < holes)
    return table, LABELS[y]


def log_density(kind, train, y, weight, k, cell, alpha, ddof, floor):
    """log g_k(cell) of one column: its distribution learned from the cells that are there."""
    there = [i for i in range(len(train)) if not pd.isna(train[i])]
    own = [i for i in there if y[i] == k]
    n = sum(weight[i] for i in own)
    if kind == "gaussian":
        mean = sum(weight[i] * train[i] for i in own) / n
        variance = sum(weight[i] * (train[i] - mean) ** 2 for i in own) / (n - ddof)
        total = sum(weight[i] for i in there)
        middle = sum(weight[i] * train[i] for i in there) / total
        spread = sum(weight[i] * (train[i] - middle) ** 2 for i in there) / total
        return stats.norm(mean, math.sqrt(max(variance, floor * spread))).logpdf(cell)
    if kind == "poisson":
        middle = sum(weight[i] * train[i] for i in there) / sum(weight[i] for i in there)
        rate = (sum(weight[i] * train[i] for i in own) + alpha * middle) / (n + alpha)
        return stats.poisson(rate).logpmf(cell)
    levels = {False, True} if kind == "bernoulli" else {train[i] for i in there}
    if cell not in levels:
        return 0.0
    count = sum(weight[i] for i in own if train[i] == cell)
    share = (count + alpha) / (n + alpha * len(levels))
    return math.log(share) if share > 0 else -math.inf


def multinomial_log_density(train, y, weight, k, cells, alpha):
    """Of counts that belong together; those that are there are a multinomial of their own."""
    means, weights = [], []
    for column in train:
        own = [i for i in range(len(y)) if y[i] == k and not pd.isna(column[i])]
        weights.append(sum(weight[i] for i in own))
        means.append(sum(weight[i] * column[i] for i in own) / weights[-1])
    counts = [mean * max(weights) + alpha for mean in means]
    there = [c for c in range(len(cells)) if not pd.isna(cells[c])]
    known = sum(counts[c] for c in there)
    if any(counts[c] == 0 and cells[c] > 0 for c in there):
        return -math.inf
    return sum(cells[c] * math.log(counts[c] / known) for c in there if cells[c] > 0)


def posterior(table, y, row, *, kinds=KINDS, weight=None, alpha=1.0, ddof=0, floor=1e-9):
    """The probabilities of the classes of one row, a dict of cells."""
    weight = np.ones(len(y)) if weight is None else weight
    labels = sorted(set(y))
    f = []
    for k in labels:
        total = math.log(sum(weight[i] for i in range(len(y)) if y[i] == k) / weight.sum())
        for names, kind in kinds.items():
            if kind == "multinomial":
                columns = [table[name].tolist() for name in names]
                cells = [row[name] for name in names]
                total += multinomial_log_density(columns, y, weight, k, cells, alpha)
            elif not pd.isna(row[names]):
                cell, column = row[names], table[names].tolist()
                total += log_density(kind, column, y, weight, k, cell, alpha, ddof, floor)
        f.append(total)
    odds = np.exp(np.array(f) - max(f))
    return odds / odds.sum()
