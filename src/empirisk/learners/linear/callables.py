"""Basis functions that the user gives."""

import numpy as np

from empirisk.learners.linear.basis_parameters import Function
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError


def column_of(function: Function, j: int, X: Floats) -> Floats:
    """Its value for each row; j is its number, for complaints."""
    found = function(X)
    try:
        column = np.asarray(found, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"basis function {j} returned something else than numbers") from error
    if column.size != len(X):
        raise DataError(
            f"basis function {j} returned shape {column.shape} for {len(X)} rows; it must return "
            "one number for each row"
        )
    if not np.isfinite(column).all():
        raise DataError(
            f"basis function {j} returned NaN or infinity for {int((~np.isfinite(column)).sum())} "
            "row(s); it must be finite wherever it is asked"
        )
    return column.reshape(-1)
