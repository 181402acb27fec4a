"""The records that the loops of the trees work on.

A record for each feature, node and open node, in one array each: compiled functions take few
arguments, and what belongs together lies together.
"""

import numpy as np

FEATURE = np.dtype(
    [
        ("n_codes", np.uint32),  # codes are 0..n_codes-1 in the order of the values; n_codes: missing
        ("place", np.uint32),  # the row of its table
        ("table", np.uint8),  # codes are uint8 (0), uint16 (1) or uint32 (2)
        ("category", np.uint8),  # 1 where codes have no order
        ("monotone", np.int8),  # the sign of a monotone constraint, 0 without
    ],
    align=True,
)

RULES = np.dtype(
    [
        ("kind", np.int64),  # a criterion of `criteria`
        ("max_depth", np.int64),
        ("max_leaves", np.int64),  # 0: depth first without limit
        ("max_features", np.int64),
        ("min_rows_split", np.int64),
        ("min_rows_leaf", np.int64),
        ("min_weight_split", np.float64),
        ("min_weight_leaf", np.float64),
        ("min_gain", np.float64),  # of the sum of weight times impurity
        ("bounded", np.int64),  # 1 where there are monotone constraints
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("feature", np.int32),  # -1 in a leaf
        ("left", np.int32),  # -1 in a leaf
        ("right", np.int32),  # -1 in a leaf
        ("rank", np.int32),  # the number of splits made before this one
        ("code", np.uint32),  # codes up to this one go left
        ("next_code", np.uint32),  # the next code in the node, which goes right
        ("subset", np.int32),  # where the words of the levels that go left begin; -1: no category
        ("missing_left", np.int32),
        ("rows", np.int64),
        ("weight", np.float64),
        ("impurity", np.float64),
        ("gain", np.float64),  # decrease of the sum of weight times impurity
    ],
    align=True,
)

OPEN = np.dtype(
    [
        ("node", np.int32),
        ("depth", np.int32),
        ("start", np.int64),  # its rows are rows[start:end]
        ("end", np.int64),
        ("key", np.uint64),  # a hash of the way to the node, from which features are drawn
        ("lower", np.float64),  # bounds of its value, from monotone constraints above
        ("upper", np.float64),
    ],
    align=True,
)

SPLIT = np.dtype(
    [
        ("worth", np.float64),  # -inf where there is no split
        ("feature", np.int64),
        ("code", np.uint32),
        ("next_code", np.uint32),
        ("missing_left", np.int32),
    ],
    align=True,
)
