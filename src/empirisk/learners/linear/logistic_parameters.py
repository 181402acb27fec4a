"""Parameters of logistic regression other than its penalty: which values they may have."""

from typing import Any

from empirisk.learners.linear.accepted_parameters import (
    ABOVE_ZERO,
    FLAG,
    SEED,
    VERBOSITY,
    one_of,
)
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, is_whole

SOLVERS = ("auto", "newton", "limited-memory", "coordinate", "gradient", "stochastic")
SAME = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
"""Solvers of scikit-learn's for the same problem, which has one solution: they mean "auto"."""
ACCEPTED = {
    "dual": FLAG,
    "intercept_scaling": ABOVE_ZERO,
    "random_state": SEED,
    "solver": one_of(*SOLVERS, *SAME),
    "verbose": VERBOSITY,
}


def checked_tol(value: Any) -> float:
    """The tolerance, checked."""
    if is_number(value) and 0 <= value < 1:
        return float(value)
    raise ParameterError(f"tol is {value!r}; it must be a number from 0 to below 1")


def checked_count(value: Any) -> int:
    """The number of iterations, checked."""
    if is_whole(value, 1):
        return int(value)
    raise ParameterError(f"max_iter is {value!r}; it must be an integer, 1 or more")
