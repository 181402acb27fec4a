"""Intervals for the target of a new row, from the out-of-bag errors of a bagged regressor.

The error of a row out of bag, y - (mean of the members that did not draw it), is distributed much
as the error of a new row; so quantiles of these errors, put around the prediction of all members,
contain the target of a new row with the probability asked for (Zhang, Zimmerman, Nettleton and
Nordman 2020). The quantiles are those of conformal prediction: with n errors the lower end is at
the k-th smallest, k = floor((n + 1) (1 - level) / 2), the upper end at the k-th largest, which for
exchangeable errors covers at every n. With groups, the new row is one of a new group.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.charts.prediction_intervals import draw_prediction_intervals
from empirisk.risk.bagging.error_quantiles import covered_by_the_others, error_quantiles
from empirisk.risk.bagging.out_of_bag import bagged_problem
from empirisk.risk.bagging.out_of_bag_scores import judged_by_members
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.degrees_of_freedom import smoother_freedom
from empirisk.risk.intervals.interval import interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.predictor import name_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import check_level

SURELY = 0.99  # that a third of the rows is covered less than asked for


@dataclass(frozen=True, eq=False, repr=False)
class IntervalCoverage(RiskEstimate):
    """The share of rows whose target lies in its prediction interval, of which so many should."""

    promised: float = 0.9

    @property
    def quantity(self) -> str:
        """What is estimated, as a sentence calls it."""
        return "coverage"

    @property
    def subject(self) -> str:
        """The intervals that cover."""
        return f"{100 * self.promised:g} % prediction intervals"


@dataclass(frozen=True, eq=False)
class PredictionIntervals:
    """Intervals of one width around the predictions of a bagged regressor.

    They cover marginally: over new rows drawn like the old ones, not for each x. `by_third` shows
    where they cover more or less.

    Attributes
    ----------
    level : float
    offsets : (float, float)
        What is added to a prediction: an interval may lie on one side of it.
    coverage : IntervalCoverage
        The share of the rows out of bag that their intervals contain, each made without the row
        itself (or its group), with the binomial interval of so many rows, since the coverage of
        intervals from n errors varies about the level as a share of n rows does.
    by_third : (float, float, float)
        That share of the rows with the smallest, the middle and the largest predictions.
    prediction, y : arrays
        Of the rows judged, out of bag.
    covered : bool array

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import RandomForestRegressor, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> forest = RandomForestRegressor(50, random_state=0).fit(X, y)
    >>> intervals = risk.prediction_intervals(forest, X, y, level=0.8)
    >>> lower, upper = intervals.predict(X[:3])
    >>> bool(np.allclose(upper - lower, intervals.offsets[1] - intervals.offsets[0]))
    True
    """

    ensemble: Any
    level: float
    offsets: tuple[float, float]
    coverage: IntervalCoverage
    by_third: tuple[float, float, float]
    prediction: Floats
    y: Floats
    covered: Bools

    def predict(self, X: Any) -> tuple[Array, Array]:
        """The lower and the upper end for each row of X."""
        prediction = np.asarray(self.ensemble.predict(X), dtype=float)
        return prediction + self.offsets[0], prediction + self.offsets[1]

    def evaluate(
        self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None, level: float = 0.95
    ) -> IntervalCoverage:
        """The share of new rows that their intervals contain; `level` is that of its interval."""
        problem = Problem.of(
            self.ensemble, X, y, loss="squared", sample_weight=sample_weight, groups=groups
        )
        lower, upper = self.predict(problem.X)
        covered = (problem.target >= lower) & (problem.target <= upper)
        table = LossTable.of_test_rows(
            covered.astype(float), problem.weight, problem.unit, (0.0, 1.0)
        )
        return _coverage(table, self.level, level, data_key(y, sample_weight, groups))

    @property
    def sentence(self) -> str:
        """Where the intervals lie, what they cover, and what they do not promise."""
        low, high = self.offsets
        thirds = ", ".join(f"{share:.3g}" for share in self.by_third)
        return (
            f"The {100 * self.level:g} % prediction intervals reach from {low:+.4g} to {high:+.4g} "
            f"about the prediction. {self.coverage.sentence} By thirds of the prediction it is "
            f"{thirds}."
        )

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The rows out of bag, observed against predicted, and the band."""
        return draw_prediction_intervals(
            self.prediction, self.y, self.covered, self.offsets, level=self.level, ax=ax
        )


def prediction_intervals(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    level: float = 0.9,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
) -> PredictionIntervals:
    """Intervals for the targets of new rows, from the out-of-bag errors of a fitted ensemble.

    They hold for new rows drawn as the old ones were, independently (with groups, for rows of new
    groups), and on average over x: where the noise grows with the prediction they are too wide for
    small predictions and too narrow for large ones, and the coverage by thirds shows it. A row is
    out of bag for about 37 % of the members, so the errors are a little larger than those of new
    rows, and the intervals err on the side of being wide.

    Parameters
    ----------
    ensemble : fitted regressor
        Ours or scikit-learn's: bagging, or a random forest.
    X, y
        The rows it was fitted on, in the same order.
    level : float
        The probability that an interval contains the target of a new row.
    sample_weight : array, optional
        A row of weight w counts as w copies.
    groups : array, optional
        Rows that belong together: each is judged by members that drew none of its group.
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(700, 3))
    >>> y = X[:, 0] + rng.normal(size=700)
    >>> forest = RandomForestRegressor(100, random_state=0).fit(X[:500], y[:500])
    >>> intervals = prediction_intervals(forest, X[:500], y[:500])
    >>> print(intervals)
    The 90 % prediction intervals reach from -1.6... to +1.9... about the prediction. The coverage
    of 90 % prediction intervals is 0.9, 95 % interval 0.86... to 0.92... (...). By thirds of ...
    >>> lower, upper = intervals.predict(X[500:])
    >>> print(intervals.evaluate(X[500:], y[500:]))
    The coverage of 90 % prediction intervals is 0.89, 95 % interval 0.83... to 0.92... (...).
    """
    check_is_fitted(ensemble)
    _refuse(ensemble, level)
    problem = bagged_problem(ensemble, X, y, "squared", sample_weight, groups)
    assert problem.target is not None
    if problem.target.ndim > 1:
        raise DataError(
            f"y has {problem.target.shape[1]} columns; prediction intervals are for one target: "
            "fit an ensemble for each"
        )
    bag = judged_by_members(ensemble, problem, _num_samples(y), n_jobs=n_jobs)
    rows = np.flatnonzero(bag.judged)
    prediction = bag.predictions(rows, "value", 0)
    errors = LossTable(
        losses=problem.target[rows] - prediction,
        weight=problem.weight[rows],
        unit=np.unique(problem.unit[rows], return_inverse=True)[1].reshape(-1),
        split=np.zeros(len(rows), dtype=np.int64),
        n_train=problem.n,
        kind="out_of_bag",
        degrees_of_freedom=smoother_freedom(problem.n),
        how=bag.judges.how,
        doubts=bag.judges.doubts(problem),
    )
    offsets = error_quantiles(errors, level)
    covered = covered_by_the_others(errors, level)
    judged = replace(errors, losses=covered.astype(float), bounds=(0.0, 1.0))
    thirds = np.array_split(np.argsort(prediction, kind="stable"), 3)
    parts = [_part(judged, np.sort(third)) for third in thirds]
    judged = replace(judged, doubts=(*judged.doubts, *_uneven(parts, level)))
    return PredictionIntervals(
        ensemble=ensemble,
        level=level,
        offsets=offsets,
        coverage=_coverage(judged, level, 0.95, bag.fingerprint(problem)),
        by_third=(parts[0].mean(), parts[1].mean(), parts[2].mean()),
        prediction=prediction,
        y=problem.target[rows],
        covered=covered,
    )


def _coverage(table: LossTable, of: float, level: float, fingerprint: str) -> IntervalCoverage:
    found = IntervalCoverage.of(
        table, loss="coverage", estimates="this model", fingerprint=fingerprint, level=level
    )
    return replace(found, promised=of)


def _part(table: LossTable, rows: Ints) -> LossTable:
    unit = np.unique(table.unit[rows], return_inverse=True)[1].reshape(-1)
    return replace(
        table,
        losses=table.losses[rows],
        weight=table.weight[rows],
        unit=unit,
        split=table.split[rows],
        degrees_of_freedom=smoother_freedom(len(rows)),
    )


def _uneven(parts: list[LossTable], level: float) -> tuple[str, ...]:
    """A caution where a third of the rows is surely covered less than promised."""
    ends = [interval(part, SURELY).ends for part in parts]
    names = ("the smallest", "middling", "the largest")
    short = [name for name, end in zip(names, ends, strict=True) if end and end[1] < level]
    if not short:
        return ()
    return (f"rows with {' and '.join(short)} predictions are covered less than that",)


def _refuse(ensemble: Any, level: float) -> None:
    if is_classifier(ensemble):
        raise ParameterError(
            f"prediction intervals are for numbers, and {name_of(ensemble)} predicts classes: its "
            "predict_proba says how sure it is"
        )
    check_level(level)
