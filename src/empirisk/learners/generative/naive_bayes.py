"""Naive Bayes for mixed tables: features that are independent within each class."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted, check_is_fitted

from empirisk.data.coded_column import CodedColumn
from empirisk.data.table_door import EVERY, table_of
from empirisk.learners.generative.bayes_held_out import TrainingRows, predict_folds
from empirisk.learners.generative.bayes_left_out import predict_left_out
from empirisk.learners.generative.bayes_path import BayesPath
from empirisk.learners.generative.bayes_rule import ClassStatistics
from empirisk.learners.generative.bayes_soundness import check_fitted
from empirisk.learners.generative.column_distributions import Smoothing
from empirisk.learners.generative.discriminants import largest, log_posterior, posterior
from empirisk.learners.generative.mixed_rows import ColumnBlock, MixedRows
from empirisk.learners.generative.more_levels import with_new_levels
from empirisk.learners.generative.readable_bayes import NAME_CATEGORIES, ReadableBayes, codes_of
from empirisk.learners.generative.settings import checked_priors, coded_learner
from empirisk.risk.axis import (
    Axis,
    HeldOut,
    Output,
    PathMixin,
    refuse_no_partition,
)
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.errors import EmpiriskWarning, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_number, is_whole
from empirisk.runtime.targets import check_target, coded

GRID = tuple(np.logspace(2, -3, 16).tolist())
MOST_ALPHA = 1e100


class NaiveBayes(ReadableBayes, PathMixin, ClassifierMixin, BaseEstimator):
    """Bayes' rule for features that are independent within each class: the largest of

        f_k(x) = log pi_k + sum_j log g_kj(x_j),

    with pi_k the shares of the classes and g_kj the distribution of column j in class k:

        gaussian     numbers: mean and variance by maximum likelihood
        categorical  levels c, any words or numbers: (n_kc + alpha) / (n_k + alpha C)
        bernoulli    0 and 1: the same with C = 2
        poisson      counts: rate (sum of x + alpha m) / (n_k + alpha), m the mean of all classes
        kernel       numbers: a Gaussian bump on each of the class, by Silverman's bandwidth
        multinomial  counts of several columns together: (n_kc + alpha) / (n_k + alpha C)

    n_k counts the rows of class k, by weight, in which the column is there.

    Complexity axis: `alpha`; `Tuned(NaiveBayes())` chooses it, where some column is smoothed.

    Parameters
    ----------
    alpha : float
        The smoothing; 0 gives maximum likelihood. Gaussian and kernel columns do not depend on it.
    distributions : "auto", str or dict
        "auto" goes by the type of a column: numbers and dates are Gaussian, words and categories
        categorical, truth values Bernoulli. The name of a distribution is that of all columns
        ("multinomial": all of them together). A dict gives some columns another one:
        {"visits": "poisson", ("word_a", "word_b"): "multinomial"}, by name or number; the columns
        of each multinomial are one key. Of "kernel" columns the model keeps the values.
    priors : array-like of shape (n_classes,), optional
        The shares pi_k; by default the weighted frequencies of the classes.
    ddof : int
        Variances are divided by n_k - ddof: 0 is maximum likelihood, 1 as in R's e1071. A class
        that weighs no more than ddof has the least variances, and `fit` says so.
    variance_floor : float
        The least variance of a Gaussian column in a class, as a part of the variance of that
        column over all classes: where a column is constant in a class it takes the place of 0. Of
        a kernel column, that from which the bandwidth is found.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        The weight of the rows of each class.
    class_prior_ : array of shape (n_classes,)
    distributions_ : list of str
        Of each column.
    columns_ : list of CodedColumn
        What the columns are: numbers, or categories with their levels.
    blocks_ : list of ColumnBlock
        Which columns have which distribution, and where the levels of each begin.
    smoothing_ : Smoothing
        `alpha`, `variance_floor` and `ddof`, as they were when it was fitted.
    statistics_ : ClassStatistics
        All that was learned from; statistics of further rows are added to it by `partial_fit`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Missing values (NaN, None) need nothing done about them. In training each column is learned
    from the cells that are there. In prediction a missing cell is marginalised: with independent
    features its factor is left out, and a row of which nothing is known gets the priors. A level
    that training did not have counts as missing. All this is valid where whether a cell is missing
    does not depend on what it would be.

    A class without any cell of a column has there, for a Gaussian or Poisson column, the parameters
    over all classes, and for levels equal shares. A Gaussian column that is constant over all rows
    says nothing. One that is constant within a class, as numbers that are mostly 0 may be, has the
    least variance there: the class is all but certain of rows with that value and all but
    impossible for others, unless `variance_floor` is larger.

    With alpha = 0 a cell can be impossible in a class, which then has probability 0. A row that is
    impossible in every class goes by those in which the fewest of its cells are impossible, and
    there by the other cells: so probabilities always sum to 1.

    References
    ----------
    P. Domingos & M. Pazzani (1997), On the optimality of the simple Bayesian classifier under
    zero-one loss.
    G. John & P. Langley (1995), Estimating continuous distributions in Bayesian classifiers.

    Examples
    --------
    >>> from empirisk import Table
    >>> X = Table.of({"height": [1.7, 1.8, None, 1.6], "hair": ["dark", "fair", "fair", None]})
    >>> model = NaiveBayes().fit(X, ["a", "b", "b", "a"])
    >>> model.distributions_
    ['gaussian', 'categorical']
    >>> model.predict(X)
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    >>> model.predict_proba(Table.of({"height": [None], "hair": [None]}))
    array([[0.5, 0.5]])
    """

    axis: ClassVar[Axis | None] = Axis(("alpha",), larger="simpler", scale="log")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        distributions: Any = "auto",
        priors: ArrayLike | None = None,
        ddof: int = 0,
        variance_floor: float = 1e-9,
    ) -> None:
        self.alpha = alpha
        self.distributions = distributions
        self.priors = priors
        self.ddof = ddof
        self.variance_floor = variance_floor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows, in one pass.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            NaN and None are missing values.
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        how = self._smoothing(self.alpha)
        rows, target, weight = self._training_set(X, y, sample_weight)
        codes, classes = coded(target)
        refuse_one_class(classes, "NaiveBayes")
        statistics = ClassStatistics.of(rows, codes, weight, len(classes))
        if any(block.distribution == "gaussian" for block in rows.blocks):
            _say_which_are_too_light(classes[statistics.weight <= how.ddof], how.ddof)
        return self._learned(rows.columns, rows.blocks, classes, statistics, how)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: in the end as `fit` would from all of them.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            Columns as in the first call, which decides on their distributions; categories may have
            new levels.
        y : array-like of shape (n,)
        classes : array-like of shape (n_classes,)
            All labels there will be; needed in the first call. Those without rows so far are not
            predicted.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        how = self._smoothing(self.alpha)
        if not _is_fitted(self, "statistics_"):
            known = _all_classes(classes)
            rows, target, weight = self._training_set(X, y, sample_weight)
            statistics = ClassStatistics.empty(rows.blocks, len(known))
        else:
            known = self.classes_
            if classes is not None and not np.array_equal(_all_classes(classes), known):
                raise ParameterError(
                    f"classes are {list(classes)!r:.60}, and in the first call were "
                    f"{known.tolist()!r:.60}: give the same, or none"
                )
            X = table_of(X, self, reset=False, remedy=NAME_CATEGORIES)
            target, weight = check_target(self, y, X, sample_weight, classifier=True)
            rows, statistics = with_new_levels(X, self.columns_, self.blocks_, self.statistics_)
            rows, target, weight = _of_positive_weight(rows, target, weight)
        codes = codes_of(target, known)
        statistics = statistics + ClassStatistics.of(rows, codes, weight, len(known))
        return self._learned(rows.columns, rows.blocks, known, statistics, how)

    @property
    def categorical_features(self) -> Any:
        """The columns that are asked to be categories, for the door."""
        if isinstance(self.distributions, str) and self.distributions == "categorical":
            return EVERY
        if not isinstance(self.distributions, Mapping):
            return "from_dtype"
        keys = [key for key, name in self.distributions.items() if name == "categorical"]
        named = [each for key in keys for each in (key if isinstance(key, tuple) else (key,))]
        return named or "from_dtype"

    @property
    def class_count_(self) -> Floats:
        """The weight of the rows of each class."""
        check_is_fitted(self)
        return self.statistics_.weight

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted learner belongs together."""
        if _is_fitted(self):
            check_fitted(self)
            _ = self._rule

    def for_classes(self, labels: Array) -> Self:
        """This learner for class codes; the priors are those of the classes that are left."""
        return self if self.priors is None else coded_learner(self, labels)

    def design(self, X: Any) -> MixedRows:
        """X in numbers, which all folds share."""
        X = table_of(X, self, reset=None, remedy=NAME_CATEGORIES)
        return MixedRows.of(X, self.distributions)

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """From 100 to 0.001; the learner's own where no column is smoothed."""
        rows = X if isinstance(X, MixedRows) else self.design(X)
        smoothed = any(b.distribution not in ("gaussian", "kernel") for b in rows.blocks)
        return GRID if smoothed else (self.alpha,)

    def fit_path(
        self, X: Any, y: Ints, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> BayesPath:
        """All smoothings from the same statistics."""
        rows = X if isinstance(X, MixedRows) else self.design(X)
        hows = [self._smoothing(value) for value in values]
        priors = checked_priors(self.priors, n_classes)
        statistics = ClassStatistics.of(rows, y, sample_weight, n_classes)
        return BayesPath(self, rows, statistics, values, priors, hows)

    def out_of_fold(
        self,
        X: Any,
        y: Ints,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """Folds from the statistics of the other folds; leave-one-out from those of the rows before
        and after each row."""
        refuse_no_partition(plan)
        rows = X if isinstance(X, MixedRows) else self.design(X)
        hows = [self._smoothing(value) for value in values]
        priors = checked_priors(self.priors, n_classes)
        training = TrainingRows(rows, y, sample_weight, n_classes, priors, hows)
        with one_blas_thread():
            if plan.leaves_one_out:
                return HeldOut(predict_left_out(training, output, rows_per_block))
            return HeldOut(predict_folds(training, plan, output, rows_per_block))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equally probable ones the first."""
        codes = largest(self._values(X)[:, :, None])[:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, in the order of `classes_`."""
        return posterior(self._values(X)[:, :, None])[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, accurate where these underflow."""
        return log_posterior(self._values(X)[:, :, None])[:, 0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> tuple[MixedRows, Array, Floats]:
        """Rows of positive weight, their labels and weights."""
        X = table_of(X, self, reset=True, remedy=NAME_CATEGORIES)
        target, weight = check_target(self, y, X, sample_weight, classifier=True)
        return _of_positive_weight(MixedRows.of(X, self.distributions), target, weight)

    def _learned(
        self,
        columns: Sequence[CodedColumn],
        blocks: Sequence[ColumnBlock],
        classes: Array,
        statistics: ClassStatistics,
        how: Smoothing,
    ) -> Self:
        """The fitted attributes."""
        priors = checked_priors(self.priors, len(classes))
        self.columns_, self.blocks_ = list(columns), list(blocks)
        self.classes_, self.statistics_, self.smoothing_ = classes, statistics, how
        self.class_prior_ = statistics.shares(priors)
        self.__dict__.pop("_rule", None)
        _ = self._rule  # here, so that no prediction changes the learner
        return self

    def _smoothing(self, alpha: Any) -> Smoothing:
        if not (is_number(alpha) and 0 <= alpha <= MOST_ALPHA):
            raise ParameterError(f"alpha is {alpha!r}; it must be a number from 0 to {MOST_ALPHA}")
        if not (is_number(self.variance_floor) and 0 < self.variance_floor <= 1):
            raise ParameterError(
                f"variance_floor is {self.variance_floor!r}; it must be above 0 and at most 1"
            )
        if not is_whole(self.ddof, 0):
            raise ParameterError(f"ddof is {self.ddof!r}; it must be 0, 1, 2, ...")
        return Smoothing(float(alpha), float(self.variance_floor), int(self.ddof))

    def _values(self, X: Any) -> Floats:
        X = self._cells(X)
        with one_blas_thread():
            return self._rule.values(X)


def _of_positive_weight(
    rows: MixedRows, target: Array, weight: Floats
) -> tuple[MixedRows, Array, Floats]:
    if (weight > 0).all():
        return rows, target, weight
    kept = np.flatnonzero(weight > 0)
    return rows[kept], target[kept], weight[kept]


def _say_which_are_too_light(classes: Array, ddof: int) -> None:
    if len(classes):
        warnings.warn(
            f"the rows of class {classes[0]!s} weigh no more than ddof = {ddof}, so that its "
            "variances are unknown and the least ones are taken: scale the weights to the number "
            "of rows they stand for, or set ddof=0",
            EmpiriskWarning,
            stacklevel=3,
        )


def _all_classes(classes: Any) -> Array:
    if classes is None:
        raise ParameterError(
            "classes is None in the first call of partial_fit; give all labels there will be"
        )
    known = np.unique(np.asarray(classes))
    if len(known) < 2:
        raise ParameterError(f"classes are {known.tolist()!r}; at least two classes are needed")
    return known
