"""Which training rows are in the leaves of a forest: a distribution of y for each new row.

The weight of training row i for a new row x is the mean over the trees of its part of the leaf that
x comes to (Meinshausen 2006). These weights sum to one, and the mean of y by them is the prediction
of a forest whose leaves have means; their quantiles are those of y given x.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from empirisk.compiled.trees.leaf_quantiles import find_quantiles
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.arrays import Array, Floats, Ints, WritableArrays
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel, slices

ROWS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class LeafMembers(WritableArrays):
    """The rows of each leaf.

    Attributes
    ----------
    values : float64 array
        The distinct values of y, in order.
    first : int64 array of shape (leaves + 1,)
        Where the members of each leaf begin.
    ranks : uint32 array
        The places of their y among the values.
    weight : float64 array
        Their parts of the leaf.
    """

    values: Floats
    first: Ints
    ranks: Array
    weight: Floats

    @classmethod
    def of(
        cls, trees: ForestTrees, places: Floats, y: Floats, weights: Iterable[Floats]
    ) -> "LeafMembers":
        """From the training rows, and the weights that they have in each tree."""
        values, rank = np.unique(y, return_inverse=True)
        sizes, ranks, shares = [], [], []
        for b, weight in enumerate(weights):
            rows = np.flatnonzero(weight)
            leaf = trees.leaves(b, places, rows)
            order = np.argsort(leaf, kind="stable")
            n_leaves = int(trees.first_leaf[b + 1] - trees.first_leaf[b])
            total = np.bincount(leaf, weight[rows], minlength=n_leaves)
            sizes.append(np.bincount(leaf, minlength=n_leaves))
            ranks.append(rank[rows[order]].astype(np.uint32))
            shares.append((weight[rows] / total[leaf])[order])
        first = np.append(0, np.cumsum(np.concatenate(sizes)))
        return cls(values, first, np.concatenate(ranks), np.concatenate(shares))

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, are members of leaves."""
        n = len(self.ranks)
        check_array("values", self.values, np.float64, (len(self.values),))
        check_array("first", self.first, np.int64, (len(self.first),))
        check_array("ranks", self.ranks, np.uint32, (n,))
        check_array("weight", self.weight, np.float64, (n,))
        if not (self.weight >= 0).all():
            raise DataError("weight has numbers that are no weights")
        ends = np.diff(self.first, prepend=0, append=n)
        if (ends < 0).any() or not len(self.first) or self.first[-1] != n:
            raise DataError("first does not say where the members of leaves begin")
        if n and int(self.ranks.max()) >= len(self.values):
            raise DataError(f"ranks has numbers beyond {len(self.values)} values")
        upto = np.append(0.0, np.cumsum(self.weight))
        if not np.allclose(np.diff(upto[self.first]), 1.0):
            raise DataError("the weights of the members of some leaf do not sum to one")

    def quantiles(
        self, trees: ForestTrees, places: Floats, levels: Floats, *, n_jobs: int | None
    ) -> Floats:
        """(rows, levels): the least value that the weights up to it reach each level at."""
        order = np.argsort(levels, kind="stable")
        found = np.empty((len(places), len(levels)), np.int64)

        def find(part: slice) -> None:
            leaves = np.ascontiguousarray(trees.all_leaves(places[part]))
            room = np.zeros(len(self.values)), np.empty(len(self.values), np.int64)
            find_quantiles(
                leaves, trees.first_leaf, self.first, self.ranks, self.weight, *room,
                levels[order], found[part],
            )  # fmt: skip

        parallel(find, slices(len(places), ROWS_AT_ONCE), n_jobs=n_jobs)
        back = np.argsort(order, kind="stable")
        return self.values[found[:, back]]
