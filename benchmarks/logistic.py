"""Logistic regression beside scikit-learn's solvers, at the same objective, and at its defaults."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.linear_model as peers

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import LogisticRegression
from empirisk.runtime.arrays import Floats, Ints

TIGHT = {"lbfgs": 1e-7, "newton-cholesky": 1e-8}
"""Tolerances at which scikit-learn's objective agrees with ours to ten digits."""


def classification_data(n: int, p: int, n_classes: int) -> tuple[Floats, Ints]:
    """Features of different spread and mean, and classes by a softmax of linear scores."""
    rng = np.random.default_rng(0)
    spread = np.geomspace(0.3, 3.0, p)
    X = rng.standard_normal((n, p)) * spread + rng.uniform(-1.0, 1.0, p)
    scores = X @ (rng.standard_normal((n_classes, p)) / spread * (2 / np.sqrt(p))).T
    scores -= scores.mean(axis=0)
    return X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


def objective(model: Any, X: Floats, y: Ints) -> float:
    """The sum of log losses and the L2 penalty at C = 1."""
    own = model.predict_log_proba(X)[np.arange(len(y)), y]
    return float(0.5 * (model.coef_**2).sum() - own.sum())


def case(n: int, p: int, n_classes: int, solvers: tuple[str, ...]) -> Case:
    X, y = classification_data(n, p, n_classes)

    def fit(**parameters: Any) -> Callable[[], Any]:
        peer = peers.LogisticRegression(**parameters)
        return lambda: peer.fit(X, y)

    tight = {
        f"scikit-learn {solver}": fit(solver=solver, tol=TIGHT[solver], max_iter=10_000)
        for solver in solvers
    }

    return Case(
        size=f"{n:,} x {p}, {n_classes} classes",
        ours=lambda: LogisticRegression().fit(X, y),
        peers=tight | {"scikit-learn at defaults": fit()},
        quality=Quality(
            "objective above the peer's, relative",
            1e-12,  # sums of 200,000 terms
            lambda ours, peer: objective(ours, X, y) / objective(peer, X, y) - 1,
        ),
    )


@benchmark("logistic_binary", target=Target(ratio=1.3))
def logistic_binary(quick: bool) -> Case:
    """Two classes at 200,000 x 50 beside scikit-learn's Newton and L-BFGS."""
    n, p = (5_000, 10) if quick else (200_000, 50)
    return case(n, p, 2, ("newton-cholesky", "lbfgs"))


@benchmark("logistic_softmax", target=Target(ratio=1.3), peer_repeats=1)
def logistic_softmax(quick: bool) -> Case:
    """Ten classes at 200,000 x 50 beside scikit-learn's L-BFGS."""
    n, p, n_classes = (3_000, 5, 3) if quick else (200_000, 50, 10)
    return case(n, p, n_classes, ("lbfgs",))


@benchmark("logistic_wide", target=Target(ratio=1.0), peer_repeats=1)
def logistic_wide(quick: bool) -> Case:
    """Two classes at 20,000 x 2,000 beside scikit-learn's L-BFGS."""
    n, p = (500, 50) if quick else (20_000, 2_000)
    return case(n, p, 2, ("lbfgs",))
