"""The records that the loops of the trees work on.

A record for each feature, node and open node, in one array each: compiled functions take few
arguments, and what belongs together lies together.
"""

import numpy as np

UNSEEN = 2

FEATURE = np.dtype(
    [
        ("n_codes", np.uint32),  # codes are 0..n_codes-1 in order of values; n_codes: missing
        ("place", np.uint32),  # the row of its table
        ("table", np.uint8),  # codes are uint8 (0), uint16 (1) or uint32 (2)
        ("category", np.uint8),  # 1 where codes have no order
        ("missing", np.uint8),  # 1 where some value is missing
        ("monotone", np.int8),  # the sign of a monotone constraint, 0 without
        ("points", np.int64),  # where the values of its codes begin in the points of the coding
    ],
    align=True,
)

RULES = np.dtype(
    [
        ("kind", np.int64),  # a criterion of `criteria`
        ("n_sums", np.int64),  # outputs or classes, 1 for two classes
        ("max_depth", np.int64),
        ("max_leaves", np.int64),  # 0: depth first without limit
        ("max_features", np.int64),
        ("shuffled", np.int64),  # 1 where features are looked at in an order that is drawn
        ("min_rows_split", np.int64),
        ("min_rows_leaf", np.int64),
        ("min_weight_split", np.float64),
        ("min_weight_leaf", np.float64),
        ("min_copies_split", np.float64),
        ("min_copies_leaf", np.float64),  # not above 0 where copies are not counted
        ("copies", np.float64),  # of a unit of weight, beside those of the sums (`criteria`)
        ("rounding", np.float64),  # worths that differ by this part of the node's are equal
        ("min_gain", np.float64),  # in units of the criterion
        ("gain_scale", np.float64),  # what these are in units of weight times impurity
        ("bounded", np.int64),  # 1 where there are monotone constraints
        ("weighted", np.int64),  # 0 where all rows weigh 1
        ("block", np.int64),  # rows of a block that is sorted once, 0 for none
        ("bins", np.int64),  # where bins begin in `sums`
        ("first", np.int64),  # where the entries of one feature begin in `entries`
        ("second", np.int64),  # where there is room to sort them
        ("third", np.int64),  # where there is room for the levels of a category in another order
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("right", np.int32),  # -1 in a leaf; the left child is the one before it
        ("feature", np.int32),  # -1 in a leaf
        ("subset", np.int32),  # where its levels begin in `subsets`; -1: the feature is a number
        ("rank", np.int32),  # the number of splits made before this one
        ("code", np.uint32),  # codes up to this one go left
        ("next_code", np.uint32),  # the next code in the node, which goes right
        ("rows", np.int32),
        ("missing_left", np.uint8),  # UNSEEN where no value is missing in the node
        ("weight", np.float64),
        ("impurity", np.float64),
        ("gain", np.float64),  # in units of the criterion
    ],
    align=True,
)

OPEN = np.dtype(
    [
        ("place", np.int64),  # its own, in the array of open nodes
        ("node", np.int32),
        ("depth", np.int32),
        ("start", np.int64),  # its rows are rows[start:end]
        ("end", np.int64),
        ("key", np.uint64),  # a hash of the way to the node, from which features are drawn
        ("half", np.int64),  # of the room for a block, where its sorted rows are
        ("lower", np.float64),  # bounds of its value, from monotone constraints above
        ("upper", np.float64),
    ],
    align=True,
)

# A node of a finished tree has the same size: each becomes one where it stands.
FINISHED = np.dtype(
    [
        ("right", np.int32),  # -1 in a leaf; the left child is the node after its parent
        ("feature", np.int32),  # -2 in a leaf
        ("subset", np.int32),  # where the list of its levels begins, see `categories.is_listed`
        ("rank", np.int32),  # -1 in a leaf
        ("threshold", np.float64),  # in place of both codes; NaN in leaves and categories
        ("rows", np.int32),
        ("missing_left", np.bool_),
        ("weight", np.float64),
        ("impurity", np.float64),
        ("gain", np.float64),  # as a part of the root's impurity
    ],
    align=True,
)
THRESHOLD = 2  # of the numbers of 8 bytes that a node consists of
