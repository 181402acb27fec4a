"""Growing the trees of a forest: one coding, one target and one set of limits for all of them.

A tree sees the rows that it draws, as counts, and draws features at each split. All that is random
about it follows from its seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.learners.trees.growth import Grower
from empirisk.learners.trees.limits import limits_of
from empirisk.learners.trees.monotone import checked_signs
from empirisk.learners.trees.targets import Problem
from empirisk.learners.trees.terms import Limits, Target
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_path import checked_alpha
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import slices, stream
from empirisk.runtime.progress import track

AHEAD = 8  # bunches of trees that are grown before the first of them is taken
BUNCH = 5 * 2**17  # rows times features of trees that are handed out together
MOST_TREES = 8  # of a bunch, so that there is work for all threads
LARGEST = 1e300  # factor of a class: one of nearly no weight is made no heavier than this


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
    _idle: list[Grower] = field(default_factory=list, init=False, repr=False)

    def grown(self, seeds: Sequence[int], n_jobs: int | None) -> Iterator[ForestTrees]:
        """A tree for each seed, in order, some at a time; threads share the work."""
        self._idle.append(self._grower())  # parameters are checked before the threads begin
        n, p = self.coding.shape
        at_once = max(1, min(BUNCH // (n * p), MOST_TREES))
        bunches = [seeds[part] for part in slices(len(seeds), at_once)]
        trees = stream(self._grow_bunch, bunches, n_jobs=n_jobs, ahead=AHEAD)
        return iter(track(trees, "trees" if at_once == 1 else "bunches of trees", len(bunches)))

    def _grow_bunch(self, seeds: Sequence[int]) -> ForestTrees:
        return ForestTrees.of([self._grow(seed) for seed in seeds])

    def _grow(self, seed: int) -> ForestTrees:
        counts = None if self.draws is None else self.draws.counts(seed)
        factors = None
        if self.balanced and self.draws is not None and counts is not None:
            weight = self.draws.member_weight(counts)
            factors = balancing(np.bincount(self.y, weight, minlength=self.n_classes))
        single_use = self._has_shares or self._keeps_all_nodes
        grower = self._grower(counts, factors) if single_use else self._idle_grower()
        grower.grow(seed, counts, factors)  # rows are drawn by another key of it
        if self._keeps_all_nodes:
            return self._of_whole_tree(self.problem.in_units(grower.tree()))
        packed = grower.packed()
        if not single_use:
            self._idle.append(grower)
        return ForestTrees.of_packed(self.problem.packed_in_units(packed), classes=self.n_classes)

    def _idle_grower(self) -> Grower:
        """One that no thread is using; a new one if there is none."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._grower()

    def _grower(self, counts: Ints | None = None, factors: Floats | None = None) -> Grower:
        """The room of one thread; counts and factors are those of a tree, if it is for one."""
        return Grower(
            self.coding if self.draws is not None else self.coding[self.weight > 0],
            self._target,
            self._limits(counts, factors),
            checked_signs(self.tree.monotonic_cst, self.coding, self.problem.target),
            self.problem.gain_scale,
            self.tree._draws_thresholds(),
            self._lines,
        )

    @cached_property
    def _lines(self) -> Array | None:
        """The small codes row by row, which several classes make use of."""
        return np.ascontiguousarray(self.coding.small.T) if self.n_classes > 2 else None

    def weights(self, seed: int) -> Floats:
        """Of the rows in the tree with this seed, before classes have factors."""
        if self.draws is None:
            return self.weight
        return self.draws.member_weight(self.draws.counts(seed))

    @cached_property
    def problem(self) -> Problem:
        """The target of all rows, with the weights that they have before they are drawn.

        Rows of weight 0 stand there as copies of the first other one: no tree has them, and what
        they hold shall not count as extreme, or as no target of the criterion.
        """
        drawn = self.draws is not None and not self.draws.rows_keep_weights
        y, weight = self.y, np.ones(len(self.weight)) if drawn else self.weight
        kept = self.weight > 0
        if not kept.all():
            y, weight = y.copy(), weight.copy()
            y[~kept], weight[~kept] = y[kept][0], weight[kept][0]
        if self.factors is not None:
            weight = weight * self.factors[y]
        return self.tree._problem(self.coding, y, weight, self.n_classes)

    @cached_property
    def _target(self) -> Target:
        """What is grown to; it knows what weights were given where these may be copies."""
        if self.draws is not None or self.factors is None:
            return self.problem.target
        kept = self.weight > 0
        problem = replace(self.problem, weight=self.problem.weight[kept])
        return problem.with_copies(self.y[kept], self.weight[kept])

    @cached_property
    def limits(self) -> Limits:
        """For a total weight of one where rows are drawn, else for that of all rows."""
        kept, p = self.weight > 0, len(self.coding.columns)
        given = self.weight[kept]
        if self.draws is None:
            weight = self.problem.weight[kept]
            same, copied = np.array_equal(weight, given), bool((given != 1.0).any())
            limits = limits_of(self.tree, given if same else weight, given, p, copies=copied)
            return replace(limits, min_gain=self.problem.gain_of(limits.min_gain))
        n = len(given)
        limits = limits_of(self.tree, np.full(n, 1.0 / n), given, p, copies=False)
        return replace(limits, shuffle=True)  # or trees would be too alike

    @cached_property
    def _has_shares(self) -> bool:
        """Whether some limit is a share of all weight, which trees may differ in."""
        shares = self.limits.min_weight_leaf > 0 or self.limits.min_gain > -np.inf
        return shares and self.draws is not None

    def _limits(self, counts: Ints | None, factors: Floats | None) -> Limits:
        if not self._has_shares:
            return self.limits
        weight = self.problem.weight[self.weight > 0]
        if counts is not None:
            weight = counts * self.problem.weight
            weight = weight if factors is None else weight * factors[self.y]
        total, gain = float(weight.sum()), self.limits.min_gain
        return replace(
            self.limits,
            min_weight_leaf=self.limits.min_weight_leaf * total,
            min_gain=self.problem.gain_of(gain * total) if np.isfinite(gain) else gain,
        )

    @cached_property
    def _keeps_all_nodes(self) -> bool:
        """Whether more is asked of a tree than its leaves: to prune it, or medians."""
        return checked_alpha(self.tree.ccp_alpha) > 0 or self.tree.criterion == "absolute_error"

    def _of_whole_tree(self, tree: Tree) -> ForestTrees:
        alpha = self.tree.ccp_alpha
        if alpha > 0:
            tree = tree.cut_back(self.tree._pruning(tree, self.n_classes).leaves(alpha))
        medians = self.tree.criterion == "absolute_error"
        return ForestTrees.of_tree(tree, classes=self.n_classes, medians=medians)


def balancing(total: Array) -> Floats:
    """Factors that give classes of these totals equal ones; 1 for a class without rows.

    Examples
    --------
    >>> balancing(np.array([30, 10, 0]))
    array([0.66666667, 2.        , 1.        ])
    """
    some = total > 0
    with np.errstate(over="ignore"):
        factors = np.divide(total.sum() / some.sum(), total, out=np.ones(len(total)), where=some)
    return np.minimum(factors, LARGEST)
