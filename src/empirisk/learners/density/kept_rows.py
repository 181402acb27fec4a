"""Learners that keep their training rows: what is found from these is no part of a pickle."""

from functools import cache, cached_property
from typing import Any, Self

from empirisk.runtime.arrays import make_writable


class KeptRowsMixin:
    """Drops what is kept once it is found, such as rows in the order of a tree, when pickled.

    Arrays that come back as read-only memory maps are copied: compiled code takes no others.
    """

    def __getstate__(self) -> Any:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]  # as of BaseEstimator
        return {key: state[key] for key in state if key not in _found_again(self.__class__)}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)  # type: ignore[misc]  # of BaseEstimator
        make_writable(self)

    def set_params(self, **params: Any) -> Self:
        """Change parameters, as in scikit-learn: predictions go by the new ones."""
        if params:
            self._forget()
        return super().set_params(**params)  # type: ignore[misc]  # of BaseEstimator

    def _forget(self) -> None:
        """Drop what followed from the rows of an earlier fit, or from other parameters."""
        for name in _found_again(self.__class__):
            self.__dict__.pop(name, None)


def _found_again(cls: Any) -> set[str]:
    """The properties of a class that are kept once they are found."""
    return _kept_properties(cls)  # whose cache, by its types, takes no class


@cache
def _kept_properties(cls: Any) -> set[str]:
    named = (item for base in cls.__mro__ for item in vars(base).items())
    return {key for key, value in named if isinstance(value, cached_property)}
