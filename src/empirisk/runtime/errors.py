"""The errors and warnings of the library: what came, what was wanted, what to do."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empirisk.runtime.convergence import ConvergenceWarning as ConvergenceWarning


class EmpiriskError(Exception):
    """Base of every error that the library raises itself."""


class DataError(EmpiriskError, ValueError):
    """The data cannot be used as they are; the message names the column or row and the remedy."""


class DataTypeError(DataError, TypeError):
    """The data hold objects that are not numbers, text or dates."""


class ParameterError(EmpiriskError, ValueError):
    """A parameter has a value that makes no sense."""


class PlanError(EmpiriskError, ValueError):
    """A resampling plan is impossible, or two results come from different plans."""


class DeadlineError(EmpiriskError, TimeoutError):
    """The time allowed for a piece of work is used up."""


class EmpiriskWarning(UserWarning):
    """Base of every warning that the library gives itself."""


class RankWarning(EmpiriskWarning):
    """Columns of the design depend on one another; the message names them."""


class DivergenceError(EmpiriskError, ArithmeticError):
    """An iteration led to numbers that are not finite; the message says which steps to shorten."""


def __getattr__(name: str) -> Any:
    """`ConvergenceWarning` when first asked for: it needs scikit-learn, a second to import."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from empirisk.runtime.convergence import ConvergenceWarning

    return ConvergenceWarning
