"""The trees of a gradient boosting, round by round, and what they add to the scores of rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from empirisk.compiled.boosting.scoring import add_scores
from empirisk.learners.ensembles.forest_trees import ROWS_AT_ONCE, ForestTrees
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel, slices


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Rounds of trees: one for each class of three or more, else one.

    Attributes
    ----------
    trees : ForestTrees
        Round by round, class by class. The value of a leaf is what it adds to a score; its weight
        is that of its rows; gains are sums of the gains of splits.
    per_round : int
        Trees of a round.
    """

    trees: ForestTrees
    per_round: int = 1

    def __len__(self) -> int:
        """How many rounds."""
        return len(self.trees) // self.per_round

    def __getitem__(self, rounds: slice) -> "BoostedTrees":
        """Some neighbouring rounds; nothing is copied."""
        first, stop, _ = rounds.indices(len(self))
        part = self.trees[first * self.per_round : stop * self.per_round]
        return BoostedTrees(part, self.per_round)

    def add_to(
        self,
        scores: Floats,
        places: Floats,
        first: int = 0,
        stop: int | None = None,
        *,
        n_jobs: int | None = None,
    ) -> None:
        """Add what the rounds first..stop say of rows to their scores, (n, per_round), in place."""
        rounds = self[first:stop]
        if len(rounds) == 0:
            return
        trees = rounds.trees

        def add(part: slice) -> None:
            block = places[part]
            leaves = np.empty(len(block), np.int32)
            add_scores(
                *trees._walks(), trees.first_node, trees.first_subset, trees.first_leaf,
                trees.value, block, leaves, scores[part],
            )  # fmt: skip

        parallel(add, slices(len(places), ROWS_AT_ONCE), n_jobs=n_jobs)

    def staged(
        self, scores: Floats, places: Floats, rounds: Sequence[int], *, n_jobs: int | None = None
    ) -> Iterator[Floats]:
        """Scores after each of some rounds, in ascending order; the same array, changed."""
        done = 0
        for stop in rounds:
            self.add_to(scores, places, done, stop, n_jobs=n_jobs)
            done = stop
            yield scores

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, are trees."""
        sound = isinstance(self.trees, ForestTrees) and isinstance(self.per_round, int)
        if not sound or self.per_round < 1 or len(self.trees) % self.per_round:
            raise DataError("the trees of a boosting do not come in whole rounds")
