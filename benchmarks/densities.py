"""Kernel densities to a relative error of 1e-5, fit and densities, beside scikit-learn and KDEpy.

On a grid KDEpy bins the rows and convolves by a fast Fourier transform: its error is not bounded,
and about 1e-5 of the largest density here. Bandwidths are beside R's, stored with the tests.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KernelDensity as PeerKernelDensity

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import KernelDensity, KernelRegressor, Tuned
from empirisk.runtime.arrays import Floats

try:  # a peer that is timed where it is installed
    from KDEpy import FFTKDE
except ImportError:
    FFTKDE = None

ROWS = 100_000
TARGETS = 10_000
STORED = Path(__file__).parents[1] / "tests" / "reference" / "kernel_densities.json"


def two_hills(n: int) -> Floats:
    rng = np.random.default_rng(0)
    first = int(0.6 * n)
    return np.concatenate([rng.normal(size=first), rng.normal(3, 0.5, size=n - first)])[:, None]


def ours(X: Floats, T: Floats, h: float) -> Callable[[], Floats]:
    return lambda: KernelDensity(bandwidth=h, rtol=1e-5, n_jobs=2).fit(X).score_samples(T)


def relative(found: Floats, known: Floats) -> float:
    """The largest relative difference of densities."""
    return float(np.abs(np.expm1(found - known)).max())


@benchmark("kde_line", target=Target(ratio=5), peer_repeats=1)
def kde_line(quick: bool) -> Case:
    """Density on a line to 1e-5, 100,000 rows, 10,000 targets drawn alike."""
    n, m = (2_000, 500) if quick else (ROWS, TARGETS)
    X = two_hills(n)
    T = two_hills(m) + 0.01
    return Case(
        size=f"{n:,} rows, {m:,} targets",
        ours=ours(X, T, 0.1),
        peers={
            "scikit-learn": lambda: (
                PeerKernelDensity(bandwidth=0.1, rtol=1e-5).fit(X).score_samples(T)
            )
        },
        quality=Quality("largest relative difference of densities", 2e-5, relative),
        peer_threads=(1,),
    )


def kde_grid(quick: bool) -> Case:
    """Density on a grid of 10,000 points to 1e-5, 100,000 rows, beside KDEpy's transform."""
    n, m = (2_000, 500) if quick else (ROWS, TARGETS)
    X, h = two_hills(n), 0.1
    grid = np.linspace(X.min() - 3 * h, X.max() + 3 * h, m)
    flat = X[:, 0].copy()

    def difference(found: Floats, known: Floats) -> float:
        return float(np.abs(np.exp(found) - known).max() / np.exp(found).max())

    ours(X, grid[:, None], h)()  # so that the first call, by which calls are counted, is no loading
    peers: dict[str, Callable[[], Any]] = {
        "KDEpy, FFT": lambda: FFTKDE(kernel="gaussian", bw=h).fit(flat).evaluate(grid)
    }
    return Case(
        size=f"{n:,} rows, {m:,} points",
        ours=ours(X, grid[:, None], h),
        peers=peers,
        quality=Quality("largest difference, of the largest density", 1e-2 if quick else 1e-4,
                        difference),
        peer_threads=(1,),
    )  # fmt: skip


if FFTKDE is not None:
    benchmark("kde_grid", target=Target(ratio=1.5))(kde_grid)


@benchmark("kde_space", target=Target(ratio=5), peer_repeats=1)
def kde_space(quick: bool) -> Case:
    """Density of three columns to 1e-5, 100,000 rows, 10,000 targets."""
    n, m = (2_000, 200) if quick else (ROWS, TARGETS)
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    h = 0.2
    return Case(
        size=f"{n:,} rows, {m:,} targets",
        ours=ours(X, T, h),
        peers={
            "scikit-learn": lambda: (
                PeerKernelDensity(bandwidth=h, rtol=1e-5).fit(X).score_samples(T)
            )
        },
        quality=Quality("largest relative difference of densities", 2e-5, relative),
        peer_threads=(1,),
    )


@benchmark("sheather_jones", target=Target(seconds=0.1))
def sheather_jones(quick: bool) -> Case:
    """Bandwidth of Sheather and Jones, 10,000 rows; R's on four data sets within 1 %."""
    stored = json.loads(STORED.read_text())
    known = {name: stored[name] for name in ("precip", "geyser", "faithful", "galaxies")}
    rows = [two_hills(10_000), *(np.array(each["x"])[:, None] for each in known.values())]

    def bandwidths() -> Floats:
        """The first is the one that is timed; the others take a thousandth of it."""
        fits = (KernelDensity(bandwidth="sheather-jones").fit(x) for x in rows)
        return np.array([fit.bandwidth_ for fit in fits])

    return Case(
        size="10,000 rows, and four data sets",
        ours=bandwidths,
        peers={"R, stored": lambda: np.array([k["sheather_jones"] for k in known.values()])},
        quality=Quality(
            "largest relative difference from bw.SJ",
            0.01,
            lambda found, those: float(np.abs(found[1:] / those - 1).max()),
        ),
        peer_threads=(1,),
    )


@benchmark("kernel_loo", target=Target())
def kernel_loo(quick: bool) -> Case:
    """Leave-one-out of kernel regression at 50 bandwidths from one pass, 2,000 x 5."""
    from sklearn.model_selection import LeaveOneOut

    n = 200 if quick else 2_000
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 5))
    y = np.sin(X[:, 0]) + rng.normal(size=n)
    values = np.geomspace(0.1, 5, 50)

    def obvious() -> Floats:
        """All pairs in NumPy, a bandwidth at a time."""
        Z = X / X.std(axis=0)
        squares = (Z**2).sum(axis=1)
        d2 = squares[:, None] + squares - 2 * Z @ Z.T
        risks = []
        for h in values:
            K = np.exp(-0.5 * d2 / h**2)
            np.fill_diagonal(K, 0.0)
            risks.append(np.mean((y - K @ y / K.sum(axis=1)) ** 2))
        return np.array(risks)

    def tuned() -> Floats:
        model = Tuned(KernelRegressor(), values=list(values), cv=LeaveOneOut(), n_jobs=2)
        return model.fit(X, y).path_.risk

    def difference(found: Floats, known: Floats) -> float:
        return float(np.nanmax(np.abs(found[10:] / known[10:] - 1)))

    return Case(
        size=f"{n:,} x 5, 50 bandwidths",
        ours=tuned,
        peers={"NumPy": obvious},
        quality=Quality("relative difference of risks", 0.02, difference),
    )
