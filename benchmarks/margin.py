"""Linear classifiers by margin losses beside liblinear."""

import warnings
from typing import Any

import numpy as np
from scipy.optimize import linprog
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


@benchmark("sparse_svm", peer_repeats=1)
def sparse_svm(quick: bool) -> Case:
    """MarginClassifier("hinge", penalty="l1") at 2,000 x 50 beside SciPy's HiGHS."""
    n, p = (300, 10) if quick else (2_000, 50)
    X, y = class_data(n, p)
    C = 10 / n

    def highs() -> float:
        cost = np.concatenate([np.ones(2 * p), [0.0], np.full(n, C)])
        signed = y[:, np.newaxis] * X
        margins = np.hstack([signed, -signed, y[:, np.newaxis], np.eye(n)])
        bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
        return float(linprog(cost, -margins, -np.ones(n), bounds=bounds, method="highs").fun)

    def objective(model: MarginClassifier) -> float:
        coef = model.coef_[0]
        loss = as_margin_loss("hinge").value(y * (X @ coef + model.intercept_[0]))
        return float(C * loss.sum() + np.abs(coef).sum())

    return Case(
        size=f"{n:,} x {p}",
        ours=lambda: MarginClassifier("hinge", penalty="l1", C=C).fit(X, y),
        peers={"SciPy linprog (HiGHS)": highs},
        quality=Quality(
            "relative difference of the objectives",
            1e-7,  # the tolerances of HiGHS
            lambda ours, peer: abs(objective(ours) / peer - 1),
        ),
    )


@benchmark("linear_svm_path")
def linear_svm_path(quick: bool) -> Case:
    """All 30 values of C of MarginClassifier("hinge") at 5,000 x 20 beside 30 fits of LinearSVC."""
    n, p = (500, 5) if quick else (5_000, 20)
    X, y = class_data(n, p)
    learner = MarginClassifier("hinge", fit_intercept=False)
    codes, ones = (y > 0).astype(np.int64), np.ones(n)
    values = learner.axis_values(X, codes, ones, n_train=n)

    def objective(C: float, coef: Floats) -> float:
        loss = as_margin_loss("hinge").value(y * (X @ coef))
        return float(C * loss.sum() + coef @ coef / 2)

    def ours() -> list[float]:
        path = learner.fit_path(X, codes, ones, values, n_classes=2)
        return [objective(C, coef) for C, coef in zip(values, path.rule.coef[0], strict=True)]

    def liblinear() -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it does not converge at a large C
            fits = [
                LinearSVC(loss="hinge", C=C, fit_intercept=False, random_state=0).fit(X, y)
                for C in values
            ]
        return [objective(C, fit.coef_[0]) for C, fit in zip(values, fits, strict=True)]

    return Case(
        size=f"{n:,} x {p}, 30 values of C",
        ours=ours,
        peers={"scikit-learn LinearSVC": liblinear},
        quality=Quality(
            "largest relative excess of our objectives over the peer's",
            1e-9,  # ours are exact to rounding; the peer's stopping rule leaves it above
            lambda ours, peer: max(a / b - 1 for a, b in zip(ours, peer, strict=True)),
        ),
    )
