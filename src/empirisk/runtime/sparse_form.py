"""Sparse answers in the form in which scikit-learn gives its own: `*` and rows differ by it."""

from typing import Any

from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config


def sparse_form(answer: Any) -> Any:
    """A sparse matrix; an array where scikit-learn is set so (`sparse_interface`, from 1.9 on).

    Examples
    --------
    >>> type(sparse_form(csr_array([[0.0, 1.0]]))).__name__
    'csr_matrix'
    """
    as_arrays = get_config().get("sparse_interface") == "sparray"
    return csr_array(answer) if as_arrays else csr_matrix(answer)
