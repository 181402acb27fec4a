"""Checking input, once, on top of scikit-learn's own checks."""

from typing import Any

from sklearn.utils.validation import check_array

from empirisk.runtime.arrays import Floats


def numbers(X: Any, estimator: Any) -> Floats:
    """X as a C-contiguous, writable float64 array of finite numbers."""
    return check_array(X, dtype="float64", order="C", estimator=estimator)
