"""Rounds of AdaBoost for classes: rows that were classified wrong count for more in the next."""

from math import exp, log
from typing import Any, NamedTuple, Protocol

import numpy as np

from empirisk.data.rank_coding import RankCoding
from empirisk.learners.class_codes import for_codes
from empirisk.learners.ensembles.boosting.ada_boost_members import Members
from empirisk.learners.ensembles.boosting.stumps import (
    NoSplitError,
    WeightedStumps,
    are_stumps,
)
from empirisk.learners.ensembles.boosting.weak_learners import (
    WeakEstimators,
    WeakLearners,
    WeakTrees,
    are_flat_trees,
)
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.progress import track

LEAST = np.finfo(np.float64).eps
"""The share of its weight at the start that a row keeps: without any it would be lost for good."""

CHANCE = 1e-12  # an error that is so near to that of a guess is one, to the rounding of sums


class Boosted(NamedTuple):
    """Members, their weights in the vote, their weighted errors, and their seeds.

    `nested` says whether the first of them are, bit for bit, those of fewer rounds.
    """

    members: Members
    weights: Floats
    errors: Floats
    seeds: Ints
    nested: bool = True

    def write(self, model: Any, rounds: int) -> None:
        """The fitted attributes of a model of at most so many rounds."""
        n = min(rounds, len(self.weights))
        self.members.write(model, n)
        model.estimator_weights_ = self.weights[:n]
        model.estimator_errors_ = self.errors[:n]
        model._seeds = self.seeds[:n]


class WeightedRounds(Protocol):
    """Weak learners, and the weights of the rows that they are fitted to."""

    def fit(self, seed: int) -> float:
        """Fit one; its weighted error."""

    def keep(self) -> None:
        """The last one belongs to the ensemble."""

    def reweigh(self, factor: float, error: float) -> None:
        """Multiply the weights of the rows that it has right by a factor, and make the sum 1."""

    def members(self) -> Members:
        """Those that were kept."""


class WeightedRows:
    """Any weak learners, for class codes y."""

    def __init__(self, weak: WeakLearners, y: Ints, weight: Floats, floor: Floats) -> None:
        self.weak, self.y, self.weight, self.floor = weak, y, weight, floor
        self.keep, self.members = weak.keep, weak.members

    def fit(self, seed: int) -> float:
        self.wrong = self.weak.fit(self.weight, seed) != self.y
        return float(self.weight[self.wrong].sum() / self.weight.sum())

    def reweigh(self, factor: float, error: float) -> None:
        weight = np.where(self.wrong, self.weight, factor * self.weight)
        self.weight = np.maximum(weight / weight.sum(), self.floor)


def rounds_of(
    estimator: Any,
    X: Any,
    y: Ints,
    weight: Floats,
    labels: Array,
    *,
    n_jobs: int | None = None,
    bins: bool = True,
) -> WeightedRounds:
    """The way to fit an estimator in rounds: the fastest that finds the same.

    Stumps come from bins where they can, unless `bins` is False.
    """
    start = weight / weight.max()
    start = start / start.sum()
    floor = LEAST * start
    if not are_flat_trees(estimator):
        return WeightedRows(WeakEstimators(estimator, X, y, labels), y, start, floor)
    tree = for_codes(estimator, labels)
    coding = X if isinstance(X, RankCoding) else tree.design(X)
    if bins and are_stumps(tree, coding, len(labels)):
        return WeightedStumps(tree, coding, y, start, floor, n_jobs)
    return WeightedRows(WeakTrees(tree, coding, y, len(labels)), y, start, floor)


def boosted(
    estimator: Any,
    X: Any,
    y: Ints,
    weight: Floats,
    labels: Array,
    *,
    learning_rate: float,
    seeds: list[int],
    n_jobs: int | None = None,
) -> Boosted:
    """AdaBoost on codes y of labels."""
    K = len(labels)
    try:
        rounds = rounds_of(estimator, X, y, weight, labels, n_jobs=n_jobs)
        return samme(rounds, K, learning_rate, seeds)
    except NoSplitError:  # where weights differ by far more than sums can tell: a tree is a leaf
        rounds = rounds_of(estimator, X, y, weight, labels, bins=False)
        return samme(rounds, K, learning_rate, seeds)._replace(nested=False)


def samme(
    rounds: WeightedRounds, n_classes: int, learning_rate: float, seeds: list[int]
) -> Boosted:
    """A member for each seed, or fewer: the first without error is the last, and so is the one
    before the first that is no better than a guess."""
    weights, errors = [], []
    for seed in track(seeds, "rounds"):
        check_deadline()
        error = rounds.fit(seed)
        if error == 0.0:
            rounds.keep()
            weights.append(1.0)  # of endless weight, in truth
            errors.append(0.0)
            break
        if error >= 1.0 - 1.0 / n_classes - CHANCE:
            if not weights:
                _refuse_chance(error, n_classes)
            break
        weight = learning_rate * (log((1.0 - error) / error) + log(n_classes - 1.0))
        rounds.keep()
        weights.append(weight)
        errors.append(error)
        rounds.reweigh(exp(-weight), error)
    return Boosted(
        rounds.members(),
        np.array(weights),
        np.array(errors),
        np.array(seeds[: len(weights)], dtype=np.int64),
    )


def _refuse_chance(error: float, n_classes: int) -> None:
    raise DataError(
        f"the first weak learner has the weighted error {error:.6g} on its {n_classes} classes, no "
        f"better than a guess ({1 - 1 / n_classes:.6g}): there is nothing to boost; give an "
        "estimator that can tell these classes apart, such as a deeper tree"
    )
