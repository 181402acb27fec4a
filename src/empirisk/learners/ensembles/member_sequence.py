"""An ensemble as the sequence of its members, as in scikit-learn."""

from collections.abc import Iterator
from typing import Any


class MemberSequence:
    """`len(ensemble)`, `ensemble[b]` and `for member in ensemble`, of a fitted one."""

    estimators_: Any

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, b: int) -> Any:
        return self.estimators_[b]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)
