"""What a fitted naive Bayes tells: parameters, reasons, new rows, and whether it may be naive."""

from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from empirisk.data.coded_column import CodedColumn
from empirisk.data.table_door import check_places
from empirisk.learners.class_codes import codes_among
from empirisk.learners.generative.bayes_rule import BayesRule, ClassStatistics
from empirisk.learners.generative.column_distributions import Smoothing
from empirisk.learners.generative.independence import IndependenceTest, independence_of
from empirisk.learners.generative.log_ratios import LogRatios
from empirisk.learners.generative.mixed_rows import ColumnBlock, check_cells, groups_of
from empirisk.learners.generative.sampled_rows import as_given
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import no_column
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.targets import check_target

NAME_CATEGORIES = (
    "name the columns of words in distributions, as in {0: 'categorical'}, or give a data frame"
)


class ReadableBayes:
    """The questions that a fitted naive Bayes answers beside what class a row has."""

    classes_: Array
    class_prior_: Floats
    columns_: list[CodedColumn]
    blocks_: list[ColumnBlock]
    statistics_: ClassStatistics
    smoothing_: Smoothing

    @cached_property
    def _rule(self) -> BayesRule:
        """It follows from the rest, and no file keeps it."""
        return BayesRule.learned(
            tuple(self.blocks_), self.statistics_, self.class_prior_, self.smoothing_
        )

    @property
    def distributions_(self) -> list[str]:
        """The distribution of each column."""
        check_is_fitted(self)
        names = {int(j): block.distribution for block in self.blocks_ for j in block.columns}
        return [names[j] for j in range(len(names))]

    def parameters(self, column: str | int) -> dict[str, Floats]:
        """What was learned of a column, by its name or number: an array for each parameter.

        Parameters
        ----------
        column : str or int

        Returns
        -------
        dict
            "mean" and "deviation" of a Gaussian column, "share" of levels (a row for each class, a
            column for each level of `columns_`; 0 and 1 of a Bernoulli one) or of a column of a
            multinomial, "rate" of a Poisson one, "bandwidth" of a kernel one.

        Examples
        --------
        >>> from empirisk import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [8.0], [8.5]], [0, 0, 1, 1])
        >>> model.parameters(0)["mean"]
        array([2.  , 8.25])
        """
        check_is_fitted(self)
        names = [each.name for each in self.columns_]
        j = names.index(column) if column in names else column
        if not (is_whole(j, 0) and j < len(names)):
            raise ParameterError(no_column(column, names))
        return self._rule.parameters(int(j))

    def sample(
        self, n_samples: int = 1, *, label: Any = None, random_state: Any = None
    ) -> tuple[Any, Array]:
        """New rows from the model: a class by its prior, then each column by itself.

        Parameters
        ----------
        n_samples : int
        label : label, optional
            The class of all rows.
        random_state : int, RandomState, Generator or None

        Returns
        -------
        X : Table, or array where training had no names of columns
            The number of counts in a row of a multinomial is drawn from Poisson's distribution with
            the mean of the class.
        y : array of shape (n_samples,)

        Examples
        --------
        >>> from empirisk import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [8.0], [8.5]], ["a", "a", "b", "b"])
        >>> X, y = model.sample(3, label="b", random_state=0)
        >>> X.shape, y
        ((3, 1), array(['b', 'b', 'b'], dtype='<U1'))
        """
        check_is_fitted(self)
        if not is_whole(n_samples, 1):
            raise ParameterError(f"n_samples is {n_samples!r}; it must be 1, 2, 3, ...")
        rng = generator(spawn(random_state, 1)[0])
        if label is None:
            codes = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_)
        else:
            codes = np.full(n_samples, self._place_of(label, "label"))
        X = self._rule.sample(codes, rng)
        names = getattr(self, "feature_names_in_", None)
        return as_given(X, self.columns_, self.distributions_, names), self.classes_[codes]

    def explain(self, X: Any, *, label: Any = None, against: Any = None) -> LogRatios:
        """What each feature says for one class against another, in log-likelihood ratios.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
        label : label, optional
            The class that is spoken for; by default the one predicted for each row.
        against : label, optional
            By default the most probable other class of each row.

        Returns
        -------
        LogRatios
            With the log-ratio of the priors they add up to the log-odds of the two classes.

        Examples
        --------
        >>> from empirisk import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [8.0], [10.0]], ["a", "a", "b", "b"])
        >>> print(model.explain([[4.0]]))
        row 0: a against b
          feature   log-ratio
          x0 = 4         10.5
          prior             0
          together       10.5
        """
        cells = self._cells(X)
        with one_blas_thread():
            values, terms = self._rule.values(cells), self._rule.cells(cells)
        one = None if label is None else self._place_of(label, "label")
        other = None if against is None else self._place_of(against, "against")
        return LogRatios.of(
            terms, self._rule.log_prior, values, one, other, self.classes_, cells, self.columns_
        )

    def independence_test(self, X: Any, y: Any, sample_weight: Any = None) -> IndependenceTest:
        """Test, on rows and their classes, whether the columns are independent within classes.

        Every pair of columns is tested in every class: see `IndependenceTest`.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it, in the test as well: leave it out where
            weights do not count rows.
        """
        cells = self._cells(X)
        target, weight = check_target(self, y, cells, sample_weight, classifier=True)
        codes = codes_of(target, self.classes_)
        names = [column.name for column in self.columns_]
        return independence_of(cells, codes, weight, self.distributions_, names, self.classes_)

    def _place_of(self, label: Any, name: str) -> int:
        """Where a class that a parameter names stands in `classes_`."""
        known = self.classes_.tolist()
        if label not in known:
            raise ParameterError(f"{name} is {label!r:.50}; the classes are {known[:10]}")
        return known.index(label)

    def _cells(self, X: Any) -> Floats:
        """X as numbers, as in training."""
        X = check_places(self, X, remedy=NAME_CATEGORIES)
        check_cells(X, self.columns_, groups_of(self.blocks_))
        return X


def codes_of(labels: Array, classes: Array) -> Ints:
    """The places of labels among the classes."""
    codes, strange = codes_among(labels, classes)
    if strange.any():
        raise DataError(
            f"y has the label {labels[strange].tolist()[0]!r}; the classes are "
            f"{classes.tolist()[:10]}"
        )
    return codes.astype(np.int64)
