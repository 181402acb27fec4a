"""The warning of an iteration that has not converged, which is scikit-learn's too."""

from sklearn import exceptions

from empirisk.runtime.errors import EmpiriskWarning


class ConvergenceWarning(EmpiriskWarning, exceptions.ConvergenceWarning):
    """An iteration stopped before it reached its tolerance.

    Filters of scikit-learn's warning of this name hear it as well.

    Examples
    --------
    >>> issubclass(ConvergenceWarning, exceptions.ConvergenceWarning)
    True
    """
