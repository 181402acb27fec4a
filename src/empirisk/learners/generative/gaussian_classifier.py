"""What all classifiers by Gaussian classes have in common: from fitting to drawing new rows."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.encode import FoldDesign
from empirisk.learners.generative.class_densities import ClassDensities
from empirisk.learners.generative.complete_rows import complete_rows, has_missing
from empirisk.learners.generative.density_soundness import check_arrays
from empirisk.learners.generative.discriminants import largest, log_posterior, posterior
from empirisk.learners.generative.settings import coded_learner
from empirisk.learners.soundness import has_state
from empirisk.risk.axis import (
    CannotSubtractError,
    HeldOut,
    Output,
    Path,
    PathMixin,
    refuse_no_partition,
)
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import column_names
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.validation import check_fit, check_predict


class GaussianClassifier(PathMixin, ClassifierMixin, BaseEstimator):
    """Bayes' rule for Gaussian classes."""

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    takes_fold_design: ClassVar[bool] = True

    priors: ArrayLike | None
    priors_: Floats
    classes_: Array
    _labels: Array
    _densities: ClassDensities

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in memory.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows with missing values (NaN) are left out, with a warning.
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        data = check_fit(self, X, y, sample_weight, classifier=True, allow_nan=True)
        assert data.classes is not None
        name = type(self).__name__
        rows = complete_rows(Rows(data.X, data.y, data.sample_weight), data.classes, name)
        return self._fit(Blocks.of_arrays(*rows), data.classes, column_names(rows.X))

    def fit_blocks(self, source: Any) -> Self:
        """Learn from pieces (X, y) or (X, y, sample_weight): the same bits as `fit` on all rows.

        Rows with missing values (NaN), which `fit` leaves out, are refused here.

        Parameters
        ----------
        source : callable, or iterable that can be gone through again
            Gives the pieces, of any number of rows. It is gone through several times: for the
            classes, for the moments, and where numbers are huge or tiny, for their size.
        """
        blocks = Blocks.of_pieces(source, self)
        classes = np.unique(np.concatenate([np.unique(block.y) for block in blocks]))
        check_classification_targets(classes)
        names = getattr(self, "feature_names_in_", None)
        return self._fit(blocks.map(partial(_coded, classes)), classes, names)

    def design(self, X: Any) -> Floats:
        """X as float64; missing values stay."""
        return numbers(X, self, allow_nan=True)

    def for_classes(self, labels: Array) -> Self:
        """This learner for class codes; the priors are those of the classes that are left."""
        return coded_learner(self, labels)

    def fit_path(
        self, X: Floats, y: Ints, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> Path:
        """All values from one pass over the rows."""
        classes = np.arange(n_classes)
        labels = getattr(self, "_labels", classes)
        rows = complete_rows(Rows(X, y, sample_weight), labels, type(self).__name__)
        return self._path(Blocks.of_arrays(*rows), values, classes, column_names(rows.X))

    def out_of_fold(
        self,
        X: Floats | FoldDesign,
        y: Ints,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """Folds from the class moments of all rows minus those of the fold."""
        refuse_no_partition(plan)
        Z, fold_map = (X.Z, X.fold_map) if isinstance(X, FoldDesign) else (X, None)
        if plan.leaves_one_out and fold_map is not None:
            raise CannotSubtractError("without each row in turn the encoder is another one")
        if has_missing(Z):
            raise CannotSubtractError("rows with missing values are held out, and never train")
        rows = Rows(Z, y, sample_weight)
        return self._held_out(rows, fold_map, plan, values, n_classes, output, rows_per_block)

    def decision_function(self, X: Any) -> Floats:
        """The discriminant functions f_k(x); with two classes f_1(x) - f_0(x), of shape (n_rows,).

        Features that are missing (NaN) are left out, by the marginal densities of the others.
        """
        values = self._values(X)[:, :, 0]
        if values.shape[1] == 2:
            return values[:, 1] - values[:, 0]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Array:
        """The most probable class of each row, by the features that are not missing (NaN)."""
        codes = largest(self._values(X))[:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, in the order of `classes_`, given the features that
        are not missing (NaN)."""
        return posterior(self._values(X))[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, accurate where these underflow."""
        return log_posterior(self._values(X))[:, 0]

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Floats, Array]:
        """Draw new rows from the model: a class by its prior, then a row of that class.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        if not is_whole(n_samples, 1):
            raise ParameterError(f"n_samples is {n_samples!r}; give a whole number, 1 or more")
        random = generator(spawn(random_state, 1)[0])
        codes = random.choice(len(self.priors_), size=n_samples, p=self.priors_)
        counts = np.bincount(codes, minlength=len(self.priors_))
        X = np.empty((n_samples, len(self._densities.unit)))
        with one_blas_thread():
            X[np.argsort(codes, kind="stable")] = self._densities.sample(counts, random)
        return X, self.classes_[codes]

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        if not has_state(self):
            return
        densities = getattr(self, "_densities", None)
        if not isinstance(densities, ClassDensities):
            raise DataError("_densities are not those of classes")
        K, p = densities.mean.shape
        check_arrays(self, {"priors_": (K,), "means_": (K, p)})
        if np.shape(self.classes_) != (K,):
            raise DataError(f"classes_ are not an array of {K} labels")
        if not np.array_equal(self.priors_, densities.priors):
            raise DataError("priors_ are not those of the densities")
        if getattr(self, "n_features_in_", None) != p:
            raise DataError(f"n_features_in_ is not {p}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, blocks: Blocks, classes: Array, names: Sequence[str] | None) -> Self:
        refuse_one_class(classes, type(self).__name__)
        self._learn(blocks, classes, names)
        return self

    @abstractmethod
    def _learn(self, blocks: Blocks, classes: Array, names: Sequence[str] | None) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _path(
        self, blocks: Blocks, values: Sequence[Any], classes: Array, names: Sequence[str] | None
    ) -> Any:
        """Of all values of the axis."""

    @abstractmethod
    def _held_out(
        self,
        rows: Rows,
        fold_map: Any,
        plan: Plan,
        values: Sequence[Any],
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """Of a partition; `fold_map` is that of an encoder, or None."""

    def _values(self, X: Any) -> Floats:
        X = check_predict(self, X, allow_nan=True)
        with one_blas_thread():
            return self._densities.values(X)


def _coded(classes: Array, block: Rows) -> Rows:
    return Rows(block.X, np.searchsorted(classes, block.y), block.weight)
