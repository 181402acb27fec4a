"""Trees as members: one coding of the table for all of them, one conversion of X to predict.

A tree takes the first feature of equal splits, and small nodes have many of these. Members that
all took the same feature would be more alike than their draws are, so each goes through the columns
in an order of its own (`tie_order`). Otherwise trees are bit for bit those that a fit to the drawn
rows of X itself grows: a coding of all rows has more codes, in the same order.
"""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import places_in, table_of
from empirisk.learners.ensembles.columns import columns_of, for_columns, numbered
from empirisk.learners.ensembles.members import AnyMembers, Training
from empirisk.learners.trees.classifier import DecisionTreeClassifier
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.streams import generator
from empirisk.runtime.targets import coded

ROWS_AT_ONCE = 2**13  # their places and their sums stay in the cache


def are_trees(estimator: Any) -> bool:
    """Whether the members share a coding."""
    return type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor)


def fit_tree(member: Any, training: Training, weight: Floats, columns: Ints | None) -> Any:
    """Grow a tree on the drawn rows of the coding that all members share."""
    rows = np.flatnonzero(weight > 0)
    coding = coded_columns(training.X, columns)[rows]
    y, weight, classes, learner = training.y[rows], weight[rows], None, member
    if training.n_classes:
        y, classes = coded(y)
        learner = member.for_classes(classes)
    order = tie_order(member, len(coding.columns)) if training.draws.by_lot else None
    n_classes = 0 if classes is None else len(classes)
    tree = _grown_in_order(learner, coding, y, weight, n_classes, order).write(0, member, classes)
    if training.names is not None:
        # As a fit to a frame would note them.
        tree.feature_names_in_ = np.array([c.name for c in coding.columns], dtype=object)
    return tree


def tie_order(member: Any, p: int) -> Ints:
    """The order in which a member looks at its p columns, by its random_state."""
    return generator(member.random_state).permutation(p)


def _grown_in_order(
    learner: Any, coding: RankCoding, y: Array, weight: Floats, n_classes: int, order: Ints | None
) -> Any:
    """The path of a tree that was grown on columns in an order; its features count as before."""
    if order is None:
        return learner._path(coding, y, weight, [learner.ccp_alpha], n_classes)
    names = np.array([column.name for column in coding.columns])
    grower = for_columns(copy(learner), order, names, len(order))
    path = grower._path(coded_columns(coding, order), y, weight, [learner.ccp_alpha], n_classes)
    feature = path.tree.feature
    before = np.where(feature < 0, feature, order[np.maximum(feature, 0)])
    path.tree = replace(path.tree, feature=before.astype(feature.dtype))
    path.coding = coding
    return path


def coded_columns(coding: RankCoding, columns: Ints | None) -> RankCoding:
    """Some columns of a coding, which share its codes."""
    if columns is None:
        return coding
    picked = [coding.columns[j] for j in columns]
    names = numbered([column.name for column in picked])
    return replace(
        coding,
        features=coding.features[columns],
        columns=tuple(replace(c, name=name) for c, name in zip(picked, names, strict=True)),
    )


class TreeMembers(AnyMembers):
    """Fitted trees, to be asked about the rows of X, which are converted once for all of them."""

    def __init__(
        self,
        members: list[Any],
        columns: Ints | None,
        X: Any,
        n_classes: int,
        votes: bool,
        estimator: Any,
    ) -> None:
        super().__init__(members, columns, None, n_classes, votes)
        known, used = shared_columns(members, columns)
        if isinstance(X, RankCoding):
            self.places = coded_columns(X, used).places()
        else:
            table = table_of(X, estimator, reset=None)
            self.places = places_in(columns_of(table, used), known)
        if columns is not None and used is not None:  # both, or none
            self.columns = np.searchsorted(used, columns)

    def scores(self, b: int, rows: Ints | slice | None = None) -> Array:
        """As of any members."""
        places = self.places if rows is None else self.places[rows]
        if self.columns is not None:
            places = np.ascontiguousarray(places[:, self.columns[b]])
        member = self.members[b]
        leaves = member.tree_.apply(places)
        if not self.n_classes:
            values = member.tree_.value[:, :, 0][leaves]
            return values[:, 0] if member.n_outputs_ == 1 else values
        if self.votes:
            return np.eye(self.n_classes)[member.classes_[member._labels[leaves]]]
        shares = member.tree_.value[:, 0][leaves]
        if shares.shape[1] == self.n_classes:
            return shares
        found = np.zeros((len(leaves), self.n_classes))
        found[:, member.classes_] = shares
        return found

    def mean(self, n_jobs: int | None) -> Floats:
        """Block of rows by block of rows, the members in their order."""

        def of_block(block: slice) -> Floats:
            total = np.array(self.scores(0, block))
            with np.errstate(over="ignore"):
                for b in range(1, len(self)):
                    total += self.scores(b, block)
            if np.isfinite(total).all():
                return total / len(self)
            parts = [self.scores(b, block) / len(self) for b in range(len(self))]
            return np.sum(parts, axis=0)  # a sum that overflows

        blocks = slices(len(self.places), ROWS_AT_ONCE)
        return np.concatenate(parallel(of_block, blocks, n_jobs=n_jobs))


def shared_columns(
    members: list[Any], columns: Ints | None
) -> tuple[list[CodedColumn], Ints | None]:
    """What the columns of the table are, of those that some member has, and which these are.

    Members have the same levels of a category, since they share a coding; of numbers each knows
    those next to its thresholds, which predictions do not ask for.
    """
    if columns is None:
        return members[0].columns_, None
    used, first = np.unique(columns, return_index=True)
    places = zip(*np.unravel_index(first, columns.shape), strict=True)
    return [members[b].columns_[i] for b, i in places], used
