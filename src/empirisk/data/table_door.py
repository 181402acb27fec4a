"""The door of learners that take tables as they are: categories and missing values, or numbers."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_feature_names,
    check_array,
    check_is_fitted,
    validate_data,
)

from empirisk.data.coded_column import CodedColumn, places_of
from empirisk.data.rank_coding import RankCoding
from empirisk.data.raw_columns import chosen_categories, column_names, is_frame
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import check_names, default_names
from empirisk.runtime.complaints import (
    explain,
    first_row,
    refuse_dates,
    refuse_infinite,
    refuse_no_rows,
)
from empirisk.runtime.conversion import dense, unmasked_table
from empirisk.runtime.errors import DataError

NAME_CATEGORIES = "name the columns of words in categorical_features, or give a data frame"
EVERY = "every column"
"""What a learner has as `categorical_features` that takes all columns for categories."""


def table_of(X: Any, learner: Any, *, reset: bool | None, remedy: str = NAME_CATEGORIES) -> Any:
    """X as a frame or as an array of numbers; of a sparse matrix the array that it stands for.

    reset
        True notes its columns in the learner, False compares them with those of training, None
        does neither.
    remedy
        What to do about an array of words.
    """
    refuse_no_rows(X, "X")
    X = _with_words(dense(X, learner), learner)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2 and _has_words(X):
        return _checked_size(_noted(Table.of(X), X, learner, reset), learner)
    if isinstance(X, Table):
        X = X if reset is not False else _by_name(X, learner)
        return _checked_size(_noted(X, X.to_arrow(), learner, reset), learner)
    if is_frame(X):
        check_names(column_names(X))  # pandas lets a name stand twice
        if reset is not None:
            validate_data(learner, X, reset=reset, skip_check_array=True)
        return _checked_size(X, learner)
    if isinstance(X, np.ma.MaskedArray):
        X = unmasked_table(X)
    door: dict[str, Any] = {"dtype": "numeric", "ensure_all_finite": False}
    name = type(learner).__name__
    refuse_dates(X, "X", name)
    try:
        if reset is None:
            numbers = check_array(X, estimator=learner, input_name="X", **door)
        else:
            numbers = validate_data(learner, X, reset=reset, **door)
        if numbers.dtype == object:  # integers of more than 64 bits, fractions, decimals
            numbers = numbers.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        explain(X, "X", name, error, remedy=remedy)
        raise
    refuse_infinite(numbers, X, "X", name)
    return numbers


def code_table(X: Any, learner: Any, *, n_jobs: int | None = None) -> RankCoding:
    """The codes of what `table_of` gave."""
    p = X.shape[1]
    names = column_names(X) if is_frame(X) else default_names(p)
    categories = chosen_categories(learner.categorical_features, names, p)
    return RankCoding.of(X, categories, n_jobs=n_jobs)


def check_places(
    learner: Any, X: Any, unseen: float = np.nan, *, remedy: str = NAME_CATEGORIES
) -> Floats:
    """The door of every prediction: X as the tree compares it; new levels stand at `unseen`."""
    check_is_fitted(learner)
    X = table_of(X, learner, reset=False, remedy=remedy)
    places = places_in(X, learner.columns_, unseen)
    if places.shape[1] != len(learner.columns_):  # of a file that was changed
        raise DataError(
            f"X has {places.shape[1]} columns, and {type(learner).__name__} was grown on "
            f"{len(learner.columns_)}"
        )
    return places


def places_in(X: Any, columns: list[CodedColumn], unseen: float = np.nan) -> Floats:
    """What `table_of` gave, as trees that were grown on these columns compare it."""
    plain = all(c.kind == "number" and c.calendar is None for c in columns)
    if plain and isinstance(X, np.ndarray):
        return np.require(X, np.float64, ["C", "A", "W"])
    places = places_of(X, columns, unseen)
    refuse_infinite_cells(places, columns)
    return places


def refuse_infinite_cells(cells: Floats, columns: Sequence[CodedColumn]) -> None:
    """Complain of infinities in the columns of a frame, as numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(cells.sum())
    if suspicious and np.isinf(cells).any():
        infinite = np.isinf(cells)
        j = int(np.argmax(infinite.any(axis=0)))
        raise DataError(
            f"column {columns[j].name!r} has infinite values (inf), {first_row(infinite[:, j])}; "
            "leave their cells empty (NaN)"
        )


def kept_columns(coding: RankCoding, feature: Array, threshold: Floats) -> list[CodedColumn]:
    """The columns as predictions and words need them: of numbers, those beside thresholds."""
    inner = np.flatnonzero(feature >= 0)
    order = inner[np.argsort(feature[inner], kind="stable")]
    ends = np.searchsorted(feature[order], range(len(coding.columns) + 1))
    return [
        column.beside(threshold[order[ends[j] : ends[j + 1]]])
        if column.kind == "number"
        else column
        for j, column in enumerate(coding.columns)
    ]


def _with_words(X: Any, learner: Any) -> Any:
    """An array of words as objects, where some columns are named categories: others are numbers."""
    asked = learner.categorical_features
    if asked is None or (isinstance(asked, str) and asked != EVERY) or is_frame(X):
        return X
    try:
        words = np.asarray(X)
    except ValueError:  # rows of different lengths
        return X
    if words.dtype.kind != "U" or words.ndim != 2:
        return X
    cells, p = np.array(X, dtype=object), words.shape[1]
    if isinstance(asked, str):
        return cells
    for j, category in enumerate(chosen_categories(asked, default_names(p), p)):
        if not category:
            with suppress(ValueError):  # words, which `as_category` refuses
                cells[:, j] = cells[:, j].astype(np.float64)
    return cells


def _has_words(X: Any) -> bool:
    return any(isinstance(value, str) for value in X.ravel())


def _by_name(X: Table, learner: Any) -> Table:
    """The columns of training, where the table has them all, as `Encoder` takes them."""
    names = getattr(learner, "feature_names_in_", None)
    return X if names is None or not set(names) <= set(X.names) else X.select(names)


def _noted(X: Table, given: Any, learner: Any, reset: bool | None) -> Table:
    """The table; notes or compares the names that were given, if any, and their number."""
    if reset is None:
        return X
    _check_feature_names(learner, given, reset=reset)
    if reset:
        learner.n_features_in_ = len(X.names)
    elif len(X.names) != learner.n_features_in_:
        raise DataError(
            f"X has {len(X.names)} features, but {type(learner).__name__} is expecting "
            f"{learner.n_features_in_} features as input"
        )
    return X


def _checked_size(X: Any, learner: Any) -> Any:
    n, p = X.shape
    if n == 0:
        raise DataError(
            f"Found array with 0 sample(s) (shape={(n, p)}) while a minimum of 1 is required by "
            f"{type(learner).__name__}."
        )
    if p == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={(n, p)}) while a minimum of 1 is required by "
            f"{type(learner).__name__}."
        )
    return X
