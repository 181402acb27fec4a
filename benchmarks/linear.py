"""Least squares and ridge beside scikit-learn."""

from typing import Any

import numpy as np
import sklearn.linear_model as peers
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import LinearRegression, Ridge, Tuned
from empirisk.runtime.arrays import Floats


def regression_data(n: int, p: int) -> tuple[Floats, Floats]:
    """Gaussian features of different spread and mean, a linear signal and as much noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * np.geomspace(0.1, 10.0, p) + rng.uniform(-1.0, 1.0, p)
    signal = X @ (rng.standard_normal(p) / np.geomspace(0.1, 10.0, p))
    return X, signal + np.std(signal) * rng.standard_normal(n)


def relative_difference(a: Floats, b: Floats) -> float:
    """The largest |a_i - b_i| / |b_i|."""
    return float(np.max(np.abs(a - b) / np.abs(b)))


@benchmark("least_squares", target=Target(ratio=5))
def least_squares(quick: bool) -> Case:
    """LinearRegression at 1,000,000 x 50 beside scikit-learn's."""
    n, p = (20_000, 10) if quick else (1_000_000, 50)
    X, y = regression_data(n, p)
    return Case(
        size=f"{n:,} x {p}",
        ours=lambda: LinearRegression().fit(X, y),
        peers={"scikit-learn LinearRegression": lambda: peers.LinearRegression().fit(X, y)},
        quality=Quality(
            "relative difference of coefficients",
            1e-10,  # condition number about 1e2; a small coefficient loses two digits more
            lambda ours, peer: relative_difference(coefficients(ours), coefficients(peer)),
        ),
    )


def coefficients(model: Any) -> Floats:
    """Intercept and slopes in one vector."""
    return np.append(model.coef_, model.intercept_)


@benchmark("ridge_leave_one_out", target=Target(ratio=10))
def ridge_leave_one_out(quick: bool) -> Case:
    """Leave-one-out over 100 penalties at 5,000 x 200 beside RidgeCV."""
    return leave_one_out_case(quick, "scikit-learn RidgeCV", gcv_mode=None)


@benchmark("ridge_leave_one_out_svd")
def ridge_leave_one_out_svd(quick: bool) -> Case:
    """The same beside RidgeCV with gcv_mode="svd", its fastest mode here."""
    return leave_one_out_case(quick, "scikit-learn RidgeCV, svd", gcv_mode="svd")


def leave_one_out_case(quick: bool, peer: str, gcv_mode: str | None) -> Case:
    n, p, penalties = (300, 20, 10) if quick else (5_000, 200, 100)
    X, y = regression_data(n, p)
    alphas = np.geomspace(1e-3, 1e5, penalties)
    return Case(
        size=f"{n:,} x {p}, {penalties} penalties",
        ours=lambda: Tuned(Ridge(), values=alphas, cv=LeaveOneOut()).fit(X, y),
        peers={peer: lambda: peers.RidgeCV(alphas, gcv_mode=gcv_mode).fit(X, y)},
        quality=Quality(
            "relative difference of penalty, risk and coefficients",
            1e-8,  # RidgeCV works on X'X, which squares a condition number of about 1e2
            lambda ours, peer: relative_difference(
                np.array([ours.best_value_, ours.risk_.uncorrected, *ours.best_estimator_.coef_]),
                np.array([peer.alpha_, -peer.best_score_, *peer.coef_]),
            ),
        ),
    )


@benchmark("ridge_kfold", target=Target(ratio=100), peer_repeats=1)
def ridge_kfold(quick: bool) -> Case:
    """10-fold cross-validation over 100 penalties at 100,000 x 50 beside GridSearchCV."""
    n, p, penalties = (2_000, 10, 5) if quick else (100_000, 50, 100)
    X, y = regression_data(n, p)
    alphas = np.geomspace(1e-3, 1e5, penalties)
    folds = KFold(10)  # equal folds: the mean over folds is the mean over rows

    def grid_search() -> GridSearchCV:
        scoring = "neg_mean_squared_error"
        return GridSearchCV(peers.Ridge(), {"alpha": alphas}, scoring=scoring, cv=folds).fit(X, y)

    return Case(
        size=f"{n:,} x {p}, 10 folds, {penalties} penalties",
        ours=lambda: Tuned(Ridge(), values=alphas, cv=folds).fit(X, y),
        peers={"scikit-learn GridSearchCV": grid_search},
        quality=Quality(
            "relative difference of risks",
            1e-8,  # both solve normal equations, at a condition number of X of about 1e2
            lambda ours, peer: relative_difference(
                ours.path_.risk, -peer.cv_results_["mean_test_score"]
            ),
        ),
    )
