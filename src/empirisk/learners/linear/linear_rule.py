"""What all linear prediction rules share: x -> intercept + x'coef, one fit or a whole path."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import Tags

from empirisk.data.blocks import Blocks, Rows
from empirisk.learners.linear.rule_soundness import check_rule
from empirisk.losses import Loss, Squared
from empirisk.risk.axis import Freedom, Output, PathMixin
from empirisk.risk.intervals.influence import Influence
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import column_names, named
from empirisk.runtime.errors import ConvergenceWarning, RankWarning
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_fit, check_predict
from empirisk.solvers.least_squares import Solution

Names = Sequence[str] | None
NAMED = 5  # dependent columns that a warning tells of


class LinearRule(PathMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A learner of coefficients and an intercept.

    A subclass says in `_solve` what it minimises, over blocks in which y has shape
    (rows, outputs).
    """

    takes_fold_design: ClassVar[bool] = True
    freedom: ClassVar[Freedom] = "path"
    drops_one_column: ClassVar[bool] = False
    """Whether a y of one column is predicted by numbers, not by rows of one, as in scikit-learn."""
    fit_intercept: bool
    coef_: Floats
    intercept_: Any
    degrees_of_freedom_: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to data in memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to predict.
        y : array-like of shape (n,) or (n, outputs)
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        data = check_fit(self, X, y, sample_weight, multi_output=True)
        blocks = Blocks.of_arrays(data.X, as_columns(data.y), data.sample_weight)
        return self._fit(blocks, flat=data.y.ndim == 1, names=column_names(data.X))

    def fit_blocks(self, source: Any) -> Self:
        """Fit to data that come in pieces; the result has the same bits as that of `fit`.

        Parameters
        ----------
        source : callable, or iterable that can be gone through several times
            Gives pieces (X, y) or (X, y, sample_weight) of any number of rows. A callable is
            called once for each pass over the data.

        Returns
        -------
        self
        """
        blocks = Blocks.of_pieces(source, self)
        flat = next(iter(blocks)).y.ndim == 1
        names = getattr(self, "feature_names_in_", None)
        return self._fit(blocks.map(_with_columns), flat=flat, names=names)

    def predict(self, X: Any) -> Floats:
        """Predictions of shape (m,) or (m, outputs).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, p)
        """
        rows = check_predict(self, X)
        with one_blas_thread():
            return rows @ self.coef_.T + self.intercept_

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        check_rule(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _solve(self, blocks: Blocks) -> Solution:
        raise NotImplementedError

    def _fit(self, blocks: Blocks, *, flat: bool, names: Names) -> Self:
        solution = self._solve(blocks)
        return self._take(solution.coef, solution.intercept, solution.degrees_of_freedom, flat=flat)

    def _take(
        self, coef: Floats, intercept: Floats, degrees_of_freedom: float, *, flat: bool
    ) -> Self:
        """Become the fitted rule with coefficients (outputs, p) and intercepts (outputs,).

        `flat` says that y had one axis.
        """
        self.n_features_in_ = coef.shape[1]
        self.coef_ = coef[0] if flat or (self.drops_one_column and len(coef) == 1) else coef
        self.intercept_ = intercept[0] if flat else intercept
        self.degrees_of_freedom_ = degrees_of_freedom
        return self


@dataclass(frozen=True, eq=False)
class LinearPath:
    """A linear rule fitted at all values of its axis.

    `coef` is (values, outputs, p), `intercept` (values, outputs); `flat` says that y had one axis.
    `rise` is the derivative of the mean squared residual by the logarithm of the penalty at each
    value, where there is one beside a sum of squares.
    """

    learner: LinearRule
    values: Sequence[Any]
    coef: Floats
    intercept: Floats
    degrees_of_freedom: Floats
    flat: bool
    rise: Floats | None = None

    def predict_path(self, X: Array, output: Output = "value") -> Floats:
        """Predictions (rows, values), or (rows, values, outputs)."""
        return predict_all(X, self.coef, self.intercept, self.flat)

    def influence(self, j: int, loss: Loss, weight: Floats) -> Influence | None:
        """What fewer rows beside the same penalty cost; None for another loss than the squared."""
        if self.rise is None or not isinstance(loss, Squared):
            return None
        return Influence(None, float(self.rise[j]))

    def at(self, j: int) -> LinearRule:
        """The fitted learner at the j-th value."""
        learner = clone(self.learner)
        if learner.axis is not None:
            learner.set_params(**learner.axis.settings(self.values[j]))
        freedom = float(self.degrees_of_freedom[j])
        return learner._take(self.coef[j].copy(), self.intercept[j].copy(), freedom, flat=self.flat)


def predict_all(X: Array, coef: Floats, intercept: Floats, flat: bool) -> Floats:
    """Predictions (rows, values[, outputs]) by coefficients (values, outputs, p)."""
    n_values, outputs, p = coef.shape
    with one_blas_thread():
        prediction = X @ coef.reshape(-1, p).T
    prediction += intercept.reshape(-1)
    return prediction if flat else prediction.reshape(len(X), n_values, outputs)


def as_columns(y: Array) -> Floats:
    """y as a matrix with a column for each output."""
    return np.require(y.reshape(len(y), -1), float, ["C", "A", "W"])


def _with_columns(rows: Rows) -> Rows:
    return Rows(rows.X, as_columns(rows.y), rows.weight)


def warn_of(solution: Solution, learner: LinearRule, names: Names) -> None:
    """Say that the coefficients are not unique, and because of which columns.

    Columns without names are told by their numbers.
    """
    p = solution.coef.shape[1]
    if solution.wide:
        warn(
            f"{p} column(s) for {solution.rows} row(s): the minimum-norm solution is returned",
            RankWarning,
            stacklevel=4,
        )
    elif solution.dependent:
        warn(_dependence(solution, learner, names), RankWarning, stacklevel=4)
    if not solution.settled:
        warn(
            "the columns of X are so close to dependent that the coefficients may have no correct "
            "digit: drop a column, or use Ridge",
            ConvergenceWarning,
            stacklevel=4,
        )


def _dependence(solution: Solution, learner: LinearRule, names: Names) -> str:
    clauses = []
    for j, parts in list(solution.dependent.items())[:NAMED]:
        nothing = "constant" if learner.fit_intercept else "zero"
        what = f"a combination of {named(parts, names)}" if len(parts) else nothing
        clauses.append(f"column {named([j], names)} is {what}")
    left = len(solution.dependent) - NAMED
    if left > 0:
        clauses.append(f"and so for {left} more columns")
    return (
        f"{type(learner).__name__}: the {solution.coef.shape[1]} columns of X have rank "
        f"{solution.rank}: "
        + "; ".join(clauses)
        + ". The minimum-norm solution is returned; without these columns it would be unique"
    )
