"""The target y as the engine takes it, numbers or codes of classes; complaints name the row."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y

from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import is_missing, refuse_dates
from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import no_labels, plain_integers


def numbers_of(y: Any, rows: Ints | None, *, one_output: bool = False) -> Floats:
    """The target of a regression; `rows` are the numbers of its rows in the user's table.

    A single column is taken for its numbers: learners differ in whether they answer with one. With
    `one_output` there is scikit-learn's warning then, and several columns are refused.
    """
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1 and not one_output:
        values = values[:, 0]
    refuse_dates(values, "y", "a regression")
    _refuse_gaps(values, rows)
    if values.dtype.kind in "USTO":
        _refuse_text(values, rows)
    several = values.ndim > 1 and not one_output
    values = _check_y(values, multi_output=several, y_numeric=True, estimator="the target")
    return np.asarray(values, dtype=float)


def codes_of(y: Any, known: Array | None, rows: Ints | None) -> tuple[Ints, Array]:
    """Codes 0..K-1 and the sorted labels they stand for: those in y and those known beside."""
    # A list of text would turn NaN into the text "nan".
    _refuse_gaps(np.asarray(y, dtype=object if isinstance(y, list | tuple) else None), rows)
    try:
        y = plain_integers(y)
        check_classification_targets(y)
        labels = np.asarray(
            _check_y(y, multi_output=False, y_numeric=False, estimator="the target")
        )
        classes = np.unique(labels)
    except (TypeError, ValueError) as error:
        raise no_labels(y, error) from error
    if known is not None:
        _refuse_other_labels(labels, known)
        classes = np.union1d(classes, known)
    return np.searchsorted(classes, labels), classes


def are_text(labels: Array) -> bool:
    """Whether labels are text, which never equals a number."""
    if labels.dtype.kind == "O":
        return any(isinstance(label, str) for label in labels.flat)
    return labels.dtype.kind in "UST"


def _refuse_other_labels(labels: Array, known: Array) -> None:
    if are_text(labels) == are_text(known):
        return
    ours, theirs = labels.tolist()[0], known.tolist()[0]
    raise DataError(
        f"y has labels such as {ours!r:.60}, and the predictor classes such as {theirs!r:.60}: one "
        "is text and one a number, which are never equal; give y with the labels it was fitted to"
    )


def _refuse_gaps(values: Array, rows: Ints | None) -> None:
    """Missing values, and infinite ones."""
    if values.dtype.kind == "f":
        missing, infinite = np.isnan(values), np.isinf(values)
    elif values.dtype.kind == "O":
        missing = np.vectorize(is_missing, otypes=[bool])(values)
        infinite = np.zeros(values.shape, dtype=bool)
    else:
        return
    for wrong, what in ((missing, "no value (NaN)"), (infinite, "an infinite value (inf)")):
        of_rows = np.flatnonzero(wrong.reshape(len(values), -1).any(axis=1))
        if len(of_rows):
            first = of_rows[0] if rows is None else rows[of_rows[0]]
            raise DataError(
                f"y has {what} in {len(of_rows)} row{'s' * (len(of_rows) > 1)}, first in row "
                f"{first}: leave out such rows"
            )


def _refuse_text(values: Array, rows: Ints | None) -> None:
    try:
        values.astype(float)
    except (TypeError, ValueError) as error:
        i = next(i for i, cell in np.ndenumerate(values) if not _is_number(cell))
        row = i[0] if rows is None else rows[i[0]]
        raise DataError(
            f"y holds {values.item(i)!r:.60} in row {row} where numbers are wanted: take a "
            "classifier, or turn y into numbers"
        ) from error


def _is_number(cell: Any) -> bool:
    try:
        np.asarray(cell).astype(float)
    except (TypeError, ValueError):
        return False
    return True
