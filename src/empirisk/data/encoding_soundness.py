"""Whether an encoder that was read from a file is one that a fit leaves."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from empirisk.data.column import KINDS
from empirisk.data.features import Category, Number
from empirisk.runtime.errors import DataError


def check_encoding(encoder: Any) -> None:
    """Raise a DataError unless columns, features and their map belong together."""
    kinds, features, names, pair = (
        vars(encoder).get(name) for name in ("_kinds", "_features", "_names", "_map")
    )
    if (
        not isinstance(kinds, dict)
        or not _are_texts(kinds)
        or not set(kinds.values()) <= set(KINDS)
    ):
        raise DataError("_kinds does not give the kinds of columns")
    if not isinstance(features, list) or not features:
        raise DataError("_features is no list of features")
    if not all(isinstance(each, Number | Category) and each.name in kinds for each in features):
        raise DataError("_features has one that is none of a column")
    if not isinstance(names, list) or not _are_texts(names):
        raise DataError("_names is no list of names")
    width, columns = sum(feature.width for feature in features), len(names)
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise DataError("_map is no pair of arrays")
    for array, shape in zip(pair, ((width, columns), (columns,)), strict=True):
        sound = isinstance(array, np.ndarray) and array.dtype == np.float64
        if not sound or array.shape != shape or not np.isfinite(array).all():
            raise DataError(f"_map is not made of finite numbers in the shape {shape}")
    if vars(encoder).get("n_features_in_") != len(kinds):
        raise DataError(f"n_features_in_ is not {len(kinds)}, the number of columns")


def _are_texts(names: Iterable[Any]) -> bool:
    return all(isinstance(name, str) for name in names)
