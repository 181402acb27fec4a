"""Parameters of logistic regression other than its penalty: which values they may have."""

from empirisk.learners.linear.accepted_parameters import (
    ABOVE_ZERO,
    COUNT,
    FLAG,
    SEED,
    VERBOSITY,
    Wanted,
    one_of,
)
from empirisk.runtime.scalars import is_number

SOLVERS = ("auto", "newton", "limited-memory", "coordinate", "gradient", "stochastic")
SAME = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
"""Solvers of scikit-learn's for the same problem, which has one solution: they mean "auto"."""
ACCEPTED = {
    "tol": Wanted(lambda value: is_number(value) and 0 <= value < 1, "a number from 0 to below 1"),
    "max_iter": COUNT,
    "fit_intercept": FLAG,
    "warm_start": FLAG,
    "dual": FLAG,
    "intercept_scaling": ABOVE_ZERO,
    "random_state": SEED,
    "solver": one_of(*SOLVERS, *SAME),
    "verbose": VERBOSITY,
}
