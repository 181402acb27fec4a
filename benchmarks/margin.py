"""Linear classifiers by margin losses beside liblinear."""

from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.case import Case, Quality, benchmark
from empirisk import MarginClassifier
from empirisk.losses import as_margin_loss
from empirisk.runtime.arrays import Floats


def class_data(n: int, p: int) -> tuple[Floats, Floats]:
    """Gaussian features and two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) / np.sqrt(p) + rng.standard_normal(n)
    return X, np.where(score > 0, 1.0, -1.0)


def svm_case(quick: bool, loss: str, **peer: Any) -> Case:
    """Without an intercept, which liblinear penalises: both minimise the same function."""
    n, p = (1_000, 10) if quick else (20_000, 50)
    X, y = class_data(n, p)

    def objective(model: Any) -> float:
        coef = model.coef_[0]
        return float(as_margin_loss(loss).value(y * (X @ coef)).sum() + coef @ coef / 2)

    def liblinear() -> LinearSVC:
        model = LinearSVC(loss=loss, fit_intercept=False, random_state=0, **peer)
        return model.fit(X, y)

    return Case(
        size=f"{n:,} x {p}",
        ours=lambda: MarginClassifier(loss, fit_intercept=False).fit(X, y),
        peers={"scikit-learn LinearSVC": liblinear},
        quality=Quality(
            "relative excess of our objective over the peer's",
            1e-9,  # ours is exact to rounding; the peer's stopping rule leaves it above
            lambda ours, peer: objective(ours) / objective(peer) - 1,
        ),
    )


@benchmark("linear_svm")
def linear_svm(quick: bool) -> Case:
    """MarginClassifier("hinge") at 20,000 x 50 beside LinearSVC at its defaults."""
    return svm_case(quick, "hinge")


@benchmark("squared_hinge")
def squared_hinge(quick: bool) -> Case:
    """MarginClassifier("squared_hinge") at 20,000 x 50 beside LinearSVC in the primal."""
    return svm_case(quick, "squared_hinge", dual=False, tol=1e-8)
