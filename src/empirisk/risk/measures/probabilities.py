"""How good predicted probabilities are: log loss and Brier's score, both mean losses."""

from typing import Any

import numpy as np

from empirisk.losses import Brier, Log
from empirisk.losses.classification import ProbabilityLoss
from empirisk.losses.probabilities import checked_probabilities
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.ranking import check_columns
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError


def log_loss(
    y: Any,
    probability: Any,
    *,
    positive: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> RiskEstimate:
    """The mean of -log of the probability that was given to the true class, also cross-entropy.

    Parameters
    ----------
    y : labels of rows that took no part in fitting or choosing the classifier
    probability : array of shape (rows,) or (rows, classes)
        Of the positive class, or of all classes in sorted order.
    positive : label, optional
        By default, of two classes the larger label.
    classes : sequence of labels, optional
        Of the columns, where y need not show them all.
    sample_weight, groups : arrays, optional
        A group is one independent observation.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=400)
    >>> print(log_loss(rng.random(400) < p, p))
    The log risk of this model is 0.4793, 95 % interval 0.4301 to 0.5342 ...
    """
    rows = JudgedRows.of(
        y,
        score=probability,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    return _mean(Log(), rows, positive, level)


def brier(
    y: Any,
    probability: Any,
    *,
    positive: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> RiskEstimate:
    """The mean of (p - 1{y positive})^2; with K > 2 classes of sum_k (p_k - 1{y = k})^2.

    The sum of both classes would be twice the first: scikit-learn halves it as well. It is the risk
    under `losses.Brier`. Parameters as in `log_loss`.

    Examples
    --------
    >>> round(brier([0, 1, 1], [0.2, 0.7, 0.9]).value, 4)
    0.0467
    """
    rows = JudgedRows.of(
        y,
        score=probability,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    return _mean(Brier(), rows, positive, level)


def class_probabilities(rows: JudgedRows, positive: Any) -> Floats:
    """Probabilities (rows, classes), from those of the positive class where only they came."""
    if rows.score.ndim == 2:
        check_columns(rows)
        return checked_probabilities(rows.score)
    if len(rows.classes) > 2:
        raise DataError(
            f"there are {len(rows.classes)} classes and the probabilities of one; give a column "
            "for each"
        )
    k = rows.positive(positive)
    given = np.empty((rows.n, 2))
    given[:, k] = checked_shares(rows.score)
    given[:, 1 - k] = 1 - rows.score
    return given


def checked_shares(score: Array) -> Array:
    """Scores that are probabilities of one class."""
    if score.min() < 0 or score.max() > 1:
        raise DataError(
            f"the probabilities run from {score.min():g} to {score.max():g}; they must lie "
            "between 0 and 1"
        )
    return score


def _mean(loss: ProbabilityLoss, rows: JudgedRows, positive: Any, level: float) -> RiskEstimate:
    given = class_probabilities(rows, positive)
    losses, bounds = loss(rows.truth, given), loss.for_classes(range(given.shape[1])).bounds
    return RiskEstimate.of(
        rows.table(losses, bounds=bounds),
        loss=str(loss),
        estimates="this model",
        fingerprint=rows.fingerprint,
        level=level,
    )
