"""The door of the bags: what comes in is counted and named, and handed on as it is."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_feature_names, _num_samples, check_array, validate_data

from empirisk.data.raw_columns import column_names, is_frame, with_rows
from empirisk.data.table import Table
from empirisk.risk.plans.groups import group_labels
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import check_names
from empirisk.runtime.complaints import refuse_no_rows
from empirisk.runtime.conversion import unmasked_table
from empirisk.runtime.errors import DataError


def checked_table(bag: Any, X: Any, member: Any, *, reset: bool | None) -> Any:
    """A frame as it is, or an array, or a sparse matrix where the members take one.

    reset
        True notes its columns in the bag, False compares them with those of training, None does
        neither.
    """
    refuse_no_rows(X, "X")
    X = with_rows(X)
    if is_frame(X):
        return _checked_frame(bag, X, reset)
    if isinstance(X, np.ma.MaskedArray):
        X = unmasked_table(X)
    sparse = ["csr", "csc"] if get_tags(member).input_tags.sparse else False
    door: dict[str, Any] = {"dtype": None, "ensure_all_finite": False, "accept_sparse": sparse}
    if reset is None:
        return check_array(X, estimator=bag, input_name="X", **door)
    return validate_data(bag, X, reset=reset, **door)


def _checked_frame(bag: Any, X: Any, reset: bool | None) -> Any:
    names = check_names(column_names(X))  # pandas lets a name stand twice
    n, p = X.shape
    for size, what in ((n, "sample(s)"), (p, "feature(s)")):
        if size == 0:
            raise DataError(
                f"Found array with 0 {what} (shape={(n, p)}) while a minimum of 1 is required by "
                f"{type(bag).__name__}."
            )
    if reset is None:
        return X
    if not isinstance(X, Table):
        validate_data(bag, X, reset=reset, skip_check_array=True)
        return X
    known = getattr(bag, "feature_names_in_", None)
    if not reset and known is not None and set(known) <= set(names):
        X = X.select(known)
    _check_feature_names(bag, X.to_arrow(), reset=reset)
    if reset:
        bag.n_features_in_ = X.shape[1]
    elif X.shape[1] != bag.n_features_in_:
        raise DataError(
            f"X has {X.shape[1]} features, but {type(bag).__name__} is expecting "
            f"{bag.n_features_in_} features as input"
        )
    return X


def kept_rows(
    X: Any, y: Array, weight: Floats, groups: Any
) -> tuple[Ints | None, Any, Array, Floats, Array | None]:
    """Without the rows of weight 0; first come the rows that are left, None for all."""
    if groups is not None and _num_samples(groups) != len(y):
        raise DataError(
            f"groups has {_num_samples(groups)} entries for {len(y)} rows: give one for each row"
        )
    labels = None if groups is None else group_labels(groups, weight)
    if (weight > 0).all():
        return None, X, y, weight, labels
    rows = np.flatnonzero(weight > 0)
    left = None if labels is None else labels[rows]
    return rows, _safe_indexing(X, rows), y[rows], weight[rows], left
