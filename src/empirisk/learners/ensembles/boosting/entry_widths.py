"""How many bits gradients, curvatures and counts of rows have in the words of a histogram.

They are whole numbers there, and the sums of all rows must fit.
"""

from typing import Any

import numpy as np

from empirisk.compiled.boosting.histograms import CHUNKED, LEAN, WIDE
from empirisk.compiled.boosting.levels import MIN_SUPPORT
from empirisk.runtime.arrays import Array

WORD_BITS = 62  # of an int64, without its sign and one to spare
MOST_BITS = 52  # of a whole number that a float64 is rounded to
MANY_ROWS = 2**14  # from which on speed counts for more than the last bits of gradients
FEW_BITS = 12  # and the one to spare: of a curvature of few bits
NARROW_BITS = 20  # of a gradient or curvature, at least, where one word has to do
HISTOGRAM_BYTES = 2**28  # of all histograms of a tree that are kept


def set_widths(rule: Any, n: int, copies: Array, constant: bool, n_codes: int) -> None:
    """Write into a rule how the entries of n rows are packed, and how many histograms are kept.

    constant
        Whether all curvatures are 1.
    n_codes
        Of all features together.
    """
    sum_bits = int(n).bit_length()
    count_bits = int(copies.sum()).bit_length() if len(copies) else sum_bits
    narrow, wide = WORD_BITS - sum_bits - count_bits, WORD_BITS - sum_bits
    few_bits = not constant and n >= MANY_ROWS and not len(copies) and narrow >= FEW_BITS
    form = CHUNKED if few_bits else WIDE
    if constant and narrow >= NARROW_BITS:
        form = LEAN
    width = 1 if form == LEAN else 2
    rule["constant"], rule["form"], rule["width"] = constant, form, width
    rule["count_bits"] = count_bits
    rule["curvature_bits"] = min(narrow, MOST_BITS)
    rule["gradient_bits"] = min(narrow if width == 1 else wide, MOST_BITS)
    kept = max(HISTOGRAM_BYTES // (8 * width * n_codes), 2)
    rule["n_slots"] = min(int(rule["max_leaves"]), kept)


def counted_copies(copies: Array, min_samples_leaf: int) -> Array:
    """Copies of rows in numbers whose sum leaves room for curvatures in a word.

    No row counts as more than the rows that any side of a split, or any level of a category, is
    asked for: more of them would change no split.

    Examples
    --------
    >>> counted_copies(np.array([3, 10**13, 7]), 20).tolist() == [3, 2**40 // 3, 7]
    True
    """
    n = len(copies)
    most = 2 ** (WORD_BITS - NARROW_BITS - n.bit_length())
    if n == 0 or int(copies.sum()) < most:
        return copies
    return np.minimum(copies, max(min_samples_leaf, MIN_SUPPORT, most // n))
