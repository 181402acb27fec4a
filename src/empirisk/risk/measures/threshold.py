"""Where to put the threshold on a score when mistakes do not cost the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.cost_curve import draw_cost_curve
from empirisk.losses import Asymmetric
from empirisk.losses.weighted import midpoint
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.ranking import score_of
from empirisk.risk.measures.roc import passed
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class Threshold:
    """The threshold with the least mean cost on given rows, beside that of the Bayes rule.

    Attributes
    ----------
    value : float
        The positive class is predicted where the score is above it: infinite for never, minus
        infinite for always.
    risk : RiskEstimate
        The mean cost on the rows it was chosen on: the least of many and too good, therefore
        without an interval. `evaluate` gives an honest one on other rows.
    bayes_value : float
        a / (a + b), the best threshold if the scores are calibrated probabilities.
    bayes_risk : RiskEstimate or None
        The mean cost there, with its interval; None where the scores are no probabilities.
    thresholds, costs : arrays
        Every threshold that divides the rows differently, with its mean cost.
    loss : Asymmetric
    classes : array of labels

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import risk
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=500)
    >>> found = risk.measures.best_threshold(rng.random(500) < p, p, a=1, b=4)
    >>> round(found.value, 3), found.bayes_value
    (0.154, 0.2)
    >>> found.risk.value < found.bayes_risk.value  # the least of many: too good
    True
    """

    value: float
    risk: RiskEstimate
    bayes_value: float
    bayes_risk: RiskEstimate | None
    thresholds: Floats
    costs: Floats
    loss: Asymmetric
    classes: Array

    def evaluate(
        self,
        y: Any,
        score: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        level: float = 0.95,
    ) -> RiskEstimate:
        """The mean cost of this threshold on rows that took no part in choosing it."""
        rows = _rows(y, score, self.loss.positive, self.classes, sample_weight, groups)
        return _risk(rows, self.value, self.loss, level)

    @property
    def sentence(self) -> str:
        """What to do, in words that can be read out."""
        text = (
            f"Predict class {self.loss.positive} where its score is above {self.value:.4g}: that "
            f"cost {self.risk.value:.4g} a row here, the least of {len(self.costs)} thresholds and "
            "too good"
        )
        if self.bayes_risk is None:
            return f"{text}."
        return (
            f"{text}; {self.bayes_value:.4g}, the best for calibrated probabilities, cost "
            f"{self.bayes_risk.value:.4g}."
        )

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The mean cost against the threshold, with the chosen one and that of the Bayes rule."""
        bayes = None if self.bayes_risk is None else self.bayes_value
        return draw_cost_curve(self.thresholds, self.costs, self.value, bayes, ax=ax)


def best_threshold(
    y: Any,
    score: Any,
    *,
    a: float = 1.0,
    b: float = 1.0,
    positive: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> Threshold:
    """The threshold on a score with the least mean cost; of equals the highest.

    Parameters
    ----------
    y : labels of rows that took no part in fitting the classifier
    score : array of shape (rows,) or (rows, classes)
        Of the positive class, or of all classes: then its column is taken.
    a, b : float
        The cost of a false positive, and of a false negative.
    positive : label, optional
        By default, of two classes the larger label. All other classes are negative.
    classes : sequence of labels, optional
        Of the columns of score, where y need not show them all.
    sample_weight, groups : arrays, optional
    level : float
        Of the interval for the risk of the Bayes threshold.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=500)
    >>> print(best_threshold(rng.random(500) < p, p, a=1, b=4))
    Predict class True where its score is above 0.1541: that cost 0.38 a row here, the least of 501
    thresholds and too good; 0.2, the best for calibrated probabilities, cost 0.402.
    """
    rows = _rows(y, score, positive, classes, sample_weight, groups)
    k = rows.positive(positive)
    loss = Asymmetric(a, b, positive=rows.classes.tolist()[k])
    own, positives = score_of(rows, k), rows.truth == k
    ends, found, wrong = passed(own, positives, rows.weight)
    costs = (a * wrong + b * (found[-1] - found)) / rows.weight.sum()
    thresholds = np.r_[np.inf, _between(ends[2:], ends[1:-1]), -np.inf]
    j = int(np.argmin(costs))
    is_probability = own.min() >= 0 and own.max() <= 1
    bayes = _risk(rows, loss.threshold, loss, level) if is_probability else None
    return Threshold(
        value=float(thresholds[j]),
        risk=_risk(rows, thresholds[j], loss, level).chosen(len(costs)),
        bayes_value=loss.threshold,
        bayes_risk=bayes,
        thresholds=thresholds,
        costs=costs,
        loss=loss,
        classes=rows.classes,
    )


def _rows(
    y: Any, score: Any, positive: Any, classes: Any, sample_weight: Any, groups: Any
) -> JudgedRows:
    return JudgedRows.of(
        y,
        score=score,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )


def _between(low: Array, high: Array) -> Array:
    """A number from low on and below high, in the middle where there is one."""
    middle = midpoint(low, high)
    return np.where((low <= middle) & (middle < high), middle, low)


def _risk(rows: JudgedRows, threshold: float, loss: Asymmetric, level: float) -> RiskEstimate:
    k = rows.code(loss.positive)
    positive, predicted = rows.truth == k, score_of(rows, k) > threshold
    losses = np.where(predicted & ~positive, float(loss.a), 0.0)
    losses[positive & ~predicted] = loss.b
    return RiskEstimate.of(
        rows.table(losses, bounds=loss.bounds),
        loss=str(loss),
        estimates="this model",
        fingerprint=rows.fingerprint,
        level=level,
    )
