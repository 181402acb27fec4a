"""The out-of-bag risk of a bagged ensemble as its members are added, one by one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.charts.out_of_bag_curve import draw_out_of_bag_curve
from empirisk.losses import Loss
from empirisk.risk.bagging.out_of_bag import bagged_problem, measure_of
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag, left_out_scores
from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class OutOfBagCurve:
    """The risk of the aggregate of the first B members, for every B.

    Each row is judged by those of the first B that did not draw it, and left out while there are
    none: the first points are of fewer rows.

    Attributes
    ----------
    members : int array
        B = 1, 2, ...
    risk : array
        NaN while no row is judged.
    rows_judged : int array
        How many of the n rows the risk is the mean of.
    n : int
    estimate : RiskEstimate
        Of all members, with standard error and interval.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from empirisk import RandomForestClassifier, risk
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = risk.out_of_bag_curve(RandomForestClassifier(20, random_state=0).fit(X, y), X, y)
    >>> len(curve.members), curve.n, bool(curve.rows_judged[0] < curve.rows_judged[-1])
    (20, 150, True)
    """

    members: Ints
    risk: Floats
    rows_judged: Ints
    n: int
    estimate: RiskEstimate

    @classmethod
    def of(cls, bag: OutOfBag, estimate: RiskEstimate) -> "OutOfBagCurve":
        """The curve that a bag has kept, and the estimate at its end."""
        return cls(
            members=np.arange(1, bag.n_members + 1),
            risk=np.array(bag.curve_risk),
            rows_judged=np.array(bag.curve_rows),
            n=len(bag.members),
            estimate=estimate,
        )

    @property
    def standard_error(self) -> float | None:
        """Of the risk of all members."""
        return self.estimate.standard_error

    @property
    def late_change(self) -> float:
        """By how much the risk moved over the last half of the members: largest less smallest."""
        late = self.risk[len(self.risk) // 2 :]
        with np.errstate(invalid="ignore"):  # infinite losses: how far they moved is not known
            return float(np.ptp(late[~np.isnan(late)]))

    @property
    def sentence(self) -> str:
        """The ends of the curve, what its last half still moved, and how many rows it is of."""
        B, first = len(self.members), int(np.argmin(np.isnan(self.risk)))
        text = (
            f"From {self.members[first]} to {B} members the {self.estimate.quantity} goes from "
            f"{self.risk[first]:.4g} ({self.rows_judged[first]} of {self.n} rows judged) to "
            f"{self.risk[-1]:.4g} ({self.rows_judged[-1]} rows)"
        )
        if B > 1 and np.isfinite(self.late_change):
            text += f"; over the last {B - B // 2} it moved by {self.late_change:.3g}"
        if self.standard_error is not None:
            text += f", its standard error being {self.standard_error:.3g}"
        return f"{text}."

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The risk after each member, with the interval of all of them."""
        return draw_out_of_bag_curve(
            self.members,
            self.risk,
            self.rows_judged,
            self.estimate.interval,
            n=self.n,
            label=self.estimate.quantity,
            ax=ax,
        )


def out_of_bag_curve(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    **options: Any,
) -> OutOfBagCurve:
    """The risk of a fitted bagged ensemble after each of its members, from one pass over them.

    Were the members enough? Where the last half of them hardly moved the risk, more would not help.

    Parameters
    ----------
    ensemble, X, y, loss, sample_weight, groups, level, n_jobs, **options
        As in `out_of_bag`. A loss costs little for every B; a measure is found anew for each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> curve = out_of_bag_curve(forest, X, y)
    >>> print(curve)
    From 1 to 100 members the zero_one risk goes from 0.0... (... of 150 rows judged) to
    0.0... (150 rows); over the last 50 it moved by 0.0..., its standard error being 0.02...
    >>> len(curve.risk), bool(curve.risk[-1] == curve.estimate.value)
    (100, True)
    """
    measure = measure_of(ensemble, loss, options)
    problem = bagged_problem(ensemble, X, y, "zero_one" if measure else loss, sample_weight, groups)
    bag = OutOfBag(problem.n, problem.group, problem)
    of_measure = []
    for rows, scores in left_out_scores(ensemble, problem, bag, _num_samples(y), n_jobs=n_jobs):
        bag.add(rows, scores)
        if measure is not None:
            of_measure.append(measure.value(bag, problem))
    if measure is None:
        return OutOfBagCurve.of(bag, bag.estimate(problem, level=level))
    bag.curve_risk = of_measure
    return OutOfBagCurve.of(bag, measure.estimate(bag, problem, level))
