"""The lasso beside scikit-learn and, where it is installed, celer."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn.linear_model as peers
from sklearn.model_selection import KFold

from benchmarks.case import Call, Case, Quality, Target, benchmark
from empirisk import Lasso, Tuned
from empirisk.runtime.arrays import Floats

GAP = 1e-6  # relative to |y|^2, for everybody


def sparse_data(n: int, p: int, active: int) -> tuple[Floats, Floats]:
    """Columns of which neighbours correlate by 1/2, a few true coefficients, noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((p, n))
    for j in range(1, p):
        X[j] = 0.5 * X[j - 1] + np.sqrt(0.75) * X[j]
    coef = np.zeros(p)
    coef[rng.choice(p, active, replace=False)] = rng.standard_normal(active)
    signal = coef @ X
    return np.ascontiguousarray(X.T), signal + 0.5 * np.std(signal) * rng.standard_normal(n)


def path_case(n: int, p: int, least: float, *, gram: bool) -> Case:
    X, y = sparse_data(n, p, min(n, p) // 10)
    X -= X.mean(axis=0)
    y -= y.mean()
    alphas = np.abs(X.T @ y).max() / n * np.geomspace(1, least, 100)
    columnwise = np.asfortranarray(X)

    def scikit() -> Floats:
        return peers.lasso_path(
            columnwise, y, alphas=alphas, tol=GAP, max_iter=100_000, precompute=gram
        )[1].T

    others: dict[str, Call] = {"scikit-learn lasso_path": scikit}
    if find_spec("celer"):
        from celer import celer_path

        others["celer_path"] = lambda: (
            celer_path(columnwise, y, "lasso", alphas=alphas, tol=GAP, max_iter=1000)[1].T
        )

    def objective(coef: Floats) -> Floats:
        residual = y[:, np.newaxis] - X @ coef.T
        return (residual**2).sum(axis=0) / (2 * n) + alphas * np.abs(coef).sum(axis=1)

    def behind(ours: Any, peer: Floats) -> float:
        return float((objective(ours.coef[:, 0]) - objective(peer)).max() / (y @ y / n))

    learner = Lasso(fit_intercept=False, tol=GAP)
    return Case(
        size=f"{n:,} x {p:,}, 100 penalties",
        ours=lambda: learner.path(X, y, values=alphas),
        peers=others,
        quality=Quality("our objective less theirs, relative to |y|^2 / n", GAP, behind),
    )


@benchmark("lasso_wide", target=Target(ratio=2), peer_repeats=1)
def lasso_wide(quick: bool) -> Case:
    """Lasso path at 1,000 x 10,000, down to a hundredth (glmnet's grid for p > n)."""
    return path_case(*((60, 2500) if quick else (1_000, 10_000)), 1e-2, gram=False)


@benchmark("lasso_tall", target=Target(ratio=1.5), peer_repeats=1)
def lasso_tall(quick: bool) -> Case:
    """Lasso path at 100,000 x 500, down to a thousandth; scikit-learn with the Gram matrix."""
    return path_case(*((500, 20) if quick else (100_000, 500)), 1e-3, gram=True)


@benchmark("lasso_kfold", target=Target(ratio=10), peer_repeats=1)
def lasso_kfold(quick: bool) -> Case:
    """10-fold cross-validated path at 100,000 x 200 beside LassoCV."""
    n, p = (1_000, 10) if quick else (100_000, 200)
    X, y = sparse_data(n, p, p // 10)
    alphas = np.abs((X - X.mean(axis=0)).T @ y).max() / n * np.geomspace(1, 1e-3, 100)
    folds = KFold(10)  # equal folds: the mean over folds is the mean over rows

    def risks(peer: Any) -> Floats:
        return np.asarray(peer.mse_path_.mean(axis=1))

    return Case(
        size=f"{n:,} x {p}, 10 folds, 100 penalties",
        ours=lambda: Tuned(Lasso(), values=alphas, cv=folds).fit(X, y),
        peers={
            "scikit-learn LassoCV": lambda: peers.LassoCV(alphas=alphas, cv=folds, tol=GAP).fit(
                X, y
            )
        },
        quality=Quality(
            "relative difference of risks",
            1e-4,  # a gap of 1e-6 |y|^2 allows a change of the fit by 1e-3 |y|
            lambda ours, peer: float(np.max(np.abs(ours.path_.risk / risks(peer) - 1))),
        ),
    )
