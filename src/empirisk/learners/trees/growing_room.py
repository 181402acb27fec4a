"""The room that the compiled grower works in: how much of it there is, and what stands where."""

import numpy as np

from empirisk.compiled.trees import criteria
from empirisk.compiled.trees.binning import BINS_PER_ROW
from empirisk.compiled.trees.cells import AT_ONCE, CELLS_PER_ROW, FEW_CODES
from empirisk.compiled.trees.layout import RULES
from empirisk.compiled.trees.ordering import ALL_PAIRS, DIGIT_BITS
from empirisk.learners.trees.terms import Limits, Target
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.scratch import Scratch

ROUNDING = 1e-12  # of worths, where weights are products with the factors of classes
HALF_A_COPY = 0.5  # copies are whole numbers, up to the rounding of sums of weights


class GrowingRoom:
    """What the grower writes to beside the nodes, for up to n rows; trees do not differ by it.

    Attributes
    ----------
    rules : record array of shape (1,)
    words : array of shape (2, words of levels)
    arrays : tuple
        In the order in which `compiled.trees.growing.grow` takes them, from `codes` on.
    """

    def __init__(self, n: int, features: Array, target: Target, limits: Limits, block: int) -> None:
        p, family = len(features), target.family
        classes = target.n_sums if family == 1 else 1
        n_codes = int(features["n_codes"].max(initial=0)) + 1
        binned = family <= 1 and limits.min_rows_leaf <= 1
        n_bins = min(n_codes * classes, BINS_PER_ROW * n) + classes if binned else 0
        n_cells = int(AT_ONCE) * max(min(FEW_CODES * classes, CELLS_PER_ROW * n), classes)
        n_sorted = min(n, n_codes * classes // BINS_PER_ROW + ALL_PAIRS) if binned else n
        categories = features["category"] != 0
        n_levels = int(features["n_codes"][categories].max(initial=0))
        n_entries = max(n_bins, n_sorted, block) + 1
        first = 2 * p * block
        second = first + n_entries
        third = second + max(n_sorted, block)
        self.rules = _rules(target, limits, features, block, n, first, second, third)
        self.words = np.zeros((2, -(-n_levels // 32)), np.uint32)
        width = 1 if family == 1 else 1 + target.n_sums
        codes, sums = Scratch(n, np.uint32), Scratch((n + n_bins, width))
        label = Scratch(n + n_bins, np.int32) if family in (1, 3) else None
        entries = Scratch(third + (n_entries if categories.any() else 0), np.uint64)
        ordered = Scratch((n + 1, 5)) if target.kind == criteria.ABSOLUTE else None
        self._parts = [(part, 0) for part in (codes, sums, label, ordered) if part is not None]
        self._parts.append((entries, first))  # the block comes before it
        self.arrays = (
            codes.array,
            sums.array,
            None if label is None else label.array,
            _totals(target),
            entries.array,
            np.empty(2**DIGIT_BITS, np.uint32),
            np.empty((2, ALL_PAIRS), np.int32),
            np.arange(p),
            None if ordered is None else ordered.array,
            np.zeros((4, n_levels), np.uint32) if n_levels else None,
            np.zeros((n_levels + target.n_sums + 1, target.n_sums + 2)) if n_levels else None,
            self.words if n_levels else None,
            np.zeros(1) if family == 2 else None,
            np.empty(n_cells) if family == 1 else None,
            np.zeros(max(block, 1), np.uint8),
        )

    def forget(self) -> None:
        """Give back the memory of nodes that are done: what is written next takes its place.

        Between two nodes nothing but the block is needed. So a tree with a leaf for each row needs
        little more than the nodes that it ends with.
        """
        for part, first in self._parts:
            part.forget(first)


def _rules(
    target: Target,
    limits: Limits,
    features: Array,
    block: int,
    n: int,
    first: int,
    second: int,
    third: int,
) -> Array:
    rules = np.zeros(1, RULES)
    rules[0] = (
        target.kind,
        target.n_sums,
        limits.max_depth,
        limits.max_leaves,
        min(limits.max_features, len(features)),
        limits.shuffle or limits.max_features < len(features),
        limits.min_rows_split,
        limits.min_rows_leaf,
        limits.min_weight_split,
        max(limits.min_weight_leaf, np.finfo(float).tiny),
        limits.min_copies_split - HALF_A_COPY,
        limits.min_copies_leaf - HALF_A_COPY,
        0.0 if target.copies is None or target.n_sums > 1 else target.copies[0],
        0.0 if target.copies is None else ROUNDING,
        limits.min_gain,
        1.0,
        features["monotone"].any(),
        target.weight is not None,
        block,
        n,
        first,
        second,
        third,
    )
    return rules


def _totals(target: Target) -> Floats:
    """Room for `totals`, and the copies of the sums: of two classes, beside those of weights."""
    totals = np.zeros((5, target.n_sums))
    if target.copies is not None:
        totals[criteria.COPIES] = target.copies if target.n_sums > 1 else np.diff(target.copies)
    return totals
