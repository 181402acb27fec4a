"""The records that the loops of histogram boosting work on."""

import numpy as np

CODES = 256  # of a column: at most 255 bins, and one for missing values

FEATURE = np.dtype(
    [
        ("column", np.int32),  # of the codes
        ("n_bins", np.int32),  # 1..255
        ("first", np.int32),  # the code of its first bin in the column, 0 if it has it alone
        ("default", np.int32),  # in a shared column the bin that has no code there; -1: alone
        ("missing", np.int32),  # 1 where some value is missing
        ("category", np.int32),  # 1 where bins have no order
        ("monotone", np.int32),  # the sign of a monotone constraint, 0 without
        ("levels", np.int32),  # of a category: where the bins of its levels begin in `level_bins`
        ("n_levels", np.int32),
    ],
    align=True,
)

RULES = np.dtype(
    [
        ("form", np.int64),  # of entries, see `histograms`: LEAN, CHUNKED (if it will do) or WIDE
        ("width", np.int64),  # words of a place of a histogram: 1 or 2
        ("constant", np.int64),  # 1 where all curvatures are 1 and need not be added up
        ("count_bits", np.int64),  # the low bits of a histogram's last word, which count rows
        ("gradient_bits", np.int64),  # of one row, without the sign
        ("curvature_bits", np.int64),
        ("max_leaves", np.int64),
        ("max_depth", np.int64),
        ("min_rows", np.int64),  # of a leaf
        ("n_slots", np.int64),  # for histograms that are kept; behind them two that are not
        ("n_drawn", np.int64),  # features that are drawn at each split
        ("n_groups", np.int64),  # of features that may interact; 0: all may
        ("l2", np.float64),
        ("min_gain", np.float64),
        ("min_curvature", np.float64),
        ("rate", np.float64),
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("node", np.int32),  # its own number
        ("leaf", np.int32),  # of leaves: their number from left to right
        ("left", np.int32),  # -1 in a leaf; the right child is the one after it
        ("feature", np.int32),  # of its best split
        ("code", np.int32),  # the last bin of it that goes left
        ("missing_left", np.int32),
        ("depth", np.int32),
        ("slot", np.int32),  # where its histogram is; -1: it has none
        ("start", np.int64),  # its rows are rows[start:end]
        ("end", np.int64),
        ("gain", np.float64),  # of its best split, in units of entries; not above 0: none
        ("threshold", np.float64),
        ("lower", np.float64),  # bounds of its value, from monotone constraints above
        ("upper", np.float64),
        ("first", np.int64),  # its entries, added up
        ("second", np.int64),
        ("left_first", np.int64),  # those that its best split sends left
        ("left_second", np.int64),
    ],
    align=True,
)

SPLIT = np.dtype(
    [
        ("gain", np.float64),  # not above 0: none
        ("code", np.int32),
        ("following", np.int32),  # the next bin in the node, which goes right; n_bins: none
        ("missing_left", np.int32),
        ("first", np.int64),  # entries that go left, added up
        ("second", np.int64),
    ],
    align=True,
)
