"""The best split of a node: over features, over thresholds, over the side of missing values.

Of splits that are equal to rounding (TIE of the node's impurity) the one of the first feature, then
of the lowest threshold, is taken, and missing values go to the right: so weights are like copies,
and the order of rows does not matter, though each rounds sums in its own way. Where features are
drawn, the first is the one that was drawn first: in small nodes many splits are equal, and all
trees of a forest would take the first columns of the table. A feature with one value in a node has
one value below it too, and is not looked at again.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import GOLDEN, scramble
from empirisk.compiled.trees.cells import (
    AT_ONCE,
    CONSTANT,
    NONE,
    NOT_BY_CELLS,
    fill_next,
    has_few_cells,
    search_cells,
)
from empirisk.compiled.trees.criteria import REFUSED
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.one_feature import search_feature
from empirisk.compiled.trees.ordering import HALF
from empirisk.compiled.trees.presorting import is_constant, note_constant

ONE = np.uint64(1)
TIE = 1e-12


@compiled(signatures=16, inner=True)
def search(
    small, medium, large, features, points, thresholds, rule, costs, rows, here, node, begin, worth,
    shift, constant, codes, sums, label, totals, entries, counts, keys, drawn, tree, levels, means,
    words, outputs, cells, lines,
):  # fmt: skip
    """Write the best split of an open node into its record; returns whether there is one.

    `begin` is where the node begins in its block, -1 if it is in none; `worth` is what it is worth
    unsplit, `shift` what was taken off its values. The search ends at a perfect split: those of
    features before it were worse, and no other can be better. Features that are constant in the
    node are noted. The levels of a category that go left are in `words`.
    """
    p, m, weight = features.size, here.end - here.start, node.weight
    tie = TIE * weight * node.impurity + rule.rounding * abs(worth)
    perfect = worth + weight * node.impurity / rule.gain_scale
    best, best_f = REFUSED, -1
    useful, n_drawn = 0, p
    if rule.shuffled:
        n_drawn = min(rule.max_features, p)
        draw_features(drawn, here.key, np.int64(0), n_drawn)
    K, n_filled, n_used = np.uint64(totals.shape[1]), NONE, NONE
    for step in range(p):
        if step >= rule.max_features and useful > 0:
            break
        if step >= n_drawn:
            draw_features(drawn, here.key, step, step + 1)
        f = drawn[step]
        if is_constant(constant, here.place, f):
            continue
        found, told = best, NOT_BY_CELLS
        by_cells = cells is not None and begin < 0 and points is None
        if by_cells and has_few_cells(features[f], rule, K, m):
            if n_used == n_filled:
                n_used = NONE
                n_filled = fill_next(
                    small, lines, features, rule, rows, here, constant, drawn, step,
                    max(n_drawn, step + 1), sums, label, K, cells,
                )  # fmt: skip
            value, code, following, told = search_cells(
                cells[n_used * (np.uint64(cells.size) // AT_ONCE) :], features[f].n_codes, totals,
                weight, rule.min_weight_leaf, tie, best + tie,
            )  # fmt: skip
            n_used += ONE
            if value > best + tie:
                found = value
                node.code, node.next_code = np.uint32(code), np.uint32(following)
                node.missing_left = UNSEEN
        if told == NOT_BY_CELLS:
            found, told = search_feature(
                small, medium, large, features, f, points, thresholds, rule, costs, rows, here,
                node, begin, shift, codes, sums, label, totals, entries, counts, keys, tree, levels,
                means, words, outputs, tie, best,
            )  # fmt: skip
        if told == CONSTANT:
            note_constant(constant, here.place, f)
            continue
        useful += 1
        if found > best:
            best, best_f = found, f
        if best >= perfect - tie:
            break
    if rule.shuffled:
        for j in range(p):
            drawn[j] = j
    if best == REFUSED or best - worth < rule.min_gain:
        return False
    node.feature, node.gain = best_f, best - worth if best > worth else 0.0
    return True


@compiled(inner=True)
def draw_features(drawn, key, first, end):
    """Let drawn[first:end] be drawn, without replacement, from those that are not drawn yet.

    The key is a hash, from which SplitMix64 goes on: a draw is the high half of a word times the
    number of features, its chance off by less than one in 2^32. The first two words are the keys
    of the two sides.
    """
    for step in range(first, end):
        word = np.uint64(scramble(key + GOLDEN * np.uint64(step + 3)))
        left = np.uint64(drawn.size - step)
        other = step + np.int64(((word >> HALF) * left) >> HALF)
        drawn[other], drawn[step] = drawn[step], drawn[other]
