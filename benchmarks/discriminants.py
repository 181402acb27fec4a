"""Discriminant analysis beside scikit-learn."""

from functools import partial
from typing import Any

import numpy as np
import sklearn.discriminant_analysis as peers
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    Tuned,
)
from empirisk.risk import cross_validate
from empirisk.runtime.arrays import Floats, Ints

ANY = 1e-12
"""Variances that the peer accepts: at its default, 1e-4, it refuses some of these classes."""


def gaussian_classes(n: int, p: int, n_classes: int) -> tuple[Floats, Ints]:
    """Classes of unequal size with overlapping Gaussian clouds and correlated features."""
    rng = np.random.default_rng(0)
    share = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    y = rng.choice(n_classes, size=n, p=share)
    centres = 0.3 * rng.standard_normal((n_classes, p))
    mixing = np.eye(p) + 0.2 * rng.standard_normal((p, p))
    return centres[y] + rng.standard_normal((n, p)) @ mixing, y


def fit_case(ours: Any, peers_by_name: dict[str, Any], quick: bool) -> Case:
    """Three classes of 500,000 x 50; the posteriors of some rows must be the same."""
    n, p = (2_000, 10) if quick else (500_000, 50)
    X, y = gaussian_classes(n, p, n_classes=3)

    def fitted(model: Any) -> Any:
        return clone(model).fit(X, y)

    return Case(
        size=f"{n:,} x {p}, 3 classes",
        ours=partial(fitted, ours),
        peers={name: partial(fitted, peer) for name, peer in peers_by_name.items()},
        quality=Quality(
            "largest difference of posteriors",
            1e-9,
            lambda a, b: float(
                np.abs(a.predict_proba(X[:5_000]) - b.predict_proba(X[:5_000])).max()
            ),
        ),
    )


@benchmark("lda_fit", target=Target(ratio=3))
def lda_fit(quick: bool) -> Case:
    """LDA of 500,000 x 50 beside scikit-learn's two solvers."""
    rivals = {
        f"scikit-learn, {solver}": peers.LinearDiscriminantAnalysis(solver=solver)
        for solver in ("svd", "lsqr")
    }
    return fit_case(LinearDiscriminantAnalysis(), rivals, quick)


@benchmark("qda_fit", target=Target(ratio=4))
def qda_fit(quick: bool) -> Case:
    """QDA of 500,000 x 50 beside scikit-learn at its defaults."""
    rivals = {"scikit-learn": peers.QuadraticDiscriminantAnalysis(tol=ANY)}
    return fit_case(QuadraticDiscriminantAnalysis(), rivals, quick)


@benchmark("qda_fit_eigen")
def qda_fit_eigen(quick: bool) -> Case:
    """QDA of 500,000 x 50 beside scikit-learn's solver by covariances, as ours is."""
    rivals = {"scikit-learn, eigen": peers.QuadraticDiscriminantAnalysis(solver="eigen", tol=ANY)}
    return fit_case(QuadraticDiscriminantAnalysis(), rivals, quick)


@benchmark("lda_kfold", target=Target(ratio=8))
def lda_kfold(quick: bool) -> Case:
    """10-fold cross-validation of LDA at 100,000 x 50 beside cross_val_score."""
    n, p = (2_000, 10) if quick else (100_000, 50)
    X, y = gaussian_classes(n, p, n_classes=3)
    folds = KFold(10)  # equal folds: the mean over folds is the mean over rows

    def error_rate(solver: str) -> float:
        peer = peers.LinearDiscriminantAnalysis(solver=solver)
        return 1.0 - cross_val_score(peer, X, y, cv=folds).mean()

    return Case(
        size=f"{n:,} x {p}, 3 classes, 10 folds",
        ours=lambda: cross_validate(LinearDiscriminantAnalysis(), X, y, cv=folds, loss="zero_one"),
        peers={
            "scikit-learn cross_val_score, lsqr": lambda: error_rate("lsqr"),
            "scikit-learn cross_val_score, svd": lambda: error_rate("svd"),
        },
        quality=Quality(
            "difference of 0-1 risks",
            1e-9,  # a single row decided otherwise would be 1e-5
            lambda ours, peer: abs(ours.value - peer),
        ),
    )


@benchmark("qda_kfold", target=Target(ratio=8))
def qda_kfold(quick: bool) -> Case:
    """10-fold cross-validation of QDA at 100,000 x 50 beside cross_val_score."""
    n, p = (2_000, 10) if quick else (100_000, 50)
    X, y = gaussian_classes(n, p, n_classes=3)
    folds = KFold(10)

    def error_rate() -> float:
        return (
            1.0
            - cross_val_score(peers.QuadraticDiscriminantAnalysis(tol=ANY), X, y, cv=folds).mean()
        )

    return Case(
        size=f"{n:,} x {p}, 3 classes, 10 folds",
        ours=lambda: cross_validate(
            QuadraticDiscriminantAnalysis(), X, y, cv=folds, loss="zero_one"
        ),
        peers={"scikit-learn cross_val_score": error_rate},
        quality=Quality("difference of 0-1 risks", 1e-9, lambda ours, peer: abs(ours.value - peer)),
    )


@benchmark("rda_grid", target=Target(seconds=3), peer_repeats=1)
def rda_grid(quick: bool) -> Case:
    """RDA, 100 points and 10 folds, at 50,000 x 30; scikit-learn has its quadratic end alone."""
    n, p = (2_000, 10) if quick else (50_000, 30)
    X, y = gaussian_classes(n, p, n_classes=3)
    folds = KFold(10)

    def ours() -> float:
        tuned = Tuned(RegularizedDiscriminantAnalysis(), cv=folds, loss="zero_one").fit(X, y)
        return float(tuned.path_.risk[list(tuned.path_.values).index((1.0, 0.0))])

    def peer() -> float:
        return (
            1.0
            - cross_val_score(peers.QuadraticDiscriminantAnalysis(tol=ANY), X, y, cv=folds).mean()
        )

    return Case(
        size=f"{n:,} x {p}, 3 classes, 10 folds, 100 points; the peer has 1 point",
        ours=ours,
        peers={"scikit-learn, one point of the grid": peer},
        quality=Quality("difference of 0-1 risks at that point", 1e-9, lambda a, b: abs(a - b)),
    )


@benchmark("qda_missing")
def qda_missing(quick: bool) -> Case:
    """Posteriors of rows with three tenths of the features missing, beside a loop over rows."""
    n, p = (200, 6) if quick else (20_000, 15)
    X, y = gaussian_classes(n, p, n_classes=3)
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)

    def row_by_row() -> Floats:
        log_joint = np.empty((n, 3))
        for i, row in enumerate(holes):
            seen = ~np.isnan(row)
            for k in range(3):
                part = model.covariance_[k][np.ix_(seen, seen)]
                away = row[seen] - model.means_[k, seen]
                inside = away @ np.linalg.solve(part, away) + np.linalg.slogdet(part)[1]
                log_joint[i, k] = np.log(model.priors_[k]) - inside / 2
        log_joint -= log_joint.max(axis=1, keepdims=True)
        return np.exp(log_joint) / np.exp(log_joint).sum(axis=1, keepdims=True)

    return Case(
        size=f"{n:,} x {p}, 3 classes",
        ours=lambda: model.predict_proba(holes),
        peers={"NumPy, row by row": row_by_row},
        quality=Quality("largest difference", 1e-9, lambda a, b: float(np.abs(a - b).max())),
        peer_threads=(1,),
    )
