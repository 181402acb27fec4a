"""What is known of scikit-learn's splitters: the kind decides which intervals are valid."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit, check_cv

from empirisk.runtime.errors import EmpiriskError, PlanError

KINDS = {
    "KFold": "kfold",
    "StratifiedKFold": "kfold",
    "GroupKFold": "grouped",
    "StratifiedGroupKFold": "grouped",
    "LeaveOneGroupOut": "grouped",
    "RepeatedKFold": "repeated",
    "RepeatedStratifiedKFold": "repeated",
    "ShuffleSplit": "shuffled",
    "StratifiedShuffleSplit": "shuffled",
    "GroupShuffleSplit": "shuffled",
    "TimeSeriesSplit": "time",
    "LeaveOneOut": "leave_one_out",
}


def kind_of(cv: Any) -> str:
    """The kind of plan that `cv` makes; "given" where that is not known.

    Examples
    --------
    >>> kind_of(TimeSeriesSplit()), kind_of([([0, 1], [2])])
    ('time', 'given')
    """
    return "time" if isinstance(cv, TimeSeriesSplit) else KINDS.get(type(cv).__name__, "given")


NAMING_ROWS = ("PredefinedSplit", "_CVIterableWrapper")


def may_name_rows(cv: Any) -> bool:
    """Whether a splitter may know rows by their numbers, as only two of scikit-learn's do.

    Examples
    --------
    >>> may_name_rows(TimeSeriesSplit()), may_name_rows(check_cv([([0, 1], [2])]))
    (False, True)
    """
    if isinstance(cv, bytes) or not hasattr(cv, "split"):
        return False
    of_peers = type(cv).__module__.startswith("sklearn.")
    return not of_peers or type(cv).__name__ in NAMING_ROWS


def splitter_of(cv: Any, y: Any, classifier: bool) -> Any:
    """What scikit-learn makes of a number of folds; a splitter as it is."""
    if isinstance(cv, bytes):  # it has a method `split`
        raise PlanError(f"cv is {cv!r:.60}; give a number of folds, a splitter or pairs of rows")
    try:
        return check_cv(cv, y, classifier=classifier)
    except ValueError as error:
        raise PlanError(f"cv is {cv!r:.60}: {error}") from error


def split_by(splitter: Any, n: int, X: Any, y: Any, groups: Any) -> Iterator[tuple[Any, Any]]:
    """Its splits; the groups go to those that use them, and the others of scikit-learn would warn.

    Whether groups stay whole is seen from the splits.
    """
    name = type(splitter).__name__
    takes_groups = "Group" in name or name not in KINDS
    rows = np.zeros((n, 1)) if X is None else X
    try:
        yield from splitter.split(rows, y, groups if takes_groups else None)
    except ValueError as error:
        if isinstance(error, EmpiriskError):
            raise
        raise PlanError(f"{name} cannot part these {n} rows: {error}") from error
