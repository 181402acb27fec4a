"""Networks that predict classes, or values."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from empirisk.compiled.networks import heads
from empirisk.learners.networks.going_on import Past, learn_more, units_so_far
from empirisk.learners.networks.heads import Head
from empirisk.learners.networks.network import Network
from empirisk.learners.networks.network_path import codes, predictions
from empirisk.learners.networks.prepared import prepared
from empirisk.learners.networks.standardising import Standard
from empirisk.learners.networks.stopping import warn_if_cut_short
from empirisk.losses import Loss
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import missing_labels, refuse_one_class
from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import has_columns, one_column
from empirisk.runtime.validation import TrainingSet, check_fit


class Supervised(Network):
    """What classifiers and regressors share."""

    classes_: Array
    _loss: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows in memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to predict.
        y : array-like of shape (n,), or (n, outputs) of values, or of labels by 0 and 1
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts w times in its batch.

        Returns
        -------
        self
        """
        past, data = Past.of(self), self._checked(X, y, sample_weight)
        n_classes = 0 if data.classes is None else len(data.classes)
        self._note_labels(data, past is not None)
        self.__dict__.pop("_optimizer", None)
        path = self.fit_path(
            data.X, data.y, data.sample_weight, [self.max_iter], n_classes=n_classes
        )
        path.write(0, self)
        if past is not None:
            past.precede(self)
        warn_if_cut_short(self, path.records[0].ending)
        return self

    def check_loaded(self) -> None:
        """Raise an error also where it was trained for a loss that there is not."""
        super().check_loaded()
        if hasattr(self, "params_"):
            self._head(fitted=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        return check_fit(
            self, X, y, sample_weight, multi_output=True, keep_single=True, reset=reset
        )

    def _note_labels(self, data: TrainingSet, going_on: bool) -> None:
        """Keep the classes of y, if it has some."""

    def _head(self, *, fitted: bool = False) -> Head:
        return self._head_of(self._loss if fitted else getattr(self, "loss", None))

    @abstractmethod
    def _head_of(self, loss: Any) -> Head:
        """Of a loss as it is given; `MLPClassifier` is given none."""

    def _written(self) -> None:
        self._loss = getattr(self, "loss", None)

    def _more(self, X: Array, y: Array, weight: Floats, n_classes: int) -> Self:
        before = units_so_far(self)
        dtype = self._dtype(X) if before is None else self.params_.dtype
        # A y that does not change in the first rows may do so in the next ones.
        data = prepared(self, X, y, weight, n_classes, dtype, before=before, flat_unit=1.0)
        return learn_more(self, data)


def _takes_batches(learner: Any) -> bool:
    if learner.solver != "lbfgs":
        return True
    raise AttributeError("partial_fit takes the solvers 'adam' and 'sgd'")


def _gives_probabilities(learner: Any) -> bool:
    return learner._head(fitted=hasattr(learner, "params_")).gives_probabilities


class ClassifierNetwork(ClassifierMixin, Supervised):
    """Classes of rows, or all labels that a row has."""

    _has_labels: bool

    @available_if(_takes_batches)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more epoch, over these rows.

        The first call has all `classes`, and its rows set the standard units.
        """
        labels = self._all_labels(classes)
        data = self._checked(X, y, sample_weight, reset=not hasattr(self, "params_"))
        if hasattr(self, "params_") and self._tells_labels != (data.classes is None):
            raise DataError("y is a matrix of labels, or one label for each row, as it was before")
        if data.classes is None:
            if len(labels) != data.y.shape[1]:
                raise DataError(f"y has {data.y.shape[1]} columns, and `classes` are {len(labels)}")
            self._note_labels(data, hasattr(self, "params_"))
            return self._more(data.X, data.y, data.sample_weight, 0)
        strange = np.setdiff1d(data.classes, labels)
        if len(strange):
            raise DataError(f"y has the label {strange.tolist()[0]!r}, which is not in `classes`")
        refuse_one_class(labels, type(self).__name__)
        self.classes_ = labels
        code = np.searchsorted(labels, data.classes)[data.y]
        return self._more(data.X, code, data.sample_weight, len(labels))

    def _all_labels(self, classes: Any) -> Array:
        """Those of the first call of `partial_fit`, which later ones may repeat."""
        before: Array | None = getattr(self, "classes_", None)
        if classes is None:
            if before is None:
                raise DataError("the first call of partial_fit needs `classes`, all the labels")
            return before
        labels = one_column(classes, "classes")
        if missing_labels(labels).any():
            raise DataError("`classes` have a missing value (NaN or None): give labels alone")
        labels = np.unique(labels)
        if before is not None and not np.array_equal(labels, before):
            raise DataError(
                f"`classes` are {labels.tolist()[:10]}, and before they were "
                f"{before.tolist()[:10]}: they stay the same"
            )
        return labels

    def decision_function(self, X: Any) -> Floats:
        """The outputs: (rows,) of two classes, for the second, else (rows, classes)."""
        raw = self._outputs(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes; where y was a matrix, that each label is there."""
        check_is_fitted(self)
        return self._head(fitted=True).probabilities(self._outputs(X))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The class of the largest output, the first of equals; of two, the second if f(x) > 0.

        Where y was a matrix, 1 for each label whose output is above 0, (rows, labels).
        """
        check_is_fitted(self)
        raw = self._outputs(X)
        return (raw > 0).astype(np.int64) if self._tells_labels else self.classes_[codes(raw)]

    @property
    def out_activation_(self) -> str:
        """What makes probabilities of outputs."""
        check_is_fitted(self)
        if self._head(fitted=True).kind not in (heads.LOG, heads.LABELS):
            return "identity"
        return "logistic" if self._tells_labels or len(self.classes_) == 2 else "softmax"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._class_head().kind == heads.LOG
        return tags

    def _class_head(self) -> Head:
        """The loss that the parameters mean, of one label for each row."""
        return super()._head()

    def _head(self, *, fitted: bool = False) -> Head:
        return Head(heads.LABELS) if self._tells_labels else super()._head(fitted=fitted)

    @property
    def _tells_labels(self) -> bool:
        """Whether y was a matrix, with a column of 0 and 1 for each label."""
        return getattr(self, "_has_labels", False)

    def _is_classifier(self) -> bool:
        return True

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        if has_columns(y) and self._class_head().kind == heads.LOG:
            data = super()._checked(X, y, sample_weight, reset=reset)
            if not np.isin(data.y, (0, 1)).all():
                raise DataError(
                    "y has columns, and other numbers in them than 0 and 1: give one label for "
                    "each row, or a column of 0 and 1 for each label that a row may have"
                )
            return data
        return check_fit(self, X, y, sample_weight, classifier=True, keep_single=True, reset=reset)

    def _note_labels(self, data: TrainingSet, going_on: bool) -> None:
        """Keep the classes, or the numbers of the labels: a network that goes on has the same."""
        if data.classes is not None:
            refuse_one_class(data.classes, type(self).__name__)
        found = np.arange(data.y.shape[1]) if data.classes is None else data.classes
        same = going_on and self._tells_labels == (data.classes is None)
        if going_on and not (same and np.array_equal(self.classes_, found)):
            raise DataError(
                f"y has the classes {found.tolist()[:10]}, and before it had "
                f"{self.classes_.tolist()[:10]}: fit anew with warm_start=False"
            )
        self.classes_ = found
        self.__dict__.pop("_has_labels", None)
        if data.classes is None:
            self._has_labels = True


class RegressorNetwork(RegressorMixin, Supervised):
    """Values of rows."""

    @available_if(_takes_batches)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One more epoch, over these rows; those of the first call set the standard units."""
        data = self._checked(X, y, sample_weight, reset=not hasattr(self, "params_"))
        return self._more(data.X, data.y, data.sample_weight, 0)

    def predict(self, X: Any) -> Floats:
        """The predicted values."""
        check_is_fitted(self)
        target = Standard(self._target_centre, self._target_unit)
        values = predictions(self._outputs(X), self._head(fitted=True), target)
        return values[:, 0] if values.shape[1] == 1 else values

    @property
    def own_loss(self) -> Loss | None:
        """The loss of predictions at which the training aims.

        None for the squared error, and for "poisson", which is judged by it too.
        """
        return self._head().loss

    @property
    def out_activation_(self) -> str:
        """What makes predictions of outputs."""
        check_is_fitted(self)
        return "exp" if self._head(fitted=True).kind == heads.POISSON else "identity"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.positive_only = getattr(self, "loss", None) == "poisson"
        return tags
