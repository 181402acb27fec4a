"""The terms in which stumps are searched: what a split is, and what equal splits are."""

import numpy as np

TINY = np.finfo(np.float64).tiny  # the least weight of a side
SLACK = 4.0  # ties: what is so much worse than the best cannot be equal to it
START = np.int64(0)  # not 0, for which Numba would compile a function again

# An entry of the order of rows is the number of a row, and marked if the next has another code.
LAST, ROW = np.uint32(1 << 31), np.uint32((1 << 31) - 1)

# A split is an array of numbers: its worth, the part of the impurity that it takes away, the
# feature, the last code on the left, the threshold, where missing values go, how many rows go left.
WORTH, GAIN, FEATURE, CODE, THRESHOLD, MISSING_LEFT, N_LEFT = range(7)
SPLIT = N_LEFT + 1
