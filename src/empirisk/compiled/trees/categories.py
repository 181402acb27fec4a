"""Categories: the levels of a node put in an order, along which they are split like a number.

With one sum, by the mean of each level: one of the splits along this order is the best of all
2^(L-1) - 1, for squared error, two classes and Poisson (Breiman et al. 1984, Chou 1991), if all
are allowed: of those that limits allow, or by Poisson those with counts on both sides, a better
one may be off this order. With several classes or outputs, by the first principal component of
the levels' means (Coppersmith, Hong & Hosking 1999), which is best or near it; by absolute errors,
by the mean too.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import NODE
from empirisk.compiled.trees.ordering import HALF, LOW

POWER_STEPS = 60
EQUAL = 1e-12  # scores that differ by less than this part of the largest were rounded
WORD = np.uint32(31)
ONE = np.uint32(1)


@compiled(signatures=2)
def order_levels(entries, at, n, third, classes, sums, label, weight, totals, levels, means):
    """Write the entries with the place of their level for a code to entries[third:third + n].

    levels[0, r] becomes the level that has place r; returns the number of levels. `means` has room
    for the weight, score and means of each level and, below them, for a covariance.
    """
    n_sums = totals.shape[1]
    n_levels = np.int64(0)
    for i in range(n):
        code = np.uint32(entries[at + i] >> HALF)
        if i == 0 or code != levels[0, n_levels - 1]:
            levels[0, n_levels], levels[1, n_levels] = code, np.uint32(i)
            means[n_levels, :] = 0.0
            n_levels += 1
        place = entries[at + i] & LOW
        means[n_levels - 1, 0] += sums[place, 0]
        if label is not None and classes:
            means[n_levels - 1, 2 + label[place]] += sums[place, 0]
        else:
            w = 1.0 if label is None else sums[place, 0]  # by absolute errors, sums are values
            for k in range(n_sums):
                means[n_levels - 1, 2 + k] += w * sums[place, k + 1]
    for j in range(n_levels):
        for k in range(n_sums):
            means[j, 2 + k] /= means[j, 0]
    score_levels(means, n_levels, n_sums, weight, totals)
    sort_levels(means, levels, n_levels)
    out = third
    for r in range(n_levels):
        j = levels[2, r]
        i = np.int64(levels[1, j])
        code = levels[0, j]
        while i < n and np.uint32(entries[at + i] >> HALF) == code:
            entries[out] = (np.uint64(r) << HALF) | (entries[at + i] & LOW)
            out += 1
            i += 1
    for r in range(n_levels):
        levels[3, r] = levels[0, levels[2, r]]
    return n_levels


@compiled
def score_levels(means, n_levels, n_sums, weight, totals):
    """means[j, 1] = the score of level j: its mean, or its first principal component."""
    if n_sums == 1:
        for j in range(n_levels):
            means[j, 1] = means[j, 2]
        return
    last = means.shape[0] - n_sums - 1  # below the levels: a covariance and a direction
    for a in range(n_sums):
        for b in range(n_sums):
            moment = 0.0
            for j in range(n_levels):
                left = means[j, 2 + a] - totals[NODE, a] / weight
                right = means[j, 2 + b] - totals[NODE, b] / weight
                moment += means[j, 0] * left * right
            means[last + a, 2 + b] = moment
        means[last + n_sums, 2 + a] = 0.0
    widest = 0
    for a in range(n_sums):
        if means[last + a, 2 + a] > (1.0 + EQUAL) * means[last + widest, 2 + widest]:
            widest = a
    means[last + n_sums, 2 + widest] = 1.0
    for _ in range(POWER_STEPS):
        power_step(means, last, n_sums)
    for j in range(n_levels):
        score = 0.0
        for a in range(n_sums):
            score += means[last + n_sums, 2 + a] * means[j, 2 + a]
        means[j, 1] = score


@compiled
def power_step(means, last, n_sums):
    """One step of the power method, in place: direction = covariance direction, of length one."""
    largest = 0.0
    for a in range(n_sums):
        product = 0.0
        for b in range(n_sums):
            product += means[last + a, 2 + b] * means[last + n_sums, 2 + b]
        means[last + a, 0] = product
        largest = max(largest, abs(product))
    if largest > 0.0:
        for a in range(n_sums):
            means[last + n_sums, 2 + a] = means[last + a, 0] / largest


@compiled
def sort_levels(means, levels, n_levels):
    """levels[2] = the levels by their score, equal ones by their codes (merge sort)."""
    largest = 0.0
    for j in range(n_levels):
        levels[2, j] = j
        largest = max(largest, abs(means[j, 1]))
    width = 1
    while width < n_levels:
        for j in range(n_levels):
            levels[3, j] = levels[2, j]
        for first in range(0, n_levels, 2 * width):
            a, b = first, min(first + width, n_levels)
            middle, end = b, min(first + 2 * width, n_levels)
            for j in range(first, end):
                from_a = b >= end
                if a < middle and b < end:
                    from_a = means[levels[3, a], 1] <= means[levels[3, b], 1] + EQUAL * largest
                if from_a:
                    levels[2, j] = levels[3, a]
                    a += 1
                else:
                    levels[2, j] = levels[3, b]
                    b += 1
        width *= 2


@compiled
def note_subset(levels, n_levels, last, words):
    """Bits of the levels with places up to `last` in words[0], of all levels in words[1]."""
    for w in range(words.shape[1]):
        words[0, w] = 0
        words[1, w] = 0
    for r in range(n_levels):
        level = levels[3, r]
        bit = ONE << (level & WORD)
        words[1, level >> np.uint32(5)] |= bit
        if r <= last:
            words[0, level >> np.uint32(5)] |= bit


@compiled
def pack_subset(words, subsets, at):
    """Write what `note_subset` noted to subsets[at:]; returns where it ends.

    The number of words with a level of the node, which these are, the levels of each that go left,
    and those that the node has. A node with few of very many levels takes little room.
    """
    n = 0
    for w in range(words.shape[1]):
        n += words[1, w] != 0
    subsets[at] = n
    k = at + 1
    for w in range(words.shape[1]):
        if words[1, w] != 0:
            subsets[k], subsets[k + n], subsets[k + 2 * n] = w, words[0, w], words[1, w]
            k += 1
    return at + 1 + 3 * n


@compiled
def unpack_subset(subsets, at, words):
    """Bits of the levels that go left, in words[0]."""
    for w in range(words.shape[1]):
        words[0, w] = 0
    n = np.int64(subsets[at])
    for k in range(at + 1, at + 1 + n):
        words[0, subsets[k]] = subsets[k + n]


@compiled
def turn_subset(packed, at, missing_left, subsets, end):
    """Write the levels that do not go where missing values go to subsets[end:]; returns the end.

    The number of words with such a level, which these are, and the words: see `is_listed`.
    """
    n, n_kept = np.int64(packed[at]), 0
    for i in range(at + 1, at + 1 + n):
        n_kept += apart(packed, i, n, missing_left) != 0
    subsets[end] = n_kept
    k = end + 1
    for i in range(at + 1, at + 1 + n):
        word = apart(packed, i, n, missing_left)
        if word != 0:
            subsets[k], subsets[k + n_kept] = packed[i], word
            k += 1
    return end + 1 + 2 * n_kept


@compiled
def apart(packed, i, n, missing_left):
    """Of one of n words, the levels that do not go where missing values go."""
    left, seen = packed[i + n], packed[i + 2 * n]
    return seen & ~left if missing_left else left


@compiled(inner=True)
def is_listed(subsets, at, level):
    """Whether a level is in the list that begins at this place."""
    n, word = subsets[at], level >> np.uint32(5)
    first = np.uint64(at + 1)
    k = first + np.uint64(min(word, n - ONE))  # where it is if all words are there
    if subsets[k] != word:
        k = find_word(subsets, first, np.uint64(n), np.uint32(word))
        if subsets[k] != word:
            return False
    return (subsets[k + np.uint64(n)] >> (level & WORD)) & ONE != 0


@compiled(inner=True)
def find_word(subsets, k, n, word):
    """Binary search, without a branch: the last of n words in order that is not behind `word`."""
    while n > np.uint64(1):
        half = n >> np.uint64(1)
        k += half * np.uint64(subsets[k + half] <= word)
        n -= half
    return k
