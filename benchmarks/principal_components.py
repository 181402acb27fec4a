"""PCA beside scikit-learn: many rows, many columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.decomposition as peers

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import PCA
from empirisk.runtime.arrays import Floats

KEPT = 10


def factors(n: int, p: int, offset: float = 0.0) -> Floats:
    """Rows of twelve factors of falling size in noise of one variance."""
    rng = np.random.default_rng(0)
    size = np.linspace(4, 1, 12)
    X = (rng.standard_normal((n, 12)) * size) @ rng.standard_normal((12, p))
    X += rng.standard_normal((n, p))
    X += offset
    return X


def falling(n: int, p: int) -> Floats:
    """Rows with eigenvalues that fall as 1/k, and no gap between those kept and the others."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, n)) / np.sqrt(np.arange(1, n + 1)) @ rng.standard_normal((n, p))


def peer(X: Floats, solver: str) -> Callable[[], Any]:
    """The fit of scikit-learn's PCA by one of its solvers."""
    return lambda: peers.PCA(KEPT, svd_solver=solver, random_state=0).fit(X)


def apart(ours: Any, other: Any) -> float:
    """The largest difference of axes, and of variances relative to them."""
    axes = np.abs(ours.components_ - other.components_).max()
    variance = np.abs(ours.explained_variance_ / other.explained_variance_ - 1).max()
    return float(max(axes, variance))


EQUAL = Quality(
    "largest difference of axes, and of variances in their own size",
    1e-10,  # double precision, and gaps of a tenth between eigenvalues
    apart,
)


@benchmark("pca_tall", target=Target(ratio=1.2))
def pca_tall(quick: bool) -> Case:
    """PCA of 1,000,000 x 50, ten components, beside scikit-learn's best solver."""
    n, p = (5_000, 20) if quick else (1_000_000, 50)
    X = factors(n, p)
    return Case(
        size=f"{n:,} x {p}, {KEPT} components",
        ours=lambda: PCA(KEPT, n_jobs=2).fit(X),
        peers={
            f"scikit-learn, {solver}": peer(X, solver) for solver in ("covariance_eigh", "arpack")
        },
        quality=EQUAL,
    )


@benchmark("pca_tall_offset")
def pca_tall_offset(quick: bool) -> Case:
    """The same with means of 1,000, where squares about zero would lose digits."""
    n, p = (5_000, 20) if quick else (1_000_000, 50)
    X = factors(n, p, offset=1000.0)
    return Case(
        size=f"{n:,} x {p}, {KEPT} components",
        ours=lambda: PCA(KEPT, n_jobs=2).fit(X),
        peers={"scikit-learn, covariance_eigh": peer(X, "covariance_eigh")},
        quality=Quality(EQUAL.what, 1e-8, apart),  # the peer's digits, which the offset costs
    )


def wide(X: Floats) -> Case:
    """Ten components of more columns than rows, beside scikit-learn's exact solvers."""
    n, p = X.shape
    return Case(
        size=f"{n:,} x {p:,}, {KEPT} components",
        ours=lambda: PCA(KEPT, n_jobs=2).fit(X),
        peers={f"scikit-learn, {solver}": peer(X, solver) for solver in ("arpack", "full")},
        quality=EQUAL,
    )


@benchmark("pca_wide", target=Target(ratio=3), peer_repeats=2)
def pca_wide(quick: bool) -> Case:
    """PCA of 500 x 20,000, ten components, beside scikit-learn's best exact solver."""
    return wide(falling(50, 500) if quick else falling(500, 20_000))


@benchmark("pca_wide_gap", peer_repeats=2)
def pca_wide_gap(quick: bool) -> Case:
    """The same of twelve large eigenvalues and many small ones, which iterations like best."""
    return wide(factors(50, 500) if quick else factors(500, 20_000))


@benchmark("pca_wide_all", target=Target(ratio=3), peer_repeats=2)
def pca_wide_all(quick: bool) -> Case:
    """PCA of 500 x 20,000, 90 % of the variance, which takes all components to find."""
    n, p = (50, 500) if quick else (500, 20_000)
    X = factors(n, p)
    return Case(
        size=f"{n:,} x {p:,}, 90 % of the variance",
        ours=lambda: PCA(0.9, n_jobs=2).fit(X),
        peers={"scikit-learn, full": lambda: peers.PCA(0.9, svd_solver="full").fit(X)},
        quality=EQUAL,
    )
