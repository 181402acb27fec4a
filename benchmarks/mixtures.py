"""Gaussian mixtures beside scikit-learn's: the same steps from the same start."""

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import sklearn.mixture as peers

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import GaussianMixture
from empirisk.runtime.arrays import Floats

STEPS = 10


def groups(n: int, p: int, K: int) -> Floats:
    """Rows of K overlapping Gaussians of different shapes."""
    rng = np.random.default_rng(0)
    centres = 2.0 * rng.normal(size=(K, p))
    shapes = np.eye(p) + 0.3 * rng.normal(size=(K, p, p))
    label, noise = rng.integers(K, size=n), rng.normal(size=(n, p))
    rows = np.empty((n, p))
    for k in range(K):
        here = label == k
        rows[here] = centres[k] + noise[here] @ shapes[k]
    return rows


def same_steps(n: int, p: int, K: int, covariance_type: str) -> Case:
    """Both begin at the same rows with covariances of the identity, and take as many steps."""
    X = groups(n, p, K)
    start = X[np.random.default_rng(1).permutation(n)[:K]]
    identity: Any = {"full": np.array([np.eye(p)] * K), "diag": np.ones((K, p))}[covariance_type]
    given: dict[str, Any] = {
        "n_components": K,
        "covariance_type": covariance_type,
        "weights_init": np.full(K, 1 / K),
        "means_init": start,
        "precisions_init": identity,
        "max_iter": STEPS,
        "tol": 0.0,
        "reg_covar": 0.0,
    }

    def theirs() -> float:
        with catch_warnings():
            simplefilter("ignore")  # it has not converged, by design
            return float(peers.GaussianMixture(**given).fit(X).lower_bound_)

    return Case(
        size=f"{n:,} x {p}, {K} components, {covariance_type}, {STEPS} steps",
        ours=lambda: GaussianMixture(**given, n_jobs=2).fit(X).lower_bound_,
        peers={"scikit-learn": theirs},
        quality=Quality(
            "share by which the log-likelihood differs", 1e-9, lambda a, b: abs(a - b) / abs(b)
        ),
    )


@benchmark("gaussian_mixture", target=Target(ratio=5), peer_repeats=2)
def gaussian_mixture(quick: bool) -> Case:
    """Ten steps of EM, 200,000 x 10, 10 components with full covariances."""
    return same_steps(2_000 if quick else 200_000, 10, 10, "full")


@benchmark("diagonal_mixture", target=Target(ratio=3), peer_repeats=2)
def diagonal_mixture(quick: bool) -> Case:
    """Ten steps of EM, 200,000 x 10, 10 components with independent features."""
    return same_steps(2_000 if quick else 200_000, 10, 10, "diag")
