"""The errors and warnings of the library: what came, what was wanted, what to do.

They are public as `empirisk.errors`. Those of data, parameters and plans are a ValueError too, as
scikit-learn's are.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empirisk.runtime.convergence import ConvergenceWarning as ConvergenceWarning

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "DataTypeError",
    "DeadlineError",
    "DivergenceError",
    "EmpiriskError",
    "EmpiriskWarning",
    "ParameterError",
    "PlanError",
    "RankWarning",
]


class EmpiriskError(Exception):
    """Base of the errors that are the library's own.

    Examples
    --------
    >>> from empirisk import errors, read_table
    >>> try:
    ...     read_table("https://example.org/cars.csv")
    ... except errors.EmpiriskError as error:
    ...     print(error)
    'https://example.org/cars.csv' is an address; nothing is read over a network: download it first
    """


class DataError(EmpiriskError, ValueError):
    """The data cannot be used as they are; the message names the column or row and the remedy.

    Examples
    --------
    >>> from empirisk import Ridge
    >>> Ridge().fit([[1.0], [float("nan")]], [1.0, 2.0])
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.DataError: column 0 has 1 missing value(s) (NaN), the first in row 1;
    Ridge needs numbers: put an Encoder() before it
    """


class DataTypeError(DataError, TypeError):
    """The data hold objects that are not numbers, text or dates.

    Examples
    --------
    >>> from empirisk import Table
    >>> Table.of({"a": [object()]})
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.DataTypeError: column 'a' holds object ...
    """


class ParameterError(EmpiriskError, ValueError):
    """A parameter has a value that makes no sense.

    Examples
    --------
    >>> from empirisk import read_table
    >>> read_table(__file__, delimiter=";;")
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.ParameterError: delimiter is ';;'; give one ASCII character
    """


class PlanError(EmpiriskError, ValueError):
    """A resampling plan is impossible, or two results come from different plans.

    Examples
    --------
    >>> from empirisk import Ridge, risk
    >>> split = ([0, 1], [1, 2])
    >>> risk.cross_validate(Ridge(), [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], cv=[split])
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.PlanError: split 0 has 1 rows in its training and in its test part
    (row 1 first): its risk would not be honest
    """


class DeadlineError(EmpiriskError, TimeoutError):
    """The time allowed for a piece of work is used up.

    Examples
    --------
    >>> issubclass(DeadlineError, TimeoutError)
    True
    """


class EmpiriskWarning(UserWarning):
    """Base of the warnings that are the library's own.

    Examples
    --------
    >>> import warnings
    >>> from empirisk import LinearRegression
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", EmpiriskWarning)
    ...     LinearRegression().fit([[1.0, 1.0], [2.0, 2.0]], [1.0, 2.0]).coef_.round(2)
    array([0.5, 0.5])
    """


class RankWarning(EmpiriskWarning):
    """Columns of the design depend on one another; the message names them.

    Examples
    --------
    >>> import warnings
    >>> from empirisk import LinearRegression
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     model = LinearRegression().fit([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]], [1.0, 2.0, 3.0])
    >>> given[0].category.__name__
    'RankWarning'
    """


class DivergenceError(EmpiriskError, ArithmeticError):
    """An iteration led to numbers that are not finite; the message says which steps to shorten.

    Examples
    --------
    >>> issubclass(DivergenceError, ArithmeticError)
    True
    """


def __getattr__(name: str) -> Any:
    """`ConvergenceWarning` when first asked for: it needs scikit-learn, a second to import."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from empirisk.runtime.convergence import ConvergenceWarning

    return ConvergenceWarning
