"""Least squares on basis functions beside scikit-learn's pipelines."""

from typing import Any

import numpy as np
import sklearn.linear_model as peers
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.linear import relative_difference
from empirisk import BasisRegression, Tuned
from empirisk.runtime.arrays import Floats


def curve_data(n: int) -> tuple[Floats, Floats]:
    """A wave over -1..1, where powers are far enough from dependent for the peer, and noise."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (n, 1))
    return x, np.sin(6 * x[:, 0]) + 0.3 * rng.standard_normal(n)


def grid_search(expansion: Any, grid: dict[str, Any], X: Floats, y: Floats) -> GridSearchCV:
    """The peer: one fit for each value and fold."""
    pipeline = make_pipeline(expansion, peers.LinearRegression())
    return GridSearchCV(pipeline, grid, scoring="neg_mean_squared_error", cv=KFold(10)).fit(X, y)


@benchmark("polynomial_degrees", target=Target(ratio=10), peer_repeats=1)
def polynomial_degrees(quick: bool) -> Case:
    """Degrees 1 to 15 by 10 folds at 100,000 rows beside GridSearchCV over PolynomialFeatures."""
    n, largest = (2_000, 5) if quick else (100_000, 15)
    X, y = curve_data(n)
    degrees = list(range(1, largest + 1))
    peer = PolynomialFeatures(include_bias=False)
    grid = {"polynomialfeatures__degree": degrees}
    return Case(
        size=f"{n:,} x 1, 10 folds, {largest} degrees",
        ours=lambda: Tuned(BasisRegression(), values=degrees, cv=KFold(10)).fit(X, y),
        peers={"scikit-learn GridSearchCV": lambda: grid_search(peer, grid, X, y)},
        quality=Quality(
            "relative difference of risks",
            1e-8,  # powers up to 15 on -1..1 have a condition number of about 1e5
            lambda ours, peer: relative_difference(
                ours.path_.risk, -peer.cv_results_["mean_test_score"]
            ),
        ),
    )


@benchmark("spline_sizes", target=Target(ratio=5), peer_repeats=1)
def spline_sizes(quick: bool) -> Case:
    """Cubic splines with 3 to 17 functions at 100,000 rows beside SplineTransformer."""
    n, sizes = (2_000, [4, 6]) if quick else (100_000, list(range(3, 18)))
    X, y = curve_data(n)
    peer = SplineTransformer(knots="quantile", include_bias=False)
    grid = {"splinetransformer__n_knots": [size - 1 for size in sizes]}
    return Case(
        size=f"{n:,} x 1, 10 folds, {len(sizes)} numbers of functions",
        ours=lambda: Tuned(BasisRegression("spline"), values=sizes, cv=KFold(10)).fit(X, y),
        peers={"scikit-learn GridSearchCV": lambda: grid_search(peer, grid, X, y)},
        quality=Quality(
            "relative difference of risks",
            1e-3,  # quantiles between two rows are defined in two ways
            lambda ours, peer: relative_difference(
                ours.path_.risk, -peer.cv_results_["mean_test_score"]
            ),
        ),
    )
