"""One node of a linear tree: its model, and the search for its best split."""

from dataclasses import dataclass

import numpy as np

from empirisk.compiled.trees.linear_gaps import add_gaps
from empirisk.compiled.trees.linear_nodes import centre_rows, fit_node, subtract_model
from empirisk.compiled.trees.linear_search import LINEAR_RULES, SPLIT, search_linear
from empirisk.compiled.trees.linear_sums import add_rows
from empirisk.compiled.trees.ordering import ALL_PAIRS, DIGIT_BITS
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.terms import Limits
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline

TIE = 1e-10
"""Errors that differ by less than this part of the node's are equal; a split must gain more."""
WORK_AT_ONCE = 2**29  # products between two looks at the clock: about a second


@dataclass(frozen=True, eq=False)
class LinearTarget:
    """What the models of all nodes are fitted to.

    Z : array of shape (n, p)
        Columns of the models, NaN where missing.
    Y : array of shape (n, outputs)
        Values, or indicators of classes.
    weight : array of shape (n,)
    alpha : float
        The penalty.
    copies : array of shape (n,)
        How many rows each row counts for in limits.
    """

    Z: Floats
    Y: Floats
    weight: Floats
    alpha: float
    copies: Floats


@dataclass(eq=False)
class Node:
    """Rows, and their model value + coef (z - centre).

    error
        sum_i w_i |y_i - model|^2 + alpha |coef|^2
    low, high
        The range of Y.
    """

    depth: int
    rows: Ints
    n_rows: int
    copies: float
    weight: float
    error: float
    mean: Floats
    centre: Floats
    coef: Floats
    value: Floats
    low: Floats
    high: Floats
    number: int = -1


class Workshop:
    """Fits and searches nodes of one training set; holds the room that all of them use."""

    def __init__(
        self, coding: RankCoding, target: LinearTarget, limits: Limits, max_bins: int
    ) -> None:
        self.coding, self.target = coding, target
        self.missing = np.isnan(target.Z)
        self.all_seen = not self.missing.any()
        self.table_rows = coding.row_numbers().astype(np.uint32)
        self.tables = (coding.small, coding.medium, coding.large)
        n, p = target.Z.shape
        n_outputs, self.d = target.Y.shape[1], 1 + p + target.Y.shape[1]
        self.rules = np.zeros(1, LINEAR_RULES)
        self.rules[0] = (
            target.alpha,
            limits.min_rows_leaf,
            max(limits.min_weight_leaf, np.finfo(float).tiny),
            p + 2,
            max_bins,
        )
        category = coding.features["category"] != 0
        n_levels = int(coding.features["n_codes"][category].max(initial=0))
        n_sums = n_outputs * (1 + p)
        self.words = np.zeros((2, -(-n_levels // 32)), np.uint32)
        self.sums = np.zeros((6, self.d, self.d))
        self.room = (np.empty((self.d, self.d)), np.empty(self.d))
        self.size, self.vectors = np.empty(1 + p), np.empty((3, 1 + p))
        self.sorting = (
            np.empty(2**DIGIT_BITS, np.uint32),
            np.empty((2, ALL_PAIRS), np.int32),
            np.empty(max_bins + 3, np.int64),
        )
        self.levels = (
            np.zeros((4, n_levels), np.uint32) if n_levels else None,
            np.zeros((n_levels + n_sums + 1, n_sums + 2)),
            np.zeros((n if n_levels else 0, 1 + n_sums)),
            np.zeros((4, n_sums)),
        )

    def fitted(self, rows: Ints, depth: int) -> Node:
        """A node with its model: ridge regression, or the mean where it has too few rows."""
        target, m = self.target, len(rows)
        p, n_outputs = target.Z.shape[1], target.Y.shape[1]
        design, weight = np.empty((m, self.d)), np.empty(m)
        centre, value, coef = np.empty(p), np.empty(n_outputs), np.zeros((n_outputs, p))
        total = centre_rows(target.Z, target.Y, target.weight, rows, weight, centre, value, design)
        mean, own = value.copy(), target.Y[rows]
        copies = float(target.copies[rows].sum())
        if copies < self.rules[0]["min_rows_model"]:
            residual = design[:, 1 + p :]
            error = float((weight[:, None] * residual * residual).sum())
        else:
            room = (self.sums[0], *self.room, self.vectors)
            entries = np.empty(m, np.uint64)
            error = fit_node(design, weight, target.alpha, entries, coef, value, *room)
        low, high = own.min(axis=0), own.max(axis=0)
        return Node(depth, rows, m, copies, total, error, mean, centre, coef, value, low, high)

    def best_split(self, node: Node) -> Array:
        """The best split, a record; at quantiles first, then between the best one's neighbours."""
        m = node.n_rows
        design, weight = self._residuals(node)
        entries = np.arange(3 * m, dtype=np.uint64)
        self.sums[0] = 0.0
        add_rows(design, weight, entries, 0, m, self.sums[0])
        holes = self._holes(node.rows)
        q = len(holes[2])
        gaps, centre = np.zeros((5, q, self.d + q + 1)), np.empty(q)
        add_gaps(design, weight, entries, 0, m, *holes[:2], gaps[0])
        splits = np.zeros(1, SPLIT)
        split = splits[0]
        split["feature"], split["error"], split["tie"] = -1, node.error, TIE * node.error
        table_rows, codes = self.table_rows[node.rows], np.empty(m, np.uint32)
        copies = self.target.copies[node.rows]

        def look(first: int, last: int, *window: int) -> None:
            search_linear(
                *self.tables,
                self.coding.features,
                first,
                last,
                np.array(window, np.int64),
                table_rows,
                design,
                weight,
                copies,
                node.coef,
                self.rules,
                splits,
                self.sums,
                holes,
                gaps,
                centre,
                self.size,
                *self.room,
                codes,
                entries,
                *self.sorting,
                *self.levels,
                self.words,
            )
            check_deadline()

        n_features = len(self.coding.columns)
        at_once = max(1, WORK_AT_ONCE // (m * self.d * self.d))
        for first in range(0, n_features, at_once):
            look(first, min(first + at_once, n_features), 0, m, 0)
        while split["coarse"]:
            window = (int(split[name]) for name in ("before", "after", "cut"))
            feature = int(split["feature"])
            split["coarse"] = 0
            split["error"] += 2 * split["tie"]  # the best one so far is found again
            look(feature, feature + 1, *window)
        return split

    def _residuals(self, node: Node) -> tuple[Floats, Floats]:
        """The design of the rows of a node, with what its model leaves of Y; and their weights."""
        target, m = self.target, node.n_rows
        design, weight = np.empty((m, self.d)), np.empty(m)
        mean = np.empty_like(node.mean)
        centre_rows(target.Z, target.Y, target.weight, node.rows, weight, node.centre, mean, design)
        subtract_model(design, node.coef, node.value - mean)
        return design, weight

    def _holes(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """(starts, holes, columns): the columns with missing values, and which are so in each row.

        Of the i-th row those are columns[holes[starts[i]:starts[i + 1]]].
        """
        missing = self.missing[:0] if self.all_seen else self.missing[rows]
        columns = np.flatnonzero(missing.any(axis=0))
        holes = np.ascontiguousarray(np.nonzero(missing[:, columns])[1])
        starts = np.zeros(len(rows) + 1, np.int64)
        if len(holes):
            np.cumsum(missing.sum(axis=1), out=starts[1:])
        return starts, holes, columns
