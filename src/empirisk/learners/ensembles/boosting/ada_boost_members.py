"""The members of a boosted ensemble, and what the first of them say together at several stages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from empirisk.compiled.boosting.voting import add_votes, weighted_medians
from empirisk.data.coded_column import CodedColumn
from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import places_in, table_of
from empirisk.learners.class_codes import codes_among
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.ensembles.members import predicted_numbers, predictions
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel, slices

ROWS_AT_ONCE = 2**12  # whose sums at all stages stay in the cache
FITTED = ("trees_", "columns_", "_leaf_labels", "_members")


class Members(Protocol):
    """The members of a fitted ensemble."""

    def write(self, model: Any, n: int) -> None:
        """The first n of them become the members of a model."""


@dataclass(frozen=True, eq=False)
class MemberTrees:
    """Trees of this library, in flat arrays.

    `labels` are the class codes of the leaves, None for numbers; `columns` are those of the table
    as predictions need them.
    """

    trees: ForestTrees
    labels: Ints | None
    columns: list[CodedColumn]

    @classmethod
    def of(cls, trees: ForestTrees, labels: Ints | None, coding: RankCoding) -> "MemberTrees":
        """Trees that were grown on a coding."""
        return cls(trees, labels, [column.for_flat_trees() for column in coding.columns])

    def write(self, model: Any, n: int) -> None:
        forget_members(model)
        model.trees_, model.columns_ = self.trees.first(n), self.columns
        if self.labels is not None:
            model._leaf_labels = self.labels[: self.trees.first_leaf[n]].copy()


@dataclass(frozen=True, eq=False)
class MemberEstimators:
    """Fitted estimators of any origin."""

    members: list[Any]

    def write(self, model: Any, n: int) -> None:
        forget_members(model)
        model._members = self.members[:n]


def forget_members(model: Any) -> None:
    """Those of an earlier fit."""
    for name in FITTED:
        vars(model).pop(name, None)


class Asked(Protocol):
    """Members that are asked about the rows of a table."""

    def votes(self, stages: Ints) -> Floats:
        """(rows, stages, 1 or classes): the weights of the members that vote for each class.

        Of two classes those for the second minus those for the first.
        """

    def staged_votes(self) -> Iterator[Floats]:
        """(rows, 1 or classes) after each member."""

    def medians(self, stages: Ints) -> Floats:
        """(rows, stages): the weighted medians of what the first members predict."""


class AskedTrees:
    """Trees in flat arrays; `places` are the rows as trees compare them."""

    def __init__(self, model: Any, places: Floats) -> None:
        self._trees, self._places, self._n_jobs = model.trees_, places, model.n_jobs
        self._weights = model.estimator_weights_.copy()  # from a file it cannot be written to
        if hasattr(model, "_leaf_labels"):
            each = np.repeat(self._weights, np.diff(self._trees.first_leaf))
            self._votes = votes_for(model._leaf_labels, model.n_classes_) * each[:, None]

    def votes(self, stages: Ints) -> Floats:
        return self._sums(self._trees, self._votes, stages)

    def staged_votes(self) -> Iterator[Floats]:
        total: Any = 0.0
        first = self._trees.first_leaf
        for t in range(len(self._trees)):
            votes = self._votes[first[t] : first[t + 1]]
            total = total + self._sums(self._trees[t : t + 1], votes, np.ones(1, np.int64))[:, 0]
            yield total

    def _sums(self, trees: ForestTrees, values: Floats, stages: Ints) -> Floats:
        totals = np.empty((len(self._places), len(stages), values.shape[1]))

        def add(part: slice) -> None:
            block = self._places[part]
            add_votes(
                trees.nodes.view(np.float64), trees.nodes.view(np.int32), trees.subsets,
                trees.first_node, trees.first_subset, trees.first_leaf, values, block,
                np.empty(len(block), np.int32), stages, totals[part],
            )  # fmt: skip

        parallel(add, slices(len(totals), ROWS_AT_ONCE), n_jobs=self._n_jobs)
        return totals

    def medians(self, stages: Ints) -> Floats:
        trees, medians = self._trees, np.empty((len(self._places), len(stages)))

        def find(part: slice) -> None:
            leaves = trees.all_leaves(self._places[part]) + trees.first_leaf[:-1]
            says = np.ascontiguousarray(trees.value[:, 0][leaves])
            weighted_medians(says, self._weights, stages, medians[part])

        parallel(find, slices(len(medians), ROWS_AT_ONCE), n_jobs=self._n_jobs)
        return medians


class AskedEstimators:
    """Estimators of any origin; X as it came in."""

    def __init__(self, model: Any, X: Any) -> None:
        self._members, self._X = model._members, X
        self._weights = model.estimator_weights_.copy()
        self._labels = getattr(model, "classes_", None)

    def votes(self, stages: Ints) -> Floats:
        wanted = set(stages.tolist())
        found = [total for t, total in enumerate(self.staged_votes(stages[-1]), 1) if t in wanted]
        return np.stack(found, axis=1)

    def staged_votes(self, n: int | None = None) -> Iterator[Floats]:
        assert self._labels is not None
        total: Any = 0.0
        for member, weight in zip(self._members[:n], self._weights, strict=False):
            codes = codes_or_numbers(member, self._X, self._labels)
            total = total + votes_for(codes, len(self._labels)) * weight
            yield total

    def medians(self, stages: Ints) -> Floats:
        says = [predicted_numbers(m, self._X) for m in self._members[: stages[-1]]]
        table = np.column_stack(says)
        medians = np.empty((len(table), len(stages)))
        weighted_medians(table, self._weights, stages, medians)
        return medians


def votes_for(codes: Ints, n_classes: int) -> Floats:
    """(votes, classes): 1 for the class of each vote; of two classes one column, 1 or -1."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.eye(n_classes)[codes]


def asked(model: Any, X: Any) -> Asked:
    """The members of a model and the rows of X, a table that was checked, or a design."""
    if not hasattr(model, "trees_"):
        return AskedEstimators(model, X)
    if isinstance(X, RankCoding):
        return AskedTrees(model, X.places())
    return AskedTrees(model, places_in(table_of(X, model.estimator_, reset=None), model.columns_))


def codes_or_numbers(member: Any, X: Any, labels: Array | None) -> Array:
    """What a member predicts: numbers, or the codes of its labels."""
    if labels is None:
        return predicted_numbers(member, X)
    found = predictions(member, X)
    codes, strange = codes_among(found, labels)
    if strange.any():
        raise DataError(
            f"{type(member).__name__} predicts the label {found[strange].tolist()[0]!r}, which y "
            "does not have"
        )
    return codes
