"""What logistic regression and margin classifiers share: scores, and the class of the largest."""

from typing import Any, Self

from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.generative.discriminants import as_written, largest
from empirisk.learners.linear.rule_soundness import check_linear_classifier
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.sparse_form import sparse_form
from empirisk.runtime.validation import check_predict


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """A linear score f_k(x) of each class, or of the second of two."""

    classes_: Array
    coef_: Floats
    intercept_: Floats
    # Kept beside the intercept, which for columns with a large mean has fewer digits.
    _offset: Floats
    _centre: Floats

    def decision_function(self, X: Any) -> Floats:
        """f_k(x) of each class; with two classes that of the second, of shape (n_rows,)."""
        values = self._values(X)[:, :, 0]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Array:
        """The class of the largest f_k(x), the first of equals; of two, the second if f(x) > 0."""
        codes = largest(self._values(X))[:, 0]
        return self.classes_[codes]

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix, as in scikit-learn; predictions stay the same.

        `densify` undoes it, and so does a fit; `save` takes the array alone.
        """
        check_is_fitted(self)
        coef: Any = sparse_form(csr_array(self.coef_))
        self.coef_ = coef
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again."""
        check_is_fitted(self)
        self.coef_ = self._dense_coef
        return self

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        check_linear_classifier(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _dense_coef(self) -> Floats:
        """`coef_` as an array, also after `sparsify`."""
        coef: Any = self.coef_
        return coef.toarray() if issparse(coef) else coef

    def _values(self, X: Any) -> Floats:
        """(rows, classes or 1, 1)."""
        X = check_predict(self, X)
        about = getattr(self, "_offset", None), getattr(self, "_centre", None)
        rule = as_written(self._dense_coef, self.intercept_, *about)
        with one_blas_thread():
            return rule.values(X)
