"""Slow and obvious boosting, by the formulas of the papers: shares no code with the library."""

import numpy as np

from tolerances import SOLVED


def l2_boost_columns(X, y, rounds, rate, weight=None):
    """Componentwise L2-boosting with its hat matrices (Buehlmann & Hothorn 2007, section 5.3).

    Weights are copies. Returns coefficients and intercepts after 0, 1, ... rounds, the columns,
    the traces of the hat matrices and the corrected AIC.
    """
    copies = np.repeat(np.arange(len(y)), np.ones(len(y), int) if weight is None else weight)
    X, y = X[copies], y[copies]
    n, p = X.shape
    centred = X - X.mean(axis=0)
    hats = [np.outer(x, x) / (x @ x) for x in centred.T]
    fit, B = np.full(n, y.mean()), np.full((n, n), 1.0 / n)
    coef, selected = np.zeros(p), []
    path, traces, squares = [coef.copy()], [np.trace(B)], [((y - fit) ** 2).mean()]
    for _ in range(rounds):
        residual = y - fit
        left = [((residual - H @ residual) ** 2).sum() for H in hats]
        j = int(np.argmin(left))
        x = centred[:, j]
        coef[j] += rate * (x @ residual) / (x @ x)
        fit = fit + rate * hats[j] @ residual
        B = B + rate * hats[j] @ (np.eye(n) - B)
        np.testing.assert_allclose(B @ y, fit, rtol=SOLVED)
        selected.append(j)
        path.append(coef.copy())
        traces.append(np.trace(B))
        squares.append(((y - fit) ** 2).mean())
    path, df = np.array(path), np.array(traces)
    aicc = np.log(squares) + (1 + df / n) / (1 - (df + 2) / n)
    return path, y.mean() - path @ X.mean(axis=0), np.array(selected), df, aicc


class Stump:
    """The split x_j <= s with the least weighted sum of squares, all of them tried."""

    def fit(self, X, y, sample_weight):
        best = np.inf
        for j in range(X.shape[1]):
            values = np.unique(X[:, j])
            for s in (values[1:] + values[:-1]) / 2:
                left = X[:, j] <= s
                means = [np.average(y[side], weights=sample_weight[side]) for side in (left, ~left)]
                cost = (sample_weight * (y - np.where(left, *means)) ** 2).sum()
                if cost < best * (1 - 1e-12):
                    best, self.j, self.s, self.means = cost, j, s, means
        return self

    def predict(self, X):
        return np.where(X[:, self.j] <= self.s, *self.means)


def logit_boost_two(X, y, rounds, z_max, weight=None, weak=Stump, rate=1.0):
    """Friedman, Hastie & Tibshirani (2000), Algorithm 3; y is 0 or 1. p of all rounds."""
    weight = np.ones(len(y)) if weight is None else weight
    F, found = np.zeros(len(y)), []
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-2 * F))
        w = weight * p * (1 - p)
        z = np.where(y == 1, np.minimum(1 / p, z_max), -np.minimum(1 / (1 - p), z_max))
        f = weak().fit(X, z, sample_weight=w).predict(X)
        F = F + rate * f / 2
        found.append(1 / (1 + np.exp(-2 * F)))
    return np.array(found)


def logit_boost_many(X, y, rounds, z_max, weight=None, weak=Stump, rate=1.0):
    """Algorithm 6 there; y are codes. (rounds, rows, classes) of scores and of probabilities."""
    weight = np.ones(len(y)) if weight is None else weight
    K = y.max() + 1
    F, scores, found = np.zeros((len(y), K)), [], []
    for _ in range(rounds):
        p = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
        f = np.empty_like(F)
        for k in range(K):
            z = np.where(
                y == k, np.minimum(1 / p[:, k], z_max), -np.minimum(1 / (1 - p[:, k]), z_max)
            )
            w = weight * p[:, k] * (1 - p[:, k])
            f[:, k] = weak().fit(X, z, sample_weight=w).predict(X)
        F = F + rate * (K - 1) / K * (f - f.mean(axis=1, keepdims=True))
        scores.append(F)
        found.append(np.exp(F) / np.exp(F).sum(axis=1, keepdims=True))
    return np.array(scores), np.array(found)
