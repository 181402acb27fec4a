"""Nested cross-validation, nested selection, and the correction for a choice among many."""

import tracemalloc
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import sklearn.discriminant_analysis
import sklearn.linear_model
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.discriminants import gaussian_classes
from benchmarks.linear import regression_data
from empirisk import LinearDiscriminantAnalysis, Plan, Ridge, Tuned, risk
from empirisk.risk.intervals.refits import REPETITIONS
from empirisk.risk.out_of_fold import OutOfFold
from empirisk.risk.problem import Problem
from empirisk.risk.work import Work
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.streams import spawn
from empirisk.selection.after_selection import BunchedLosses, after_choice

Numbers = tuple[float, float]
SEED = 0


@benchmark("nested_ridge", target=Target(ratio=20))
def nested_ridge(quick: bool) -> Case:
    """Nested cross-validation of ridge at 1,000 x 20 beside fitting each pair of folds."""
    X, y = regression_data(*((60, 3) if quick else (1_000, 20)))
    quality = Quality(
        "relative difference of risk and standard error",
        1e-8,  # normal equations at a condition number of X of about 1e2
        lambda ours, peer: float(np.max(np.abs(np.divide(ours, peer) - 1))),
    )
    peer = sklearn.linear_model.Ridge()
    return nested_case(quick, Ridge(), peer, X, y, squared_loss, quality)


@benchmark("nested_lda", target=Target(ratio=20))
def nested_lda(quick: bool) -> Case:
    """Nested cross-validation of LDA at 1,000 x 20, 3 classes, beside fitting each pair."""
    X, y = gaussian_classes(*((90, 3) if quick else (1_000, 20)), n_classes=3)
    quality = Quality(
        "difference of 0-1 risk and standard error",
        1e-11,  # sums in another order: one row decided otherwise in one fit would be 1e-6
        lambda ours, peer: float(np.max(np.abs(np.subtract(ours, peer)))),
    )
    peer = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr")
    return nested_case(quick, LinearDiscriminantAnalysis(), peer, X, y, np.not_equal, quality)


def nested_case(
    quick: bool,
    learner: Any,
    peer: Any,
    X: Floats,
    y: Array,
    loss: Callable[[Array, Array], Array],
    quality: Quality,
) -> Case:
    K = 3 if quick else 10
    classifier = y.dtype.kind == "i"
    folds = [
        Plan.of(K, X, y, classifier=classifier, random_state=seed).fold[0]
        for seed in (SEED, *spawn(SEED, REPETITIONS))
    ]

    def ours() -> Numbers:
        found = risk.nested_cross_validate(learner, X, y, cv=K, random_state=SEED)
        return found.value, found.standard_error or 0.0

    fits = REPETITIONS * K * (K + 1) // 2
    return Case(
        size=f"{len(X):,} x {X.shape[1]}, {K} folds dealt {REPETITIONS} times, {fits:,} fits",
        ours=ours,
        peers={"loop over scikit-learn's fits": lambda: nested_by_fits(peer, X, y, loss, folds)},
        quality=quality,
        peer_threads=(1,) if quick else (1, 2),
    )


def nested_by_fits(
    learner: Any, X: Floats, y: Array, loss: Callable[[Array, Array], Array], folds: Sequence[Ints]
) -> Numbers:
    """Risk and standard error by the definition, one fit for each fold and each pair of folds.

    The first of the dealings of folds is that of ordinary cross-validation.
    """
    n, K = len(y), int(folds[0].max()) + 1

    def losses_without(out: Bools) -> Floats:
        model = learner.fit(X[~out], y[~out])
        return np.asarray(loss(y[out], model.predict(X[out])), dtype=float)

    ordinary = np.concatenate([losses_without(folds[0] == k) for k in range(K)])
    per_row = float(ordinary.std(ddof=1)) / sqrt(n)
    squares, inside, outside = [], [], []
    for fold in folds[1:]:
        size, total, variance = np.bincount(fold), np.zeros((K, K)), np.zeros(K)
        for j in range(K):
            for k in range(j, K):
                out = (fold == j) | (fold == k)
                losses, mine = losses_without(out), fold[out] == j
                total[j, k], total[k, j] = losses[mine].sum(), losses[fold[out] == k].sum()
                if j == k:
                    variance[k] = losses.var(ddof=1) / size[k]
        alone = np.diagonal(total)
        inner = (total.sum(axis=0) - alone) / (n - size)
        squares.append(np.mean((inner - alone / size) ** 2 - variance))
        inside.append((total.sum() - alone.sum()) / (n * (K - 1)))
        outside.append(alone.sum() / n)
    error = sqrt(max((K - 1) / K * float(np.mean(squares)), 0.0))
    gap = float(np.mean(inside)) - float(np.mean(outside))
    centre = float(np.mean(inside)) - (1 + (K - 2) / K) * gap
    return centre, min(max(error, per_row), sqrt(K) * per_row)


def squared_loss(y: Array, prediction: Array) -> Array:
    return (y - prediction) ** 2


@benchmark("nested_selection", peer_repeats=1)
def nested_selection(quick: bool) -> Case:
    """The risk of choosing among 50 ridge penalties, chosen anew in each of 10 training parts."""
    n, p, penalties = (100, 4, 5) if quick else (10_000, 50, 50)
    X, y = regression_data(n, p)
    alphas = np.geomspace(1e-3, 1e5, penalties)
    outer, inner = KFold(10), KFold(5)  # equal folds: the mean over folds is the mean over rows

    def by_grid_search() -> float:
        scoring = "neg_mean_squared_error"
        search = GridSearchCV(
            sklearn.linear_model.Ridge(), {"alpha": alphas}, scoring=scoring, cv=inner
        )
        return -float(cross_val_score(search, X, y, scoring=scoring, cv=outer).mean())

    tuned = Tuned(Ridge(), values=alphas, cv=inner)
    return Case(
        size=f"{n:,} x {p}, {penalties} penalties, 5 folds in each of 10",
        ours=lambda: risk.cross_validate(tuned, X, y, cv=outer).value,
        peers={"GridSearchCV in cross_val_score": by_grid_search},
        quality=Quality(
            "relative difference of risks",
            1e-8,  # as of nested_ridge; the same penalties must be chosen
            lambda ours, peer: abs(ours / peer - 1),
        ),
    )


@benchmark("after_selection", target=Target(seconds=2), peer_repeats=1)
def after_selection(quick: bool) -> Case:
    """What to expect of the best of 1,000 on 10,000 rows, beside BBC-CV by its definition."""
    n, rivals = (500, 20) if quick else (10_000, 1_000)
    matrix = judged_rivals(n, rivals)
    best = matrix.choose()
    estimate = matrix.estimate(best)

    def ours() -> float:
        bunched = BunchedLosses.of(matrix, SEED)
        return after_choice(estimate, [bunched], (0, best), "best", random_state=SEED).value

    size, more = matrix.losses.nbytes, peak_memory(ours)
    no_copy = more < max(size / 2, 2**25)  # of a small matrix the rest is larger
    error = float(matrix.standard_error[best])
    return Case(
        size=f"{n:,} x {rivals:,}, {size / 1e6:.1f} MB and {more / 1e6:.1f} MB more",
        ours=ours,
        peers={"BBC-CV over all rows": lambda: best_of_resamples(matrix.losses)},
        quality=Quality(
            "difference of expected risks in standard errors; no copy of the matrix",
            0.5,  # both are estimates of one number, by different resamples
            lambda ours, peer: abs(ours - peer) / error if no_copy else np.inf,
        ),
        peer_threads=(1,),
    )


def judged_rivals(n: int, rivals: int) -> OutOfFold:
    """Losses of rows that are hard for all rivals alike, where the rivals differ little."""
    rng = np.random.default_rng(0)
    losses = 0.3 * rng.standard_normal((n, rivals))
    losses += rng.standard_normal((n, 1))
    losses += np.linspace(1.0, 1.2, rivals)
    np.square(losses, out=losses)
    X, y = np.zeros((n, 1)), 10 * rng.standard_normal(n)  # guessing would be far worse
    learner = sklearn.linear_model.Ridge()
    problem = Problem.of(learner, X, y)
    plan = problem.plan(10)
    work = Work(learner, Ridge.axis, problem, None, None, None)
    values = np.geomspace(1.0, 2.0, rivals).tolist()
    complexity = np.arange(float(rivals))
    return OutOfFold(
        values, complexity, plan, *plan.entries, losses, np.ones(n), "generic", "", work
    )


def best_of_resamples(losses: Floats) -> float:
    """BBC-CV (Tsamardinos et al. 2018): 500 resamples choose, the rows left out of each judge."""
    n = len(losses)
    rng = np.random.default_rng(1)
    judged = []
    for _ in range(500):
        copies = np.bincount(rng.integers(n, size=n), minlength=n)
        best = int((copies.astype(float) @ losses).argmin())
        judged.append(losses[copies == 0, best].mean())
    return float(np.mean(judged))


def peak_memory(call: Callable[[], Any]) -> int:
    """Bytes that a call has at most at one time, beyond what there was."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
