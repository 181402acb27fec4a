"""Which values the parameters of linear rules may have: those that scikit-learn takes.

Some of them steer scikit-learn's solvers alone. Code that was written for it gives them, so they
are accepted and checked; what a fit returns, the minimiser of its objective, does not depend on
them.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole


class Wanted(NamedTuple):
    """Which values a parameter may have, as a test and in words."""

    holds: Callable[[Any], bool]
    words: str


def one_of(*names: str) -> Wanted:
    """One of some words."""
    return Wanted(lambda value: isinstance(value, str) and value in names, f"one of {names}")


FLAG = Wanted(is_flag, "True or False")
TOLERANCE = Wanted(lambda value: is_number(value) and value >= 0, "a number, 0 or more")
ABOVE_ZERO = Wanted(lambda value: is_number(value) and value > 0, "a number above 0")
COUNT = Wanted(lambda value: is_whole(value, 1), "an integer, 1 or more")
ITERATIONS = Wanted(
    lambda value: value is None or is_whole(value, 1), "None or a whole number, 1 or more"
)
VERBOSITY = Wanted(
    lambda value: is_flag(value) or is_whole(value, 0), "True, False or a whole number, 0 or more"
)
GRAM = Wanted(
    lambda value: is_flag(value) or (not isinstance(value, str) and np.ndim(value) == 2),
    "True, False or a Gram matrix",
)
SEED = Wanted(
    lambda value: (
        value is None
        or is_whole(value, 0)
        or isinstance(value, np.random.RandomState | np.random.Generator)
    ),
    "None, a whole number, 0 or more, a numpy.random.RandomState or a numpy.random.Generator",
)


def check_accepted(learner: Any, wanted: Mapping[str, Wanted]) -> None:
    """Refuse what is not wanted.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> check_accepted(Lasso(copy_X=2), {"copy_X": FLAG})
    Traceback (most recent call last):
    empirisk.runtime.errors.ParameterError: copy_X is 2; it must be True or False
    """
    for name, (holds, words) in wanted.items():
        value = getattr(learner, name)
        if not holds(value):
            raise ParameterError(f"{name} is {value!r:.80}; it must be {words}")


def check_alpha(alpha: Any) -> float:
    """A penalty as a float, 0 or more."""
    value = alpha[()] if isinstance(alpha, np.ndarray) and alpha.ndim == 0 else alpha
    if is_number(value) and value >= 0:
        return float(value)
    raise ParameterError(f"alpha is {alpha!r}; it must be a number, 0 or more")
