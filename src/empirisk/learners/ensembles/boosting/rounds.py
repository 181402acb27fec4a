"""The rounds of gradient boosting on one training set.

Round t takes the gradient g and the curvature h of the loss at the scores so far, grows a tree to
them, and adds the tree's values, shrunk, to the scores: Newton's step -G / (H + l2) of the sums in
a leaf, or what the loss knows to be better (`BoostingLoss.leaf_steps`). Of K > 2 classes each round
has K trees, all to the gradients at its beginning.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.data.rank_coding import CodedColumn
from empirisk.data.scaling import power_of_two
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.boosted_trees import BoostedTrees
from empirisk.learners.ensembles.boosting.boosting_loss import BoostingLoss
from empirisk.learners.ensembles.boosting.growth import Booster, Limits
from empirisk.learners.ensembles.boosting.leaf_steps import common_factor
from empirisk.learners.trees.limits import counts_rows
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.streams import generator, spawn

ORDINARY = (2.0**-100, 2.0**100)  # sums of squares of such numbers are far from overflow


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that are boosted.

    given
        Their weights as the user gave them: whole numbers are numbers of copies.
    weight
        Those that the loss has, where classes have factors.
    """

    bins: BinnedTable
    y: Array
    given: Floats
    weight: Floats

    def __getitem__(self, rows: Ints) -> "TrainingRows":
        return TrainingRows(self.bins[rows], self.y[rows], self.given[rows], self.weight[rows])

    def copied(self) -> "TrainingRows":
        """Each row as often as it weighs, where weights are numbers of copies.

        So `min_samples_leaf` counts copies, and sums are those of the copies.
        """
        if not counts_rows(self.given) or (self.given == 1.0).all():
            return self
        rows = np.repeat(np.arange(len(self.y)), self.given.astype(np.int64))
        factor = (self.weight / self.given)[rows]
        return TrainingRows(self.bins[rows], self.y[rows], np.ones(len(rows)), factor)


@dataclass(frozen=True, eq=False)
class EarlierRounds:
    """What fitting goes on from, in the units of the target."""

    trees: BoostedTrees
    baseline: Floats


@dataclass(frozen=True, eq=False)
class Grown:
    """What rounds have come to: where scores start, (1, trees of a round), and the trees."""

    trees: BoostedTrees
    baseline: Floats
    loss: BoostingLoss
    columns: tuple[CodedColumn, ...]

    @property
    def n_trees(self) -> int:
        return self.baseline.shape[1]


class Rounds:
    """Scores of the training rows, and the trees whose values they add up.

    Extreme targets and weights are divided by a power of two, which changes no digit.

    Parameters
    ----------
    rows : TrainingRows
    loss : BoostingLoss
    limits : Limits
    n_trees : int
        Of each round: 1, or the number of classes.
    subsample : float
        The share of the rows that each round draws, without replacement.
    n_jobs : int, optional
    before : EarlierRounds, optional
    """

    def __init__(
        self,
        rows: TrainingRows,
        loss: BoostingLoss,
        limits: Limits,
        *,
        n_trees: int,
        subsample: float = 1.0,
        n_jobs: int | None = None,
        before: EarlierRounds | None = None,
    ) -> None:
        loss.check_target(rows.y)
        rows = rows.copied()
        self.loss, self.n_trees, self.subsample, self.n_jobs = loss, n_trees, subsample, n_jobs
        self.bins, self.before = rows.bins, before
        self.unit = _unit(rows.y) if loss.has_unit else 1.0
        self.y = rows.y if self.unit == 1.0 else rows.y / self.unit
        weight_unit = _unit(rows.weight)
        self.weight = rows.weight / weight_unit
        self.weighted = not bool((self.weight == 1.0).all())
        self.limits = replace(limits, l2=limits.l2 / weight_unit)
        self.booster = Booster(rows.bins, self.limits, n_jobs=n_jobs)
        if before is None:
            start = np.asarray(loss.initial(self.y, self.weight), dtype=np.float64).reshape(-1)
            self.start = np.broadcast_to(start, (n_trees,)).copy()
            self.raw = np.tile(self.start, (len(self.y), 1))
        else:
            self.start = self.scaled(before.baseline)[0]
            self.raw = self.scores(self.bins.places())

    def boost(self, seed: int) -> None:
        """One round more."""
        scores = self._flat(self.raw)
        loss = self.loss.for_round(self.y, scores, self.weight)
        gradient, curvature = loss.derivatives(self.y, scores)
        row_seed, *tree_seeds = spawn(seed, 1 + self.n_trees)
        rows = self._drawn(row_seed)
        for k, tree_seed in enumerate(tree_seeds):
            self.booster.grow(
                self._weighted(gradient, k), self._weighted(curvature, k), rows, tree_seed
            )
            if loss.moves_leaves and self.n_trees == 1:
                self._move_leaves(loss, rows)
            self.booster.keep()
            self.raw[:, k] += self.booster.leaf_values[self.booster.leaf_of]

    def _weighted(self, derivative: Floats | None, k: int) -> Floats | None:
        """Gradients or curvatures for the tree of class k; None stands for 1 in all rows."""
        if derivative is None:
            return self.weight if self.weighted else None
        column = derivative.reshape(self.raw.shape)[:, k]
        return column * self.weight if self.weighted else np.ascontiguousarray(column)

    def _move_leaves(self, loss: BoostingLoss, rows: Ints | None) -> None:
        """From Newton's step to that of the loss, by the rows that the tree was grown on."""
        part: Any = slice(None) if rows is None else rows
        leaf = self.booster.leaf_of[part]
        y, raw, weight = self.y[part], self.raw[part, 0], self.weight[part]
        values, rate = self.booster.leaf_values, self.limits.learning_rate
        if not self.limits.monotone.any() or loss.keeps_order:
            values[:] = rate * loss.leaf_steps(y, raw, weight, leaf, values / rate)
            return
        along = values[leaf] / rate

        def slope(factor: float) -> float:
            return float((weight * along) @ loss.gradient(y, raw + factor * along))

        values *= common_factor(slope)

    def _drawn(self, seed: int) -> Ints | None:
        """The rows of a round, in order; None for all."""
        if self.subsample == 1.0:
            return None
        n = len(self.y)
        return np.sort(generator(seed).permutation(n)[: max(1, round(self.subsample * n))])

    def scores(self, places: Floats) -> Floats:
        """What the earlier rounds say of rows, in units of `unit`."""
        if self.before is None:
            return np.tile(self.start, (len(places), 1))
        raw = np.tile(self.before.baseline, (len(places), 1))
        n = len(self.before.trees) // self.n_trees
        self.before.trees.add_to(raw, places, 0, n, n_jobs=self.n_jobs)
        return self.scaled(raw)

    def add_newest(self, raw: Floats, places: Floats) -> None:
        """Add what the last round says of rows to their scores."""
        trees = self.booster.trees()
        n = len(trees) // self.n_trees
        trees.add_to(raw, places, n - 1, n, n_jobs=self.n_jobs)

    def mean_loss(self, y: Array, raw: Floats, weight: Floats) -> float:
        """Of scores, and targets, in units of `unit`."""
        loss = self.loss.for_round(self.y, self._flat(self.raw), self.weight)
        return float(np.average(loss.value(y, self._flat(raw)), weights=weight))

    def grown(self) -> "Grown":
        """What predictions need, in the units of the target."""
        return Grown(
            trees=self._trees(),
            baseline=self.in_units(self.start[None]),
            loss=self.loss,
            columns=self.bins.columns,
        )

    def _trees(self) -> BoostedTrees:
        trees = self.booster.trees()
        if self.loss.link == "identity" and self.unit != 1.0:
            trees = replace(trees, value=trees.value * self.unit)
        return trees if self.before is None else BoostedTrees.of([self.before.trees, trees])

    def in_units(self, raw: Floats) -> Floats:
        """Scores in the units of the target."""
        if self.loss.link == "identity":
            return raw * self.unit
        return raw + np.log(self.unit) if self.loss.link == "log" else raw

    def scaled(self, raw: Floats) -> Floats:
        """Scores in units of `unit`."""
        if self.loss.link == "identity":
            return raw / self.unit
        return raw - np.log(self.unit) if self.loss.link == "log" else raw

    def _flat(self, raw: Floats) -> Floats:
        """Scores as losses take them: (rows,) where there is one tree in each round."""
        return raw[:, 0] if self.n_trees == 1 else raw


def _unit(numbers: Array) -> float:
    """The power of two by which extreme numbers are divided; 1 for ordinary ones."""
    largest = float(max(numbers.max(), -numbers.min()))
    if largest == 0.0 or ORDINARY[0] < largest < ORDINARY[1]:
        return 1.0
    return float(power_of_two(np.array([largest]))[0])
