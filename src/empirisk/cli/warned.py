"""Warnings of the library as notes for people, each once."""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from empirisk.runtime.errors import EmpiriskWarning, RankWarning

DEPENDENT = (
    "some columns follow from others, or there are more of them than rows, so do not read "
    "coefficients one by one"
)


@contextmanager
def notes_of_warnings() -> Iterator[list[str]]:
    """What the library warns of inside, by spelling: threads warn in any order."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EmpiriskWarning)
        yield notes
    heard = [warning for warning in caught if issubclass(warning.category, EmpiriskWarning)]
    ranks = [str(each.message) for each in heard if issubclass(each.category, RankWarning)]
    others = [str(each.message) for each in heard if not issubclass(each.category, RankWarning)]
    notes += sorted(set(others))
    notes += _of_ranks(ranks)


def _of_ranks(texts: list[str]) -> list[str]:
    """One note for all folds: each names the columns that depend on others there."""
    if not texts:
        return []
    count = Counter(texts)
    # The commonest, and of equals the first by spelling.
    typical = min(count, key=lambda text: (-count[text], text))
    elsewhere = " (in other folds, others)" if len(count) > 1 else ""
    return [f"{DEPENDENT}: {typical}{elsewhere}"]
