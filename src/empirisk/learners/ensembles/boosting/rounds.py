"""The rounds of gradient boosting on one training set.

Round t takes the gradient g and the curvature h of the loss at the scores so far, grows a tree to
them, and adds the tree's values, shrunk, to the scores: Newton's step -G / (H + l2) of the sums in
a leaf, or what the loss knows to be better (`BoostingLoss.leaf_steps`). Of K > 2 classes each round
has K trees, all to the gradients at its beginning.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.data.scaling import power_of_two
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.boosted_trees import BoostedTrees, LateTrees
from empirisk.learners.ensembles.boosting.boosting_loss import BoostingLoss
from empirisk.learners.ensembles.boosting.grown_tree import GrownTree, joined
from empirisk.learners.ensembles.boosting.growth import Booster
from empirisk.learners.ensembles.boosting.room import Limits
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.limits import counts_rows
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import generator, spawn

FAR = 1e150  # squares of such steps are beyond floating-point numbers
LARGEST = float(np.finfo(np.float64).max)
FARTHEST_LOG = 700.0  # exp of it is still a number, and so is that of minus it
ORDINARY = (2.0**-100, 2.0**100)  # sums of squares of such numbers are far from overflow


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that are boosted.

    given
        Their weights as the user gave them: where all are whole, numbers of copies.
    weight
        Those that the loss has, in which classes have factors.
    """

    bins: BinnedTable
    y: Array
    given: Floats
    weight: Floats

    def __getitem__(self, rows: Ints) -> "TrainingRows":
        return TrainingRows(self.bins[rows], self.y[rows], self.given[rows], self.weight[rows])

    def booster(self, weight: Floats, limits: Limits, n_jobs: int | None) -> Booster:
        """What grows trees on these rows; factors of classes make no copies."""
        plain = bool((weight == 1.0).all())
        copied = counts_rows(self.given) and not (self.given == 1.0).all()
        return Booster(
            self.bins,
            limits,
            None if plain else weight,
            n_jobs,
            self.given.astype(np.int64) if copied else np.empty(0, np.int64),
        )


@dataclass(frozen=True, eq=False)
class EarlierRounds:
    """What fitting goes on from, in the units of the target.

    scores
        Of the rows of the whole table, (rows, trees of a round): the bins of these rounds need not
        be those that earlier trees were grown on.
    """

    trees: BoostedTrees
    baseline: Floats
    scores: Floats


@dataclass(frozen=True, eq=False)
class Grown:
    """What rounds have come to, in the units of the target.

    baseline
        Where scores start: (1, trees of a round).
    trees
        None before the first round.
    """

    trees: BoostedTrees | None
    baseline: Floats
    loss: BoostingLoss
    columns: tuple[CodedColumn, ...]

    @property
    def n_trees(self) -> int:
        return self.baseline.shape[1]


class Rounds:
    """Scores of the training rows, and the trees whose values they add up.

    Extreme targets are divided by a power of two, which changes no digit; so are weights that are
    no numbers of copies, to be 1 or so on average.

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

    Attributes
    ----------
    scores : float array of shape (n_trees, rows)
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
        if not loss.allows(rows.y):
            raise DataError(
                f"y goes from {rows.y.min():g} to {rows.y.max():g}; the loss needs {loss.wanted}: "
                "use another loss, or leave out these rows"
            )
        self.loss, self.n_trees, self.subsample, self.n_jobs = loss, n_trees, subsample, n_jobs
        self.bins, self.before, self.done = rows.bins, before, 0
        self.unit = _unit(rows.y) if loss.has_unit else 1.0
        self.y = rows.y if self.unit == 1.0 else rows.y / self.unit
        self.target = np.require(self.y, np.float64, ["C", "A", "W"])  # as kernels take it
        unit = 1.0
        if not counts_rows(rows.given):
            unit = float(power_of_two(rows.weight.mean(keepdims=True))[0])
        self.weight = rows.weight if unit == 1.0 else rows.weight / unit
        self.weighted = not bool((self.weight == 1.0).all())
        self.limits = replace(
            limits,
            l2=_divided(limits.l2 / unit, self.unit, loss.curvature_power),
            min_gain=_divided(limits.min_gain / unit, self.unit, loss.gain_power),
        )
        self.booster = rows.booster(self.weight, self.limits, n_jobs)
        self.watched: list[tuple[BinnedTable | Floats, Floats]] = []
        if before is None:
            start = np.asarray(loss.initial(self.y, self.weight), dtype=np.float64).reshape(-1)
            _check_start(start, n_trees)
            self.start = np.broadcast_to(start, (n_trees,)).copy()
        else:
            self.start = self.scaled(before.baseline)[0]
        self.scores = np.ascontiguousarray(self._first_scores(self.bins).T)

    def watch(self, rows: BinnedTable | Floats) -> Floats:
        """Scores (rows, n_trees) of other rows, to which each round adds.

        Given are rows of the same table in bins, or a table as trees compare it.
        """
        scores = self._first_scores(rows)
        self.watched.append((rows, scores))
        return scores

    def boost(self, seed: int) -> None:
        """One round more."""
        row_seed, *tree_seeds = [0] * (1 + self.n_trees)
        if self.subsample < 1.0 or self.limits.max_features < 1.0:  # else nothing is drawn
            row_seed, *tree_seeds = spawn(seed, 1 + self.n_trees)
        rows = self._drawn(row_seed)
        trees = self._by_kernel if self.loss.kernel is not None else self._by_derivatives
        for k, _ in enumerate(trees(rows, tree_seeds)):
            self._refuse_overflow()
            self.booster.keep()
            for watched, scores in self.watched:
                if isinstance(watched, BinnedTable):
                    leaves = self.booster.find_leaves(watched)
                    scores[:, k] += self.booster.leaf_values[leaves]
        self.done += 1
        for watched, scores in self.watched:
            if not isinstance(watched, BinnedTable):
                last = BoostedTrees(joined(self.booster.kept()[-self.n_trees :]), self.n_trees)
                last.add_to(scores, watched, n_jobs=self.n_jobs)

    def _refuse_overflow(self) -> None:
        bounded = bool((np.abs(self.booster.leaf_values) < FAR).all())
        if self.loss.link == "log":  # exp of them is predicted
            bounded &= bool(np.abs(self.scores).max() < FARTHEST_LOG)
        if not bounded:
            raise ParameterError(
                f"after {self.done} rounds the scores are too large for floating-point numbers; "
                f"learning_rate is {self.limits.learning_rate:g}: give a smaller one"
            )

    def _by_kernel(self, rows: Ints | None, seeds: list[int]) -> Iterator[None]:
        """Trees of a loss whose derivatives are found where trees are grown."""
        kernel, booster = self.loss.kernel, self.booster
        if self.n_trees > 1:
            booster.derive_classes(self.scores, self.target)
        gradient, curvature = np.empty(0), None
        if self.bins.levels:
            gradient, curvature = self.loss.derivatives(self.y, self._flat(self.scores.T))
        for k, seed in enumerate(seeds):
            if self.bins.levels:
                weighted = self._weighted(gradient, k), self._weighted(curvature, k)
                booster.group_levels(*weighted, rows)
            if self.n_trees > 1:
                booster.round_of_class(k, self.scores[k], rows=rows, seed=seed)
            else:
                booster.round(kernel, self.scores[0], self.target, rows=rows, seed=seed)
            yield

    def _by_derivatives(self, rows: Ints | None, seeds: list[int]) -> Iterator[None]:
        """Trees of a loss whose derivatives are arrays."""
        scores = self._flat(self.scores.T)
        loss = self.loss.for_round(self.y, scores, self.weight)
        gradient, curvature = loss.derivatives(self.y, scores)
        for k, seed in enumerate(seeds):
            weighted = self._weighted(gradient, k), self._weighted(curvature, k)
            if self.bins.levels:
                self.booster.group_levels(*weighted, rows)
            self.booster.grow(*weighted, rows=rows, seed=seed)
            if loss.moves_leaves and self.n_trees == 1:
                self._move_leaves(loss, rows)
            self.scores[k] += self.booster.leaf_values[self.booster.leaf_of]
            yield

    def _weighted(self, derivative: Floats | None, k: int) -> Any:
        """Gradients or curvatures for the tree of class k; None stands for 1 in all rows."""
        if derivative is None:
            return self.weight if self.weighted else None
        column = derivative if derivative.ndim == 1 else derivative[:, k]
        return column * self.weight if self.weighted else np.ascontiguousarray(column)

    def _move_leaves(self, loss: BoostingLoss, rows: Ints | None) -> None:
        """From Newton's step to that of the loss, by the rows that the tree was grown on."""
        values, rate = self.booster.leaf_values, self.limits.learning_rate
        if loss.keeps_order:
            values[:] = rate * loss.leaf_steps(self.y, self.scores[0], None, None, values / rate)
            return
        part: Any = slice(None) if rows is None else rows
        leaf = self.booster.leaf_of[part]
        y, raw, weight = self.y[part], self.scores[0, part], self.weight[part]
        if self.limits.monotone is None or not self.limits.monotone.any():
            values[:] = rate * loss.leaf_steps(y, raw, weight, leaf, values / rate)
            return
        values *= loss.common_step(y, raw, weight, values[leaf] / rate)

    def _drawn(self, seed: int) -> Ints | None:
        """The rows of a round, in order; None for all."""
        if self.subsample == 1.0:
            return None
        n = len(self.y)
        return np.sort(generator(seed).permutation(n)[: max(1, round(self.subsample * n))])

    def _first_scores(self, rows: BinnedTable | Floats) -> Floats:
        """What the earlier rounds say of rows, in units of `unit`: (rows, n_trees)."""
        if self.before is None:
            return np.tile(self.start, (len(rows), 1))
        if isinstance(rows, BinnedTable):
            return self.scaled(self.before.scores[rows.row_numbers()])
        scores = np.tile(self.before.baseline, (len(rows), 1))
        self.before.trees.add_to(scores, rows, n_jobs=self.n_jobs)
        return self.scaled(scores)

    def mean_loss(self, y: Array, scores: Floats, weight: Floats) -> float:
        """Of targets, and scores (rows, n_trees), in units of `unit`."""
        loss = self.loss.for_round(self.y, self._flat(self.scores.T), self.weight)
        return float(np.average(loss.value(y, self._flat(scores)), weights=weight))

    def training_loss(self) -> float:
        """The mean over the training rows."""
        return self.mean_loss(self.y, self.scores.T, self.weight)

    def grown(self, *, late: bool = False) -> Grown:
        """What predictions need; trees that are `late` are joined when they are asked for."""
        trees: BoostedTrees | None = None
        rounds = self.done + (0 if self.before is None else len(self.before.trees))
        join = partial(self._joined, self.booster.kept())
        if rounds:
            K = self.n_trees
            trees = LateTrees(join, rounds, K) if late else BoostedTrees(join(), K)
        return Grown(trees, self.in_units(self.start[None]), self.loss, self.bins.columns)

    def _joined(self, kept: list[GrownTree]) -> ForestTrees:
        """Those of earlier rounds, and these, with values in the units of the target."""
        parts = [] if self.before is None else [self.before.trees.trees]
        if kept:
            new = joined(kept)
            if self.loss.link == "identity" and self.unit != 1.0:
                new = replace(new, value=new.value * self.unit)
            parts.append(new)
        return ForestTrees.of(parts)

    def in_units(self, scores: Floats) -> Floats:
        """Scores in the units of the target."""
        if self.loss.link == "identity":
            return scores * self.unit
        return scores + np.log(self.unit) if self.loss.link == "log" else scores

    def scaled(self, scores: Floats) -> Floats:
        """Scores in units of `unit`."""
        if self.loss.link == "identity":
            return scores / self.unit
        return scores - np.log(self.unit) if self.loss.link == "log" else scores

    def _flat(self, scores: Floats) -> Floats:
        """Scores as losses take them: (rows,) where there is one tree in each round."""
        return scores[:, 0] if self.n_trees == 1 else scores


def _check_start(start: Floats, n_trees: int) -> None:
    """Of losses of one's own."""
    if len(start) not in (1, n_trees) or not np.isfinite(start).all():
        raise ParameterError(
            f"initial of the loss gives {start[:3].tolist()}, {len(start)} number(s); wanted is "
            f"{'one finite number' if n_trees == 1 else f'one for each of {n_trees} classes'}"
        )


def _divided(limit: float, unit: float, power: int) -> float:
    """By the unit to a power, which may be too large or too small for float64, as this may not."""
    for _ in range(power):
        limit = min(limit / unit, LARGEST)
    return limit


def _unit(numbers: Array) -> float:
    """The power of two by which extreme numbers are divided; 1 for ordinary ones."""
    largest = float(max(numbers.max(), -numbers.min()))
    if largest == 0.0 or ORDINARY[0] < largest < ORDINARY[1]:
        return 1.0
    return float(power_of_two(np.array([largest]))[0])
