"""Bounds for one model on rows that took no part in it: Hoeffding, Chernoff, Bernstein, exact.

With n independent losses in [0, 1], mean m and error probability delta, R is at most

    m + sqrt(log(1/delta) / 2n)                                              (Hoeffding 1963)
    the largest p with n kl(m, p) <= log(1/delta)                   (Chernoff 1952, Hoeffding)
    m + sqrt(2 V log(2/delta) / n) + 7 log(2/delta) / 3(n - 1)      (Maurer and Pontil 2009)
    the p at which so few mistakes have probability delta   (Clopper and Pearson 1934, 0-1)

V is the sample variance. Of groups, n is their number and a loss the mean loss of a group, whose
weight is its size. Weights w_i make n (sum w)^2 / sum w^2 in the first and cost the third a factor
n max w / sum w. Losses of different distributions, such as those of groups of different sizes, obey
the first three too, and R is then the mean of their expectations. A lower bound is the upper one of
1 - loss.
"""

from math import log, sqrt

import numpy as np
from scipy import stats
from scipy.special import rel_entr

from empirisk.risk.bounds.bounded import (
    Bound,
    BoundedLosses,
    Range,
    Sides,
    checked_table,
    judges_one_model,
    refuse_not_independent,
)
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.errors import ParameterError


def hoeffding(
    estimate: RiskEstimate,
    *,
    level: float = 0.95,
    sides: Sides | None = None,
    loss_range: Range | None = None,
) -> Bound:
    """Hoeffding's bound: R <= mean + range sqrt(log(1/delta) / 2n).

    Of cross-validated losses too, for the mean risk of the models of the folds: the mean of K
    dependent means of n/K independent losses obeys the bound of one of them (by convexity of the
    exponential function), so n is the size of the smallest fold.

    Parameters
    ----------
    estimate : RiskEstimate
        From `evaluate`, `holdout` or `cross_validate`.
    level : float
        The probability that the bound holds, over the rows.
    sides : {"upper", "lower", "both"}, optional
        Unless given "upper", of accuracy "lower": how bad it can be.
    loss_range : (float, float), optional
        The least and the largest loss there can be, where the loss itself does not say.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearDiscriminantAnalysis, risk
    >>> X = np.r_[np.zeros(150), np.ones(150)][:, None] + np.random.default_rng(0).normal(
    ...     size=(300, 1)
    ... )
    >>> y = np.arange(300) >= 150
    >>> model = LinearDiscriminantAnalysis().fit(X[::2], y[::2])
    >>> estimate = risk.evaluate(model, X[1::2], y[1::2])
    >>> hoeffding(estimate), clopper_pearson(estimate)
    (Bound(zero_one: ..., <= ..., this model), Bound(zero_one: ..., <= ..., this model))
    >>> print(clopper_pearson(estimate))
    The zero_one risk of this model is at most ... with probability 95 % (Clopper-Pearson bound: for
    any distribution, if the rows are independent and took no part in the model); it is ... on the
    held-out rows.
    """
    losses = BoundedLosses.of(estimate, loss_range, level, sides)
    table, reason = losses.table, ""
    if judges_one_model(table):
        n = float(1 / np.square(losses.share).sum())
    else:
        n, splits = smallest_split(table)
        units = "groups" if table.is_grouped else "rows"
        if splits == 1:
            what, means = "risk of the model of one split", "the mean is one"
        else:
            what = f"mean risk of the models of {splits} splits"
            means = "their dependent means are bounded like one"
        reason = (
            f"of the {what}, for any distribution of independent {units}: {means} of "
            f"{n:.0f} {units}"
        )
    half = sqrt(log(1 / losses.delta) / (2 * n))
    mean = losses.mean
    return losses.result(mean - half, mean + half, method="Hoeffding bound", reason=reason)


def chernoff(
    estimate: RiskEstimate,
    *,
    level: float = 0.95,
    sides: Sides | None = None,
    loss_range: Range | None = None,
) -> Bound:
    """Chernoff's bound by relative entropy, never above Hoeffding's; for equal weights.

    The parameters are those of `hoeffding`, on a test set.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import risk
    >>> y = np.repeat([False, True], 100)
    >>> X = np.where(np.arange(200) % 10 == 0, ~y, y)[:, np.newaxis]  # a tenth is wrong
    >>> chernoff(risk.evaluate(lambda X: X[:, 0], X, y))
    Bound(zero_one: 0.1, <= 0.1597, this model)
    """
    losses = BoundedLosses.of(estimate, loss_range, level, sides)
    refuse_not_independent(losses.table, "Chernoff's bound")
    _refuse_weights(losses, "Chernoff's bound")
    most = log(1 / losses.delta) / len(losses.share)
    upper = _farthest(losses.mean, 1.0, most)
    lower = _farthest(losses.mean, 0.0, most)
    return losses.result(lower, upper, method="Chernoff bound")


def empirical_bernstein(
    estimate: RiskEstimate,
    *,
    level: float = 0.95,
    sides: Sides | None = None,
    loss_range: Range | None = None,
) -> Bound:
    """Maurer and Pontil's bound, which gains from losses that vary little.

    The parameters are those of `hoeffding`, on a test set.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import risk
    >>> y = np.repeat([False, True], 100)
    >>> X = np.where(np.arange(200) % 10 == 0, ~y, y)[:, np.newaxis]  # a tenth is wrong
    >>> empirical_bernstein(risk.evaluate(lambda X: X[:, 0], X, y))
    Bound(zero_one: 0.1, <= 0.201, this model)
    """
    losses = BoundedLosses.of(estimate, loss_range, level, sides)
    refuse_not_independent(losses.table, "the empirical Bernstein bound")
    n = len(losses.share)
    if n < 2:
        raise ParameterError("the empirical Bernstein bound needs two rows (or groups) or more")
    heaviest = float(losses.share.max())
    variance = float(np.var(losses.share / heaviest * losses.losses, ddof=1))
    logarithm = log(2 / losses.delta)
    half = sqrt(2 * variance * logarithm / n) + 7 * logarithm / (3 * (n - 1))
    half *= n * heaviest
    mean = losses.mean
    return losses.result(mean - half, mean + half, method="empirical Bernstein bound")


def clopper_pearson(
    estimate: RiskEstimate, *, level: float = 0.95, sides: Sides | None = None
) -> Bound:
    """The exact bound of a share of mistakes, the sharpest that there is for 0-1 losses.

    The parameters are those of `hoeffding`, on a test set of rows of equal weight.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import risk
    >>> y = np.repeat([False, True], 100)
    >>> X = np.where(np.arange(200) % 10 == 0, ~y, y)[:, np.newaxis]  # a tenth is wrong
    >>> clopper_pearson(risk.evaluate(lambda X: X[:, 0], X, y))
    Bound(zero_one: 0.1, <= 0.142, this model)
    """
    table = checked_table(estimate)
    refuse_not_independent(table, "Clopper and Pearson's bound")
    if not table.is_share or table.is_grouped:
        raise ParameterError(
            "Clopper and Pearson's bound is for losses that are 0 or 1 (or a single cost) of "
            "independent rows: take hoeffding or empirical_bernstein"
        )
    losses = BoundedLosses.of(estimate, None, level, sides)
    _refuse_weights(losses, "Clopper and Pearson's bound")
    wrong = int(np.count_nonzero(table.losses))
    right = len(table.losses) - wrong
    upper = float(stats.beta.isf(losses.delta, wrong + 1, right)) if right else 1.0
    lower = float(stats.beta.ppf(losses.delta, wrong, right + 1)) if wrong else 0.0
    return losses.result(lower, upper, method="Clopper-Pearson bound")


def smallest_split(table: LossTable) -> tuple[float, int]:
    """The number of equal units that the least of all splits is worth, and how many there are."""
    if table.kind not in ("kfold", "grouped", "repeated", "leave_one_out", "shuffled", "given"):
        raise ParameterError(
            f"losses of kind {table.kind!r} are not independent of one another, or of the models "
            "that made them: judge the model on a test set of independent rows"
        )
    codes = np.unique(table.split, return_inverse=True)[1].reshape(-1)
    least, splits = np.inf, int(codes.max()) + 1
    for s in range(splits):
        mine = codes == s
        units = np.unique(table.unit[mine], return_inverse=True)[1].reshape(-1)
        share = np.bincount(units, table.weight[mine])
        least = min(least, float(share.sum() ** 2 / np.square(share).sum()))
    return least, splits


def _farthest(mean: float, end: float, most: float) -> float:
    """The p between the mean and the end, as far as kl(mean, p) <= most; by bisection."""
    inside, outside = mean, end
    if _relative_entropy(mean, end) <= most:
        return end
    for _ in range(100):
        middle = (inside + outside) / 2
        if _relative_entropy(mean, middle) <= most:
            inside = middle
        else:
            outside = middle
    return outside


def _relative_entropy(m: float, p: float) -> float:
    """m log(m/p) + (1 - m) log((1 - m)/(1 - p))."""
    return float(rel_entr(m, p) + rel_entr(1 - m, 1 - p))


def _refuse_weights(losses: BoundedLosses, name: str) -> None:
    if not losses.are_equal:
        raise ParameterError(
            f"{name} is for units of equal weight: take hoeffding or empirical_bernstein"
        )
