"""The conditional plug-in: the best action under any loss, for any model of Y given x."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _is_fitted, check_is_fitted

from empirisk.learners.class_codes import for_codes
from empirisk.learners.density.action_path import ActionPath, ModelsPath, classifies
from empirisk.learners.density.axis_of_part import AxisOfPart
from empirisk.learners.density.best_actions import best_classes, checked_actions
from empirisk.learners.density.conditional import Conditional, deviations, has_weights
from empirisk.learners.density.plug_in_soundness import check_plug_in
from empirisk.learners.ensembles.bag_door import checked_table, kept_rows
from empirisk.learners.ensembles.members import rows_of, rows_to_fit
from empirisk.learners.linear.least_squares import LinearRegression
from empirisk.learners.linear.logistic import LogisticRegression
from empirisk.losses import ClassificationLoss, Costs, Loss, RegressionLoss, as_loss
from empirisk.losses.costs import MatrixLoss
from empirisk.risk.axis import PathMixin
from empirisk.risk.cross_validation import cross_validate
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.targets import check_target

HELD_OUT = "held_out"


class PlugInPredictor(PathMixin, BaseEstimator):
    """The action of least expected loss, under the distribution of Y that a model has at x:

        h(x) = argmin_a  E[L(Y, a) | X = x],

    with the model's distribution put in for the true one: the mean for the squared loss, the median
    for the absolute loss, a quantile for the pinball loss, the class of least expected cost for a
    matrix of costs. With the true distribution it is the Bayes rule.

    Complexity axis: that of the model, such as `estimator__alpha`, `estimator__shrinkage` or
    `estimator__n_neighbors`; `Tuned(PlugInPredictor(Ridge()))` chooses it.

    Parameters
    ----------
    estimator : estimator, optional
        A model of Y given x:

        - a classifier with `predict_proba`: the probabilities of the classes;
        - with `conditional_weights`: the values of training rows, by their weights, as of nearest
          neighbours and kernel regression, whose weights are those of local means: of `degree=1`
          the line is not seen;
        - any other regressor h: normal, of mean h(x), with one variance of noise.

        None is `LinearRegression()`, or `LogisticRegression()` for a loss of classes.
    loss : Loss or str
        Any of `losses`, or your own: a `RegressionLoss` with a `__call__`, or a
        `ClassificationLoss` with its rule. The model does not depend on it: after `fit`, another
        loss of the same task, set by `set_params`, is that of the next predictions; as `actions`.
    actions : array-like, optional
        The numbers that may be predicted. None is any: by the rule of the loss, if it has one; else
        the best found between the least and the largest value that y can take at x (among 65 equal
        steps, then by golden section around the best of them).
    noise_variance : None, "held_out" or float
        Of a normal model: the mean squared residual of the training rows, which is maximum
        likelihood and too small for a model that fits them closely; that of rows held out in ten
        folds; or a number.

    Attributes
    ----------
    estimator_ : the fitted model
    noise_variance_ : float or None
        Of a normal model; its root is `noise_deviation_`.
    noise_deviation_ : float or None
    classes_ : array of shape (n_classes,)
        Of classes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Under the log loss the best action is the vector of probabilities, `predict_proba`; `predict` is
    then the most probable class. Expectations under a normal model that are no formula are sums
    over 401 nodes up to 8 deviations from the mean.

    References
    ----------
    T. Hastie, R. Tibshirani & J. Friedman (2009), The Elements of Statistical Learning, section
    2.4.

    Examples
    --------
    >>> from empirisk.losses import Quantile
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 3.0]
    >>> model = PlugInPredictor(loss=Quantile(0.9)).fit(X, y)
    >>> round(model.noise_variance_, 3), model.predict([[1.0]]).round(3)
    (0.45, array([1.96]))
    >>> PlugInPredictor(loss="asymmetric:1,9").fit(X, ["no", "no", "yes", "yes"]).predict([[1.2]])
    array(['yes'], dtype='<U3')
    """

    axis: ClassVar[Any] = AxisOfPart("estimator")

    estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        loss: Loss | str = "squared",
        *,
        actions: Any = None,
        noise_variance: float | Literal["held_out"] | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.actions = actions
        self.noise_variance = noise_variance

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model, and find the variance of its noise.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            Handed on to the model as it is.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        self._check()
        classifier = classifies(self)
        X = checked_table(self, X, self._prototype(), reset=True)
        target, weight = check_target(self, y, X, sample_weight, classifier=classifier)
        _, X, target, weight, _ = kept_rows(X, target, weight, None)
        if classifier:
            as_loss(self.loss).for_classes(np.unique(target))  # complains of costs that do not fit
        self._fit_checked(X, target, weight)
        return self

    def predict(self, X: Any) -> Array:
        """The best action for each row: a number, or a label."""
        X = self._asked(X)
        if classifies(self):
            chosen = best_classes(self._loss(), self.estimator_.predict_proba(X))
            return self.classes_[chosen]
        return self._distribution(X).best_actions(self._loss(), checked_actions(self.actions))

    @available_if(classifies)
    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes that the model has."""
        X = self._asked(X)
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(classifies)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def conditional_risk(self, X: Any) -> Floats:
        """E[L(Y, h(x)) | X = x] at each row, under the model: its mean is the plug-in's own idea of
        its risk, as good as the model is."""
        X = self._asked(X)
        loss: Any = self._loss()
        if classifies(self):
            return np.asarray(loss.bayes_risk(self.estimator_.predict_proba(X)))
        distribution = self._distribution(X)
        action = distribution.best_actions(loss, checked_actions(self.actions))
        return distribution.expected_losses(loss, action)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of a classifier, R^2 of a regressor, as in scikit-learn."""
        measure = accuracy_score if classifies(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    def noise_variance_(self) -> float | None:
        """The variance of the noise of a normal model; None of others."""
        check_is_fitted(self)
        deviation = self.noise_deviation_
        with np.errstate(over="ignore"):
            return None if deviation is None else float(np.square(deviation))

    @property
    def classes_(self) -> Array:
        """The labels, in the order of the probabilities."""
        check_is_fitted(self)
        return self.estimator_.classes_

    @property
    def own_loss(self) -> Loss:
        """The loss at which it aims, and by which it is judged."""
        return as_loss(self.loss)

    @property
    def feature_scaling(self) -> Literal["each", "common"] | None:  # type: ignore[override]  # found where others say it
        """That of the model."""
        return getattr(self._prototype(), "feature_scaling", None)

    def for_classes(self, labels: Array) -> Self:
        """The same learner for codes 0..K-1 of these labels."""
        changes: dict[str, Any] = {}
        if self.estimator is not None:
            coded = for_codes(self.estimator, labels)
            if coded is not self.estimator:
                changes["estimator"] = coded
        loss = as_loss(self.loss)
        if isinstance(loss, MatrixLoss):
            costs = loss.for_classes(labels).costs()
            changes["loss"] = Costs(costs, classes=range(len(labels)))
        elif loss.for_classes(labels) is not loss:
            changes["loss"] = loss.for_classes(labels)
        return clone(self).set_params(**changes) if changes else self

    def design(self, X: Any) -> Any:
        """X as the model's path takes it, or as it came in."""
        X = checked_table(self, X, self._prototype(), reset=None)
        return self._prototype().design(X) if self._by_path() else X

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[Any]:
        """Those of the model."""
        if self.axis is None:
            return (None,)
        prototype = self._prototype()
        design = X if self._by_path() else prototype.design(X)
        return prototype.axis_values(design, y, sample_weight, n_train=n_train)

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> "ActionPath":
        """The path of the model, and what is best under each of its models."""
        self._check()
        if self._by_path():
            path = self._prototype().fit_path(X, y, sample_weight, values, n_classes=n_classes)
            spread = self._deviations(path, X, y, sample_weight, len(values))
            return ActionPath(self, path, values, spread)
        fits = []
        for value in values:
            learner = clone(self)
            if self.axis is not None:
                learner.set_params(**self.axis.settings(value))
            learner._fit_checked(X, y, sample_weight)
            learner.n_features_in_ = X.shape[1]
            fits.append(learner)
        return ActionPath(self, ModelsPath(fits), values, [fit.noise_deviation_ for fit in fits])

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted predictor belongs together."""
        if _is_fitted(self):
            check_plug_in(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype())
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        if classifies(self):
            tags.estimator_type = "classifier"
            tags.classifier_tags = inner.classifier_tags or ClassifierTags()
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = inner.regressor_tags or RegressorTags()
        return tags

    def _prototype(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return LogisticRegression() if classifies(self) else LinearRegression()

    def _check(self) -> None:
        prototype, loss = self._prototype(), as_loss(self.loss)
        if not (hasattr(prototype, "fit") and hasattr(prototype, "predict")):
            raise ParameterError(
                f"estimator is {prototype!r:.60}; it must be an estimator with fit and predict"
            )
        if not isinstance(loss, RegressionLoss | ClassificationLoss):
            raise ParameterError(f"the loss {loss.name!r} is not one of predictions of y")
        if is_classifier(prototype) != classifies(self):
            raise ParameterError(
                f"the loss {loss.name!r} is for {loss.task}, and {prototype!r:.60} is not"
            )
        if classifies(self) and not hasattr(prototype, "predict_proba"):
            raise ParameterError(
                f"{type(prototype).__name__} has no predict_proba, and so no distribution of the "
                "classes: give another classifier"
            )
        if classifies(self) and self.actions is not None:
            raise ParameterError("actions are numbers, and of classes each may be predicted")
        checked_actions(self.actions)
        _check_noise(self.noise_variance)

    def _fit_checked(self, X: Any, y: Array, weight: Floats) -> None:
        member = clone(self._prototype())
        rows, arguments = rows_to_fit(member, weight)
        self.estimator_ = member.fit(rows_of(X, rows), y[rows], **arguments)
        self.noise_deviation_ = None
        if not classifies(self) and not has_weights(self.estimator_):
            self.noise_deviation_ = self._deviation(X, y, weight)

    def _deviation(self, X: Any, y: Array, weight: Floats) -> float:
        if isinstance(self.noise_variance, str):
            weights = None if (weight == 1).all() else weight
            found = cross_validate(
                self._prototype(), X, y, loss="squared", sample_weight=weights, random_state=0
            )
            return float(np.sqrt(found.value))
        if self.noise_variance is not None:
            return float(np.sqrt(self.noise_variance))
        predicted = np.asarray(self.estimator_.predict(X), dtype=float)
        return float(deviations(y, predicted[:, None], weight)[0])

    def _asked(self, X: Any) -> Any:
        check_is_fitted(self)
        return checked_table(self, X, self.estimator_, reset=False)

    def _loss(self) -> Any:
        loss = as_loss(self.loss)
        return loss.for_classes(self.classes_) if classifies(self) else loss

    def _distribution(self, X: Any) -> Conditional:
        return Conditional.of(self.estimator_, X, self.noise_deviation_)

    def _by_path(self) -> bool:
        return self.axis is not None and not isinstance(self.noise_variance, str)

    def _deviations(self, path: Any, X: Any, y: Array, weight: Floats, V: int) -> list[Any]:
        """Of the noise of the models of a path; None where they have none."""
        if classifies(self) or has_weights(self._prototype()):
            return [None] * V
        if self.noise_variance is not None:
            return [float(np.sqrt(self.noise_variance))] * V
        return deviations(y, path.predict_path(X, "value"), weight).tolist()


def _check_noise(variance: Any) -> None:
    if variance is None or (isinstance(variance, str) and variance == HELD_OUT):
        return
    if not (is_number(variance) and variance >= 0):
        raise ParameterError(
            f"noise_variance is {variance!r:.60}; give None, {HELD_OUT!r} or a number >= 0"
        )
