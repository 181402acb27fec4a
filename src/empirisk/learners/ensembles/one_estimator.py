"""What ensembles of one estimator share, that is fitted again and again: a bag, AdaBoost."""

from abc import abstractmethod
from typing import Any, Literal, Self

from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import Tags, get_tags

from empirisk.learners.class_codes import for_codes
from empirisk.learners.ensembles.bag_door import checked_table
from empirisk.learners.ensembles.member_sequence import MemberSequence
from empirisk.risk.axis import PathMixin
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError


class OneEstimator(MemberSequence, PathMixin, BaseEstimator):
    """Members that are clones of `estimator`, each fitted in its own way to the same table."""

    estimator: Any

    @abstractmethod
    def _default_estimator(self) -> Any:
        """The estimator where none was given."""

    @abstractmethod
    def _designed(self, X: Any) -> Any:
        """A table that was checked, as members take it."""

    def _prototype(self) -> Any:
        return self._default_estimator() if self.estimator is None else self.estimator

    def _refuse_other_tasks(self, prototype: Any) -> None:
        """Raise a ParameterError unless this is an estimator for the task of the ensemble."""
        if not (hasattr(prototype, "fit") and hasattr(prototype, "predict")):
            raise ParameterError(
                f"estimator is {prototype!r:.60}; it must be an estimator with fit and predict"
            )
        if is_regressor(prototype) if is_classifier(self) else is_classifier(prototype):
            wanted = "classifier" if is_classifier(self) else "regressor"
            raise ParameterError(
                f"estimator is {prototype!r:.60}, which is not for the task of "
                f"{type(self).__name__}: give a {wanted}"
            )

    def design(self, X: Any) -> Any:
        """X as members take it: codes that all trees share, otherwise as it came in."""
        return self._designed(checked_table(self, X, self._prototype(), reset=None))

    def for_classes(self, labels: Array) -> Self:
        """The same learner for codes 0..K-1 of these labels."""
        if self.estimator is None:
            return self
        coded = for_codes(self.estimator, labels)
        return self if coded is self.estimator else clone(self).set_params(estimator=coded)

    @property
    def feature_scaling(self) -> Literal["each", "common"] | None:  # type: ignore[override]  # found where others say it
        """That of the members."""
        return getattr(self._prototype(), "feature_scaling", None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype())
        tags.input_tags = inner.input_tags
        tags.target_tags.positive_only = inner.target_tags.positive_only
        tags.target_tags.required = True
        if tags.classifier_tags is not None and inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags
