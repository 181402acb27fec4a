"""Choosing by risk: the least, or the simplest within one standard error of it; ties."""

from typing import Literal

import numpy as np

from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError

Rule = Literal["best", "one_se"]

# Two rungs agree to 1e-10; risks closer than that are a tie, so that both choose the same value.
TIE = 1e-9


def check_rule(rule: str) -> None:
    """Raise a ParameterError unless there is such a rule."""
    if rule not in ("best", "one_se"):
        raise ParameterError(f"rule is {rule!r}; choose 'best' or 'one_se'")


def simplest_within(risk: Floats, complexity: Floats, slack: Floats | float = 0.0) -> Ints:
    """Along the last axis, the simplest value whose risk is at most `slack` above the least.

    Examples
    --------
    >>> risk = np.array([3.0, 2.1, 2.0, 2.0])  # from simple to rich
    >>> int(simplest_within(risk, np.arange(4.0))), int(simplest_within(risk, np.arange(4.0), 0.2))
    (2, 1)
    """
    least = risk.min(axis=-1)
    limit = least + TIE * np.abs(least) + slack
    return np.where(risk <= limit[..., None], complexity, np.inf).argmin(axis=-1)


def first_least(risk: Floats) -> Ints:
    """Along the last axis, the first of those with the least risk."""
    return simplest_within(risk, np.arange(risk.shape[-1], dtype=float))
