"""Discriminant analysis beside scikit-learn."""

import numpy as np
import sklearn.discriminant_analysis as peers
from sklearn.model_selection import KFold, cross_val_score

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import LinearDiscriminantAnalysis
from empirisk.risk import cross_validate
from empirisk.runtime.arrays import Floats, Ints


def gaussian_classes(n: int, p: int, n_classes: int) -> tuple[Floats, Ints]:
    """Classes of unequal size with overlapping Gaussian clouds and correlated features."""
    rng = np.random.default_rng(0)
    share = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    y = rng.choice(n_classes, size=n, p=share)
    centres = 0.3 * rng.standard_normal((n_classes, p))
    mixing = np.eye(p) + 0.2 * rng.standard_normal((p, p))
    return centres[y] + rng.standard_normal((n, p)) @ mixing, y


@benchmark("lda_kfold", target=Target(ratio=5))
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
