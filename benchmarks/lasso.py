"""The lasso beside scikit-learn and, where it is installed, celer.

Everybody may use two threads unless said otherwise, is given the same array (rows that lie together
in memory), and goes
to a duality gap of 1e-6 |y|^2.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn.linear_model as peers
from sklearn.model_selection import KFold

from benchmarks.case import Build, Case, Quality, Target, benchmark
from empirisk import Lasso, Tuned
from empirisk.runtime.arrays import Floats

GAP = 1e-6
HUNDREDTH, THOUSANDTH = 1e-2, 1e-3  # the last penalty: glmnet's for p > n, and scikit-learn's


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


Peer = Callable[[Floats, Floats, Floats], Floats]
"""From rows as they lie in NumPy's memory, y and penalties to coefficients (penalties, p)."""


def scikit(X: Floats, y: Floats, alphas: Floats) -> Floats:
    return peers.lasso_path(X, y, alphas=alphas, tol=GAP, max_iter=100_000, precompute=False)[1].T


def scikit_with_gram(X: Floats, y: Floats, alphas: Floats) -> Floats:
    return peers.lasso_path(X, y, alphas=alphas, tol=GAP, max_iter=100_000, precompute=True)[1].T


def celer(X: Floats, y: Floats, alphas: Floats) -> Floats:
    from celer import celer_path

    return celer_path(X, y, "lasso", alphas=alphas, tol=GAP, max_iter=1000)[1].T


def path_case(n: int, p: int, least: float, peer: Peer, name: str) -> Case:
    X, y = sparse_data(n, p, min(n, p) // 10)
    X -= X.mean(axis=0)
    y -= y.mean()
    alphas = np.abs(X.T @ y).max() / n * np.geomspace(1, least, 100)

    def objective(coef: Floats) -> Floats:
        residual = y[:, np.newaxis] - X @ coef.T
        return (residual**2).sum(axis=0) / (2 * n) + alphas * np.abs(coef).sum(axis=1)

    def behind(ours: Any, theirs: Floats) -> float:
        return float((objective(ours.coef[:, 0]) - objective(theirs)).max() / (y @ y / n))

    learner = Lasso(fit_intercept=False, tol=GAP, n_jobs=2)
    return Case(
        size=f"{n:,} x {p:,}, 100 penalties",
        ours=lambda: learner.path(X, y, values=alphas),
        peers={name: lambda: peer(X, y, alphas)},
        quality=Quality("our objective less theirs, relative to |y|^2 / n", GAP, behind),
    )


def where_celer_is(name: str, target: Target) -> Callable[[Build], Build]:
    """Enter a benchmark if its only peer is installed."""
    if find_spec("celer"):
        return benchmark(name, target=target, peer_repeats=1)
    return lambda build: build


def wide(quick: bool) -> tuple[int, int]:
    return (60, 2500) if quick else (1_000, 10_000)


def tall(quick: bool) -> tuple[int, int]:
    return (500, 20) if quick else (100_000, 500)


@benchmark("lasso_wide", target=Target(ratio=4), peer_repeats=1)
def lasso_wide(quick: bool) -> Case:
    """Lasso path at 1,000 x 10,000, down to a hundredth, beside scikit-learn."""
    return path_case(*wide(quick), HUNDREDTH, scikit, "scikit-learn lasso_path")


@where_celer_is("lasso_wide_celer", Target(ratio=2))
def lasso_wide_celer(quick: bool) -> Case:
    """Lasso path at 1,000 x 10,000, down to a hundredth, beside celer."""
    return path_case(*wide(quick), HUNDREDTH, celer, "celer_path")


@where_celer_is("lasso_wide_deep", Target(ratio=2))
def lasso_wide_deep(quick: bool) -> Case:
    """Lasso path at 1,000 x 10,000, down to a thousandth, beside celer."""
    return path_case(*wide(quick), THOUSANDTH, celer, "celer_path")


@benchmark("lasso_tall", target=Target(ratio=1.5), peer_repeats=3)
def lasso_tall(quick: bool) -> Case:
    """Lasso path at 100,000 x 500, down to a thousandth, beside scikit-learn with a Gram matrix."""
    return path_case(*tall(quick), THOUSANDTH, scikit_with_gram, "scikit-learn lasso_path")


@where_celer_is("lasso_tall_celer", Target(ratio=5))
def lasso_tall_celer(quick: bool) -> Case:
    """Lasso path at 100,000 x 500, down to a thousandth, beside celer."""
    return path_case(*tall(quick), THOUSANDTH, celer, "celer_path")


@benchmark("lasso_kfold", target=Target(ratio=10), peer_repeats=3)
def lasso_kfold(quick: bool) -> Case:
    """10-fold cross-validated path at 100,000 x 200 beside LassoCV, one thread each."""
    return kfold_case(quick, n_jobs=1, peer_threads=(1,))


@benchmark("lasso_kfold_jobs", target=Target(ratio=10), peer_repeats=3)
def lasso_kfold_jobs(quick: bool) -> Case:
    """The same with two jobs each."""
    return kfold_case(quick, n_jobs=2, peer_threads=(1, 2))


def kfold_case(quick: bool, n_jobs: int, peer_threads: tuple[int, ...]) -> Case:
    n, p = (1_000, 10) if quick else (100_000, 200)
    X, y = sparse_data(n, p, p // 10)
    alphas = np.abs((X - X.mean(axis=0)).T @ y).max() / n * np.geomspace(1, THOUSANDTH, 100)
    folds = KFold(10)  # equal folds: the mean over folds is the mean over rows
    peer = peers.LassoCV(alphas=alphas, cv=folds, tol=GAP, n_jobs=n_jobs)
    learner = Tuned(Lasso(n_jobs=n_jobs), values=alphas, cv=folds, n_jobs=n_jobs)

    def behind(ours: Any, theirs: Any) -> float:
        return float(np.max(np.abs(ours.path_.risk / theirs.mse_path_.mean(axis=1) - 1)))

    return Case(
        size=f"{n:,} x {p}, 10 folds, 100 penalties",
        ours=lambda: learner.fit(X, y),
        peers={"scikit-learn LassoCV": lambda: peer.fit(X, y)},
        peer_threads=peer_threads,
        quality=Quality(
            "relative difference of risks",
            1e-4,  # a gap of 1e-6 |y|^2 allows a change of the fit by 1e-3 |y|
            behind,
        ),
    )
