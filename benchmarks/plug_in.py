"""Parametric densities and rules from densities, beside SciPy and scikit-learn."""

from typing import Any

import numpy as np
from scipy import stats
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity as PeerKernels

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import DensityClassifier, KernelDensity, ParametricDensity
from empirisk.runtime.arrays import Floats, Ints


def _rows(n: int, p: int) -> Floats:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p))


@benchmark("gaussian_density", target=Target(ratio=1.0))
def gaussian_density(quick: bool) -> Case:
    """A Gaussian fitted to 500,000 x 20, and its log densities."""
    X = _rows(*((2_000, 5) if quick else (500_000, 20)))

    def peer() -> Any:
        return GaussianMixture(1, reg_covar=0.0, tol=1.0).fit(X).score_samples(X)

    return Case(
        size=f"{len(X):,} x {X.shape[1]}",
        ours=lambda: ParametricDensity().fit(X).score_samples(X),
        peers={"scikit-learn GaussianMixture(1)": peer},
        quality=Quality(
            "largest difference of log densities",
            1e-6,  # condition numbers of a random matrix of 20 columns are up to 1e4
            lambda ours, theirs: float(np.abs(ours - theirs).max()),
        ),
    )


def _family(name: str, shapes: tuple[float, ...], quick: bool) -> Case:
    n = 1_000 if quick else 100_000
    family = getattr(stats, name)
    x = family.rvs(*shapes, size=n, random_state=np.random.default_rng(0))
    fixed = {} if name == "t" else {"floc": 0.0}

    def likelihood() -> float:
        return float(family.logpdf(x, *family.fit(x, **fixed)).mean())

    def ours() -> float:
        X = x[:, None]
        return ParametricDensity(name).fit(X).score(X)

    return Case(
        size=f"{n:,} values",
        ours=ours,
        peers={"scipy.stats": likelihood},
        quality=Quality(
            "shortfall of the mean log-likelihood",
            1e-9,  # ours may be larger: SciPy stops early
            lambda own, theirs: max(0.0, theirs - own),
        ),
        peer_threads=(1,),
    )


@benchmark("weibull_fit", target=Target(ratio=1.0))
def weibull_fit(quick: bool) -> Case:
    """Weibull's family fitted to 100,000 values."""
    return _family("weibull_min", (1.5,), quick)


@benchmark("student_fit", target=Target(ratio=1.0))
def student_fit(quick: bool) -> Case:
    """Student's t with location, scale and degrees of freedom, fitted to 100,000 values."""
    return _family("t", (4.0,), quick)


@benchmark("density_classifier", target=Target(ratio=5))
def density_classifier(quick: bool) -> Case:
    """Kernel densities of 3 classes at 20,000 x 2: fit, and probabilities of 5,000 rows."""
    n, m = (600, 100) if quick else (20_000, 5_000)
    rng = np.random.default_rng(0)
    y: Ints = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + y[:, None]
    at = rng.normal(size=(m, 2)) + 1

    def peer() -> Floats:
        logs = [PeerKernels(bandwidth=0.2).fit(X[y == k]).score_samples(at) for k in range(3)]
        joint = np.column_stack(logs) + np.log(np.bincount(y) / n)
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    model = DensityClassifier(KernelDensity(bandwidth=0.2, rtol=1e-5))
    return Case(
        size=f"{n:,} x 2, 3 classes, {m:,} rows asked",
        ours=lambda: model.fit(X, y).predict_proba(at),
        peers={"scikit-learn KernelDensity for each class": peer},
        quality=Quality(
            "largest difference of probabilities",
            1e-5,  # the tolerance that was asked for
            lambda ours, theirs: float(np.abs(ours - theirs).max()),
        ),
    )
