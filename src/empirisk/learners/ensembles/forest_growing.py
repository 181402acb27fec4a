"""Growing the trees of a forest: one coding, one target and one set of limits for all of them.

A tree sees the rows that it draws, as counts, and draws features at each split. All that is random
about it follows from its seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.learners.trees.growth import Limits, grow_tree
from empirisk.learners.trees.limits import limits_of
from empirisk.learners.trees.monotone import checked_signs
from empirisk.learners.trees.targets import Problem
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import stream
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn

AHEAD = 8  # trees that are grown before the first of them is taken


class Grown(NamedTuple):
    """A tree, and how often it drew each row; None if it took each as it is."""

    trees: ForestTrees
    counts: Ints | None


@dataclass(frozen=True, eq=False)
class ForestGrowing:
    """What all trees of a forest share.

    Parameters
    ----------
    tree : DecisionTree
        A tree with the parameters of the forest, for class codes.
    coding : RankCoding
        Of all rows.
    y : array
        Values, or class codes.
    weight : float array
        Of the rows; 0 for those that are left out.
    n_classes : int
        0 for a regression.
    draws : Draws or None
        None lets each tree have all rows.
    factors : float array, optional
        Of the weights of the classes.
    balanced : bool
        Whether classes weigh the same in the rows that each tree draws.
    """

    tree: DecisionTree
    coding: RankCoding
    y: Array
    weight: Floats
    n_classes: int
    draws: Draws | None
    factors: Floats | None = None
    balanced: bool = False

    def grown(self, seeds: Sequence[int], n_jobs: int | None) -> Iterator[Grown]:
        """A tree for each seed, in order; threads share the work."""
        self.signs  # noqa: B018  (checked before the threads begin)
        trees = stream(self._grow, seeds, n_jobs=n_jobs, ahead=AHEAD)
        return iter(track(trees, "trees", len(seeds)))

    def _grow(self, seed: int) -> Grown:
        counts = None if self.draws is None else self.draws.counts(seed)
        weight = self._weights(counts)
        rows = np.flatnonzero(weight)
        target = replace(self.problem.target, weight=weight)
        tree = grow_tree(
            self.coding if len(rows) == len(weight) else self.coding[rows],
            target,
            self._limits(float(weight.sum())),
            seed=spawn(seed, 1)[0],
            random=self.tree.splitter == "random",
            monotone=self.signs,
            gain_scale=self.problem.gain_scale,
        )
        tree = self._pruned(self.problem.in_units(tree))
        medians = self.tree.criterion == "absolute_error"
        return Grown(ForestTrees.packed(tree, classes=self.n_classes, medians=medians), counts)

    @cached_property
    def problem(self) -> Problem:
        """The target of all rows, with the weights that they have before they are drawn."""
        weight = self.weight if self.draws is None else np.ones(len(self.weight))
        weight = np.where(self.weight > 0, weight, 1.0)
        if self.factors is not None:
            weight = weight * self.factors[self.y]
        return self.tree._problem(self.coding, self.y, weight, self.n_classes)

    @cached_property
    def signs(self) -> Array | None:
        """Of monotone constraints."""
        return checked_signs(self.tree.monotonic_cst, self.coding, self.problem.target)

    def _weights(self, counts: Ints | None) -> Floats:
        """Of the rows in a tree, times the factors of their classes."""
        if counts is None or self.draws is None:
            return np.where(self.weight > 0, self.problem.weight, 0.0)
        weight = self.draws.member_weight(counts)
        if self.balanced:
            total = np.bincount(self.y, weight, minlength=self.n_classes)
            factors = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
            return weight * (factors * weight.sum() / np.count_nonzero(total))[self.y]
        return weight if self.factors is None else weight * self.problem.weight

    @cached_property
    def limits(self) -> Limits:
        """For a total weight of one."""
        n = len(self.weight)
        return limits_of(
            self.tree, np.full(n, 1.0 / n), self.weight, len(self.coding.columns), copies=False
        )

    def _limits(self, total: float) -> Limits:
        limits = self.limits
        gain = limits.min_gain * total
        return replace(
            limits,
            min_weight_leaf=limits.min_weight_leaf * total,
            min_gain=self.problem.gain_of(gain) if np.isfinite(gain) else gain,
        )

    def _pruned(self, tree: Tree) -> Tree:
        alpha: Any = self.tree.ccp_alpha
        if not alpha > 0:
            return tree
        return tree.cut_back(self.tree._pruning(tree, self.n_classes).leaves(alpha))
