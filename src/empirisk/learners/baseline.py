"""The best constant prediction: what every learner has to beat."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if

from empirisk.learners.held_out_constants import training_numbers, training_shares
from empirisk.learners.soundness import has_state, is_floats, require
from empirisk.losses import (
    Asymmetric,
    ClassificationLoss,
    Costs,
    Loss,
    RegressionLoss,
    as_loss,
    class_frequencies,
)
from empirisk.losses.costs import MatrixLoss
from empirisk.risk.axis import Block, Freedom, HeldOut, Output, PathMixin
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.scalars import is_number, is_whole
from empirisk.runtime.validation import check_fit, check_predict


def _classifies(baseline: "Baseline") -> bool:
    try:
        return as_loss(baseline.loss).task == "classification"
    except ParameterError:
        return False  # `fit` says what is wrong with the loss


def _says_classes(baseline: "Baseline") -> bool:
    """Whether it was fitted to classes, whatever the loss is by now; unfitted, if it will be."""
    fitted = hasattr(baseline, "constant_")
    return hasattr(baseline, "classes_") if fitted else _classifies(baseline)


class Baseline(PathMixin, BaseEstimator):
    """The one prediction c for all rows with the least mean loss on the training rows:
    minimise sum_i w_i L(y_i, c).

    The mean for the squared loss, the median for the absolute one, a quantile; the most frequent
    class for the 0-1 loss, the class of least expected cost, the class frequencies for the log
    loss and Brier's. X is checked and not used.

    Parameters
    ----------
    loss : str or Loss
        With "squared", "absolute" or `Quantile(q)` it is a regressor; with "zero_one", "log",
        "brier", `Asymmetric(a, b)` or `Costs(matrix)` it is a classifier.

    Attributes
    ----------
    constant_ : float, label or array
        The prediction: a number (an array if y has several columns), a class, or for the log
        loss and Brier's the probabilities of the classes.
    classes_ : array of shape (n_classes,)
        Of a classifier.
    class_prior_ : array of shape (n_classes,)
        Of a classifier: the weighted frequencies of the classes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [[0.0], [0.0], [0.0]]
    >>> Baseline().fit(X, [1.0, 2.0, 6.0]).predict([[5.0]])
    array([3.])
    >>> Baseline("absolute").fit(X, [1.0, 2.0, 6.0]).constant_
    2.0
    >>> majority = Baseline("zero_one").fit(X, ["no", "yes", "no"])
    >>> majority.predict([[5.0]]), majority.predict_proba([[5.0]]).round(2)
    (array(['no'], dtype='<U3'), array([[0.67, 0.33]]))
    """

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    takes_fold_design: ClassVar[bool] = True
    freedom: ClassVar[Freedom] = "path"

    def __init__(self, loss: Loss | str = "squared") -> None:
        self.loss = loss

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the constant.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,), of a regressor also (n, outputs)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        loss = as_loss(self.loss)
        classifier = loss.task == "classification"
        data = check_fit(
            self, X, y, sample_weight, classifier=classifier, multi_output=not classifier
        )
        n_classes = 0
        if data.classes is not None:
            loss, n_classes = loss.for_classes(data.classes), len(data.classes)
        path = ConstantPath(self, loss, data.X, data.y, data.sample_weight, n_classes)
        return path.write(self, data.classes)

    def predict(self, X: Any) -> Array:
        """The constant, once for each row; for the log loss the most frequent class."""
        n = len(check_predict(self, X))
        if _says_classes(self):
            return self.classes_[np.full(n, self._code)]
        return np.repeat(np.asarray(self.constant_)[None], n, axis=0)

    @available_if(_says_classes)
    def predict_proba(self, X: Any) -> Floats:
        """The weighted frequencies of the classes, once for each row."""
        n = len(check_predict(self, X))
        return np.repeat(self.class_prior_[None], n, axis=0)

    @available_if(_says_classes)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the frequencies."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of a classifier, R^2 of a regressor, as in scikit-learn."""
        measure = accuracy_score if _says_classes(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        if not has_state(self):
            return
        constant = vars(self).get("constant_")
        require(is_whole(vars(self).get("n_features_in_"), 0), self, "n_features_in_")
        if not hasattr(self, "classes_"):
            sound = is_number(constant) or is_floats(constant, (None,))
            require(sound and not hasattr(self, "class_prior_"), self, "constant_")
            return
        K = np.size(self.classes_)
        shares, code = vars(self).get("class_prior_"), vars(self).get("_code")
        require(np.ndim(self.classes_) == 1 and K > 0, self, "classes_")
        require(is_floats(shares, (K,)), self, "class_prior_")
        require(is_whole(code, 0) and code < K, self, "_code")

    def for_classes(self, labels: Array) -> Self:
        """The same learner for codes 0..K-1 of these labels, by which costs are then named."""
        loss = as_loss(self.loss)
        if not isinstance(loss, MatrixLoss):
            return self
        return clone(self).set_params(loss=_costs_of_codes(loss, labels.tolist()))

    def fit_path(
        self, X: Floats, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> "ConstantPath":
        """The constant; there is no axis."""
        loss = as_loss(self.loss).for_classes(range(n_classes))
        return ConstantPath(self, loss, X, y, sample_weight, n_classes)

    def out_of_fold(
        self,
        X: Floats,
        y: Array,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """The constants of all training parts from sums over the folds; never declines."""
        loss = as_loss(self.loss).for_classes(range(n_classes))
        parts = _training_constants(loss, y, sample_weight, plan, n_classes)
        return HeldOut(_blocks(loss, parts, plan, output, rows_per_block))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if _classifies(self):
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(poor_score=True)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags(poor_score=True)
            tags.target_tags.multi_output = True
        return tags


class ConstantPath:
    """A constant learned from one training set; the path of a learner without an axis."""

    def __init__(
        self, learner: Baseline, loss: Loss, X: Floats, y: Array, weight: Floats, n_classes: int
    ) -> None:
        self.learner, self.loss, self.n_columns = learner, loss, X.shape[1]
        if isinstance(loss, RegressionLoss):
            self.constant = np.asarray(loss.bayes_action(y.T, weight))
        else:
            self.constant = class_frequencies(y, weight, n_classes=n_classes)

    def predict_path(self, X: Floats, output: Output) -> Array:
        constant = np.asarray(_prediction(self.loss, self.constant, output))
        return np.repeat(constant[None, None], len(X), axis=0)

    @property
    def degrees_of_freedom(self) -> Floats:
        return np.ones(1)

    def at(self, j: int) -> Baseline:
        learner = clone(self.learner)
        return self.write(learner, np.arange(len(self.constant)) if _classifies(learner) else None)

    def write(self, learner: Baseline, classes: Array | None) -> Baseline:
        """The fitted attributes."""
        learner.n_features_in_ = self.n_columns
        for name in ("classes_", "class_prior_", "_code"):  # of an earlier fit
            learner.__dict__.pop(name, None)
        if classes is None:
            learner.constant_ = self.constant if self.constant.ndim else float(self.constant)
            return learner
        learner.classes_, learner.class_prior_ = classes, self.constant
        learner._code = int(_prediction(self.loss, self.constant, "value"))
        by_value = self.loss.output == "value"
        learner.constant_ = classes[learner._code] if by_value else self.constant
        return learner


def _prediction(loss: Loss, constant: Array, output: Output) -> Array:
    """The constant; or of class frequencies (last axis), the best class under the loss."""
    if output == "probability" or not isinstance(loss, ClassificationLoss):
        return constant
    # The best constant of a loss of probabilities is no class: take the most frequent one.
    return loss.bayes_action(constant) if loss.output == "value" else constant.argmax(axis=-1)


def _costs_of_codes(loss: MatrixLoss, labels: list[Any]) -> MatrixLoss:
    """The same costs of mistakes among the codes of these labels."""
    costs = loss.for_classes(labels).costs()
    if not isinstance(loss, Asymmetric):
        return Costs(costs, classes=range(len(labels)))
    positive = None if loss.positive is None else labels.index(loss.positive)
    return Asymmetric(loss.a, loss.b, positive)  # whose ties go by its threshold


def _training_constants(
    loss: Loss, y: Array, weight: Floats, plan: Plan, n_classes: int
) -> Iterator[tuple[range, Array]]:
    """The numbers or class frequencies of each training part, by ranges of splits."""
    if isinstance(loss, RegressionLoss):
        yield range(plan.n_splits), training_numbers(loss, y, weight, plan)
    else:
        yield from training_shares(y, weight, plan, n_classes)


def _blocks(
    loss: Loss, parts: Iterator[tuple[range, Array]], plan: Plan, output: Output, size: int
) -> Iterator[Block]:
    for splits, constants in parts:
        prediction = _prediction(loss, constants, output)
        for repeat, rows, split in _held_out(plan, splits, size):
            yield repeat, rows, prediction[split - splits.start][:, None]


def _held_out(plan: Plan, splits: range, size: int) -> Iterator[tuple[int, Ints, Ints]]:
    """The rows that the splits hold out and the split of each, by repeats and blocks of rows."""
    first = 0
    for r, fold in enumerate(plan.fold):
        split = fold.astype(np.int64) + first
        rows = np.flatnonzero((fold >= 0) & (split >= splits.start) & (split < splits.stop))
        for part in slices(len(rows), size):
            yield r, rows[part], split[rows[part]]
        first += int(fold.max()) + 1
