"""Training risk beside test risk of a fitted predictor, and the gap between them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.losses import Loss
from empirisk.risk.cross_validation import evaluate
from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.errors import DataError

SEEN = "the model was fitted to these rows, and the mean loss on them is too good"
KNOWN = "the training risk is known, so the gap is as uncertain as the test risk"


@dataclass(frozen=True, eq=False)
class Gap:
    """What a model shows on the rows it was fitted to, and on rows it has not seen.

    Attributes
    ----------
    training : RiskEstimate
        The mean loss on the training rows: a number, without an interval.
    test : RiskEstimate
        The risk of the model, from the rows it has not seen.
    gap : RiskEstimate
        Test risk minus training risk, R(h) - R_n(h), how much too good the training risk is.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import KNeighborsRegressor, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> nearest = KNeighborsRegressor(1).fit(X[:100], y[:100])
    >>> found = risk.train_test_gap(nearest, X[:100], y[:100], X[100:], y[100:])
    >>> round(found.training.value, 3), round(found.test.value, 3), round(found.gap.value, 3)
    (0.0, 1.965, 1.965)
    """

    training: RiskEstimate
    test: RiskEstimate
    gap: RiskEstimate

    @property
    def sentence(self) -> str:
        """The three numbers in words that can be read out."""
        text = (
            f"The {self.test.quantity} of this model is {self.training.value:.4g} on the rows it "
            f"was fitted to and {self.test.value:.4g} on others, a gap of {self.gap.value:.4g}"
        )
        if self.gap.interval is None:
            return f"{text}, without an interval: {self.gap.reason}."
        low, high = self.gap.interval
        text += f", {100 * self.gap.level:g} % interval {low:.4g} to {high:.4g}"
        cautions = self.gap.cautions
        return f"{text}; but {', and '.join(cautions)}." if cautions else f"{text}."

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """Training and test risk, one above the other."""
        both = self.training, self.test
        return draw_intervals(
            ["training", "test"],
            [risk.value for risk in both],
            [risk.interval for risk in both],
            label=self.test.quantity,
            ax=ax,
        )


def train_test_gap(
    predictor: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    loss: Loss | str | None = None,
    train_weight: Any = None,
    test_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
) -> Gap:
    """Training risk beside test risk of any fitted predictor, and the gap with its interval.

    The gap is that of this model: its mean loss on the training rows is known, so the interval is
    the one of the test risk, moved by it.

    Parameters
    ----------
    predictor : fitted estimator, object with `predict`, or function of X
        Ours or any with scikit-learn's `predict` (and `predict_proba` where the loss needs it).
    X_train, y_train : the rows it was fitted to
    X_test, y_test : rows that took no part in fitting or choosing it
    loss : Loss or str, optional
        The one at which the learner aims (`own_loss`), else "squared" for a regressor and
        "zero_one" for a classifier, unless given.
    train_weight, test_weight : arrays, optional
        Weights of the rows.
    groups : array, optional
        Of the test rows; a group is one independent observation.
    level, method
        As in `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> nearest = KNeighborsRegressor(1).fit(X[:100], y[:100])
    >>> print(train_test_gap(nearest, X[:100], y[:100], X[100:], y[100:]))
    The squared risk of this model is 0 on the rows it was fitted to and 1.965 on others, a gap of
    1.965, 95 % interval ...
    """
    training = evaluate(predictor, X_train, y_train, loss=loss, sample_weight=train_weight)
    training = replace(
        training,
        standard_error=None,
        interval=None,
        level=level,
        method="none",
        reason=SEEN,
        cautions=(),
    )
    test = evaluate(
        predictor,
        X_test,
        y_test,
        loss=loss,
        sample_weight=test_weight,
        groups=groups,
        level=level,
        method=method,
    )
    return Gap(training, test, _difference(training, test))


def _difference(training: RiskEstimate, test: RiskEstimate) -> RiskEstimate:
    assert test.table is not None
    known = training.value
    if not (np.isfinite(known) and np.isfinite(test.value)):
        raise DataError("some losses are infinite, so there is no gap: take a bounded loss")
    most = test.table.bounds[1] - test.table.bounds[0]
    table = replace(test.table, losses=test.losses - known, bounds=(-most, most))
    ends = None if test.interval is None else (test.interval[0] - known, test.interval[1] - known)
    return replace(
        test,
        value=test.value - known,
        interval=ends,
        reason=test.reason if ends is None else KNOWN,
        table=table,
        is_difference=True,
    )
