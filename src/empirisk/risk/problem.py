"""A learning problem as the engine sees it: rows, targets as numbers or codes, weights, a loss."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from empirisk.data.encode import Encoder
from empirisk.data.raw_columns import with_rows
from empirisk.data.table import Table
from empirisk.losses import Loss, as_loss, default_loss
from empirisk.risk.axis import PathMixin
from empirisk.risk.learner import learner_of
from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.plans.groups import group_codes, group_labels
from empirisk.risk.plans.out_of_bag import OUT_OF_BAG, OutOfBagPlan
from empirisk.risk.plans.plan import Plan
from empirisk.risk.plans.rows_left import plan_of_left, splits_of_left
from empirisk.risk.plans.splitters import may_name_rows, split_by
from empirisk.risk.predictor import name_of
from empirisk.risk.suitable_loss import (
    common_loss,
    refuse_measure,
    refuse_no_target,
    refuse_wrong_task,
)
from empirisk.risk.target import codes_of, numbers_of
from empirisk.runtime.arrays import Array, Floats, Ints, takes_rows
from empirisk.runtime.column_names import check_names, column_names, name_columns
from empirisk.runtime.complaints import refuse_no_rows
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.targets import check_lengths, check_weights


class Given(NamedTuple):
    """All rows as the user gave them, those of weight zero among them."""

    X: Any
    y: Any
    weight: Floats
    groups: Array | None

    @property
    def key(self) -> str:
        """By which a plan for all of them is known."""
        return data_key(self.X if self.y is None else self.y, self.weight, self.groups)


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and loss, checked once; rows of weight zero are gone.

    `y` is what the user gave, for foreign estimators; `target` is float64, or the class codes
    0..K-1 of `classes`. y is None where there is nothing to predict. `design` is X as the
    learner's `fit_path` takes it, converted and checked once, where that is the same in all folds.
    `kept` are the rows of the user's table that are left where some had weight zero, and `given`
    tells of all of them.

    Examples
    --------
    >>> from empirisk import LinearDiscriminantAnalysis
    >>> X, y = [[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"]
    >>> problem = Problem.of(LinearDiscriminantAnalysis(), X, y, sample_weight=[1, 2, 1, 0])
    >>> problem.classes, problem.target, problem.loss.name
    (array(['a', 'b'], dtype='<U1'), array([0, 0, 1]), 'zero_one')
    """

    X: Any
    y: Any
    target: Array | None
    classes: Array | None
    weight: Floats
    weighted: bool
    groups: Array | None
    loss: Loss
    design: Any = None
    kept: Ints | None = None
    given: Given | None = None

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        loss: Loss | str | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        classes: Array | Callable[[Any], Array | None] | None = None,
    ) -> Self:
        """Check the data; `classes` are those the estimator knows beside the ones in y.

        They may be a function of X, of a predictor that shows its classes by predicting them.
        """
        refuse_no_estimator(estimator)
        refuse_measure(loss)
        classifier = is_classifier(estimator)
        loss = common_loss([estimator]) if loss is None else loss
        given = default_loss(classifier) if loss is None else as_loss(loss)
        refuse_wrong_task(given, estimator, classifier)
        refuse_no_target(y, estimator, given)
        if X is None:
            refuse_no_rows(X, "X")
        X = with_rows(X)
        check_names(column_names(X) or ())  # pandas lets a name stand twice
        X, y = _indexable(X, "X"), _indexable(y, "y")
        groups = _indexable(groups, "groups")
        check_lengths(X, y=y, groups=groups)
        y = y if given.output in ("value", "probability") else None  # rows are judged themselves
        if _num_samples(X) == 0:
            raise DataError("X has 0 samples: give at least one row")
        weight = check_weights(sample_weight, _num_samples(X))
        groups = None if groups is None else group_labels(groups, weight)
        problem = cls(X, y, None, None, weight, sample_weight is not None, groups, given)
        if not (weight > 0).all():
            kept = np.flatnonzero(weight > 0)
            problem = replace(problem.rows(kept), kept=kept, given=Given(X, y, weight, groups))
        if y is None:
            return problem
        if not classifier:
            learner = learner_of(estimator)
            one = isinstance(learner, PathMixin) and not get_tags(learner).target_tags.multi_output
            return replace(problem, target=numbers_of(problem.y, problem.kept, one_output=one))
        known = classes(problem.X) if callable(classes) else classes
        target, known = codes_of(problem.y, known, problem.kept)
        return replace(problem, target=target, classes=known, loss=given.for_classes(known))

    @property
    def n(self) -> int:
        return len(self.weight)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def group(self) -> Ints | None:
        """The number of each row's group, 0..G-1; None without groups."""
        return group_codes(self.groups, self.n)

    @property
    def unit(self) -> Ints:
        """What was sampled independently: the group of each row, or the row itself."""
        return np.arange(self.n) if self.group is None else self.group

    def typed(self, estimator: Any) -> Self:
        """Before an `Encoder` X becomes a table: all folds see the same kinds of columns."""
        encoded = isinstance(estimator, Pipeline) and isinstance(estimator.steps[0][1], Encoder)
        return replace(self, X=Table.of(self.X)) if encoded else self

    def designed(self, estimator: Any) -> Self:
        """With the design of a bare learner; behind steps of a pipeline each fold has its own."""
        if self.design is not None or not isinstance(estimator, PathMixin):
            return self.typed(estimator)
        with self.counting_rows():
            return replace(self, design=estimator.design(self.X))

    @contextmanager
    def counting_rows(self) -> Iterator[None]:
        """Complaints of rows inside say so where they do not count all rows of the user."""
        try:
            yield
        except DataError as error:
            if self.kept is None:
                raise
            raise type(error)(f"{error} (rows of weight 0 are not counted)") from error

    def coded(self, learner: PathMixin) -> Any:
        """The learner as it is to be fitted to class codes instead of labels."""
        return learner if self.classes is None else learner.for_classes(self.classes)

    def plan(
        self,
        cv: Any,
        *,
        random_state: Any = None,
        keep_copies_together: bool = False,
        out_of_bag: bool = False,
    ) -> Plan:
        """The plan that `cv` describes, for these data; given splits count the user's rows.

        `out_of_bag` allows that cv is "out_of_bag".
        """
        if out_of_bag and isinstance(cv, str) and cv == OUT_OF_BAG:
            return OutOfBagPlan.for_rows(self.y, sample_weight=self.weight, groups=self.groups)
        if isinstance(cv, str):
            raise ParameterError(
                f"cv is {cv!r}; give a number of folds, a splitter of scikit-learn (for "
                "leave-one-out LeaveOneOut()), a list of (train, test) splits, or a Plan; "
                f"{OUT_OF_BAG!r} is for Tuned and risk.cross_validate of a bagged ensemble"
            )
        X = np.empty((self.n, 0)) if self.X is None and self.y is None else self.X
        return Plan.of(
            self.of_rows_left(cv),
            X,
            self.y,
            sample_weight=self.weight,
            groups=self.groups,
            classifier=self.classes is not None,
            random_state=random_state,
            keep_copies_together=keep_copies_together,
        )

    def of_rows_left(self, cv: Any) -> Any:
        """What splits or a plan of all of the user's rows are on those that are left.

        Splitters of scikit-learn part the rows that are left; others may count rows of their own,
        and part all of them.
        """
        if self.kept is None or self.given is None:
            return cv
        n = len(self.given.weight)
        if isinstance(cv, Plan) and cv.n == n:
            cv.refuse_other_data(n, self.given.key)
            key = data_key(self.X if self.y is None else self.y, self.weight, self.groups)
            return plan_of_left(cv, self.kept, key)
        if may_name_rows(cv):
            cv = split_by(cv, n, self.given.X, self.given.y, self.given.groups)
        if isinstance(cv, Iterable) and not hasattr(cv, "split"):
            return list(splits_of_left(cv, n, self.kept))
        return cv

    def holdout(
        self,
        test_size: float,
        *,
        random_state: Any = None,
        keep_copies_together: bool = False,
        time_order: bool = False,
    ) -> Plan:
        """One split of these data, a share `test_size` held out."""
        return Plan.holdout(
            self.X,
            self.y,
            test_size=test_size,
            sample_weight=self.weight,
            groups=self.groups,
            classifier=self.classes is not None,
            random_state=random_state,
            keep_copies_together=keep_copies_together,
            time_order=time_order,
        )

    def rows(self, index: Ints) -> Self:
        """The same problem on some of its rows, which are counted anew; class codes stay.

        X goes where a design is.
        """
        return replace(
            self,
            X=None if self.design is not None else _safe_indexing(self.X, index),
            y=None if self.y is None else _safe_indexing(self.y, index),
            target=None if self.target is None else self.target[index],
            weight=self.weight[index],
            groups=None if self.groups is None else self.groups[index],
            design=None if self.design is None else _rows_of_design(self.design, index),
            kept=None,
            given=None,
        )

    def losses(self, rows: Ints, prediction: Array) -> Floats:
        """Losses (rows, values) of predictions (rows, values, ...); outputs are averaged."""
        if self.loss.output not in ("value", "probability"):
            return prediction
        assert self.target is not None
        y = self.target[rows][:, None]
        losses = self.loss(y, prediction)
        return losses if losses.ndim == 2 else losses.mean(axis=2)

    def row_losses(self, prediction: Array, rows: Ints | None = None) -> Floats:
        """The loss of each row, or of these rows, from one prediction of each."""
        rows = np.arange(self.n) if rows is None else rows
        return self.losses(rows, prediction[:, None])[:, 0]


def _rows_of_design(design: Any, index: Ints) -> Any:
    return name_columns(_safe_indexing(design, index), column_names(design))


def _indexable(data: Any, what: str) -> Any:
    """Arrays, frames and lists as they are; anything else that turns into an array, as one."""
    if hasattr(data, "tocsr"):
        return data.tocsr()  # the form of a sparse matrix that rows can be taken from
    known = data is None or isinstance(data, list | tuple) or takes_rows(data)
    if known:
        return data
    refuse_no_rows(data, what)
    return np.asarray(data)


def refuse_no_estimator(estimator: Any) -> None:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ParameterError(f"{name} is a class: give an estimator, with brackets, {name}()")
    if not hasattr(estimator, "__sklearn_tags__"):
        raise ParameterError(
            f"{name_of(estimator)} is no estimator that can be fitted: derive it from "
            "sklearn.base.BaseEstimator; a predictor that is fitted already, be it a function of "
            "X, is judged by risk.evaluate"
        )
