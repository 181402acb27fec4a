"""Warnings of the library as notes for people, each once."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from empirisk.runtime.errors import EmpiriskWarning, RankWarning

DEPENDENT = (
    "some columns follow from others, or there are more of them than rows: a learner without a "
    "penalty then has many solutions and takes one, so do not read its coefficients one by one"
)


@contextmanager
def notes_of_warnings() -> Iterator[list[str]]:
    """What the library warns of inside, in the order in which it came up."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EmpiriskWarning)
        yield notes
    for warning in caught:
        # Every fold would name other columns, by their places in its encoding.
        ranks = issubclass(warning.category, RankWarning)
        text = DEPENDENT if ranks else str(warning.message)
        if issubclass(warning.category, EmpiriskWarning) and text not in notes:
            notes.append(text)
