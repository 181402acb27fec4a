"""Rounds of AdaBoost.R2: rows that were predicted badly are drawn more often in the next."""

from math import log
from typing import Any

import numpy as np

from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.boosting.samme import CHANCE, LEAST, Boosted
from empirisk.learners.ensembles.boosting.weak_learners import (
    WeakEstimators,
    WeakLearners,
    WeakTrees,
    are_flat_trees,
)
from empirisk.learners.ensembles.draws import Draws, draws_of
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.progress import track

LOSSES = ("linear", "square", "exponential")
ROUNDING = 2.0**-44  # of a mean of equal values, as a part of them: some hundred last places


def weak_regressors(estimator: Any, X: Any, y: Floats) -> WeakLearners:
    """The way to fit an estimator in rounds."""
    if not are_flat_trees(estimator):
        return WeakEstimators(estimator, X, y, None)
    coding = X if isinstance(X, RankCoding) else estimator.design(X)
    return WeakTrees(estimator, coding, y, 0)


def adaboost_r2(
    weak: WeakLearners,
    y: Floats,
    weight: Floats,
    *,
    learning_rate: float,
    loss: str,
    bootstrap: bool,
    seeds: list[int],
) -> Boosted:
    """A member for each seed, or fewer: the first without error is the last, and so is the one
    before the first whose mean loss is half of the largest or more.

    With `bootstrap` a member is fitted to rows that are drawn in proportion to their weights, else
    to all rows with these weights.
    """
    size = draws_of(None, len(y), weight)
    share = weight / weight.max()
    share = share / share.sum()
    floor = LEAST * share
    weights, errors = [], []
    for seed in track(seeds, "rounds"):
        check_deadline()
        drawn = share
        if bootstrap:
            drawn = Draws(len(y), size, True, share).counts(seed).astype(np.float64)
        losses = relative_losses(weak.fit(drawn, seed), y, loss)
        error = float(share @ losses / share.sum())
        if error == 0.0:
            weak.keep()
            weights.append(1.0)  # of endless weight, in truth
            errors.append(0.0)
            break
        if error >= 0.5 - CHANCE:
            if not weights:  # the only one there is
                weak.keep()
                weights.append(0.0)
                errors.append(error)
            break
        odds = error / (1.0 - error)
        weak.keep()
        weights.append(learning_rate * log(1.0 / odds))
        errors.append(error)
        share = share * odds ** (learning_rate * (1.0 - losses))
        share = np.maximum(share / share.sum(), floor)
    return Boosted(
        weak.members(),
        np.array(weights),
        np.array(errors),
        np.array(seeds[: len(weights)], dtype=np.int64),
    )


def relative_losses(prediction: Floats, y: Floats, loss: str) -> Floats:
    """Losses in [0, 1], of absolute errors as parts of the largest.

    Where that is rounding, as in the means of a tree whose leaves are pure, there is no error.

    Examples
    --------
    >>> relative_losses(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0]), "square")
    array([0.  , 1.  , 0.25])
    """
    errors = np.abs(prediction / 2 - y / 2)  # half of them: no difference overflows
    largest = errors.max()
    if largest <= ROUNDING * np.abs(y / 2).max():
        return np.zeros(len(y))
    part: Floats = errors / largest
    if loss == "square":
        return part**2
    return 1.0 - np.exp(-part) if loss == "exponential" else part
