"""Naive Bayes beside scikit-learn."""

from typing import Any

import numpy as np
import sklearn.naive_bayes as peers
from sklearn.model_selection import KFold, cross_val_score

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.discriminants import gaussian_classes
from empirisk import NaiveBayes
from empirisk.risk import cross_validate
from empirisk.runtime.arrays import Floats, Ints


def posterior_difference(X: Floats) -> Quality:
    """Of the posteriors of some rows."""
    return Quality(
        "largest difference of posteriors",
        1e-10,  # fifty columns, double precision
        lambda ours, peer: float(np.abs(ours.predict_proba(X) - peer.predict_proba(X)).max()),
    )


def levels(n: int, q: int, n_classes: int) -> tuple[Ints, Ints]:
    """Columns of up to eight levels whose shares differ between the classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    shift = rng.uniform(0, 3, (n_classes, q))
    return np.minimum(rng.poisson(shift[y]), 7), y


@benchmark("naive_bayes_fit", target=Target(ratio=1.5))
def naive_bayes_fit(quick: bool) -> Case:
    """Gaussian naive Bayes fit at 500,000 x 50, 3 classes."""
    n, p = (2_000, 10) if quick else (500_000, 50)
    X, y = gaussian_classes(n, p, n_classes=3)
    return Case(
        size=f"{n:,} x {p}, 3 classes",
        ours=lambda: NaiveBayes().fit(X, y),
        peers={"scikit-learn GaussianNB": lambda: peers.GaussianNB(var_smoothing=0.0).fit(X, y)},
        quality=posterior_difference(X[:1000]),
    )


@benchmark("naive_bayes_kfold", target=Target(ratio=8))
def naive_bayes_kfold(quick: bool) -> Case:
    """10-fold cross-validation of Gaussian naive Bayes at 500,000 x 50 beside cross_val_score."""
    n, p = (2_000, 10) if quick else (500_000, 50)
    X, y = gaussian_classes(n, p, n_classes=3)
    folds = KFold(10)  # equal folds: the mean over folds is the mean over rows

    def error_rate() -> float:
        peer = peers.GaussianNB(var_smoothing=0.0)
        return 1.0 - float(cross_val_score(peer, X, y, cv=folds).mean())

    return Case(
        size=f"{n:,} x {p}, 3 classes, 10 folds",
        ours=lambda: cross_validate(NaiveBayes(), X, y, cv=folds, loss="zero_one"),
        peers={"scikit-learn cross_val_score": error_rate},
        quality=_risk_difference(),
    )


@benchmark("naive_bayes_predict")
def naive_bayes_predict(quick: bool) -> Case:
    """Posteriors of Gaussian naive Bayes for 500,000 x 50, 3 classes."""
    n, p = (2_000, 10) if quick else (500_000, 50)
    X, y = gaussian_classes(n, p, n_classes=3)
    ours, peer = NaiveBayes().fit(X, y), peers.GaussianNB(var_smoothing=0.0).fit(X, y)
    return Case(
        size=f"{n:,} x {p}, 3 classes",
        ours=lambda: ours.predict_proba(X),
        peers={"scikit-learn GaussianNB": lambda: peer.predict_proba(X)},
        quality=Quality(
            "largest difference of posteriors",
            1e-10,
            lambda ours, peer: float(np.abs(ours - peer).max()),
        ),
    )


@benchmark("naive_bayes_levels")
def naive_bayes_levels(quick: bool) -> Case:
    """10-fold cross-validation of naive Bayes for categories at 100,000 x 30."""
    n, q = (2_000, 5) if quick else (100_000, 30)
    X, y = levels(n, q, n_classes=3)
    numbers, folds = X.astype(float), KFold(10)
    learner = NaiveBayes(distributions="categorical")

    def error_rate() -> float:
        peer = peers.CategoricalNB(min_categories=8)
        return 1.0 - float(cross_val_score(peer, X, y, cv=folds).mean())

    return Case(
        size=f"{n:,} x {q}, 3 classes, up to 8 levels, 10 folds",
        ours=lambda: cross_validate(learner, numbers, y, cv=folds, loss="zero_one"),
        peers={"scikit-learn cross_val_score, CategoricalNB": error_rate},
        quality=_risk_difference(),
    )


def _risk_difference() -> Quality:
    def difference(ours: Any, peer: float) -> float:
        return abs(float(ours.value) - peer)

    # A single row decided otherwise would be 2e-6.
    return Quality("difference of 0-1 risks", 1e-9, difference)
