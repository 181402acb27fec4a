"""A step that learns nothing of the rows but how many there are."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples

from empirisk.runtime.arrays import Floats


class NoColumns(TransformerMixin, BaseEstimator):
    """Rows of anything, texts too, as one column of zeros: what a constant needs of them.

    Examples
    --------
    >>> NoColumns().fit_transform(["a text", "another"])
    array([[0.],
           [0.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing."""
        return self

    def transform(self, X: Any) -> Floats:
        """As many zeros as there are rows."""
        return np.zeros((_num_samples(X), 1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
